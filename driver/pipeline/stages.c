/* stages.c - the offload way: a file with target constructs, as a table of stages.
 *
 *   preprocess ──▶ split ─┬─▶ device-gpu ──▶ lower-gpu ──▶ ptxas (one a GPU) ─┐
 *   check (diagnostics)   ├─▶ device-emu ──▶ lower-emu ──▶ link-emu ──────────┼─▶ pack ──▶ assemble
 *   native (which GPU)    └─▶ host ───────────────────────────────────────────┘
 *
 * With OMPGPU_CACHE (cache.c), the devices' stages wait for a look into the cache after split, and
 * are left out when their result is there.
 *
 * Only who wants the assembly text, or files beside the object, pays for `assemble`: pack fills the
 * object that `host` writes (image/object.c).
 *
 * schedule.c runs the stages, offload.c writes the output. */
#include "driver/image/image.h"
#include "driver/pipeline/stages.h"
#include "hostrt/image.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ which stages
 * A device link (device_link.c) starts at the two lower stages, with the bitcode of several files.
 * A file that needs such a link ends with its bitcode; one that others may need packs its bitcode
 * beside its images. */
static bool needs_link(const struct job *j)
{
    return j->opt->emit == EMIT_NONE && j->unit.needs_link;
}
bool drv_ends_with_bitcode(const struct job *j)
{
    return needs_link(j) || (j->opt->emit == EMIT_NONE && j->unit.provides && !j->unit.entries);
}
static bool packs_bitcode(const struct job *j) { return needs_link(j) || j->unit.provides; }

static bool compiles(const struct job *j) { return !j->device_link; }
bool drv_has_gpu(const struct job *j) { return j->archs.n > 0 || j->archs.native; }
bool drv_makes_gpu_image(const struct job *j)
{
    enum emit e = j->opt->emit;
    return drv_has_gpu(j) && (e == EMIT_NONE || e == EMIT_IR || e == EMIT_PTX) &&
           j->opt->goal != GOAL_CHECK && !j->no_targets && !j->cached;
}
static bool emu_image(const struct job *j)
{
    enum emit e = j->opt->emit;
    return j->archs.emu && (e == EMIT_NONE || (e == EMIT_IR && !drv_has_gpu(j))) &&
           j->opt->goal != GOAL_CHECK && !j->no_targets && !j->cached;
}
static bool want_native(const struct job *j) { return j->archs.native; }
bool drv_is_preprocessed(const struct job *j)
{
    return text_ends(j->input_file, ".i") ||
           (j->language && strcmp(j->language, "cpp-output") == 0);
}
static bool want_preprocess(const struct job *j) { return compiles(j) && !drv_is_preprocessed(j); }
static bool want_device_gpu(const struct job *j) { return compiles(j) && drv_makes_gpu_image(j); }
static bool want_device_emu(const struct job *j) { return compiles(j) && emu_image(j); }
static bool want_lower_gpu(const struct job *j)
{
    return drv_makes_gpu_image(j) && !drv_ends_with_bitcode(j);
}
static bool want_lower_emu(const struct job *j)
{
    return emu_image(j) && !drv_ends_with_bitcode(j);
}
static bool want_host(const struct job *j)
{
    return compiles(j) && j->opt->emit == EMIT_NONE && j->opt->goal != GOAL_CHECK && !j->no_targets;
}
/* Flags that have clang's pipeline do more than optimise: it gets the text whole. */
static bool wants_whole_pipeline(const struct options *o)
{
    static const enum flag_id ids[] = { FLAG_FSANITIZE, FLAG_FPROFILE,       FLAG_FCOVERAGE,
                                        FLAG_PG,        FLAG_FTEST_COVERAGE, FLAG_COVERAGE,
                                        FLAG_FTIME,     FLAG_MLLVM,          FLAG_FPLUGIN,
                                        FLAG_XCLANG,    FLAG_CHECK_HOST };
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
        if (drv_has(o, ids[i]))
            return true;
    return o->beside;
}
/* With -O3 and more the host's versions of regions are optimised like the rest, too. */
static bool want_host_versions(const struct job *j)
{
    const char *level = j->opt->level ? j->opt->level : "0";
    return want_host(j) && !j->opt->gcc && strlen(level) == 1 && strchr("12sz", *level) &&
           !wants_whole_pipeline(j->opt);
}
bool drv_runs_ptxas(const struct job *j)
{
    return want_lower_gpu(j) && j->opt->emit == EMIT_NONE && drv_ptxas(j->opt);
}
static bool want_link_emu(const struct job *j)
{
    return want_lower_emu(j) && j->opt->emit == EMIT_NONE;
}
static bool want_pack(const struct job *j) { return j->device_link || want_host(j); }
/* A hit has no intermediate files and no remarks. */
static bool want_look_up(const struct job *j)
{
    return drv_cache_dir() && compiles(j) && want_host(j) && !j->opt->save && !j->opt->report;
}
static bool want_object(const struct job *j)
{
    return want_pack(j) && j->opt->goal != GOAL_ASSEMBLY;
}
/* The host compiler writes the object, which is then filled, unless somebody wants to see the
 * assembly text, or the files that come with an object.  A device link has no host text. */
