/* compile.c - one input file: which way it goes, and the plain way.
 *
 * A file without target constructs is compiled by one clang, with the user's flags as they are.
 * Whether it has some is decided by a look at its bytes (scan.c); its headers are looked at after
 * that compile, because only clang knows which they are. */
#include "driver/pipeline/stages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ flags of every clang */
/* Our omp.h adds to the compiler's. */
static void add_headers(const struct options *o, struct words *w)
{
    if (!o->openmp)
        return;
    words_add(w, "-isystem");
    words_add(w, drv_tool("include"));
}

void drv_clang_headers(const struct options *o, struct words *w)
{
    static const char *own;
    add_headers(o, w);
    if (o->gcc && o->openmp && !own)
        own = drv_host_file(o, "include/omp.h");
    if (own)
        words_add(w, mem_printf("-D__OMPGPU_HOST_OMP_H=\"%s\"", own));
}

void drv_common_args(const struct options *o, struct words *w)
{
    if (o->openmp && !drv_has(o, FLAG_FOPENMP_EQ))
        words_add(w, "-fopenmp");
    if (o->openmp && !o->openmp_version)
        words_add(w, mem_printf("-fopenmp-version=%s", drv_openmp_version()));
    drv_message_args(o, w);
}

/* clang writes to a file, but as for the terminal where its messages will be shown. */
void drv_message_args(const struct options *o, struct words *w)
{
    const unsigned columns = diag_columns();
    if (columns && !drv_has(o, FLAG_FMESSAGE))
        words_add(w, mem_printf("-fmessage-length=%u", columns));
    if (diag_in_colour() && !o->color)
        words_add(w, "-fcolor-diagnostics");
    words_add(w, "-fno-crash-diagnostics");
}

/* clang counts `#pragma omp declare target` … `end declare target`, which most programs have, among
 * what is deprecated; that has no group of its own.  These are the other groups in it that are on.
 */
void drv_deprecation_args(const struct options *o, struct words *w)
{
    if (o->openmp)
        WORDS_ADD(w, "-Wno-deprecated", "-Wdeprecated-declarations", "-Wdeprecated-non-prototype",
                  "-Wdeprecated-attributes", "-Wdeprecated-pragma", "-Wdeprecated-builtins",
                  "-Wdeprecated-type");
}

void drv_host_openmp(const struct options *o, struct words *w)
{
    if (!o->gcc)
        drv_common_args(o, w);
    else if (o->openmp)
        WORDS_ADD(w, "-fopenmp", "-foffload=disable"); /* its own device code */
}

void drv_host_headers(const struct options *o, struct words *w)
{
    (o->gcc ? add_headers : drv_clang_headers)(o, w);
}

/* Where -MD writes and what it names follow the output that the user asked for, not the file that
 * clang is told to write. */
void drv_dep_args(const struct job *j, struct words *w)
{
    const struct options *o = j->opt;
    if (!o->dep_out)
        return;
    const char *target =
        o->output ? o->output : mem_printf("%s.%s", j->stem, o->goal == GOAL_ASSEMBLY ? "s" : "o");
    if (!o->dep_file) {
        const char *dir =
            o->output && strchr(o->output, '/') ? mem_printf("%s/", path_dir(o->output)) : "";
        words_add(w, "-MF");
        words_add(w, mem_printf("%s%s.d", dir, path_stem(target)));
    }
    if (!o->dep_target) {
        words_add(w, "-MQ");
        words_add(w, target);
    }
}

const char *drv_job_dir(const struct job *j)
{
    if (!*j->dir) {
        *j->dir = mem_printf("%s/%u", drv_temp_dir(), j->index);
        drv_make_dir(*j->dir);
    }
    return *j->dir;
}

const char *drv_job_base(const struct job *j)
{
    return j->base ? j->base : mem_printf("%s/%s", drv_job_dir(j), j->stem);
}

const char *drv_scratch_file(const struct job *j, const char *name)
{
    const char *file = drv_memory_file(name);
    return file ? file : mem_printf("%s/%s", drv_job_dir(j), name);
}

const char *drv_job_file(const struct job *j, const char *extension)
{
    return mem_printf("%s.%s", drv_job_base(j), extension);
}

