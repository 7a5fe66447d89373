/* link.c - the link: clang (or gcc) as the linker's front end, with libompgpu before the OpenMP
 * library, so that the omp_* routines that know devices are ours.  --as-needed keeps programs that
 * use neither free of both.
 *
 * Most links need less, and finding it out costs less than the linker's look at the libraries: what
 * the names in the inputs ask for (enum needs) is linked; where that was too little, again with
 * more.  When files need device code of each other there is a second link (device_link.c). */
#include "driver/link/link.h"
#include "driver/image/image.h"
#include "driver/pipeline/pipeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_32_bit(const struct options *o)
{
    return drv_has(o, FLAG_M32) || drv_has(o, FLAG_MX32);
}

/* The dynamic linker looks there by itself: the library, or what it is a link to. */
static bool is_searched(const char *lib)
{
    static const char *const places[] = { "/usr/lib", "/lib", "/usr/lib/x86_64-linux-gnu",
                                          "/lib/x86_64-linux-gnu" };
    char *real = realpath(mem_printf("%s/libompgpu.so", lib), NULL);
    const char *dir = real ? path_dir(real) : lib;
    bool found = false;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        found |= strcmp(dir, places[i]) == 0;
    free(real);
    return found;
}

/* CMake reads from `ompgpu-cc -v` what it must give to the compiler of another language, where that
 * links the program: -L, -l and archives, but no -rpath, without which the program would not find a
 * shared library.  So it sees no -lompgpu, and an archive where the linker expects a directory. */
static void tell_cmake(struct words *w, const char *lib)
{
    words_add(w, mem_printf("-Wl,-rpath-link,%s/libompgpu.a", lib));
}

static bool has_shared_library(const struct options *o)
{
    return !o->no_link_libs && !o->is_static && !o->static_ompgpu && !is_32_bit(o);
}

static void our_library(const struct options *o, bool path, struct words *w)
{
    const char *lib = drv_lib_dir();
    if (o->no_link_libs || o->is_static || is_32_bit(o))
        return;
#ifdef DRV_SANITIZE
    /* libompgpu.so of this tree needs the program to bring the run-time */
    words_add(w, DRV_SANITIZE);
#endif
    if (o->static_ompgpu) {
        /* as the shared one: it has handlers of exit, and threads */
        words_add(w, "-Wl,-z,nodelete");
        words_add(w, mem_printf("%s/libompgpu.a", lib));
        words_add(w, "-ldl");
        words_add(w, "-lpthread");
        words_add(w, "-lm");
        return;
    }
    words_add(w, "-Wl,--push-state,--as-needed");
    words_add(w, mem_printf("%s/libompgpu.so", lib));
    words_add(w, "-lm"); /* host versions of regions may call math functions; --as-needed drops it
                            where none does */
    words_add(w, "-Wl,--pop-state");
    if (path && !is_searched(lib) && !drv_has(o, FLAG_NO_RPATH))
        words_add(w, mem_printf("-Wl,-rpath,%s", lib));
    tell_cmake(w, lib);
    words_add(w, "-Wl,--as-needed"); /* for the OpenMP library, which -fopenmp adds */
}

/* The program tells the library what memory it frees and gets: hostrt/core/reuse.c. */
static void tell_of_memory(struct words *w)
{
    static const char *const functions[] = { "malloc",        "calloc",         "realloc",
                                             "aligned_alloc", "posix_memalign", "free" };
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        words_add(w, mem_printf("-Wl,--wrap=%s", functions[i]));
}

/* Its functions are libomp's, too: in one process, two OpenMP libraries know nothing of each
 * other's threads. */
static bool is_libgomp(const struct arg *a)
{
    return a->id == FLAG_LIB && strcmp(a->value, "gomp") == 0;
}

/* Objects, libraries and -Wl, in the order of the command line: the linker's result depends on it.
 */
static void inputs(const struct options *o, const char *const *objects, bool has_libomp,
                   struct words *w)
{
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (objects[i])
            words_add(w, objects[i]);
        else if ((a->to & FOR_INPUT) && !(has_libomp && is_libgomp(a))) {
            words_add(w, a->word);
            if (a->next)
                words_add(w, a->next);
        }
    }
}