static bool direct(const struct job *j)
{
    return want_object(j) && (j->device_link || (!j->opt->save && !j->opt->beside));
}
static bool want_assemble(const struct job *j) { return want_object(j) && !direct(j); }
static unsigned count_archs(const struct job *j) { return j->archs.n; }

static bool first_device_is_gpu(const struct job *j) { return drv_makes_gpu_image(j); }

/* ------------------------------------------------------------------ names */
const char *drv_arch_file(const struct job *j, unsigned i, const char *extension)
{
    return mem_printf("%s.%s.%s", drv_job_base(j), drv_arch_name(&j->archs, i), extension);
}
const char *drv_preprocessed(const struct job *j)
{
    if (j->device_link)
        return NULL;
    return want_preprocess(j) ? drv_job_file(j, "i") : j->input_file;
}
const char *drv_stage_err(const struct job *j, enum stage_id id, unsigned i)
{
    return mem_printf("%s/%d.%u.err", drv_job_dir(j), (int)id, i);
}

/* ------------------------------------------------------------------ the commands */
static void native(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_tool("omp-machine"), "--native");
    p->out = drv_job_file(j, "native");
}

void drv_input(const struct job *j, struct proc *p)
{
    if (j->language)
        WORDS_ADD(&p->argv, "-x", j->language);
    WORDS_ADD(&p->argv, j->path);
    if (strcmp(j->path, "-") == 0)
        p->in = j->input_file;
}

/* clang expands macros in `#pragma pack`, but with -E only in the directives of OpenMP, or with
 * this flag in all that it does not read itself.  Not in `#pragma STDC`, where clang expands none.
 */
static void expand_pragmas(const struct job *j, struct words *w)
{
    size_t size;
    const char *text = file_read(j->input_file, &size);
    if (!text || !memmem(text, size, "STDC", 4))
        WORDS_ADD(w, "-fms-extensions");
}

void drv_preprocess(const struct job *j, struct proc *p)
{
    WORDS_ADD(&p->argv, drv_clang(), "-E", "-w");
    expand_pragmas(j, &p->argv);
    drv_common_args(j->opt, &p->argv);
    drv_clang_headers(j->opt, &p->argv);
    drv_add_args(&p->argv, j->opt, FOR_PRE);
    /* A fortified call would be a call of glibc from the device. */
    WORDS_ADD(&p->argv, "-U_FORTIFY_SOURCE", "-o", drv_job_file(j, "i"));
    drv_input(j, p);
}

static void preprocess(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    (drv_gcc_text(j) ? drv_gcc_preprocess : drv_preprocess)(j, p);
}

static void check_args(const struct job *j, struct proc *p)
{
    WORDS_ADD(&p->argv, drv_clang(), "-fsyntax-only");
    drv_common_args(j->opt, &p->argv);
    if (!drv_is_preprocessed(j))
        drv_clang_headers(j->opt, &p->argv);
    drv_deprecation_args(j->opt, &p->argv);
    if (j->opt->gcc)
        drv_gcc_accepts(&p->argv);
    drv_add_args(&p->argv, j->opt, FOR_CHECK);
    if (j->opt->verbose)
        WORDS_ADD(&p->argv, "-v");
}

void drv_check_text_command(const struct job *j, const char *text, struct proc *p)
{
    check_args(j, p);
    WORDS_ADD(&p->argv, "-Wno-unused-command-line-argument", "-x", "cpp-output", text);
}

