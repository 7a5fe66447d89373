/* fiber.c - light fibers: stacks and the context switch.
 *
 * A switch is a function call that returns on another stack, so it saves what the calling
 * convention of x86-64 (System V) makes the callee keep: rbx, rbp, r12 … r15, the stack pointer,
 * and the control bits of SSE and x87.  A suspended context is
 *
 *     sp ->  mxcsr (4) | fpcw (4)
 *            r15 r14 r13 r12 rbx rbp
 *            return address
 *
 * and every way back (switch, land) pops the same frame.
 *
 * Stacks come in slabs of 32.  Below each lies a guard of 15 pages: wide, because functions of the
 * C library are compiled without stack probes and a big frame could step over one page (our device
 * code has probes); odd together with the usual 16 pages of stack, because a power of two as
 * distance would put the tops of all stacks into the same few cache sets. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

/* The sanitizers' headers are not installed with every compiler. */
#ifdef EMU_ASAN
void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old,
                                     size_t *size_old);
void __asan_unpoison_memory_region(void const volatile *, size_t);
#endif
#ifdef EMU_TSAN
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *);
void __tsan_switch_to_fiber(void *, unsigned flags);
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#ifdef __x86_64__
void emu_context_switch(void **save, void *to) __attribute__((visibility("hidden")));
extern const char emu_context_start[] __attribute__((visibility("hidden")));

__asm__("    .pushsection .text\n"
        "    .macro EMU_SAVE\n"
        "    pushq %rbp\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rbx\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r12\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r13\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r14\n    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r15\n    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n .cfi_adjust_cfa_offset 8\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    .endm\n"
        "    .macro EMU_RESTORE\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n .cfi_adjust_cfa_offset -8\n"
        "    popq %r15\n     .cfi_adjust_cfa_offset -8\n"
        "    popq %r14\n     .cfi_adjust_cfa_offset -8\n"
        "    popq %r13\n     .cfi_adjust_cfa_offset -8\n"
        "    popq %r12\n     .cfi_adjust_cfa_offset -8\n"
        "    popq %rbx\n     .cfi_adjust_cfa_offset -8\n"
        "    popq %rbp\n     .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .endm\n"
        /* (rdi: where to save the stack pointer, rsi: the stack pointer to go on with) */
        "    .globl emu_context_switch\n    .hidden emu_context_switch\n    .type "
        "emu_context_switch, @function\n"
        "    .p2align 4\n"
        "emu_context_switch:\n"
        "    .cfi_startproc\n"
        "    EMU_SAVE\n"
        "    movq %rsi, %rsp\n"
        "    EMU_RESTORE\n"
        "    .cfi_endproc\n"
        "    .size emu_context_switch, . - emu_context_switch\n"
        /* (rdi: the stack pointer to go on with); comes from any state, so the x87 stack and the
           direction flag are put right first */
        "    .globl ompgpu_emu_fiber_land\n    .hidden ompgpu_emu_fiber_land\n    .type "
        "ompgpu_emu_fiber_land, @function\n"
        "    .p2align 4\n"
        "ompgpu_emu_fiber_land:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    movq %rdi, %rsp\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    cld\n"
        "    fninit\n"
        "    EMU_RESTORE\n"
        "    .cfi_endproc\n"
        "    .size ompgpu_emu_fiber_land, . - ompgpu_emu_fiber_land\n"
        /* A new fiber returns to here: rbx is the function, r12 its argument.  Debuggers stop at a
           frame whose caller is undefined. */
        "    .globl emu_context_start\n    .hidden emu_context_start\n    .type emu_context_start, "
        "@function\n"
        "    .p2align 4\n"
        "emu_context_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    movq %r12, %rdi\n"
        "    call *%rbx\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        "    .size emu_context_start, . - emu_context_start\n"
        "    .purgem EMU_SAVE\n    .purgem EMU_RESTORE\n"
        "    .popsection\n");
#else
#error "the emulated device needs x86-64"
#endif

static void fiber_first(struct emu_fiber *f)
{
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    ompgpu_emu_thread_loop(f->worker);
}

struct emu_frame { /* as drawn above */
    uint32_t mxcsr, fpcw;
    uint64_t r15, r14, r13, r12, rbx, rbp, rip, end;
};

static void fiber_prepare(struct emu_fiber *f)
{
    /* emu_context_start is entered with the stack aligned to 16 after `ret` has popped rip, so that
     * its call leaves it as the calling convention wants. */
    struct emu_frame *frame =
        (struct emu_frame *)(f->stack + f->size - f->colour - sizeof *frame - 8);
    *frame = (struct emu_frame){ .mxcsr = 0x1F80,
                                 .fpcw = 0x37F,
                                 .rbx = (uint64_t)fiber_first,
                                 .r12 = (uint64_t)f,
                                 .rip = (uint64_t)emu_context_start };
    f->sp = frame;
#ifdef EMU_TSAN
    if (f->tsan)
        __tsan_destroy_fiber(f->tsan);
    f->tsan = __tsan_create_fiber(0);
#endif
}

