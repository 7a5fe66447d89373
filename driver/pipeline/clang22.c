/* clang22.c - what is here only because of clang 22, and when it can go.
 *
 * Each can go when, with a later clang and the code for it taken out, the tests named last pass.
 *
 * Clauses on which clang hangs (drv_run_watched; frontend/clang22.c, CLANG_HANGS of omp.def)
 *   Symptom: `#pragma omp task transparent` keeps clang busy until it is killed.  The offload way
 *   asks omp-split first; a plain compile that takes long is looked at meanwhile.
 *   Until clang skips clauses that it cannot read: tests/errors/endless.t.
 *
 * No version of OpenMP suits all programs (drv_older_openmp)
 *   Symptom: 6.0 knows what is new, but has removed what older programs use (`reduction(-: x)`,
 *   `declare target to(...)`).  Without a flag a file that 6.0 rejects is tried with 5.1;
 *   whichever accepts it counts for that file.
 *   Until clang accepts deprecated forms with 6.0: tests/run/openmp51.c, tests/driver/stages.t.
 *
 * Inscan reductions on target constructs, in collapsed loops (drv_check_args; frontend/clang22.c)
 *   Symptom: errors for correct programs.  The check is shown a text without the leaves that are
 *   ours; omp-split makes it, clang finds it through an overlay of its file system, under the
 *   file's name.
 *   Until clang implements these combinations: tests/errors/scan.t, tests/run/scan.c.
 *
 * Constructs that it cannot compile (frontend/lower; PROTO_UNIT's `misread`)
 *   Symptoms: it hangs on `transparent`, `induction` and `apply`, crashes on `taskgraph`, has no
 *   code for `dispatch`, and runs `stripe` in the order of `tile`.  They become others in the text
 *   that it compiles and, where it fails on the user's, checks.
 *   Until clang implements them: tests/run/dispatch.c, loop_transforms.c.
 *
 * Directives that it takes for others (frontend/lower/misread.c)
 *   Symptoms: `parallel single` is `parallel` to it, with a warning; a warning of an isa that the
 *   host has not; it reads no clause after a comma behind the directive's name, and no device_num:
 *   but on target.  It checks the text without, in any case.
 *   Until tests/run/misread.c passes without.
 *
 * Metadirectives that ask for the constructs around them (frontend/context.c)
 *   Symptom: `when(construct={parallel}: for)` never holds.  The host text has what we choose.
 *   Until clang looks at them, and gcc has metadirectives: tests/run/host_choice.c, driver/link.t.
 *
 * Valid code that it rejects (accepted_as_rewritten in schedule.c; frontend/rejected.c)
 *   Symptoms: `f().m` in a target construct: "expected addressable lvalue in 'map' clause"; `target
 *   loop` crashes it; `target update` of a static variable that is declare target, of an array
 *   shape, ([n][m])p, of several sections of one array, of sections without a length: an error; so
 *   is a loop that leads away from a bound which it has passed from the start
 *   (frontend/backward.c), and a block that holds the next loop of a nest alone, beside other
 *   statements; and a struct or union in a function whose definition follows declare variant or
 *   declare simd (lower/variant.c).  Where its check fails and omp-split has found
 *   such code, it checks the text that omp-split writes.
 *   Until clang accepts them: tests/run/nameless.c, iterator.c, backward_loop.c, update_pieces.c,
 *   collapse_inner.c, variant_types.c.
 *
 * Variable length arrays on the device (drv_vla_target)
 *   Symptom: "variable length arrays are not supported for the current target" for nvptx64; no
 *   later stage minds.  Such a text is compiled for wasm64, which has the same sizes,
 *   alignments and passing of structs but those of one member (frontend/lone_member.c; results:
 *   codegen/ir/link/structs.c), and omp-device makes it nvptx64 again (codegen/ir/link/read.c).
 *   Tried with 22.1, for nvptx64: -w, and -aux-triple of the host: the same error.  -fopenmp with
 *   -fopenmp-is-target-device: parameters that point to rows are accepted in declare target
 *   functions, arrays are not.  -x cuda: "cannot use variable-length arrays in __device__
 *   functions".  A typedef with __builtin_alloca: the type alone is an error.  An AST file made
 *   for x86-64: it is compiled for the target that it was made for.
 *   Until clang accepts them for nvptx64: tests/run/map_vla.c.
 *
 * Structs as variable arguments on the device
 *   Symptom: for nvptx64 the caller stores their members one by one, and va_arg reads the struct
 *   with its own alignment.  Such a text is compiled for wasm64 as well.
 *   Until tests/run/struct_arguments.c passes without.
 *
 * The pass OpenMPOpt (host() in stages.c: -openmp-opt-disable)
 *   Symptom: its time grows with the square of the parallel regions of a file; for 100 regions it
 * is a third of the host compile.  What it would improve are repeated calls of libomp. Until
 * tests/run/reduction_ops.c compiles as fast without the flag.
 *
 * In the host text (codegen/c/host/version.c), where clang compiles the host version of a region:
 *   reductions of complex, _Bool array and 128-bit items need libatomic or have no code: they get
 *   operators of our own (has_hard_reductions).  Until tests/reduction/host.t passes without.
 *   distribute parallel for schedule(static, 1) runs an iteration for each thread of a team, and no
 *   more: the 1 is one that clang cannot evaluate (fe_deals_singly).  Also in files without target
 *   constructs.  Until tests/run/host_loops.t passes without.
 *   a loop with schedule(dynamic) leaves any value in lastprivate and linear variables: LLVM's
 *   library lets its threads take iterations from one another.  It gets the modifier monotonic
 *   (fe_may_miss_last).  Also in files without target constructs.  Until tests/run/host_loops.t
 *   passes without.
 *   lastprivate and linear on a combined target construct lose their result: they are mapped
 *   (missing_maps).  Until tests/run/lastprivate.c passes without.
 *   an array with run-time bounds that is private in a construct is named around it
 *   (mention_bounds): clang crashes where two constructs around that one do not.  Until
 *   tests/run/host_region.c passes without.
 *   typedefs with run-time bounds are written with their own size (carried_type in
 *   codegen/c/text/copy.c): clang crashes on a type made of one in a construct that has no other
 *   use of it.  Until tests/run/map_vla.c passes without.
 *   Scans of the host leave out the original value: one thread runs them (codegen/c/reduce/scan.c).
 */
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/pipeline/pipeline.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the version of OpenMP */
static const char newest[] = "60", older[] = "51";
static const char *version = newest;
const char *drv_openmp_version(void) { return version; }
void drv_newest_openmp(void) { version = newest; }
bool drv_older_openmp(const struct options *o)
{
    if (!o->openmp || o->openmp_version || version != newest)
        return false;
    version = older;
    return true;
}

