/* main.c - the command: read the flags, compile each input, link. */
#include "driver/link/link.h"
#include "driver/options.h"
#include "driver/pipeline/pipeline.h"
#include "driver/run/run.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------- the host compiler alone: -E, -M, -print-…, no inputs */
/* Everything that is not ours goes on in the order given; clang, or gcc, takes our place. */
static _Noreturn void become_host_cc(const struct options *o)
{
    struct words w = { 0 };
    words_add(&w, drv_host_cc(o));
    if (o->ninputs) {
        drv_host_openmp(o, &w);
        drv_host_headers(o, &w);
    }
    if (o->headers && !o->gcc)
        drv_deprecation_args(o, &w);
    drv_add_users_words(&w, o, true);
    execv(w.v[0], (char **)w.v);
    diag_fatal(EXIT_COMPILE, "cannot run '%s': %s", w.v[0], strerror(errno));
}

/* ------------------------------------------------------------------ inputs */
static bool is_source(const struct arg *a)
{
    static const char *const extensions[] = { ".c", ".i",  ".s",   ".S", ".cc", ".cpp", ".cxx",
                                              ".C", ".ii", ".c++", ".m", ".ll", ".bc",  ".sx" };
    if (a->language || strcmp(a->value, "-") == 0)
        return true;
    for (unsigned i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (text_ends(a->value, extensions[i]))
            return true;
    return false;
}

/* What can be read only once, an element an argument: standard input and pipes, as of a shell's
 * <(…).  It is read before signals are held back: it may take as long as the user likes. */
static struct stream {
    char *text; /* NULL: an ordinary file */
    size_t size;
} *streams;

/* Other processes would find what they have at 0 behind the name: /dev/stdin. */
static bool leads_to_stdin(const char *path, const struct stat *st)
{
    struct stat link, in;
    return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && fstat(0, &in) == 0 &&
           in.st_dev == st->st_dev && in.st_ino == st->st_ino;
}

static bool is_stream(const char *path, const struct stat *st)
{
    return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) || leads_to_stdin(path, st);
}

static void read_stream(struct stream *s, const struct arg *a)
{
    if (!a->language && !text_ends(a->value, ".c"))
        diag_fatal(EXIT_USAGE, "%s needs a language: -x c %s",
                   strcmp(a->value, "-") == 0 ? "standard input" : "a pipe", a->value);
    s->text = file_read(a->value, &s->size);
    if (!s->text)
        diag_fatal(EXIT_COMPILE, "cannot read %s: %s",
                   strcmp(a->value, "-") == 0 ? "standard input" : a->value, strerror(errno));
}

/* The rename at the end would replace the source. */
static void check_overwriting(const struct options *o, const struct arg *a, const struct stat *in)
{
    struct stat out;
    if (!o->output || o->goal == GOAL_CHECK || !S_ISREG(in->st_mode) || stat(o->output, &out) != 0)
        return;
    if (in->st_dev == out.st_dev && in->st_ino == out.st_ino)
        diag_fatal(EXIT_COMPILE, "input file '%s' is the same as output file '%s'", a->value,
                   o->output);
}

static void check_inputs(const struct options *o)
{
    unsigned sources = 0;
    bool missing = false;
    streams = mem_array(o->nargs, sizeof *streams);
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        struct stat st;
        if (a->id != FLAG_FILE)
            continue;
        sources += is_source(a);
        if (strcmp(a->value, "-") == 0) {
            read_stream(&streams[i], a);
        } else if (stat(a->value, &st) != 0) {
            diag_error("cannot read '%s': %s", a->value, strerror(errno));
            missing = true;
        } else if (S_ISDIR(st.st_mode)) {
            diag_error("cannot read '%s': it is a directory", a->value);
            missing = true;
        } else if (is_source(a) && is_stream(a->value, &st)) {
            read_stream(&streams[i], a);
        } else
            check_overwriting(o, a, &st);
    }
    if (missing) {
        drv_signals();
        drv_check_spelling(o); /* `--gpu-arch sm_80` */
        drv_exit(EXIT_COMPILE);
    }
    if (o->goal != GOAL_LINK && !sources)
        diag_fatal(EXIT_USAGE, "no input files");
    if (o->output && sources > 1 && o->goal != GOAL_LINK)
        diag_fatal(EXIT_USAGE, "'-o' with several input files needs a link");
}

/* ------------------------------------------------------------------ one job an input */
static const char *default_output(const struct options *o, const struct job *j)
{
    if (o->goal == GOAL_OBJECT)
        return mem_printf("%s.o", j->stem);
    return o->goal == GOAL_ASSEMBLY ? mem_printf("%s.s", j->stem) : NULL;
}

/* The object of a link: in the temporary directory, or beside the result when clang writes more
 * files beside it. */
static const char *link_object(const struct options *o, const struct job *j)
{
    if (!o->beside)
        return mem_printf("%s/%s.o", drv_job_dir(j), j->stem);
    const char *result = o->output ? o->output : "a.out";
    const char *name = mem_printf("%s/%s-%s.o", path_dir(result), path_base(result), j->stem);
    if (!o->dry)
        drv_output_remove_later(name);
    return name;
}

