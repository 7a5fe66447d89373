/* reverse.c - target device(ancestor: 1): the host runs a function for a thread of the kernel.  The
 * protocol is that of hostrt/mailbox.h.  Only the thread reaches its own memory, so it copies all
 * that the host wants, in pieces. */
#include "devicertl/arch.h"
#include "hostrt/mailbox.h"

static void ask(struct ompgpu_mailbox *m, unsigned request)
{
    __scoped_atomic_store_n(&m->request, request, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
    while (__scoped_atomic_load_n(&m->request, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM)) {
        __ompgpu_arch_pause();
        __ompgpu_arch_acquired(); /* the host may take its time */
    }
}

static void transfer(struct ompgpu_mailbox *m, unsigned i, unsigned request)
{
    char *at = m->items[i].at;
    unsigned long size = m->items[i].size;
    m->item = i;
    for (m->offset = 0; m->offset < size; m->offset += OMPGPU_REVERSE_BYTES) {
        unsigned long left = size - m->offset;
        m->bytes = left < OMPGPU_REVERSE_BYTES ? (unsigned)left : OMPGPU_REVERSE_BYTES;
        if (request == OMPGPU_REVERSE_PUT)
            __builtin_memcpy(m->data, at + m->offset, m->bytes);
        ask(m, request);
        if (request == OMPGPU_REVERSE_GET)
            __builtin_memcpy(at + m->offset, m->data, m->bytes);
    }
}

static void call_host(struct ompgpu_mailbox *m, unsigned long long key, const void *items,
                      unsigned n)
{
    __ompgpu_lock(m->lock);
    m->key = key;
    m->n = n;
    __builtin_memcpy(m->items, items, n * sizeof *m->items);
    ask(m, OMPGPU_REVERSE_OPEN);
    for (unsigned i = 0; i < n; i++)
        if (m->wants[i] & OMPGPU_REVERSE_WANTS_PUT)
            transfer(m, i, OMPGPU_REVERSE_PUT);
    ask(m, OMPGPU_REVERSE_RUN);
    for (unsigned i = 0; i < n; i++)
        if (m->wants[i] & OMPGPU_REVERSE_WANTS_GET)
            transfer(m, i, OMPGPU_REVERSE_GET);
    ask(m, OMPGPU_REVERSE_CLOSE);
    __ompgpu_unlock(m->lock);
}

void __ompgpu_reverse(unsigned long long key, const void *items, unsigned n)
{
    struct ompgpu_mailbox *m = (struct ompgpu_mailbox *)STATE_GET(__ompgpu_state_mailbox);
    if (m)
        call_host(m, key, items, n);
    else
        __ompgpu_arch_fail("device(ancestor: 1): the host has no such region", 0);
}