void drv_check_command(const struct job *j, struct proc *p)
{
    if (drv_gcc_text(j)) {
        drv_check_text_command(j, drv_check_text(j, drv_preprocessed(j)), p);
        return;
    }
    check_args(j, p);
    drv_dep_args(j, &p->argv);
    const char *text = drv_check_args(j, &p->argv);
    drv_input(j, p);
    if (p->in)
        p->in = text;
}

static void check(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    drv_check_command(j, p);
}

static const char *shown_path(const struct job *j)
{
    return strcmp(j->path, "-") == 0 ? "<stdin>" : j->path;
}

/* For the places of tokens out of macros.  Without -fopenmp, since some directives would crash
 * libclang. */
static void add_user_file(const struct job *j, struct words *w)
{
    WORDS_ADD(w, "--", "-D_OPENMP=202111");
    drv_clang_headers(j->opt, w);
    drv_add_args(w, j->opt, FOR_PRE);
    if (j->language)
        WORDS_ADD(w, "-x", j->language);
    WORDS_ADD(w, j->path);
}

/* The last of the two flags counts. */
static bool spreads_loops(const struct options *o)
{
    bool spreads = !o->mode || strcmp(o->mode, "generic") != 0;
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == FLAG_SPREAD || o->args[i].id == FLAG_NO_SPREAD)
            spreads = o->args[i].id == FLAG_SPREAD;
    return spreads;
}

