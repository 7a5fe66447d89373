/* side_outputs.c - files that clang writes beside the object: .gcno, .dwo, .su, time traces,
 * optimisation records.
 *
 * clang names them after what it is told to write.  For a file with target constructs that is
 * X.host.s in the temporary directory, so each is named explicitly: written under a temporary name
 * beside its destination, and renamed with the object when everything has succeeded. */
#include "driver/pipeline/pipeline.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The compile to assembly text opens the file, too, and leaves it empty. */
#define SPLIT_DWARF                                                                                \
    { "-Xclang", "-split-dwarf-file",   "-Xclang", "@",                                            \
      "-Xclang", "-split-dwarf-output", "-Xclang", "%" }

/* In `args`, # stands for the file that is written, @ for its final name, % for one that nobody
 * needs. */
static const struct side_kind {
    const char *flag, *extension;
    bool by_assembler, at_run_time; /* who writes it, if not the host compile */
    const char *args[8];
} kinds[] = {
    { "--coverage", "gcno", false, false, { "-Xclang", "-coverage-notes-file=#" } },
    { "-ftest-coverage", "gcno", false, false, { "-Xclang", "-coverage-notes-file=#" } },
    { "--coverage", "gcda", false, true, { "-Xclang", "-coverage-data-file=@" } },
    { "-fprofile-arcs", "gcda", false, true, { "-Xclang", "-coverage-data-file=@" } },
    { "-fstack-usage", "su", false, false, { "-Xclang", "-stack-usage-file", "-Xclang", "#" } },
    { "-ftime-trace", "json", false, false, { "-ftime-trace=#" } },
    { "-fsave-optimization-record", "opt.yaml", false, false, { "-foptimization-record-file=#" } },
    { "-gsplit-dwarf", "dwo", true, false, SPLIT_DWARF },
    { "-gsplit-dwarf=split", "dwo", true, false, SPLIT_DWARF },
};
enum { KINDS = sizeof kinds / sizeof *kinds, WORDS = sizeof kinds->args / sizeof *kinds->args };

static bool is_given(const struct options *o, const char *word)
{
    for (unsigned i = 0; i < o->nargs; i++)
        if (strcmp(o->args[i].word, word) == 0)
            return true;
    return false;
}

/* DIR/app of -o DIR/app.o.  Absolute: a program with --coverage may run in another directory. */
static const char *side_stem(const struct job *j)
{
    const char *dir = path_dir(j->output), *stem = path_stem(j->output);
    char *real = realpath(dir, NULL);
    const char *path = mem_printf("%s/%s", real ? real : dir, stem);
    free(real);
    return path;
}

void drv_side_begin(struct job *j)
{
    if (!j->opt->beside || !j->output || strcmp(j->output, "-") == 0 || j->opt->gcc)
        return;
    const char *stem = side_stem(j);
    j->sides = mem_alloc(KINDS * sizeof *j->sides);
    for (unsigned i = 0; i < KINDS; i++) {
        if (!is_given(j->opt, kinds[i].flag))
            continue;
        struct side_output *s = &j->sides[i];
        s->name = mem_printf("%s.%s", stem, kinds[i].extension);
        if (kinds[i].by_assembler) { /* its name follows -o: that of the object, renamed */
            s->written = mem_printf("%s/%s.%s", path_dir(j->write_to), path_stem(j->write_to),
                                    kinds[i].extension);
            drv_output_remove_later(s->written);
        } else if (!kinds[i].at_run_time)
            s->written = j->opt->dry ? s->name : drv_output_begin(s->name);
    }
}

/* gcc has flags for the names themselves. */
static void gcc_args(const struct job *j, struct words *w)
{
    if (j->output && j->opt->beside)
        WORDS_ADD(w, "-dumpdir", mem_printf("%s/", path_dir(side_stem(j))), "-dumpbase",
                  path_base(side_stem(j)));
}

void drv_side_args(const struct job *j, struct words *w)
{
    if (j->opt->gcc)
        gcc_args(j, w);
    for (unsigned i = 0; j->sides && i < KINDS; i++)
        for (unsigned k = 0; j->sides[i].name && k < WORDS && kinds[i].args[k]; k++) {
            const char *word = kinds[i].args[k];
            size_t n = strcspn(word, "#@%");
            const char *file = word[n] == '#'   ? j->sides[i].written
                               : word[n] == '@' ? j->sides[i].name
                               : word[n] == '%' ? drv_job_file(j, kinds[i].extension)
                                                : "";
            words_add(w, mem_printf("%.*s%s", (int)n, word, file));
        }
}

void drv_side_commit(const struct job *j)
{
    for (unsigned i = 0; j->sides && i < KINDS; i++) {
        const struct side_output *s = &j->sides[i];
        struct stat st;
        if (s->written && stat(s->written, &st) == 0 && st.st_size)
            drv_output_commit(s->name, s->written);
    }
}
