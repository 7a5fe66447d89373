/* arrays.c - arrays of run-time size that are a thread's own (VLAs, alloca), for GPUs.
 *
 * ptxas (13.0) has wrong code for PTX's `alloca`: from -O1 on it takes an access to such an array
 * for one to a local of constant size, or restores the stack pointer from where it has not stored
 * it.  So omp-device (codegen/ir/passes/arrays.c) gives each function with such arrays a frame, a
 * local of constant size, and they lie there one after the other, or, where there is no room left,
 * in blocks of the device's heap:
 *
 *      frame   top ────────┐           room: 1 KB
 *              end ────────┼────────┐
 *              block ──┐   v        v
 *                      └─▶ [below …][array array       ]     `below` leads to the block before it
 *
 * A mark is a `top`, and as each block has addresses of its own, it tells how many are to go. */
#include "devicertl/arch.h"

enum { LEAST_BLOCK = 4096 /* bytes */ };

struct block {
    struct block *below; /* NULL: the frame's room */
    char *top, *end;     /* … of it */
};
struct __ompgpu_frame {
    char *top, *end; /* of the block, or the room: where the next array may begin, and all end */
    struct block *block;
    _Alignas(16) char room[__OMPGPU_FRAME_ROOM];
};
_Static_assert(sizeof(struct __ompgpu_frame) == __OMPGPU_FRAME_BYTES, "omp-device makes the local");

void __ompgpu_frame_begin(struct __ompgpu_frame *f)
{
    f->top = f->room;
    f->end = f->room + sizeof f->room;
    f->block = (struct block *)0;
}

static void add_block(struct __ompgpu_frame *f, usize size)
{
    struct block *b;
    usize room = size < LEAST_BLOCK ? LEAST_BLOCK : size;
    if (room > ~(usize)0 - sizeof *b || !(b = __ompgpu_arch_malloc(sizeof *b + room)))
        __ompgpu_fail("the device's heap has no memory left for an array of run-time size", 0);
    *b = (struct block){ f->block, f->top, f->end };
    f->block = b;
    f->top = (char *)(b + 1);
    f->end = f->top + room;
}

static void drop_block(struct __ompgpu_frame *f)
{
    struct block *b = f->block;
    f->block = b->below;
    f->top = b->top;
    f->end = b->end;
    __ompgpu_arch_free(b);
}

static char *align(char *p, usize to) { return p + (-(usize)p & (to - 1)); }

void *__ompgpu_frame_array(struct __ompgpu_frame *f, unsigned long size, unsigned long alignment)
{
    char *at = align(f->top, alignment);
    if (at > f->end || size > (usize)(f->end - at)) {
        add_block(f, size > ~(usize)0 - alignment ? size : size + alignment);
        at = align(f->top, alignment);
    }
    f->top = at + size;
    return at;
}

void *__ompgpu_frame_mark(const struct __ompgpu_frame *f) { return f->top; }

void __ompgpu_frame_release(struct __ompgpu_frame *f, void *mark)
{
    while (f->block && ((char *)mark < (char *)(f->block + 1) || (char *)mark > f->end))
        drop_block(f);
    f->top = mark;
}

void __ompgpu_frame_end(struct __ompgpu_frame *f)
{
    while (f->block)
        drop_block(f);
}