static const char *warnings(const struct options *o)
{
#define LEVEL(id, name)                                                                            \
    (char)('0' + drv_warns(o, WARN_##id) * (1 + drv_warning_is_error(o, WARN_##id))),
    const char levels[] = { PROTO_WARNINGS(LEVEL) 0 };
#undef LEVEL
    return mem_strdup(levels);
}

/* What --gpu-arch=native finds is not known yet; the emulated device is like the lowest GPU. */
static void add_archs(const struct archs *a, struct words *w)
{
    unsigned low = a->n ? a->sm[0] : 75, high = low;
    if (a->native)
        return;
    for (unsigned i = 1; i < a->n; i++) {
        low = a->sm[i] < low ? a->sm[i] : low;
        high = a->sm[i] > high ? a->sm[i] : high;
    }
    WORDS_ADD(w, "--lowest-sm", mem_printf("%u", low), "--highest-sm", mem_printf("%u", high));
}

static void split(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_tool("omp-split"), "--path", shown_path(j));
    WORDS_ADD(&p->argv, "--device", drv_job_file(j, "device.c"), "--host",
              drv_job_file(j, "host.c"), "--check", drv_job_file(j, "check.i"));
    WORDS_ADD(&p->argv, "--warnings", warnings(j->opt));
    add_archs(&j->archs, &p->argv);
    const char *version = drv_value(j->opt, FLAG_FOPENMP_VERSION);
    WORDS_ADD(&p->argv, "--openmp", version ? version : drv_openmp_version());
    if (drv_has(j->opt, FLAG_ATOMIC_REDUCTION))
        WORDS_ADD(&p->argv, "--atomic-reduction");
    if (!spreads_loops(j->opt))
        WORDS_ADD(&p->argv, "--one-team");
    if (drv_has(j->opt, FLAG_TEAM_LIMITS))
        WORDS_ADD(&p->argv, "--team-limits");
    if (drv_has(j->opt, FLAG_OFFLOAD_MANDATORY))
        WORDS_ADD(&p->argv, "--offload-mandatory");
    if (drv_has(j->opt, FLAG_LONG_DOUBLE))
        WORDS_ADD(&p->argv, "--long-double-is-double");
    if (j->opt->gcc)
        WORDS_ADD(&p->argv, "--for-gcc");
    if (j->opt->report)
        WORDS_ADD(&p->argv, "--report");
    if (j->opt->remarks)
        WORDS_ADD(&p->argv, "--remarks");
    /* not where a person reads the text: messages as the program runs name lines without -g, too */
    if (j->opt->emit == EMIT_NONE || j->opt->debug || j->opt->report ||
        drv_warns(j->opt, WARN_GENERIC) || j->opt->mode || j->check)
        WORDS_ADD(&p->argv, "--exact-lines");
    if (j->opt->emit == EMIT_TREE)
        WORDS_ADD(&p->argv, "--tree", drv_job_file(j, "tree"));
    WORDS_ADD(&p->argv, drv_preprocessed(j), "--");
    drv_add_args(&p->argv, j->opt, FOR_SPLIT);
    if (drv_has(j->opt, FLAG_LONG_DOUBLE)) /* sizes are the device's */
        words_add(&p->argv, "-mlong-double-64");
    if (want_preprocess(j) && !drv_gcc_text(j) && strcmp(j->path, "-") != 0)
        add_user_file(j, &p->argv);
}

/* In debug information the user's file stands for our text: the same input gives the same object,
 * whatever the temporary directory. */
static void hide_temp(const struct job *j, struct proc *p, const char *extension, const char *name)
{
    if (!j->opt->save)
        words_add(&p->argv,
                  mem_printf("-fdebug-prefix-map=%s=%s", drv_job_file(j, extension), name));
}

/* No LLVM pass runs before omp-device: -O2 only keeps clang from marking functions optnone and
 * loops as not to be unrolled. */
static void device(const struct job *j, struct proc *p, const char *out)
{
    hide_temp(j, p, "device.c", text_replace(shown_path(j), '"', '\'')); /* PTX has no \" */
    WORDS_ADD(&p->argv, "-x", "c", "-include", drv_tool("ompgpu_device.h"), "-O2",
              "-fconvergent-functions", "-fno-discard-value-names", "-Xclang",
              "-disable-llvm-passes", "-w", "-fno-crash-diagnostics", "-emit-llvm", "-c",
              drv_job_file(j, "device.c"), "-o", out);
}

/* For messages; omp-device drops lines that nobody asked to have in the code.  Remarks name
 * variables. */
static bool wants_lines(const struct job *j)
{
    return j->opt->report || drv_warns(j->opt, WARN_GENERIC) || j->opt->mode || packs_bitcode(j);
}
static void add_lines(const struct job *j, struct words *w)
{
    if (j->opt->report && !j->opt->debug)
        WORDS_ADD(w, "-g", "--cuda-noopt-device-debug"); /* else clang leaves out variables */
    else
        WORDS_ADD(w, "-gline-directives-only");
}

static void device_gpu(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    words_add(&p->argv, drv_clang());
    if (j->unit.not_for_nvptx)
        drv_vla_target(&p->argv);
    else
        WORDS_ADD(&p->argv, "--target=nvptx64-nvidia-cuda", "-march=sm_75", "--cuda-feature=+ptx73",
                  "-nogpulib", "-Wno-unknown-cuda-version");
    /* as CUDA does; what the user says of it comes after */
    words_add(&p->argv, "-ffp-contract=fast-honor-pragmas");
    drv_add_args(&p->argv, j->opt, FOR_NVPTX);
    if (j->opt->debug || wants_lines(j))
        add_lines(j, &p->argv);
    device(j, p, drv_job_file(j, "nvptx64.bc"));
}

static void device_emu(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    /* LLVM would make the process's calloc of malloc and memset, after the device's is linked */
    WORDS_ADD(&p->argv, drv_clang(), "--target=x86_64-pc-linux-gnu", "-fno-builtin-calloc");
    drv_add_args(&p->argv, j->opt, FOR_EMU);
    drv_add_sanitizers(&p->argv, j->opt);
    if (!j->opt->debug) /* lines for messages of the running program, too */
        WORDS_ADD(&p->argv, j->opt->report ? "-g" : "-gline-tables-only");
    WORDS_ADD(&p->argv, "-fPIC");
    if (drv_has(j->opt, FLAG_LONG_DOUBLE)) /* as clang has it for nvptx64 */
        words_add(&p->argv, "-mlong-double-64");
    device(j, p, drv_job_file(j, "x86_64.bc"));
}

/* Killed while it makes a file beside the output, clang would leave that: write_to is ours. */
static void compile_host(const struct job *j, struct proc *p, const char *language,
                         const char *what)
{
    drv_host_openmp(j->opt, &p->argv);
    drv_add_args(&p->argv, j->opt, direct(j) ? FOR_HOST | FOR_AS : FOR_HOST);
    drv_watch_loads(&p->argv, j->opt);
    hide_temp(j, p, "host.c", shown_path(j));
    drv_side_args(j, &p->argv);
    if (j->opt->gcc)
        drv_gcc_input(j, &p->argv);
    else
        WORDS_ADD(&p->argv, "-mllvm", "-openmp-opt-disable", "-fno-temp-file", "-x", language);
    words_add(&p->argv, drv_job_file(j, what));
}

static void host_ir(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_host_cc(j->opt), "-c", "-w", "-emit-llvm", "-Xclang",
              "-disable-llvm-passes");
    compile_host(j, p, "cpp-output", "host.c");
    WORDS_ADD(&p->argv, "-o", drv_job_file(j, "host.bc"));
}