/* ------------------------------------------------------------------ what is needed */
/* LIBOMPGPU: the program finds our library, too, when it starts. */
enum needs { NOTHING, LIBOMP, LIBOMPGPU };

static const struct {
    const char *name; /* what begins so */
    enum needs needs;
} names[] = { { "__ompgpu_", LIBOMPGPU },
              { "ompgpu_", LIBOMPGPU },
              { "__tgt_", LIBOMPGPU },
              { "omp_", LIBOMP },
              { "ompx_", LIBOMP },
              { "llvm_omp_", LIBOMP },
              { "__kmpc_", LIBOMP },
              { "kmp_", LIBOMP },
              { "GOMP_", LIBOMP },
              /* -fompgpu-check-host: hostrt/core/reads.c */
              { "__sanitizer_cov_load", LIBOMPGPU },
              { "__sanitizer_cov_store", LIBOMPGPU } };

/* Of bytes in which there are names somewhere. */
static enum needs needs_of(const char *bytes, size_t size)
{
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (memmem(bytes, size, names[i].name, strlen(names[i].name)))
            return names[i].needs;
    return NOTHING;
}

static enum needs needs_of_name(const char *name, size_t length)
{
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i].name);
        if (length >= n && memcmp(name, names[i].name, n) == 0)
            return names[i].needs;
    }
    return NOTHING;
}

/* A tool: LLVM's library starts it, which a program with routines of ours alone would not have. */
static const char tool[] = "ompt_start_tool";

struct found {
    enum needs needs;
    bool tool;
};

static bool add_needs(void *to, const char *bytes, size_t length, enum drv_seen seen)
{
    struct found *found = to;
    enum needs needs = seen == SEEN_UNDEFINED ? needs_of_name(bytes, length)
                       : seen == SEEN_BYTES   ? needs_of(bytes, length)
                                              : NOTHING;
    found->tool |= seen == SEEN_BYTES ? memmem(bytes, length, tool, sizeof tool - 1) != NULL
                                      : seen == SEEN_DEFINED && length == sizeof tool - 1 &&
                                            memcmp(bytes, tool, length) == 0;
    if (needs > found->needs)
        found->needs = needs;
    return found->needs == LIBOMPGPU; /* which comes with calls of LLVM's */
}

static const char *file_of_input(const struct options *o, const char *const *objects, unsigned i)
{
    return objects[i] ? objects[i] : o->args[i].id == FLAG_FILE ? o->args[i].value : NULL;
}

static struct found find_in_input(const struct options *o, const char *const *objects, unsigned i)
{
    size_t size;
    const char *name = file_of_input(o, objects, i), *other;
    struct found found = { .needs = NOTHING };
    for (unsigned j = 0; name && j < i; j++) /* archives often come twice */
        if ((other = file_of_input(o, objects, j)) && strcmp(other, name) == 0)
            return found;
    const char *bytes = name ? file_map(name, &size) : NULL;
    if (bytes)
        drv_sees_symbol(bytes, size, add_needs, &found);
    return found;
}

/* CMake reads all libraries from what -v prints. */
static struct found find_in_inputs(const struct options *o, const char *const *objects)
{
    bool asked = o->verbose || drv_has(o, FLAG_FOPENMP) || drv_has(o, FLAG_FOPENMP_EQ);
    struct found all = { .needs = o->dry ? LIBOMPGPU : asked ? LIBOMP : NOTHING };
#ifdef DRV_SANITIZE
    all.needs = LIBOMPGPU; /* which a program may load, and whose run-time it has to bring */
#endif
    for (unsigned i = 0; i < o->nargs && all.needs < LIBOMPGPU; i++) {
        struct found one = find_in_input(o, objects, i);
        all.needs = one.needs > all.needs ? one.needs : all.needs;
        all.tool |= one.tool;
    }
    return all;
}

static bool finds_undefined(const char *program)
{
    size_t size;
    struct found found = { .needs = NOTHING };
    const char *bytes = file_map(program, &size);
    if (bytes)
        drv_sees_symbol(bytes, size, add_needs, &found);
    return found.needs;
}

