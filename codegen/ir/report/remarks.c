/* remarks.c - what became of each region and reduction, for the user (-Rompgpu), and the warning
 * about generic mode (-Wompgpu-generic). */
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/spmd.h"
#include "devicertl/ompgpu_device.h"
#include <stdlib.h>

static const char *counted(unsigned n, const char *what)
{
    return n ? mem_printf("%u %s%s", n, what, n == 1 ? "" : "s") : mem_printf("no %s", what);
}

/* What became of the sequential code's locals and questions; LLVM's numbers of its own remarks of
 * the same meaning. */
static const char *late_details(const struct ir_kernel *k)
{
    const char *parts =
        k->partial ? mem_printf(", %u of them on a part of the team", k->partial) : "";
    const char *locals = k->private_locals ? mem_printf("; %s private to each thread [OMP110]",
                                                        counted(k->private_locals, "local"))
                                           : "";
    const char *main = k->main_locals ? mem_printf("; %s used only by the main thread [OMP110]",
                                                   counted(k->main_locals, "local"))
                                      : "";
    const char *shared = k->shared_locals
                             ? mem_printf("; %s in %llu bytes of shared memory [OMP111]",
                                          counted(k->shared_locals, "local"),
                                          (unsigned long long)k->shared_local_bytes)
                             : "";
    const char *folded = k->folded ? mem_printf("; %s replaced by a constant [OMP180]",
                                                counted(k->folded, "runtime call"))
                                   : "";
    const char *spared =
        k->placed < 2 * k->regions
            ? mem_printf("; %u of %u barriers around parallel regions removed [OMP190]",
                         2 * k->regions - k->placed, 2 * k->regions)
            : "";
    return mem_printf(
        " by the late pass: %s called directly%s, %s, %u bytes broadcast [OMP120]%s%s%s%s%s",
        counted(k->regions, "parallel region"), parts, counted(k->guards, "guard"),
        k->broadcast_bytes, locals, main, shared, folded, spared);
}

static const char *state_machine(const struct ir_kernel *k)
{
    return mem_printf("; state machine for %s%s", counted(k->regions, "known parallel region"),
                      k->unknown_regions ? ", with an indirect call for others [OMP132]"
                                         : " [OMP131]");
}

static const char *generic_reason(const struct ir_unit *u, const struct ir_kernel *k)
{
    const char *reason = ir_generic_reason(u, k);
    bool found = k->why && k->input->mode != IR_MODE_GENERIC && ir_wants_spmd(u, k->input);
    if (found)
        return mem_printf(" %s [%s]", reason, k->id);
    return *reason ? mem_printf(" %s", reason) : "";
}

/* Who chose the mode, and what it took. */
static const char *decision(const struct ir_unit *u, const struct ir_kernel *k)
{
    if (k->late)
        return late_details(k);
    if (k->mode == IR_SPMD)
        return " by its form: every construct down to parallel is the only statement of the one "
               "around it";
    if (!(k->flags & OMPGPU_KERNEL_WORKERS))
        return ", no parallel region reached: no state machine [OMP130]";
    return mem_printf("%s%s", generic_reason(u, k), state_machine(k));
}

/* ------------------------------------------------------------------ reductions */
/* How many of the architectures that code is generated for; the emulated device has it. */
static unsigned archs_with_redux(const struct ir_unit *u)
{
    unsigned n = 0;
    for (unsigned i = 0; i < u->opt->noutputs; i++)
        n += u->opt->target == IR_X86 || strtoul(u->opt->outputs[i].arch + 3, NULL, 10) >= 80;
    return n;
}

static const char *warp_algorithm(const struct ir_unit *u, const struct ir_reduction *r)
{
    unsigned redux = r->how & __OMPGPU_RED_REDUX ? archs_with_redux(u) : 0;
    /* none: all are arrays */
    const char *words = r->bytes ? mem_printf(" (%u word%s a shuffle step)", (r->bytes + 3) / 4,
                                              r->bytes > 4 ? "s" : "")
                                 : "";
    const char *tree = mem_printf(
        "%s tree%s", r->how & __OMPGPU_RED_WHOLE_WARPS ? "full-warp" : "full- or partial-warp",
        words);
    if (!redux)
        return tree;
    return redux < u->opt->noutputs ? mem_printf("warp by redux.sync from sm_80 on, else %s", tree)
                                    : "warp by redux.sync";
}

/* What a team needs of the scratchpad. */
static const char *slot_bytes(const struct ir_reduction *r)
{
    unsigned slot = (r->bytes + 15) / 16 * 16 + (r->how & __OMPGPU_RED_DEFERRED ? 16 : 0);
    return mem_printf("%s of scratchpad a team",
                      r->arrays ? slot ? mem_printf("%u bytes and the arrays", slot) : "the arrays"
                                : mem_printf("%u bytes", slot));
}

static const char *league_algorithm(const struct ir_reduction *r)
{
    const char *locked =
        r->how & __OMPGPU_RED_LOCKED
            ? ", each team's result under a lock, in the order in which teams finish"
            : "";
    bool one_team = (r->how & __OMPGPU_RED_KIND) == __OMPGPU_RED_TEAM;
    if (r->how & __OMPGPU_RED_ATOMIC)
        return one_team ? ", each team's result by atomic updates"
                        : ", league by atomic updates, no scratchpad";
    if (r->how & __OMPGPU_RED_DEFERRED)
        return mem_printf(", league by the last team at the end of the kernel, %s%s", slot_bytes(r),
                          locked);
    return one_team || *locked ? locked
                               : mem_printf(", league by the last team, %s", slot_bytes(r));
}

