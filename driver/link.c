/* link.c - the link: clang (or gcc) as the linker's front end, with libompgpu before the OpenMP library, so that the omp_* routines
 * that know devices are ours.  --as-needed keeps programs that use neither free of it. */
#include "driver/driver.h"
#include <string.h>

static void our_library(const struct options *o, struct words *w)
{
    const char *lib = drv_lib_dir();
    if (o->no_link_libs) return;
    words_add(w, drv_format("-L%s", lib));
    if (o->is_static) {
        words_add(w, "-l:libompgpu.a");
        words_add(w, "-ldl");
        words_add(w, "-lpthread");
        words_add(w, "-lm");
        return;
    }
    words_add(w, "-Wl,--push-state,--as-needed");
    words_add(w, "-lompgpu");
    words_add(w, "-Wl,--pop-state");
    if (strcmp(lib, "/usr/lib") != 0 && !drv_has(o, FLAG_FOPENMP_REST)) words_add(w, drv_format("-Wl,-rpath,%s", lib));
#ifdef DRV_SANITIZE
    words_add(w, "-fsanitize=address,undefined");     /* libompgpu.so of this tree needs the program to bring the run-time */
#endif
}

/* Objects, libraries and -Wl, in the order of the command line: the linker's result depends on it. */
static void inputs(const struct options *o, const char *const *objects, struct words *w)
{
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (objects[i]) words_add(w, objects[i]);
        else if (a->to & FOR_INPUT) {
            words_add(w, a->word);
            if (a->next) words_add(w, a->next);
        }
    }
}

/* A fat object refers to libdl and friends through libompgpu only; a static link of clang's OpenMP needs an archive that most
 * distributions do not have.  Say so before the linker says it less clearly. */
static void check_static(const struct options *o)
{
    if (!o->is_static || o->gcc || !o->openmp || o->dry) return;
    const char *out = drv_format("%s/static", drv_temp_dir());
    struct proc p = { .out = out, .doing = "looking for libomp.a" };
    words_add(&p.argv, drv_clang());
    words_add(&p.argv, "-print-file-name=libomp.a");
    const char *text = drv_proc_run(&p) == 0 ? drv_read(out, NULL) : NULL;
    if (text && text[0] != '/')
        drv_fatal(EXIT_COMPILE, "'-static' needs libomp.a, which is not installed (Debian's libomp has only the shared library); "
                                "--host-cc=gcc links with gcc's libgomp.a");
}

int drv_link(const struct options *o, const char *const *objects)
{
    struct proc p = { .doing = "linking", .err = NULL };
    const char *output = o->output ? o->output : "a.out";
    const char *to = o->dry ? output : drv_output_begin(output);
    check_static(o);
    words_add(&p.argv, drv_host_cc(o));
    if (!o->gcc) drv_common_args(o, &p.argv);
    else if (o->openmp) words_add(&p.argv, "-fopenmp");
    drv_add_args(&p.argv, o, FOR_LINK);
    if (o->verbose) words_add(&p.argv, o->dry ? "-###" : "-v");
    words_add(&p.argv, "-Wno-unused-command-line-argument");
    inputs(o, objects, &p.argv);
    our_library(o, &p.argv);
    words_add(&p.argv, "-o");
    words_add(&p.argv, to);
    if (o->verbose) drv_print_command(&p.argv);
    if (o->dry) return 0;
    p.doing = drv_format("linking '%s'", output);
    int code = drv_proc_run(&p);
    if (o->time) fprintf(stderr, "%-24s %8.1f ms  %s\n", "link", 1e3 * p.seconds, output);
    if (drv_proc_report(&p, NULL) || code != 0) return EXIT_COMPILE;
    drv_output_commit(output, to);
    return 0;
}
