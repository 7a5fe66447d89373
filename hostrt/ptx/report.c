/* report.c - what went wrong: the kernel, the place in the source (.loc) and in the PTX, team and
 * thread, on standard error.  The first fault of a launch ends it. */
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

/* Line `n` of the module's text without the blanks before it. */
static void print_ptx_line(const struct module *m, unsigned n)
{
    const char *p = m->text;
    for (unsigned line = 1; p && line < n; line++)
        p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
    if (!p)
        return;
    p += strspn(p, " \t");
    fprintf(stderr, "ptx machine:   line %u of the PTX: %.*s\n", n, (int)strcspn(p, "\n"), p);
}

static void print_source(const struct instruction *i)
{
    if (i->place.file && i->place.line && i->place.column)
        fprintf(stderr, "ptx machine:   at %s:%u:%u\n", i->place.file, i->place.line,
                i->place.column);
    else if (i->place.file && i->place.line)
        fprintf(stderr, "ptx machine:   at %s:%u\n", i->place.file, i->place.line);
}

static bool first_error(struct launch *l, CUresult error)
{
    int none = 0;
    return __atomic_compare_exchange_n(&l->error, &none, (int)error, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

void ptx_fault(struct group *g, const struct instruction *i, unsigned lane, CUresult error,
               const char *fmt, ...)
{
    struct team *t = g->warp->team;
    struct function *in = g->frame ? g->frame->function : t->launch->entry;
    va_list ap;
    g->yield = true;
    if (!first_error(t->launch, error))
        return;
    pthread_mutex_lock(&print_lock);
    fprintf(stderr, "ptx machine: kernel %s, team %u, thread %u: ", t->launch->entry->name,
            t->number, g->warp->number * WARP + lane);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s%s\n", in->is_entry ? "" : ", in function ", in->is_entry ? "" : in->name);
    print_source(i);
    print_ptx_line(in->module, i->ptx_line);
    pthread_mutex_unlock(&print_lock);
}

bool ptx_operand_is_defined(struct group *g, const struct instruction *i, const struct operand *o,
                            lanes m, const char *what)
{
    lanes bad = (o->kind == O_PRED ? predicate_poison(g, o) : source_poison(g, o)) & m;
    if (bad)
        ptx_fault(g, i, (unsigned)__builtin_ctz(bad), CUDA_ERROR_LAUNCH_FAILED,
                  "%s depends on memory that was never written", what);
    return !bad;
}

/* No group is ready: every one waits. */
void ptx_deadlock(struct team *t)
{
    if (!first_error(t->launch, CUDA_ERROR_LAUNCH_TIMEOUT))
        return;
    pthread_mutex_lock(&print_lock);
    fprintf(stderr, "ptx machine: kernel %s, team %u: deadlock, all of its %u threads wait\n",
            t->launch->entry->name, t->number, t->live);
    unsigned shown = 0;
    for (unsigned w = 0; w < t->nwarps; w++)
        for (unsigned k = 0; k < t->warps[w].ngroups && shown < 8; k++) {
            const struct group *g = t->warps[w].groups[k];
            if (!g->mask)
                continue;
            shown++;
            fprintf(stderr, "ptx machine:   warp %u, lanes 0x%08x wait for %s\n", w, g->mask,
                    g->state == G_BARRIER ? "a barrier" : "other lanes of the warp");
            print_source(g->waits_at);
            print_ptx_line(g->frame->function->module, g->waits_at->ptx_line);
        }
    pthread_mutex_unlock(&print_lock);
}

static const char *access_name(const struct instruction *i)
{
    return i->row->class == C_ATOMIC  ? "an atomic update"
           : i->row->class == C_STORE ? "a store"
                                      : "a load";
}

void ptx_report_race(const struct race *r)
{
    const struct team *t = r->team;
    bool global = ptx_is_global((uintptr_t)r->data);
    const struct function *entry = t->launch->entry;
    pthread_mutex_lock(&print_lock);
    fprintf(stderr,
            "ptx machine: kernel %s, team %u, thread %u: race: %s of %u bytes at 0x%llx in %s "
            "memory\n",
            entry->name, t->number, r->thread, access_name(r->i), r->size,
            (unsigned long long)(global ? (uintptr_t)r->data : (uintptr_t)(r->data - t->shared)),
            global ? "global" : "shared");
    print_source(r->i);
    print_ptx_line(entry->module, r->i->ptx_line);
    fprintf(stderr, "ptx machine:   nothing orders it with %s by team %u, thread %u\n",
            access_name(r->other), r->other_team, r->other_thread);
    print_source(r->other);
    print_ptx_line(entry->module, r->other->ptx_line);
    pthread_mutex_unlock(&print_lock);
}
