/* options.c - the command line of omp-device. */
#include "codegen/ir/tool.h"
#include "driver/base/protocol.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: omp-device --target=nvptx64|x86_64 [-O0|-O1|-O2|-O3|-Os] [-g] --rtl=FILE.bc "
    "[--libdevice=FILE.bc]\n"
    "                  [--info=FILE] [--text=FILE.i] [--split=WORD…] [--emit-ir=FILE] "
    "[--dump=PREFIX] "
    "[--mode=auto|generic|spmd]\n"
    "                  [--report] [--remarks] [--warn-generic|--error-generic] [--time] [--quiet] "
    "[--check] "
    "--out=ARCH:FILE... "
    "INPUT.bc\n"
    "       omp-device … [--member=RECORD]... INPUT.bc...    device link; each input's record, in "
    "turn: see driver/base/protocol.h\n"
    "       omp-device --host-versions=OUTPUT.bc INPUT.bc    of the host's part\n"
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
    O_REPORT,
    O_TEXT,
    O_SPLIT,
    O_REMARKS,
    O_WARN,
    O_WARN_ERROR,
    O_TIME,
    O_QUIET,
    O_CHECK,
    O_OUT,
    O_MEMBER,
    O_VERSIONS,
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
    { "text", required_argument, 0, O_TEXT },
    { "split", required_argument, 0, O_SPLIT },
    { "report", no_argument, 0, O_REPORT },
    { "remarks", no_argument, 0, O_REMARKS },
    { "warn-generic", no_argument, 0, O_WARN },
    { "error-generic", no_argument, 0, O_WARN_ERROR },
    { "time", no_argument, 0, O_TIME },
    { "quiet", no_argument, 0, O_QUIET },
    { "check", no_argument, 0, O_CHECK },
    { "out", required_argument, 0, O_OUT },
    { "member", required_argument, 0, O_MEMBER },
    { "host-versions", required_argument, 0, O_VERSIONS },
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
                             .report = m.report,
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
    case O_TEXT: ir_set_preprocessed(value); break;
    case O_SPLIT: ir_add_split(value); break;
    case O_REPORT: opt->inputs[0].report = true; break;
    case O_REMARKS: opt->inputs[0].remarks = true; break;
    case O_MEMBER: add_member(opt, value); break;
    case O_TIME: opt->time = true; break;
    case O_QUIET: opt->quiet = true; break;
    case O_CHECK: opt->check = true; break;
    case O_OUT: add_output(opt, value); break;
    case O_VERSIONS: opt->versions = value; break;
    case O_ARCHS: ir_print_archs(); exit(0);
    case O_HELP: fputs(usage, stdout); exit(0);
    case 'O': set_level(opt, value); break;
    case 'g': opt->debug = true; break;
    default: fputs(usage, stderr); exit(TOOL_USAGE);
    }
}

struct ir_options ir_parse_options(int argc, char **argv)
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
    if (opt.versions)
        return opt;
    if (!opt.rtl || !opt.noutputs)
        misused("missing option", opt.rtl ? "--out" : "--rtl");
    if (opt.target == IR_X86 && opt.noutputs != 1)
        misused("only one output for", "x86_64");
    return opt;
}
