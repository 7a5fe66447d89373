/* mailbox.h - reverse offload: between devicertl/reverse.c, where a thread of a kernel asks, and
 * hostrt/core/reverse.c, where a thread of the host answers.
 *
 * Each device has one mailbox, in memory that both reach (of a device of another node: that device
 * and its worker, which sends the host what is in it); the thread that has its lock uses it.  It
 * stores a request last, and waits until that is 0 again:
 *
 *     OPEN    the items of a call: what of each is wanted?
 *     PUT     `bytes` of item `item` from `offset` on, in data: for the host's object
 *     RUN     the function
 *     GET     `bytes` of the host's object, into data
 *     CLOSE   the host's objects may go
 */
#ifndef OMPGPU_MAILBOX_H
#define OMPGPU_MAILBOX_H

enum { OMPGPU_REVERSE_ITEMS = 32, OMPGPU_REVERSE_BYTES = 16 << 10 };
enum {
    OMPGPU_REVERSE_OPEN = 1,
    OMPGPU_REVERSE_PUT,
    OMPGPU_REVERSE_RUN,
    OMPGPU_REVERSE_GET,
    OMPGPU_REVERSE_CLOSE
};
enum { /* what is wanted of an item */
       OMPGPU_REVERSE_WANTS_PUT = 1,
       OMPGPU_REVERSE_WANTS_GET = 2
};
enum { /* of an item, beside TO, FROM, ALWAYS and PRESENT of OMPGPU_MAP_* */
       OMPGPU_REVERSE_COPY = 32, /* the function's own: not looked for among what is mapped */
       OMPGPU_REVERSE_POINTER =
           64, /* a pointer, which leads to the host's object if that is mapped */
       OMPGPU_REVERSE_SECTION = 128 /* of what the pointer that is item `of` leads to */
};
struct ompgpu_reverse_item {
    void *at; /* on the device */
    /* base: from the object, or from what the pointer leads to, to the section */
    unsigned long size, base, flags, of;
};
struct ompgpu_mailbox {
    unsigned request, n;
    unsigned long long key;
    unsigned *lock; /* memory of the device */
    unsigned long offset;
    unsigned item, bytes;
    unsigned wants[OMPGPU_REVERSE_ITEMS]; /* the answer to OPEN */
    struct ompgpu_reverse_item items[OMPGPU_REVERSE_ITEMS];
    char data[OMPGPU_REVERSE_BYTES];
};
#endif