static void host_versions(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_tool("omp-device"),
              mem_printf("--host-versions=%s", drv_job_file(j, "versions.bc")),
              drv_job_file(j, "host.bc"));
}

static void host(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_host_cc(j->opt), direct(j) ? "-c" : "-S", "-w");
    if (want_assemble(j) && !j->opt->save) /* a comment ends where a file's name has a newline */
        words_add(&p->argv, "-fno-verbose-asm");
    if (want_host_versions(j))
        compile_host(j, p, "ir", "versions.bc");
    else
        compile_host(j, p, "cpp-output", "host.c");
    WORDS_ADD(&p->argv, "-o", direct(j) ? j->write_to : drv_job_file(j, "s"));
}

/* omp-device knows -O0 … -O3 and -Os.  Without a flag device code is optimised, as other GPU
 * compilers do, unless it is to be debugged. */
const char *drv_device_level(const struct options *o)
{
    const char *l = o->level ? o->level : o->debug ? "0" : "2";
    if (strcmp(l, "0") == 0)
        return "-O0";
    if (strcmp(l, "s") == 0 || strcmp(l, "z") == 0)
        return "-Os";
    if (strcmp(l, "1") == 0 || strcmp(l, "g") == 0)
        return "-O1";
    return strcmp(l, "2") == 0 ? "-O2" : "-O3";
}

/* For its messages about lines that macros have changed. */
static void add_split(const struct job *j, struct words *w)
{
    struct words split = { 0 };
    if (!want_preprocess(j) || drv_gcc_text(j) || strcmp(j->path, "-") == 0)
        return;
    WORDS_ADD(&split, drv_tool("omp-split"), "--path", shown_path(j), drv_preprocessed(j), "--");
    add_user_file(j, &split);
    for (unsigned i = 0; i < split.n; i++)
        WORDS_ADD(w, mem_printf("--split=%s", split.v[i]));
}

static void lower(const struct job *j, struct proc *p, const char *target, bool first)
{
    WORDS_ADD(&p->argv, drv_tool("omp-device"), mem_printf("--target=%s", target), j->level,
              mem_printf("--rtl=%s", drv_tool(mem_printf("devicertl-%s.bc", target))),
              mem_printf("--info=%s.%s.info", drv_job_base(j), target));
    if (j->debug)
        WORDS_ADD(&p->argv, "-g");
    if (!first)
        WORDS_ADD(&p->argv, "--quiet");
    if (j->device_link)
        return;
    WORDS_ADD(&p->argv, mem_printf("--text=%s", drv_preprocessed(j)));
    if (first)
        add_split(j, &p->argv);
    if (j->opt->mode)
        WORDS_ADD(&p->argv, mem_printf("--mode=%s", j->opt->mode));
    if (first && j->opt->report)
        WORDS_ADD(&p->argv, "--report");
    if (first && j->opt->remarks)
        WORDS_ADD(&p->argv, "--remarks");
    if (first && drv_warns(j->opt, WARN_GENERIC))
        WORDS_ADD(&p->argv, drv_warning_is_error(j->opt, WARN_GENERIC) ? "--error-generic"
                                                                       : "--warn-generic");
    if (first && j->opt->emit == EMIT_IR)
        WORDS_ADD(&p->argv, mem_printf("--emit-ir=%s", drv_job_file(j, "ll")));
}

/* Only one of the two targets says what there is to say. */
static const char *member_flag(struct proto_member m, bool silent)
{
    if (silent)
        m.report = m.remarks = m.warn_generic = m.error_generic = false;
    return mem_printf("--member=%s", proto_write_member(&m));
}

static void lower_inputs(const struct job *j, struct proc *p, bool emu, bool first)
{
    const struct device_link *d = j->device_link;
    if (!d)
        WORDS_ADD(&p->argv, drv_job_file(j, emu ? "x86_64.bc" : "nvptx64.bc"));
    for (unsigned i = 0; d && i < d->n; i++)
        words_add(&p->argv, member_flag(d->members[i], !first));
    for (unsigned i = 0; d && i < d->n; i++)
        WORDS_ADD(&p->argv, d->bitcode[emu][i]);
}

