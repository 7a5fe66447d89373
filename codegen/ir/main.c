/* main.c - omp-device: options and the list of steps.  See tool.h for the way of a module. */
#include "codegen/ir/tool.h"
#include "driver/base/protocol.h"
#include <getopt.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/ErrorHandling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------ time and dumps */
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

/* ------------------------------------------------------------------ steps */
/* Device text with run-time array bounds comes for a neutral target (run_time_types in
 * driver/base/protocol.h): same types, same layout. Attributes of its CPU go later, with all
 * others. */
static void retarget(LLVMModuleRef m)
{
    LLVMSetTarget(m, "nvptx64-nvidia-cuda");
    LLVMSetDataLayout(m, "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64");
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (LLVMGetFunctionCallConv(f) == LLVMSPIRKERNELCallConv)
            LLVMSetFunctionCallConv(f, LLVMPTXKernelCallConv);
}

LLVMModuleRef ir_parse_input(struct ir_unit *u, const struct ir_input *in)
{
    LLVMMemoryBufferRef buffer = ir_read_file(in->path);
    LLVMModuleRef module;
    if (!buffer)
        return NULL;
    bool failed = LLVMParseBitcodeInContext2(u->ctx, buffer, &module);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed) {
        diag_error("'%s' is not LLVM bitcode that this compiler can read", in->name);
        return NULL;
    }
    if (u->opt->target == IR_NVPTX && text_starts(LLVMGetTarget(module), "wasm64"))
        retarget(module);
    static const char *const triples[] = { [IR_NVPTX] = "nvptx64", [IR_X86] = "x86_64" };
    if (!text_starts(LLVMGetTarget(module), triples[u->opt->target])) {
        diag_error("'%s' is for the target '%s', not %s", in->name, LLVMGetTarget(module),
                   triples[u->opt->target]);
        return NULL;
    }
    ir_verify(module, "reading");
    return module;
}

static bool read_input(struct ir_unit *u)
{
    bool ok = u->opt->link ? ir_link_members(u)
                           : (u->module = ir_parse_input(u, u->opt->inputs)) &&
                                 ir_collect_info(u, u->module, 0, NULL);
    if (ok)
        u->layout = LLVMGetModuleDataLayout(u->module);
    return ok && ir_finish_info(u) && ir_verify(u->module, "reading");
}

/* clang may have been told to keep lines for our own messages only. */
static bool strip_debug(struct ir_unit *u)
{
    if (!u->opt->debug)
        LLVMStripModuleDebugInfo(u->module);
    return true;
}

static const struct step {
    const char *name;
    bool (*run)(struct ir_unit *), sets;
} steps[] = {
    { "input", read_input, false },
    { "math", ir_lower_math, false },
    { "", ir_size_copies, false },
    { "spmd", ir_spmd, false },
    { "split", ir_split, false },
    { "inside", ir_separate_contexts, true }, /* true: for each set of kernels */
    { "globalise", ir_globalise, true },
    { "contexts", ir_sort_regions, true },
    { "link", ir_link, true },
    { "configure", ir_configure, true },
    { "dispatch", ir_dispatch, true },
    { "join", ir_join, false },
    { "internalise", ir_internalise, false },
    { "strip", strip_debug, false },
    { "atomics", ir_correct_atomics, false },
    { "prepare", ir_prepare, false },
    { "", ir_emit, false }, /* "": no dump; this one has steps of its own, per output */
    { "report", ir_write_info, false },
    { "remarks", ir_remark, false },
};

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
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!run_step(u, &steps[i]))
            return false;
        if (!*steps[i].name || i + 2 >= sizeof steps / sizeof *steps)
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

/* ------------------------------------------------------------------ options */
static const char usage[] =
    "usage: omp-device --target=nvptx64|x86_64 [-O0|-O1|-O2|-O3|-Os] [-g] --rtl=FILE.bc "
    "[--libdevice=FILE.bc]\n"
    "                  [--info=FILE] [--emit-ir=FILE] [--dump=PREFIX] [--mode=auto|generic|spmd]\n"
    "                  [--remarks] [--warn-generic|--error-generic] [--time] --out=ARCH:FILE... "
    "INPUT.bc\n"
    "       omp-device … [--member=RECORD]... INPUT.bc...    device link; each input's record, in "
    "turn: see driver/base/protocol.h\n"
    "       omp-device --print-archs\n";

static _Noreturn void misused(const char *why, const char *what)
{
    fprintf(stderr, "ompgpu-cc: error: omp-device: %s '%s'\n%s", why, what, usage);
    exit(TOOL_USAGE);
}

