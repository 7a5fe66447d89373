/* main.c - omp-device: the list of steps.  See tool.h for the way of a module. */
#include "codegen/ir/link/link.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/spmd.h"
#include "driver/base/protocol.h"
#include <llvm-c/DebugInfo.h>
#include <llvm-c/ErrorHandling.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void ir_step_done(struct ir_unit *u, const char *step)
{
    static double last;
    static unsigned number;
    double now = now_ms();
    if (u->opt->time && number)
        fprintf(stderr, "omp-device: %7.2f ms  %s\n", now - last, step);
    struct ir_unit *set;
    for (unsigned i = 0; u->opt->dump && number && (set = ir_set(u, i)); i++) {
        char *text = LLVMPrintModuleToString(set->module);
        const char *which = i ? mem_printf("-%u", i) : "";
        ir_write_file(mem_printf("%s.%u-%s%s.ll", u->opt->dump, number, step, which), text,
                      strlen(text));
        LLVMDisposeMessage(text);
    }
    number++;
    last = now_ms();
}

/* clang may have been told to keep lines for our own messages only.  On the emulated device the
 * runtime's messages need them, too (hostrt/emu/lines.c). */
static bool strip_debug(struct ir_unit *u)
{
    if (!u->opt->debug && u->opt->target == IR_X86)
        ir_run_passes(u->module, "strip-nonlinetable-debuginfo", NULL);
    else if (!u->opt->debug)
        LLVMStripModuleDebugInfo(u->module);
    return true;
}

static const struct step {
    const char *name; /* "": not shown */
    bool (*run)(struct ir_unit *);
    bool sets; /* for each set of kernels */
} steps[] = {
    { "input", ir_read_input, false },
    { "jumps", ir_replace_jumps, false },
    { "math", ir_lower_math, false },
    { "prints", ir_lower_prints, false },
    { "", ir_check_unwritten, false },
    { "", ir_size_copies, false },
    { "spmd", ir_spmd, false },
    { "split", ir_split, false },
    { "inside", ir_separate_contexts, true },
    { "globalise", ir_globalise, true },
    { "contexts", ir_sort_regions, true },
    { "link", ir_link, true },
    { "configure", ir_configure, true },
    { "dispatch", ir_dispatch, true },
    { "join", ir_join, false },
    { "internalise", ir_internalise, false },
    { "strip", strip_debug, false },
    { "atomics", ir_correct_atomics, false },
    { "tiles", ir_choose_tiles, false },
    { "prepare", ir_prepare, false },
    { "", ir_emit, false }, /* shows steps of its own, for each output */
    { "report", ir_write_info, false },
    { "remarks", ir_remark, false },
};
enum { STEPS = sizeof steps / sizeof *steps, REPORTS = 2 /* at the end, which change nothing */ };

static bool run_step(struct ir_unit *u, const struct step *step)
{
    struct ir_unit *set;
    bool ok = true;
    if (!step->sets)
        ok = step->run(u);
    for (unsigned i = 0; step->sets && (set = ir_set(u, i)); i++)
        ok &= step->run(set);
    for (unsigned i = 0; ok && u->opt->dump && (set = ir_set(u, i)); i++)
        ir_verify(set->module, step->name);
    return ok && !diag_errors();
}

static bool run_steps(struct ir_unit *u)
{
    ir_step_done(u, "start");
    for (unsigned i = 0; i < STEPS; i++) {
        if (!run_step(u, &steps[i]))
            return false;
        if (!*steps[i].name || i >= STEPS - REPORTS)
            continue;
        ir_step_done(u, steps[i].name);
        ir_show_step(u, steps[i].name);
    }
    return true;
}

static void delete_outputs(const struct ir_options *opt)
{
    for (unsigned i = 0; i < opt->noutputs; i++)
        remove(opt->outputs[i].path);
    if (opt->info)
        remove(opt->info);
}

static void llvm_failed(const char *why) { diag_bug("LLVM: %s", why); }

int main(int argc, char **argv)
{
    struct ir_options opt = ir_parse_options(argc, argv);
    if (opt.versions)
        return ir_lower_versions(opt.inputs[0].path, opt.versions) ? TOOL_OK : TOOL_ERROR;
    if (!ir_check_archs(&opt))
        return TOOL_USAGE;
    LLVMInstallFatalErrorHandler(llvm_failed);
    ir_setup_target(opt.target);
    struct ir_unit u = { .opt = &opt, .ctx = LLVMContextCreate() };
    ir_watch_diagnostics(u.ctx);
    bool ok = run_steps(&u);
    if (!ok)
        delete_outputs(&opt);
    fflush(stderr);
    /* the process ends: taking LLVM's structures apart would only cost time */
    _exit(ok ? TOOL_OK : TOOL_ERROR);
}