static void lower_gpu(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    const char *libdevice = drv_libdevice(j->opt);
    lower(j, p, "nvptx64", true);
    if (libdevice)
        WORDS_ADD(&p->argv, mem_printf("--libdevice=%s", libdevice));
    for (unsigned k = 0; k < j->archs.n; k++)
        WORDS_ADD(&p->argv, mem_printf("--out=%s:%s", drv_arch_name(&j->archs, k),
                                       drv_arch_file(j, k, "ptx")));
    lower_inputs(j, p, false, true);
}

static void lower_emu(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    lower(j, p, "x86_64", !first_device_is_gpu(j));
    if (j->check)
        WORDS_ADD(&p->argv, "--check");
    WORDS_ADD(&p->argv, mem_printf("--out=emu:%s", drv_job_file(j, "emu.o")));
    lower_inputs(j, p, true, !first_device_is_gpu(j));
}

static void add_ptxas_args(const struct options *o, struct words *w)
{
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == FLAG_PTXAS)
            words_add_parts(w, o->args[i].value, ",");
}

/* -O3, nvcc's choice, at -O0 too: with -O1 ptxas 13.0 has wrong code for a thread's share of a
 * dynamic loop (an atomic addition that a warp makes as one), and it saves next to no time. */
static void ptxas(const struct job *j, unsigned i, struct proc *p)
{
    WORDS_ADD(&p->argv, drv_ptxas(j->opt), "-v",
              mem_printf("-arch=%s", drv_arch_name(&j->archs, i)), "-O3");
    if (j->debug)
        WORDS_ADD(&p->argv, "-lineinfo");
    add_ptxas_args(j->opt, &p->argv);
    WORDS_ADD(&p->argv, drv_arch_file(j, i, "ptx"), "-o", drv_arch_file(j, i, "cubin"));
}

static void link_emu(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, "ld", "-shared", "--eh-frame-hdr", drv_job_file(j, "emu.o"), "--as-needed",
              "-lm", "-lc", "-o", drv_job_file(j, "emu.so"));
}

static void assemble(const struct job *j, unsigned i, struct proc *p)
{
    (void)i;
    WORDS_ADD(&p->argv, drv_host_cc(j->opt), "-c");
    drv_add_args(&p->argv, j->opt, FOR_AS);
    WORDS_ADD(&p->argv, "-x", "assembler", drv_job_file(j, "s"), "-o", j->write_to);
}

/* ------------------------------------------------------------------ inside */
/* The container: a cubin for each GPU, PTX of the highest one for GPUs still to come, the emulated
 * device's object. */
static unsigned highest(const struct archs *a)
{
    unsigned best = 0;
    for (unsigned i = 1; i < a->n; i++)
        if (a->sm[i] > a->sm[best])
            best = i;
    return best;
}

const char *drv_highest_ptx(const struct job *j)
{
    return drv_arch_file(j, highest(&j->archs), "ptx");
}

/* What the device link must know of how this file was compiled. */
static const char *recorded(const struct job *j)
{
    struct proto_compiled c = { .level = j->level,
                                .debug = j->debug,
                                .check = j->check,
                                .mode = j->opt->mode ? j->opt->mode : "auto",
                                .remarks = j->opt->remarks,
                                .warn = drv_warns(j->opt, WARN_GENERIC),
                                .error = drv_warning_is_error(j->opt, WARN_GENERIC),
                                .archs = drv_arch_names(&j->archs),
                                .host_only = j->unit.host_only,
                                .requires = j->unit.requires };
    const char *compiled = proto_write_compiled(&c);
    return packs_bitcode(j) && j->regions ? mem_printf("%s\n%s", compiled, j->regions) : compiled;
}

static unsigned image_files(const struct job *j, struct image_file *files)
{
    unsigned n = 0, top = highest(&j->archs);
    for (unsigned i = 0; drv_runs_ptxas(j) && i < j->archs.n; i++)
        files[n++] =
            (struct image_file){ OMPGPU_IMAGE_CUBIN, j->archs.sm[i], drv_arch_file(j, i, "cubin") };
    if (want_lower_gpu(j))
        files[n++] =
            (struct image_file){ OMPGPU_IMAGE_PTX, j->archs.sm[top], drv_arch_file(j, top, "ptx") };
    if (want_lower_emu(j))
        files[n++] = (struct image_file){ OMPGPU_IMAGE_EMU, 0, drv_job_file(j, "emu.so") };
    if (packs_bitcode(j) && drv_makes_gpu_image(j))
        files[n++] =
            (struct image_file){ OMPGPU_IMAGE_BITCODE_GPU, 0, drv_job_file(j, "nvptx64.bc") };
    if (packs_bitcode(j) && emu_image(j))
        files[n++] =
            (struct image_file){ OMPGPU_IMAGE_BITCODE_EMU, 0, drv_job_file(j, "x86_64.bc") };
    return n;
}

