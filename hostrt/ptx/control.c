/* control.c - branches, calls, return, exit (PTX ISA 8.x, section 9.7.12).  When a handler runs,
 * the group's pc is already that of the next instruction. */
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/weak.h"

/* Lanes m of the group go on at pc; the others stay where they are. */
static void move_lanes(struct group *g, lanes m, unsigned pc)
{
    if (m == g->mask) {
        g->pc = pc;
        return;
    }
    g->mask &= ~m;
    ptx_group_add(g->warp, g->frame, pc, m);
    g->yield = true;
}

HANDLER(branch)
{
    if (m != g->mask)
        ptx_count_divergence(g, i);
    move_lanes(g, m, (unsigned)i->s[0].value);
    g->yield |= g->warp->ngroups > 1;
}

/* The lanes of m whose value is that of the first one. */
static lanes same_value(const uint64_t *value, lanes m)
{
    lanes same = 0;
    EACH_LANE(l, m)
        same |= (lanes)(value[l] == value[__builtin_ctz(m)]) << l;
    return same;
}

HANDLER(branch_indexed)
{
    const uint64_t *index = source(g, &i->s[0]);
    if (!ptx_operand_is_defined(g, i, &i->s[0], m, "the index of brx.idx"))
        return;
    if (m != g->mask || same_value(index, m) != m)
        ptx_count_divergence(g, i);
    for (lanes rest = m, some; rest; rest &= ~some) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        some = same_value(index, rest);
        if ((uint32_t)index[lane] >= i->s[1].n) {
            ptx_fault(g, i, lane, CUDA_ERROR_INVALID_PC, "brx.idx with index %u of %u targets",
                      (uint32_t)index[lane], i->s[1].n);
            return;
        }
        move_lanes(g, some, (unsigned)i->s[1].parts[(uint32_t)index[lane]].value);
    }
    g->yield = true;
}

/* ------------------------------------------------------------------ calls */
static unsigned char *param_at(const struct frame *f, unsigned lane, uint64_t offset)
{
    return f->params + (size_t)lane * f->function->frame_params + offset;
}
static unsigned char *param_shadow_at(const struct frame *f, unsigned lane, uint64_t offset)
{
    return f->param_shadow + (size_t)lane * f->function->frame_params + offset;
}
static void copy_param(const struct frame *to, uint64_t to_offset, const struct frame *from,
                       uint64_t from_offset, unsigned size, lanes m)
{
    EACH_LANE(l, m) {
        memcpy(param_at(to, l, to_offset), param_at(from, l, from_offset), size);
        memcpy(param_shadow_at(to, l, to_offset), param_shadow_at(from, l, from_offset), size);
    }
}

static void copy_to_local(const struct frame *f, const struct parameter *q, struct warp *w, lanes m)
{
    struct team *t = w->team;
    EACH_LANE(l, m) {
        unsigned thread = w->number * WARP + l;
        uint32_t at = f->local_base[l] + q->local;
        memcpy(t->local[thread] + at, param_at(f, l, q->offset), q->size);
        memcpy(t->local_shadow[thread] + at, param_shadow_at(f, l, q->offset), q->size);
    }
}

static struct function *callee_of(struct group *g, const struct instruction *i, lanes *m)
{
    if (i->call->callee)
        return i->call->callee;
    const uint64_t *address = source(g, &i->s[0]);
    lanes same = same_value(address, *m), bad = source_poison(g, &i->s[0]) & *m;
    uint64_t number = address[__builtin_ctz(*m)] - FUNCTION_WINDOW;
    const struct module *module = g->frame->function->module;
    if (bad || number >= module->nfunctions) {
        ptx_fault(g, i, (unsigned)__builtin_ctz(*m), CUDA_ERROR_INVALID_PC,
                  "a call through 0x%llx, which is not the address of a function%s",
                  (unsigned long long)address[__builtin_ctz(*m)],
                  bad ? " (it was never written)" : "");
        return NULL;
    }
    if (same != *m)
        ptx_group_retry(g, i, *m & ~same);
    *m = same;
    return module->functions[number];
}

static void pass_arguments(struct group *g, const struct instruction *i, const struct function *f,
                           struct frame *frame, lanes m)
{
    for (unsigned k = 0; k < i->call->nargs && k < f->nparams; k++) {
        copy_param(frame, f->params[k].offset, g->frame, i->call->args[k].value, f->params[k].size,
                   m);
        if (f->params[k].in_local)
            copy_to_local(frame, &f->params[k], g->warp, m);
    }
}

HANDLER(call)
{
    if (m != g->mask) { /* a guarded call: only its lanes go in */
        ptx_group_retry(g, i, g->mask & m);
        return;
    }
    if (i->call->library) {
        if (ptx_weak)
            ptx_weak_drain(g->warp, m);
        i->call->library(g, i, m);
        return;
    }
    struct function *f = callee_of(g, i, &m);
    if (!f)
        return;
    if (!f->is_defined) {
        ptx_fault(g, i, (unsigned)__builtin_ctz(m), CUDA_ERROR_INVALID_PC,
                  "a call of '%s', which has no definition", f->name);
        return;
    }
    struct frame *frame = ptx_frame_new(g, i, f, m);
    if (!frame)
        return;
    pass_arguments(g, i, f, frame, m);
    frame->return_pc = g->pc;
    frame->call_site = i;
    g->frame = frame;
    g->pc = 0;
}

HANDLER(ret)
{
    struct frame *f = g->frame, *caller = f->caller;
    (void)i;
    if (!caller) {
        ptx_lanes_exit(g, m);
        return;
    }
    if (f->function->has_result && f->call_site->call->result.kind == O_PARAM)
        copy_param(caller, f->call_site->call->result.value, f, f->function->result.offset,
                   f->function->result.size, m);
    unsigned pc = f->return_pc;
    if (m == g->mask) {
        g->frame = caller;
        g->pc = pc;
    } else {
        g->mask &= ~m;
        ptx_group_add(g->warp, caller, pc, m);
    }
    ptx_frame_leave(g->warp, f, m);
    g->yield |= g->warp->ngroups > 1;
}

HANDLER(exit_lanes)
{
    (void)i;
    ptx_lanes_exit(g, m);
}
HANDLER(trap) { ptx_fault(g, i, (unsigned)__builtin_ctz(m), CUDA_ERROR_LAUNCH_FAILED, "trap"); }
HANDLER(sleep_lanes)
{
    (void)i, (void)m;
    g->yield = true;
}

bool ptx_select_control(struct instruction *i)
{
    static handler *const handlers[] = {
        [I_BRA] = branch,
        [I_BRX] = branch_indexed,
        [I_CALL] = call,
        [I_RET] = ret,
        [I_EXIT] = exit_lanes,
        [I_TRAP] = trap,
        [I_NANOSLEEP] = sleep_lanes,
    };
    i->run = handlers[i->row->operation];
    return i->row->operation != I_BRX ||
           (i->op == OP_IDX && i->nsources == 2 && i->s[1].kind == O_TARGETS);
}
