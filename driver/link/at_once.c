/* at_once.c - a program from one C file without OpenMP, by one clang.
 *
 * One that compiles and one that links start twice, which takes as long as half a compile of a
 * small file: a configure script does little else.  What the usual way finds out between the two,
 * and before, is looked at when clang has ended; if there is any OpenMP, or a device, after all,
 * what clang did is thrown away and the file goes the usual way. */
#include "driver/image/image.h"
#include "driver/link/link.h"
#include "driver/pipeline/pipeline.h"

/* Flags of which each way takes its own share, and what only the usual way knows. */
static bool is_usual(const struct options *o)
{
    static const enum flag_id others[] = {
        FLAG_FOPENMP,
        FLAG_FOPENMP_EQ,
        FLAG_FOPENMP_VERSION,
        FLAG_FOPENMP_REST,
        FLAG_FOPENMP_SIMD,
        FLAG_CHECK_HOST,
        FLAG_FNO_OPENMP_REST,
        FLAG_MJ,
        FLAG_STATIC_OMPGPU,
        FLAG_M32,
        FLAG_MX32,
        FLAG_EMIT_LLVM,
    };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (drv_has(o, others[i]))
            return true;
    return o->goal != GOAL_LINK || o->gcc || o->verbose || o->time || o->save || o->beside ||
           o->dep_out || o->is_static || o->relocatable;
}

/* -Xclang: the link is none of OpenMP. */
static void add_openmp(const struct options *o, struct words *w)
{
    if (o->openmp)
        WORDS_ADD(w, "-Xclang", "-fopenmp", "-Xclang",
                  mem_printf("-fopenmp-version=%s", drv_openmp_version()));
}

static void add_command(const struct job *j, struct words *w, const char **depfile)
{
    const struct options *o = j->opt;
    words_add(w, drv_clang());
    add_openmp(o, w);
    drv_message_args(o, w);
    drv_clang_headers(o, w);
    drv_add_users_words(w, o, false);
    drv_plain_deps(j, w, depfile);
    WORDS_ADD(w, "-o", j->output);
}

/* There is nothing that the usual way would do otherwise. */
static bool is_final(const struct job *j, const struct proc *p, const char *depfile)
{
    size_t size;
    if (p->code)
        return !drv_has_openmp(j, depfile) &&
               !drv_link_asks_for_more(p->code, file_read(p->err, NULL), j->output);
    if (drv_header_has_targets(j, depfile) || drv_link_asks_for_more(0, NULL, j->output))
        return false;
    const char *program = file_map(j->output, &size);
    return !program || !drv_image_section(program, size);
}

int drv_link_at_once(struct job *j)
{
    const char *depfile, *output = j->opt->output ? j->opt->output : "a.out";
    if (is_usual(j->opt) || !drv_is_free_of_openmp(j) || drv_inputs_need_openmp(j->opt, j->index))
        return -1;
    struct proc p = { .err = drv_scratch_file(j, "at_once.err"),
                      .doing = mem_printf("compiling and linking '%s'", j->path) };
    j->output = drv_output_begin(output);
    add_command(j, &p.argv, &depfile);
    drv_temp_dir(); /* for the object, which clang leaves there when it is killed */
    enum tool_exit end = drv_run_watched(j, &p);
    if (end == TOOL_ENDLESS)
        return EXIT_COMPILE;
    if (end != TOOL_OK || !is_final(j, &p, depfile))
        return -1;
    p.silent = !drv_show(p.err, false);
    if (drv_proc_report(&p, p.code ? file_read(p.err, NULL) : NULL) || p.code)
        return EXIT_COMPILE;
    drv_finish_link(output, j->output);
    return 0;
}