static const char *save_dir(const struct options *o)
{
    if (*o->save_dir) {
        drv_make_dir(o->save_dir);
        return o->save_dir;
    }
    return o->output ? path_dir(o->output) : ".";
}

static struct job start_job(const struct options *o, const struct arg *a, unsigned index)
{
    return (struct job){ .opt = o,
                         .input = a,
                         .path = a->value,
                         .language = a->language,
                         .stem = strcmp(a->value, "-") == 0 ? "stdin" : path_stem(a->value),
                         .input_file = a->value,
                         .index = index,
                         .dir = mem_alloc(sizeof(char *)) };
}

/* For clang it is standard input, whatever its name. */
static void copy_stream(struct job *j, const struct stream *s)
{
    j->path = "-";
    j->language = j->language ? j->language : "c";
    j->input_file = mem_printf("%s/stdin.txt", drv_job_dir(j));
    if (!file_write(j->input_file, s->text, s->size))
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", j->input_file, strerror(errno));
}

static struct job make_job(const struct options *o, const struct arg *a, unsigned index)
{
    struct job j = start_job(o, a, index);
    const bool is_dash = strcmp(a->value, "-") == 0;
    const struct stream *stream = &streams[index];
    const char *base = o->save ? save_dir(o) : stream->text ? drv_job_dir(&j) : NULL;
    /* Without "./": the assembler would take the two spellings in the line table of X.host.c for
     * one file. */
    if (base)
        j.base =
            strcmp(base, ".") == 0 && *j.stem != '-' ? j.stem : mem_printf("%s/%s", base, j.stem);
    j.link = o->goal == GOAL_LINK;
    if (stream->text) {
        copy_stream(&j, stream);
        if (is_dash && !o->output && !j.link)
            j.stem = "-";
    }
    j.output = j.link ? link_object(o, &j) : o->output ? o->output : default_output(o, &j);
    return j;
}

/* What a later stage would only notice in a file with regions. */
static void check_tools(const struct options *o)
{
    struct archs archs = { 0 };
    if (!o->dry)
        drv_check_clang();
    drv_check_spelling(o);
    if (!o->gpu_arch)
        return;
    drv_parse_archs(o, &archs);
    drv_check_archs(o, &archs);
}

static int compile_all(const struct options *o, const char **objects)
{
    int worst = 0;
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (a->id != FLAG_FILE || !is_source(a))
            continue;
        struct job j = make_job(o, a, i);
        int code = drv_compile(&j);
        if (code) {
            worst = code;
            drv_remove_depfile(&j);
        }
        objects[i] = j.output;
    }
    return worst;
}

/* -1: not the only source, or more than a link. */
static int link_at_once(const struct options *o)
{
    unsigned sources = 0, only = 0;
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == FLAG_FILE && is_source(&o->args[i])) {
            sources++;
            only = i;
        }
    if (sources != 1 || streams[only].text)
        return -1;
    struct job j = start_job(o, &o->args[only], only);
    return drv_link_at_once(&j);
}

static int make_all(const struct options *o)
{
    const char **objects = mem_alloc(o->nargs * sizeof *objects);
    int code = link_at_once(o);
    if (code >= 0)
        return code;
    code = compile_all(o, objects);
    return code == 0 && o->goal == GOAL_LINK ? drv_link(o, objects) : code;
}

/* ------------------------------------------------------------------ main */
/* --help and the like are all that is done. */
static void print_asked(const struct options *o)
{
    int code = 0;
    if (o->version || o->doctor)
        drv_signals();
    if (o->completion)
        drv_print_completion();
    else if (o->clangd)
        drv_print_clangd();
    else if (o->man)
        drv_print_man(o->ninputs ? o->args[o->nargs - 1].value : "");
    else if (o->help)
        drv_print_help();
    else if (o->version)
        code = drv_print_version(o);
    else if (o->doctor)
        code = drv_doctor(o);
    else
        return;
    drv_check_stdout();
    drv_exit(code);
}

int main(int argc, char **argv)
{
    struct options *o = mem_alloc(sizeof *o);
    diag_exit = drv_exit;
    drv_parse(o, argc, argv);
    print_asked(o);
    if (!o->ninputs && o->goal != GOAL_CLANG && !o->verbose)
        diag_fatal(EXIT_USAGE, "no input files");
    if (o->goal == GOAL_CLANG || !o->ninputs) {
        if (o->verbose && !o->ninputs)
            fprintf(stderr, "ompgpu-cc version " OMPGPU_VERSION "\n");
        become_host_cc(o);
    }
    check_inputs(o);
    drv_warn_unwatched(o);
    if (diag_in_colour() && !o->color) /* what omp-split and omp-device say goes through files */
        setenv("CLICOLOR_FORCE", "1", 1);
    if (drv_has(o, FLAG_FDIAG) && strcmp(drv_value(o, FLAG_FDIAG), "-format=sarif") == 0)
        setenv("OMPGPU_SARIF", "1", 1);
    drv_signals();
    check_tools(o);
    drv_exit(make_all(o));
}