/* A library among the inputs, or an object that was not to be read, may want more. */
static enum needs needs_of_link(int code, const char *errors, const char *program, enum needs had)
{
    if (had == NOTHING &&
        (code ? errors && needs_of(errors, strlen(errors)) : finds_undefined(program)))
        return LIBOMP;
    return had == LIBOMP && code == 0 && drv_needs_library(program, "libompgpu.so") ? LIBOMPGPU
                                                                                    : had;
}

bool drv_inputs_need_openmp(const struct options *o, unsigned source)
{
    const char **objects = mem_alloc(o->nargs * sizeof *objects);
#ifdef DRV_SANITIZE
    return true;
#endif
    for (unsigned i = 0; i < o->nargs; i++)
        if (i != source && find_in_input(o, objects, i).needs)
            return true;
    return false;
}

/* ------------------------------------------------------------------ static programs */
/* An object that calls our library. */
static const char *find_caller(const struct options *o, const char *const *objects)
{
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        bool archive = !objects[i] && a->id == FLAG_FILE && text_ends(a->value, ".a");
        if (!archive && find_in_input(o, objects, i).needs == LIBOMPGPU)
            return a->value;
    }
    return NULL;
}

/* A static program cannot have device code: images and the CUDA driver come in through dlopen,
 * which needs the dynamic linker. Programs without any are linked as cc links them, and with
 * -fopenmp only where there is a static OpenMP library. */
static bool has_static_openmp(const struct options *o)
{
    return drv_host_file(o, o->gcc ? "libgomp.a" : "libomp.a") != NULL;
}

static void refuse_static(const struct options *o, const char *const *objects)
{
    const char *caller = o->is_static ? find_caller(o, objects) : NULL;
    if (caller)
        diag_fatal(
            EXIT_COMPILE,
            "'-static': '%s' has device code, which is loaded with dlopen, as the CUDA driver "
            "is; a static program has no dynamic linker for that. -static-ompgpu links "
            "libompgpu.a into a dynamic program",
            caller);
}

/* Before the linker's own words, which may be many. */
static void explain_static(const char *errors)
{
    if (!errors)
        return;
    if (strstr(errors, "__ompgpu_"))
        diag_error("'-static': a library has device code, which a static program cannot load; "
                   "-static-ompgpu links libompgpu.a into a dynamic program");
    else if (strstr(errors, "__kmpc_") || strstr(errors, "omp_"))
        diag_error("'-static' needs libomp.a, which is not installed (Debian's libomp has only the "
                   "shared library); "
                   "--host-cc=gcc links with gcc's libgomp.a");
}

/* clang makes calls of libatomic where the host version of a reduction combines values of 16 bytes;
 * no program says -latomic for that. */
static bool needs_libatomic(const char *errors)
{
    /* ld, lld */
    static const char *const said[] = { "undefined reference to `__atomic_",
                                        "undefined symbol: __atomic_" };
    for (unsigned i = 0; errors && i < sizeof said / sizeof *said; i++)
        if (strstr(errors, said[i]))
            return true;
    return false;
}

bool drv_link_asks_for_more(int code, const char *errors, const char *program)
{
    return needs_of_link(code, errors, program, NOTHING) || (code && needs_libatomic(errors));
}

static bool links_openmp(const struct options *o, enum needs needs)
{
    if (is_32_bit(o))
        return drv_has(o, FLAG_FOPENMP);
    return needs && (!o->is_static || o->dry || has_static_openmp(o));
}

/* ------------------------------------------------------------------ the command */
struct link {
    const struct options *o;
    const char *const *objects;
    const char *device; /* an object with images that the device link made; NULL: none */
    const char *to;
    enum needs needs;
    bool has_tool;
};

static bool compiles_any(const struct link *l)
{
    for (unsigned i = 0; i < l->o->nargs; i++)
        if (l->objects[i])
            return true;
    return false;
}

static bool has_libomp(const struct link *l) { return links_openmp(l->o, l->needs) && !l->o->gcc; }