/* ------------------------------------------------------------------ clauses on which it hangs */
/* Few files with directives take longer.  The others, whose directives would have to come from a
 * header, are looked at later: that costs what many of them take. */
enum { PATIENCE_MS = 500, MORE_PATIENCE_MS = 3000 };

static double patience_with(const struct job *j)
{
    return 1e-3 * (j->mentions_omp ? PATIENCE_MS : MORE_PATIENCE_MS);
}

/* What omp-split says of the file. */
static int screen_file(const struct job *j)
{
    struct proc pre = { .err = mem_printf("%s/pre.err", drv_job_dir(j)),
                        .doing = mem_printf("preprocessing '%s'", j->path) };
    struct proc screen = { .err = mem_printf("%s/screen.err", drv_job_dir(j)),
                           .doing = mem_printf("reading the directives of '%s'", j->path) };
    drv_preprocess(j, &pre);
    if (drv_proc_run(&pre) != 0)
        return TOOL_OK;
    WORDS_ADD(&screen.argv, drv_tool("omp-split"), "--path",
              strcmp(j->path, "-") == 0 ? "<stdin>" : j->path, "--screen", drv_job_file(j, "i"));
    int code = drv_proc_run(&screen);
    if (code == TOOL_ENDLESS)
        drv_show(screen.err, j->opt->verbose);
    return code;
}

/* CPU time counts, so that a loaded machine makes no file slow; one that waits for the machine has
 * ten times as long. */