void ompgpu_emu_fiber_switch(struct emu_fiber *from, struct emu_fiber *to)
{
    if (!to->sp)
        fiber_prepare(to);
#ifdef EMU_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->size);
#endif
#ifdef EMU_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    emu_context_switch(&from->sp, to->sp);
#ifdef EMU_TSAN
    if (from->worker->faulted) /* come from a signal handler, where this cannot be said */
        __tsan_switch_to_fiber(from->tsan, 0);
#endif
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

void ompgpu_emu_fiber_leaving(struct emu_fiber *home)
{
    (void)home;
#ifdef EMU_ASAN
    __sanitizer_start_switch_fiber(NULL, home->stack, home->size);
#endif
}

void ompgpu_emu_fiber_leave(struct emu_fiber *home)
{
    ompgpu_emu_fiber_leaving(home);
#ifdef EMU_TSAN
    __tsan_switch_to_fiber(home->tsan, 0);
#endif
    __asm__ volatile("jmp *%1" : : "D"(home->sp), "r"(ompgpu_emu_fiber_land) : "memory");
    __builtin_unreachable();
}

/* ------------------------------------------------------------------ stacks */
size_t ompgpu_emu_fiber_guard(void) { return 15 * (size_t)sysconf(_SC_PAGESIZE); }

static bool slab_add(struct emu_worker *w)
{
    size_t stack = w->stack, guard = ompgpu_emu_fiber_guard();
    struct emu_slab *slab = ompgpu_xalloc(sizeof *slab);
    if (!slab)
        return false;
    slab->size = EMU_SLAB_FIBERS * (stack + guard);
    if (!(slab->memory = ompgpu_emu_window_map(EMU_FOR_STACKS, slab->size))) {
        ompgpu_xfree(slab);
        return false;
    }
    slab->next = w->slabs;
    w->slabs = slab;
    for (unsigned i = EMU_SLAB_FIBERS; i-- > 0;) {
        struct emu_fiber *f = &slab->fiber[i];
        char *low = slab->memory + i * (stack + guard);
        if (mprotect(low, guard, PROT_NONE))
            continue; /* too many mappings: this stack is not used */
        f->stack = low + guard;
        f->size = stack;
        f->colour = i * 128;
        f->worker = w;
#ifdef VALGRIND_STACK_REGISTER
        (void)VALGRIND_STACK_REGISTER(f->stack, f->stack + stack);
#endif
        ompgpu_emu_fiber_give(w, f);
    }
    return w->free != NULL;
}

void ompgpu_emu_fiber_room(struct emu_worker *w, size_t stack)
{
    if (stack <= w->stack)
        return;
    ompgpu_emu_fiber_fini(w);
    w->stack = stack;
}

struct emu_fiber *ompgpu_emu_fiber_take(struct emu_worker *w)
{
    if (!w->free && !slab_add(w))
        return NULL;
    struct emu_fiber *f = w->free;
    w->free = f->next;
    return f;
}

void ompgpu_emu_fiber_give(struct emu_worker *w, struct emu_fiber *f)
{
    f->next = w->free;
    w->free = f;
}

void ompgpu_emu_fiber_reset(struct emu_worker *w)
{
    w->free = NULL;
    for (struct emu_slab *s = w->slabs; s; s = s->next)
        for (unsigned i = EMU_SLAB_FIBERS; i-- > 0;) {
            struct emu_fiber *f = &s->fiber[i];
            if (!f->stack)
                continue;
            f->sp = NULL;
            ompgpu_emu_shadow_drop(f->stack, f->size);
#ifdef EMU_ASAN
            f->fake_stack = NULL;
            __asan_unpoison_memory_region(f->stack, f->size);
#endif
            ompgpu_emu_fiber_give(w, f);
        }
}

void ompgpu_emu_fiber_fini(struct emu_worker *w)
{
    while (w->slabs) {
        struct emu_slab *s = w->slabs;
        w->slabs = s->next;
#ifdef EMU_TSAN
        for (unsigned i = 0; i < EMU_SLAB_FIBERS; i++)
            if (s->fiber[i].tsan)
                __tsan_destroy_fiber(s->fiber[i].tsan);
#endif
#ifdef EMU_ASAN
        __asan_unpoison_memory_region(s->memory, s->size);
#endif
        munmap(s->memory, s->size);
        ompgpu_xfree(s);
    }
    w->free = NULL;
}