/* Both devices' code comes from one text, so the links agree; were it otherwise, kernels would be
 * looked for under wrong names. */
static bool members_agree(const struct job *j)
{
    if (!j->device_link || !want_lower_gpu(j) || !want_lower_emu(j))
        return true;
    unsigned n = j->device_link->n;
    bool *gpu = drv_read_members(drv_job_file(j, "nvptx64.info"), n),
         *emu = drv_read_members(drv_job_file(j, "x86_64.info"), n);
    if (memcmp(gpu, emu, n) == 0)
        return true;
    diag_error(
        "the device links for the GPU and for the emulated device differ; this is a fault of "
        "ompgpu-cc");
    return false;
}

static bool add_image(const struct job *j, const char *image)
{
    if (j->device_link)
        return drv_write_image_object(j->write_to, image);
    if (direct(j))
        return drv_fill_image(j->write_to, image);
    return drv_append_image(drv_job_file(j, "s"), image, j->opt->goal == GOAL_ASSEMBLY);
}

static bool write_container(const struct job *j, const char *image)
{
    struct image_file files[MAX_ARCHS + 4];
    struct container c = { .files = files,
                           .nfiles = image_files(j, files),
                           .compress = !j->opt->uncompressed,
                           .options = recorded(j),
                           .file = j->path };
    if (drv_runs_ptxas(j))
        c.stats = drv_read_ptxas(drv_stage_err(j, PTXAS, 0), &c.nstats);
    if (want_lower_gpu(j))
        c.info = drv_job_file(j, "nvptx64.info");
    if (want_lower_emu(j))
        c.emu_info = drv_job_file(j, "x86_64.info");
    c.flags = needs_link(j)    ? OMPGPU_CONTAINER_NEEDS_LINK
              : j->device_link ? OMPGPU_CONTAINER_LINKED
                               : 0;
    if (j->check && emu_image(j))
        c.flags |= OMPGPU_CONTAINER_CHECKED;
    return members_agree(j) && drv_write_container(image, &c);
}

static bool was_silent(const struct job *j, enum stage_id id)
{
    const char *said = file_read(drv_stage_err(j, id, 0), NULL);
    return !said || !*said;
}

static int pack(struct job *j)
{
    const char *image = drv_job_file(j, "image");
    unsigned warnings = diag_warnings();
    if (!j->cached && !write_container(j, image))
        return EXIT_COMPILE;
    if (j->cache_entry && !j->cached && was_silent(j, LOWER_GPU) && was_silent(j, LOWER_EMU) &&
        diag_warnings() == warnings)
        drv_cache_store(j->cache_entry, image);
    return add_image(j, image) ? 0 : EXIT_COMPILE;
}

/* ------------------------------------------------------------------ exit codes */
static int native_done(struct job *j, int code)
{
    char *text = code == 0 ? file_read(drv_job_file(j, "native"), NULL) : NULL;
    if (!text && j->archs.by_default) { /* a driver without a device */
        drv_add_arch(&j->archs, 75, "");
        j->archs.emu = true;
        return 0;
    }
    if (!text) {
        diag_error("'--gpu-arch=native': there is no GPU in this machine, or its driver does not "
                   "start; name the GPU: --gpu-arch=sm_XX");
        return EXIT_COMPILE;
    }
    for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text))
        drv_add_arch(&j->archs, (unsigned)strtoul(line + 3, NULL, 10), "");
    return 0;
}

static int split_done(struct job *j, int code)
{
    const char *text = code == TOOL_OK ? file_read(drv_job_file(j, "device.c"), NULL) : NULL;
    j->unit = (struct proto_unit){ 0 };
    j->no_targets = code == TOOL_NO_TARGETS;
    if (text && !(text_starts(text, "// ") && proto_read_unit(text + 3, &j->unit))) {
        diag_error("'%s' does not begin with a record of what it is; this is a fault of ompgpu-cc",
                   drv_job_file(j, "device.c"));
        return EXIT_COMPILE;
    }
    if (text && j->opt->report)
        j->regions = drv_region_records(text);
    return j->no_targets ? 0 : code;
}