/* ------------------------------------------------------------------ kinds of input */
static bool is_c(const struct job *j)
{
    const char *l = j->language;
    if (l)
        return strcmp(l, "c") == 0 || strcmp(l, "cpp-output") == 0;
    return text_ends(j->path, ".c") || text_ends(j->path, ".i");
}

static bool is_other_source(const struct job *j)
{
    static const char *const extensions[] = { ".cc", ".cpp", ".cxx", ".C",   ".c++", ".ii",
                                              ".m",  ".mm",  ".f",   ".f90", ".cu" };
    if (j->language)
        return strstr(j->language, "c++") || strstr(j->language, "objective");
    for (unsigned i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (text_ends(j->path, extensions[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ the plain way */
void drv_remove_depfile(const struct job *j)
{
    struct words dep = { 0 };
    struct stat st;
    if (!j->opt->dep_out || j->opt->dry)
        return;
    drv_dep_args(j, &dep);
    const char *file =
        dep.n && strcmp(dep.v[0], "-MF") == 0 ? dep.v[1] : drv_value(j->opt, FLAG_MF);
    if (file && stat(file, &st) == 0 && S_ISREG(st.st_mode))
        unlink(file);
}

/* Objects and assembly cannot include anything that matters here. */
static bool has_headers(const struct job *j)
{
    return j->opt->openmp && (is_c(j) || is_other_source(j));
}

/* Those that the user wants, or a list for our own look at the headers; its file in *depfile. */
void drv_plain_deps(const struct job *j, struct words *w, const char **depfile)
{
    struct words dep = { 0 };
    *depfile = NULL;
    if (j->opt->dep_out) {
        drv_dep_args(j, &dep);
        *depfile = dep.n && strcmp(dep.v[0], "-MF") == 0 ? dep.v[1] : drv_value(j->opt, FLAG_MF);
    } else if (has_headers(j) && !drv_is_preprocessed(j) && !j->no_targets && !j->opt->dry) {
        *depfile = drv_scratch_file(j, "deps");
        WORDS_ADD(&dep, "-MD", "-MF", *depfile);
    }
    words_add_all(w, &dep);
}

static void plain_args(const struct job *j, struct words *w, const char **depfile)
{
    static const char *const goals[] = { [GOAL_OBJECT] = "-c",
                                         [GOAL_ASSEMBLY] = "-S",
                                         [GOAL_CHECK] = "-fsyntax-only" };
    const struct options *o = j->opt;
    words_add(w, drv_host_cc(o));
    drv_host_openmp(o, w);
    if (!drv_is_preprocessed(j))
        drv_host_headers(o, w);
    if (is_c(j) && j->mentions_omp && !o->gcc)
        drv_deprecation_args(o, w);
    unsigned link = o->goal == GOAL_LINK ? 0 : FOR_LINK | FOR_INPUT; /* clang says: unused */
    drv_add_args(w, o, TO_PLAIN | FOR_PRE | FOR_CHECK | FOR_HOST | FOR_AS | link);
    drv_watch_loads(w, o);
    if (o->verbose)
        words_add(w, o->dry ? "-###" : "-v");
    if (j->no_targets) /* all that there is to say has been said */
        WORDS_ADD(w, "-w", "-Wno-error");
    drv_plain_deps(j, w, depfile);
    if (o->save && !drv_has(o, FLAG_SAVE_TEMPS_EQ))
        words_add(w, "-save-temps");
    words_add(w, o->goal == GOAL_LINK ? "-c" : goals[o->goal]);
    if (j->language)
        WORDS_ADD(w, "-x", j->language);
    words_add(w, j->path);
    if (o->goal != GOAL_CHECK)
        WORDS_ADD(w, "-o", j->output);
}

/* A macro of the command line may be (part of) a directive. */
static bool scan_macros(const struct options *o)
{
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == FLAG_D && drv_scan_macro(o->args[i].value))
            return true;
    return false;
}

/* The version can matter.  No depfile: a header is missing, as it would be with any version. */
bool drv_has_openmp(const struct job *j, const char *depfile)
{
    return j->mentions_omp || scan_macros(j->opt) ||
           (depfile && drv_scan_depfile(depfile, j->path, drv_mentions_omp));
}

/* With the older version of OpenMP, where clang rejects the file with the newer. */
static void try_older(const struct job *j, struct proc *p, const char **depfile)
{
    struct proc again = { .in = p->in, .doing = p->doing };
    if (p->code != 1 || j->opt->gcc || !has_headers(j) || !drv_has_openmp(j, *depfile) ||
        !drv_older_openmp(j->opt))
        return;
    again.err = drv_scratch_file(j, "plain51.err");
    plain_args(j, &again.argv, depfile);
    if (drv_proc_run(&again) == 0)
        *p = again;
    else
        drv_newest_openmp(); /* for the other way */
}

/* clang alone writes nothing there while it compiles C: its assembler is in the same process, and a
 * crash of it writes no files for a symbolizer. */
static bool needs_temp_dir(const struct job *j)
{
    const struct options *o = j->opt;
    return !is_c(j) || o->gcc || o->verbose || drv_has(o, FLAG_FINTEGRATED_AS);
}

static void keep_out_of_temp(const struct job *j)
{
    if (needs_temp_dir(j))
        drv_temp_dir();
    else
        setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
}

/* Its diagnostics come from the other way then. */
bool drv_header_has_targets(const struct job *j, const char *depfile)
{
    return depfile && !j->no_targets && drv_scan_depfile(depfile, j->path, drv_scan_text);
}

/* -1: it has target constructs, or ones that clang cannot compile, after all */
static int run_plain(struct job *j)
{
    const char *depfile;
    struct proc p = { .err = drv_scratch_file(j, "plain.err"),
                      .doing = mem_printf("compiling '%s'", j->path) };
    plain_args(j, &p.argv, &depfile);
    if (strcmp(j->path, "-") == 0)
        p.in = j->input_file;
    if (j->opt->verbose)
        drv_print_command(&p.argv);
    if (j->opt->dry)
        return 0;
    keep_out_of_temp(j);
    bool watched = has_headers(j) && !j->opt->gcc;
    enum tool_exit end = watched ? drv_run_watched(j, &p) : TOOL_OK;
    if (end != TOOL_OK)
        return end == TOOL_REWRITTEN ? -1 : EXIT_COMPILE;
    if (!watched)
        drv_proc_run(&p);
    try_older(j, &p, &depfile);
    if (j->opt->time)
        fprintf(stderr, "%-24s %8.1f ms  %s\n", "compile (no targets)", 1e3 * p.seconds, j->path);
    if (drv_header_has_targets(j, depfile))
        return -1;
    p.silent = !drv_show(p.err, j->opt->verbose);
    const char *errors = p.code ? file_read(p.err, NULL) : NULL;
    return drv_proc_report(&p, errors) || p.code != 0 ? EXIT_COMPILE : 0;
}

/* ------------------------------------------------------------------ the choice */
static bool may_have_targets(struct job *j)
{
    size_t size;
    const char *text = file_read(j->input_file, &size);
    if (!text)
        diag_fatal(EXIT_COMPILE, "cannot read '%s': %s", j->path, strerror(errno));
    j->mentions_omp = drv_mentions_omp(text, size);
    return drv_scan_text(text, size) || scan_macros(j->opt);
}

bool drv_is_free_of_openmp(struct job *j)
{
    return is_c(j) && strcmp(j->path, "-") != 0 && !may_have_targets(j) && !j->mentions_omp;
}

int drv_compile(struct job *j)
{
    drv_newest_openmp();
    drv_side_database(j);
    bool offload = j->opt->openmp && is_c(j) && may_have_targets(j);
    if (j->opt->openmp && is_other_source(j) && may_have_targets(j))
        diag_fatal(
            EXIT_COMPILE,
            "'%s': target constructs are supported in C only; -fno-openmp compiles it without them",
            j->path);
    if (j->opt->goal == GOAL_EMIT && !is_c(j))
        diag_fatal(EXIT_USAGE, "'--emit=' needs a C file, not '%s'", j->path);
    if (!offload && j->opt->goal != GOAL_EMIT) {
        int code = run_plain(j);
        if (code >= 0)
            return code;
    }
    int code = drv_compile_offload(j);
    return j->no_targets && code == 0 && j->opt->goal != GOAL_EMIT ? run_plain(j) : code;
}