static bool is_slow(struct proc *p, double patience)
{
    const double least = 0.05; /* between two looks */
    for (double wall = patience; !drv_proc_wait_for(p, wall);) {
        double left = patience - drv_proc_cpu(p);
        if (left <= 0 || wall >= 10 * patience)
            return true;
        wall += left > least ? left : least;
    }
    return false;
}

enum tool_exit drv_run_watched(const struct job *j, struct proc *p)
{
    static const struct arg *rewritten; /* at_once.c has asked before compile.c does */
    if (j->input == rewritten)
        return TOOL_REWRITTEN;
    drv_proc_start(p);
    int code = is_slow(p, patience_with(j)) ? screen_file(j) : TOOL_OK;
    if (code == TOOL_REWRITTEN)
        rewritten = j->input;
    if (code == TOOL_ENDLESS || code == TOOL_REWRITTEN) {
        drv_proc_kill(p);
        return (enum tool_exit)code;
    }
    while (!drv_proc_wait_for(p, 1e9)) {}
    return TOOL_OK;
}

/* ------------------------------------------------------------------ variable length arrays */
void drv_vla_target(struct words *w)
{
    /* the flags say what clang takes for granted on nvptx64 */
    WORDS_ADD(w, "--target=wasm64-unknown-unknown", "-D__NVPTX__", "-fvisibility=default",
              "-fconvergent-functions", "-fno-math-errno");
    /* it has no _Float16; __fp16 is the same with these */
    WORDS_ADD(w, "-D_Float16=__fp16", "-Xclang", "-fnative-half-type", "-Xclang",
              "-fnative-half-arguments-and-returns");
}

/* ------------------------------------------------------------------ inscan reductions */
static void add_root(struct words *w, const char *dir, const char *path, const char *file)
{
    words_add(w, mem_printf("%s{ 'name': '%s/%s', 'type': 'file', 'external-contents': '%s' }",
                            w->n ? ", " : "", dir, path, file));
}

static const char *write_overlay(const struct job *j, const char *file)
{
    struct words roots = { 0 };
    char *here = getcwd(NULL, 0);
    const char *pwd = getenv("PWD"), *overlay = drv_job_file(j, "overlay"), *list = "";
    if (strchr(j->path, '\''))
        return NULL;
    if (*j->path == '/')
        add_root(&roots, "", j->path + 1, file);
    else {
        if (here)
            add_root(&roots, here, j->path, file);
        if (pwd && (!here || strcmp(pwd, here) != 0))
            add_root(&roots, pwd, j->path, file);
    }
    free(here);
    for (unsigned i = 0; i < roots.n; i++)
        list = mem_printf("%s%s", list, roots.v[i]);
    const char *text =
        mem_printf("{ 'version': 0, 'use-external-names': false, 'roots': [ %s ] }\n", list);
    return file_write(overlay, text, strlen(text)) ? overlay : NULL;
}

/* Does the text have what clang is not to see? */
static bool has_hidden_words(const char *text, size_t size)
{
    return text && (memmem(text, size, "inscan", 6) || memmem(text, size, "ompx", 4));
}

static bool hides_some(const struct job *j, const char *from, const char *file)
{
    size_t size;
    const char *text = file_read(from, &size);
    struct proc p = { .err = mem_printf("%s/hidden.err", drv_job_dir(j)),
                      .doing = mem_printf("reading the directives of '%s'", j->path) };
    if (!has_hidden_words(text, size))
        return false;
    WORDS_ADD(&p.argv, drv_tool("omp-split"), "--hide", file, from);
    return drv_proc_run(&p) == TOOL_OK;
}

const char *drv_check_text(const struct job *j, const char *text)
{
    const char *file = drv_job_file(j, "check.c");
    return hides_some(j, text, file) ? file : text;
}

const char *drv_check_args(const struct job *j, struct words *w)
{
    const char *file = drv_job_file(j, "check.c"), *overlay;
    if (!hides_some(j, j->input_file, file))
        return j->input_file;
    if (strcmp(j->path, "-") != 0 && (overlay = write_overlay(j, file)))
        WORDS_ADD(w, "-Xclang", "-ivfsoverlay", "-Xclang", overlay); /* for a .i, too */
    return file;
}