static void link_command(const struct link *l, struct words *w)
{
    const struct options *o = l->o;
    words_add(w, drv_host_cc(o));
    if (links_openmp(o, l->needs))
        drv_host_openmp(o, w);
    drv_add_args(w, o, FOR_LINK);
    if (o->verbose)
        words_add(w, o->dry ? "-###" : "-v");
    if (compiles_any(l)) /* which has used, or warned of, what is for compiling */
        words_add(w, "-Wno-unused-command-line-argument");
    inputs(o, l->objects, has_libomp(l), w);
    if (l->device) /* -u: --gc-sections keeps it */
        WORDS_ADD(w, l->device, "-Wl,-u," DRV_LINKED_IMAGE);
    if (l->needs)
        our_library(o, l->needs == LIBOMPGPU, w);
    if (l->needs == LIBOMPGPU && drv_checks(o) && has_shared_library(o))
        tell_of_memory(w);
    if (l->needs && l->has_tool) /* the library that -fopenmp adds is there without a call */
        words_add(w, "-Wl,--no-as-needed");
    WORDS_ADD(w, "-o", l->to);
}

static int run_command(const struct link *l, const char *more, struct proc *p)
{
    *p = (struct proc){ .doing = p->doing, .err = p->err };
    link_command(l, &p->argv);
    if (more)
        words_add(&p->argv, more);
    if (l->o->verbose)
        drv_print_command(&p->argv);
    return l->o->dry ? 0 : drv_proc_run(p);
}

/* Until it has all that it needs. */
static int run_link(struct link *l, struct proc *p)
{
    int code = run_command(l, NULL, p);
    const char *errors = code ? file_read(p->err, NULL) : NULL;
    enum needs needs = l->o->dry ? l->needs : needs_of_link(code, errors, l->to, l->needs);
    if (needs > l->needs) {
        l->needs = needs;
        return run_link(l, p);
    }
    if (code != 0 && needs_libatomic(errors))
        code = run_command(l, "-latomic", p);
    return code;
}

static void say_left_out(const struct link *l)
{
    unsigned i = 0;
    while (i < l->o->nargs && !is_libgomp(&l->o->args[i]))
        i++;
    if (i < l->o->nargs && has_libomp(l) && drv_warns(l->o, WARN_FLAGS))
        diag_note("'-lgomp' is left out: libomp, which is linked, has its functions "
                  "[-Wompgpu-flags]");
}

static int host_link(struct link *l)
{
    const struct options *o = l->o;
    const char *output = o->output ? o->output : "a.out";
    struct proc p = { .doing = mem_printf("linking '%s'", output),
                      .err = drv_answer_file("link.err") };
    int code = run_link(l, &p);
    if (o->dry)
        return 0;
    say_left_out(l);
    if (code != 0 && o->is_static)
        explain_static(file_read(p.err, NULL));
    /* warnings of the first link would come again */
    if (!l->device || code != 0 || o->verbose)
        p.silent = !drv_show(p.err, o->verbose);
    if (o->time)
        fprintf(stderr, "%-24s %8.1f ms  %s\n", l->device ? "link again" : "link", 1e3 * p.seconds,
                output);
    if (drv_proc_report(&p, NULL))
        return EXIT_COMPILE;
    return code ? EXIT_COMPILE : 0;
}

/* `-Wl,--version` alone: the linker speaks and makes nothing. */
static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

void drv_finish_link(const char *output, const char *linked)
{
    if (!is_empty(linked))
        drv_output_commit(output, linked);
}

int drv_link(const struct options *o, const char *const *objects)
{
    const char *output = o->output ? o->output : "a.out";
    struct link l = { o, objects, .to = o->dry ? output : drv_output_begin(output) };
    refuse_static(o, objects);
    struct found found = find_in_inputs(o, objects);
    l.needs = found.needs, l.has_tool = found.tool;
    int code = host_link(&l);
    if (code || o->dry || is_empty(l.to))
        return code;
    if (!o->relocatable)
        code = drv_device_link(o, l.to, &l.device);
    if (code == 0 && l.device)
        code = host_link(&l);
    if (code == 0 && l.device)
        code = drv_device_link_finish(l.to);
    if (code == 0)
        drv_output_commit(output, l.to);
    return code;
}
