/* side_outputs.c - files that clang writes beside the object: .gcno, .dwo, .su, time traces,
 * optimisation records; and the entry of a compilation database (-MJ), which is ours.
 *
 * clang names them after what it is told to write.  For a file with target constructs that is
 * X.host.s in the temporary directory, so each is named explicitly: written under a temporary name
 * beside its destination, and renamed with the object when everything has succeeded. */
#include "driver/base/diag.h"
#include "driver/pipeline/pipeline.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The compile to assembly text opens the file, too, and leaves it empty. */
#define SPLIT_DWARF                                                                                \
    { "-Xclang", "-split-dwarf-file",   "-Xclang", "@",                                            \
      "-Xclang", "-split-dwarf-output", "-Xclang", "%" }

#define RECORD { "-foptimization-record-file=#" }

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
    { "-fsave-optimization-record", "opt.yaml", false, false, RECORD },
    { "-fsave-optimization-record=yaml", "opt.yaml", false, false, RECORD },
    { "-fsave-optimization-record=bitstream", "opt.bitstream", false, false, RECORD },
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

/* The user names the file. */
static bool is_named(const struct options *o, const struct side_kind *k)
{
    return text_starts(k->extension, "opt.") && drv_has(o, FLAG_FOPT_RECORD_FILE);
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
        if (!is_given(j->opt, kinds[i].flag) || is_named(j->opt, &kinds[i]))
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

/* clang counts the lines of the text that it compiles, whatever file they are from. */
static void warn_coverage(const struct options *o, const char *path)
{
    if (drv_has(o, FLAG_FCOVERAGE_MAPPING) && drv_warns(o, WARN_FLAGS))
        diag_warning("'-fcoverage-mapping' has no effect for '%s', which has target constructs; "
                     "--coverage counts its lines [-Wompgpu-flags]",
                     path);
}

void drv_side_commit(const struct job *j)
{
    warn_coverage(j->opt, j->path);
    for (unsigned i = 0; j->sides && i < KINDS; i++) {
        const struct side_output *s = &j->sides[i];
        struct stat st;
        if (s->written && stat(s->written, &st) == 0 && st.st_size)
            drv_output_commit(s->name, s->written);
    }
}

const char *drv_record_file(const struct job *j)
{
    if (is_given(j->opt, "-fsave-optimization-record=bitstream"))
        return NULL;
    if (drv_has(j->opt, FLAG_FOPT_RECORD_FILE))
        return drv_value(j->opt, FLAG_FOPT_RECORD_FILE);
    for (unsigned i = 0; j->sides && i < KINDS; i++)
        if (strcmp(kinds[i].extension, "opt.yaml") == 0 && j->sides[i].written)
            return j->sides[i].written;
    return NULL;
}

/* ------------------------------------------------------------------ the compilation database */
static void add_json(struct text *t, const char *s)
{
    text_putc(t, '"');
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            text_printf(t, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            text_printf(t, "\\u%04x", (unsigned)*s);
        else
            text_putc(t, *s);
    text_putc(t, '"');
}

/* The command that compiles this file alone. */
static void add_own_command(const struct job *j, struct words *w)
{
    words_add(w, drv_command());
    for (unsigned i = 0; i < j->opt->nargs; i++) {
        const struct arg *a = &j->opt->args[i];
        bool other = a->id < FLAG_COUNT && drv_flags[a->id].group == OTHERS;
        if (other || (a->to & FOR_INPUT) || a->id == FLAG_MJ || a->id == FLAG_O || a->id == FLAG_X)
            continue;
        words_add(w, a->word);
        if (a->next)
            words_add(w, a->next);
    }
    if (j->language)
        WORDS_ADD(w, "-x", j->language);
    if (j->link)
        words_add(w, "-c");
    else if (j->output)
        WORDS_ADD(w, "-o", j->output);
    words_add(w, j->path);
}

static const char *database_entry(const struct job *j)
{
    struct words command = { 0 };
    struct text t = { 0 };
    char *here = getcwd(NULL, 0);
    text_puts(&t, "{ \"directory\": ");
    add_json(&t, here ? here : ".");
    free(here);
    text_puts(&t, ", \"file\": ");
    add_json(&t, j->path);
    if (!j->link && j->output) {
        text_puts(&t, ", \"output\": ");
        add_json(&t, j->output);
    }
    add_own_command(j, &command);
    for (unsigned i = 0; i < command.n; i++) {
        text_puts(&t, i ? ", " : ", \"arguments\": [");
        add_json(&t, command.v[i]);
    }
    text_puts(&t, "]},\n");
    return t.s;
}

/* As clang does, one line a file, after what is in the database. */
void drv_side_database(const struct job *j)
{
    const char *name = drv_value(j->opt, FLAG_MJ);
    FILE *f = name && !j->opt->dry ? fopen(name, "a") : NULL;
    if (!name || j->opt->dry)
        return;
    if (!f || fputs(database_entry(j), f) == EOF || fclose(f) != 0)
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", name, strerror(errno));
}