enum {
    O_TARGET = 256,
    O_RTL,
    O_LIBDEVICE,
    O_INFO,
    O_EMIT_IR,
    O_DUMP,
    O_MODE,
    O_REMARKS,
    O_WARN,
    O_WARN_ERROR,
    O_TIME,
    O_OUT,
    O_MEMBER,
    O_ARCHS,
    O_HELP
};
static const struct option long_options[] = {
    { "target", required_argument, 0, O_TARGET },
    { "rtl", required_argument, 0, O_RTL },
    { "libdevice", required_argument, 0, O_LIBDEVICE },
    { "info", required_argument, 0, O_INFO },
    { "emit-ir", required_argument, 0, O_EMIT_IR },
    { "dump", required_argument, 0, O_DUMP },
    { "verbose-ir", required_argument, 0, O_DUMP },
    { "mode", required_argument, 0, O_MODE },
    { "remarks", no_argument, 0, O_REMARKS },
    { "warn-generic", no_argument, 0, O_WARN },
    { "error-generic", no_argument, 0, O_WARN_ERROR },
    { "time", no_argument, 0, O_TIME },
    { "out", required_argument, 0, O_OUT },
    { "member", required_argument, 0, O_MEMBER },
    { "print-archs", no_argument, 0, O_ARCHS },
    { "help", no_argument, 0, O_HELP },
    { 0 },
};

static void set_target(struct ir_options *opt, char *value)
{
    if (strcmp(value, "nvptx64") == 0)
        opt->target = IR_NVPTX;
    else if (strcmp(value, "x86_64") == 0)
        opt->target = IR_X86;
    else
        misused("unknown target", value);
}

static void set_level(struct ir_options *opt, char *value)
{
    if (strlen(value) != 1 || !strchr("0123s", *value))
        misused("unknown optimisation level", value);
    opt->level = *value;
}

static void set_mode(struct ir_input *in, const char *value)
{
    static const char *const modes[] = { [IR_MODE_AUTO] = "auto",
                                         [IR_MODE_GENERIC] = "generic",
                                         [IR_MODE_SPMD] = "spmd" };
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(value, modes[i]) == 0) {
            in->mode = (enum ir_mode)i;
            return;
        }
    misused("unknown mode", value);
}

static void add_output(struct ir_options *opt, char *value)
{
    char *colon = strchr(value, ':');
    if (!colon || colon == value || !colon[1])
        misused("expected ARCH:FILE, not", value);
    *colon = '\0';
    opt->outputs[opt->noutputs++] = (struct ir_output){ value, colon + 1 };
}

/* The i-th --member is about the i-th input. */
static void add_member(struct ir_options *opt, char *value)
{
    struct proto_member m = { 0 };
    if (!proto_read_member(value, &m))
        misused("expected a record of driver/base/protocol.h, not", value);
    struct ir_input *in = &opt->inputs[opt->ninputs++];
    *in = (struct ir_input){ .name = m.file,
                             .needs = m.needs,
                             .remarks = m.remarks,
                             .warn_generic = m.warn_generic,
                             .error_generic = m.error_generic };
    set_mode(in, m.mode);
    opt->link = true;
}

static void set_option(struct ir_options *opt, int option, char *value)
{
    switch (option) {
    case O_TARGET: set_target(opt, value); break;
    case O_RTL: opt->rtl = value; break;
    case O_LIBDEVICE: opt->libdevice = *value ? value : NULL; break;
    case O_INFO: opt->info = value; break;
    case O_EMIT_IR: opt->emit_ir = value; break;
    case O_DUMP: opt->dump = value; break;
    case O_MODE: set_mode(&opt->inputs[0], value); break;
    case O_WARN_ERROR: opt->inputs[0].error_generic = true; /* fall through */
    case O_WARN: opt->inputs[0].warn_generic = true; break;
    case O_REMARKS: opt->inputs[0].remarks = true; break;
    case O_MEMBER: add_member(opt, value); break;
    case O_TIME: opt->time = true; break;
    case O_OUT: add_output(opt, value); break;
    case O_ARCHS: ir_print_archs(); exit(0);
    case O_HELP: fputs(usage, stdout); exit(0);
    case 'O': set_level(opt, value); break;
    case 'g': opt->debug = true; break;
    default: fputs(usage, stderr); exit(TOOL_USAGE);
    }
}

static struct ir_options parse_options(int argc, char **argv)
{
    struct ir_options opt = { .level = '2',
                              .target = IR_NVPTX,
                              .outputs = mem_array((size_t)argc, sizeof *opt.outputs),
                              .inputs = mem_array((size_t)argc, sizeof *opt.inputs) };
    for (int option; (option = getopt_long(argc, argv, "O:g", long_options, NULL)) != -1;)
        set_option(&opt, option, optarg);
    unsigned given = (unsigned)(argc - optind);
    if (!opt.link)
        opt.ninputs = 1;
    if (given != opt.ninputs)
        misused(opt.link ? "expected an input for each --member, not" : "expected one input, not",
                optind < argc ? argv[argc - 1] : "");
    for (unsigned i = 0; i < given; i++) {
        opt.inputs[i].path = argv[optind + (int)i];
        if (!opt.inputs[i].name)
            opt.inputs[i].name = opt.inputs[i].path;
    }
    if (!opt.rtl || !opt.noutputs)
        misused("missing option", opt.rtl ? "--out" : "--rtl");
    if (opt.target == IR_X86 && opt.noutputs != 1)
        misused("only one output for", "x86_64");
    return opt;
}

static void llvm_failed(const char *why) { diag_bug("LLVM: %s", why); }

int main(int argc, char **argv)
{
    struct ir_options opt = parse_options(argc, argv);
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
    _exit(ok ? TOOL_OK : TOOL_ERROR); /* the process ends: taking LLVM's structures apart would only
                                         cost time */
}