static void remark_scan(const struct ir_reduction *r)
{
    unsigned words = (r->bytes + 3) / 4, pieces = (r->bytes + 63) / 64,
             tiles = (r->how & __OMPGPU_RED_TILES) != 0;
    ir_say_at(r->at, DIAG_REMARK,
              "%s scan of %s: %s in a record of %u bytes; steps of %u iteration%s "
              "a thread, warp by shuffles up (%u word%s a shuffle), "
              "team through shared memory, %u barriers a step%s [-Rompgpu=all]",
              r->how & __OMPGPU_RED_EXCLUSIVE ? "exclusive" : "inclusive", r->names,
              counted(r->variables, "variable"), r->bytes, r->arrays, r->arrays == 1 ? "" : "s",
              words, words == 1 ? "" : "s", 4 * pieces - 2 + tiles,
              tiles ? "; league: teams take steps in turn and look back for what is before" : "");
}

static void remark_reduction(const struct ir_unit *u, const struct ir_reduction *r)
{
    if ((r->how & __OMPGPU_RED_KIND) == __OMPGPU_RED_SCAN) {
        remark_scan(r);
        return;
    }
    const char *record = r->variables ? mem_printf("%s in a record of %u bytes",
                                                   counted(r->variables, "variable"), r->bytes)
                                      : "";
    bool rows = r->how & __OMPGPU_RED_ROWS, tree = r->variables || (r->how & __OMPGPU_RED_SHUFFLED);
    const char *how = !(r->how & __OMPGPU_RED_SHUFFLED) ? "element-wise"
                      : rows                            ? "by shuffles and element-wise"
                                                        : "by shuffles";
    const char *arrays =
        r->arrays ? mem_printf("%s%s %s", *record ? " and " : "", counted(r->arrays, "array"), how)
                  : "";
    const char *team = (r->how & __OMPGPU_RED_KIND) == __OMPGPU_RED_TEAMS ? "one thread a team"
                       : tree ? mem_printf("%s, team through shared memory%s", warp_algorithm(u, r),
                                           rows ? "; " : "")
                              : "";
    ir_say_at(r->at, DIAG_REMARK, "reduction of %s: %s%s; %s%s%s [-Rompgpu=all]", r->names, record,
              arrays, team,
              rows ? "each thread combines some elements of all copies, in global memory" : "",
              league_algorithm(r));
}

/* ------------------------------------------------------------------ regions */
/* What private copies of arrays take, but for those that the host counts by itself
 * (codegen/ir/passes/copies.c). */
static const char *copies(const struct ir_kernel *k)
{
    const char *more = k->flags & OMPGPU_KERNEL_COPIES
                           ? ", and more of sizes that cannot be determined before"
                       : k->more_copies ? ", and more as known at the launch"
                                        : "";
    if (!k->copy_bytes && !*more)
        return "";
    return mem_printf("; %llu bytes of global memory a thread for copies of reduced arrays%s",
                      (unsigned long long)k->copy_bytes, more);
}

static void remark(const struct ir_unit *u, const struct ir_kernel *k)
{
    const char *shared = k->shared_bytes ? mem_printf("%llu bytes of shared memory",
                                                      (unsigned long long)k->shared_bytes)
                                         : "no shared memory";
    const char *reduction =
        k->reduce_bytes ? mem_printf("; league reduction of %u bytes", k->reduce_bytes) : "";
    const char *indirect =
        k->indirect_calls ? mem_printf("; %s", counted(k->indirect_calls, "indirect call")) : "";
    const char *bound = ir_max_team(k)
                            ? mem_printf("; %s %u threads a team",
                                         ir_is_exact(k) ? "always" : "at most", ir_max_team(k))
                            : "";
    ir_say_at(k->at, DIAG_REMARK, "region '%s': %s mode%s; %s; %s%s%s%s%s [-Rompgpu=all]", k->name,
              k->mode == IR_SPMD ? "SPMD" : "generic", decision(u, k),
              counted(k->barriers, "barrier"), shared, reduction, copies(k), bound, indirect);
    ir_print_notes(u, k);
}

/* -Wompgpu-generic: the place is that of the first construct in the way, where it is known. */
static void warn(const struct ir_kernel *k, bool error)
{
    bool place = k->why && k->why_at.file;
    struct ir_place at = place ? k->why_at : k->at;
    const char *why = k->why ? mem_printf(" because of %s", k->why) : "";
    ir_say_at(at, error ? DIAG_ERROR : DIAG_WARNING,
              "region '%s' (%s) runs in generic mode%s; one thread of each team runs the code "
              "outside of parallel regions while the others wait [%s-Wompgpu-generic]",
              k->name, k->directive, why, error ? "-Werror," : "");
    if (place)
        ir_say_at(k->at, DIAG_NOTE, "the region is here");
    if (k->remedy)
        ir_say_at(at, DIAG_NOTE, "%s", k->remedy);
}

bool ir_remark(struct ir_unit *u)
{
    bool failed = false;
    for (unsigned i = 0; i < u->nreductions; i++)
        if (u->reductions[i].input->remarks)
            remark_reduction(u, &u->reductions[i]);
    for (unsigned i = 0; i < u->nkernels; i++) {
        const struct ir_kernel *k = &u->kernels[i];
        if (k->flags & OMPGPU_KERNEL_FORM) /* the same as the kernel, before it */
            continue;
        if (k->input->remarks)
            remark(u, k);
        if (!k->input->warn_generic || k->mode != IR_GENERIC ||
            !(k->flags & OMPGPU_KERNEL_WORKERS) || !ir_wants_spmd(u, k->input))
            continue;
        warn(k, k->input->error_generic);
        failed |= k->input->error_generic;
    }
    return !failed;
}