/* ------------------------------------------------------------------ the table */
static int look_up(struct job *);
const struct stage drv_stages[STAGES] = {
    [NATIVE] = { "native", "asking for this machine's GPU", 0, want_native, NULL, native, NULL,
                 native_done },
    [PREPROCESS] = { "preprocess", "preprocessing", 0, want_preprocess, NULL, preprocess, NULL,
                     NULL },
    [CHECK] = { "check", "checking", 0, compiles, NULL, check, NULL, NULL },
    [SPLIT] = { "split", "reading the directives of", AFTER(PREPROCESS), compiles, NULL, split,
                NULL, split_done },
    [LOOK_UP] = { "cache", "looking into the cache for", AFTER(SPLIT) | AFTER(NATIVE), want_look_up,
                  NULL, NULL, look_up, NULL },
    [DEVICE_GPU] = { "device-gpu", "compiling the GPU part of", AFTER(LOOK_UP), want_device_gpu,
                     NULL, device_gpu, NULL, NULL },
    [HOST_IR] = { "host-ir", "compiling the host part of", AFTER(SPLIT), want_host_versions, NULL,
                  host_ir, NULL, NULL },
    [HOST_VERSIONS] = { "host-versions", "compiling the host part of", AFTER(HOST_IR),
                        want_host_versions, NULL, host_versions, NULL, NULL },
    [HOST] = { "host", "compiling the host part of", AFTER(SPLIT) | AFTER(HOST_VERSIONS), want_host,
               NULL, host, NULL, NULL },
    [DEVICE_EMU] = { "device-emu", "compiling the emulated device's part of", AFTER(LOOK_UP),
                     want_device_emu, NULL, device_emu, NULL, NULL },
    [LOWER_GPU] = { "lower-gpu", "generating GPU code for", AFTER(DEVICE_GPU), want_lower_gpu, NULL,
                    lower_gpu, NULL, NULL },
    [LOWER_EMU] = { "lower-emu", "generating emulated device code for", AFTER(DEVICE_EMU),
                    want_lower_emu, NULL, lower_emu, NULL, NULL },
    [PTXAS] = { "ptxas", "assembling the GPU part of", AFTER(LOWER_GPU), drv_runs_ptxas,
                count_archs, ptxas, NULL, NULL },
    [LINK_EMU] = { "link-emu", "linking the emulated device's part of", AFTER(LOWER_EMU),
                   want_link_emu, NULL, link_emu, NULL, NULL },
    [PACK] = { "pack", "packing the images of", AFTER(HOST) | AFTER(PTXAS) | AFTER(LINK_EMU),
               want_pack, NULL, NULL, pack, NULL },
    [ASSEMBLE] = { "assemble", "assembling", AFTER(PACK), want_assemble, NULL, assemble, NULL,
                   NULL },
};

/* ------------------------------------------------------------------ the cache (cache.c) */
static void add_commands(const struct job *j, const struct stage *s, struct text *key)
{
    unsigned n = !s->wanted(j) ? 0 : s->count ? s->count(j) : 1;
    for (unsigned i = 0; i < n; i++) {
        struct proc p = { 0 };
        s->command(j, i, &p);
        drv_cache_add_command(key, &p.argv, drv_job_base(j));
    }
}

static int look_up(struct job *j)
{
    static const enum stage_id makers[] = { DEVICE_GPU, DEVICE_EMU, LOWER_GPU,
                                            LOWER_EMU,  PTXAS,      LINK_EMU };
    size_t size;
    struct text key = { 0 };
    char *here = getcwd(NULL, 0); /* in debug information */
    const char *text = file_read(drv_job_file(j, "device.c"), &size);
    if (!text)
        return 0;
    text_printf(&key, "%s\n%s\n%s\n%d\n", here ? here : "", j->path, recorded(j),
                j->opt->uncompressed);
    for (unsigned i = 0; i < sizeof makers / sizeof *makers; i++)
        add_commands(j, &drv_stages[makers[i]], &key);
    text_add(&key, text, size);
    free(here);
    j->cache_entry = drv_cache_entry(&key);
    j->cached = drv_cache_find(j->cache_entry, drv_job_file(j, "image"));
    return 0;
}
