/* others.c - flags of other compilers (others.def): what is done with them, and what is said.  And
 * flags that are nearly ours. */
#include "driver/options.h"
#include "driver/base/diag.h"
#include "driver/base/mem.h"
#include "driver/run/run.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum verdict { SAME = 1, TAKEN_AS, NAMES_GPU, NO_EFFECT, REFUSED };
static const struct other {
    const char *whose;
    enum verdict verdict;
    const char *text;
} others[FLAG_COUNT] = {
#define FLAG(...)
#define OTHER(id, spelling, kind, whose, verdict, text) [FLAG_##id] = { whose, verdict, text },
#include "driver/flags.def"
};

/* ------------------------------------------------------------------ what is said, at the end */
static struct saying {
    enum verdict verdict;
    const char *words;
} *sayings;
static unsigned nsayings, room;

static void say(enum verdict verdict, const char *words)
{
    if (nsayings == room)
        sayings = arena_grow(NULL, sayings, &room, sizeof *sayings);
    sayings[nsayings++] = (struct saying){ verdict, words };
}

void drv_say_others(const struct options *o)
{
    bool errors = drv_warning_is_error(o, WARN_FLAGS), failed = false;
    for (unsigned i = 0; i < nsayings; i++) {
        const struct saying *s = &sayings[i];
        bool effect = s->verdict == TAKEN_AS;
        if (s->verdict == REFUSED)
            diag_fatal(EXIT_USAGE, "%s", s->words);
        if (!drv_warns(o, WARN_FLAGS))
            continue;
        failed |= errors && !effect;
        (effect ? diag_note
         : errors
             ? diag_error
             : diag_warning)("%s [-W%sompgpu-flags]", s->words, errors && !effect ? "error=" : "");
    }
    if (failed)
        drv_exit(EXIT_USAGE);
}

/* ------------------------------------------------------------------ what is done */
/* "-gencode arch=compute_80", "-gpu=cc80" */
static const char *as_given(const struct arg *a)
{
    return a->next ? mem_printf("%s %s", a->word, a->next) : a->word;
}

/* The names of GPUs in the text, each once: "sm_80,sm_90"; NULL: there are none. */
static const char *gpus_in(const char *text)
{
    static const char *const prefixes[] = { "sm_", "compute_", "cc" };
    const char *list = NULL;
    for (const char *p = text; *p; p++)
        for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
            size_t n = strlen(prefixes[i]), digits;
            bool begins = p == text || !isalnum((unsigned char)p[-1]);
            if (!begins || strncmp(p, prefixes[i], n) != 0)
                continue;
            digits = strspn(p + n, "0123456789");
            digits += digits && (p[n + digits] == 'a' || p[n + digits] == 'f');
            const char *name = mem_printf("sm_%.*s", (int)digits, p + n);
            if (digits && (!list || !strstr(list, name)))
                list = list ? mem_printf("%s,%s", list, name) : name;
        }
    return list;
}

/* `text` with the argument for %s; an argument that stands alone is a list of words. */
static const char *filled_in(const char *text, const char *argument)
{
    const char *at = strstr(text, "%s");
    if (!at)
        return text;
    if (strcmp(text, "%s") == 0)
        return text_replace(argument, ',', ' ');
    return mem_printf("%.*s%s%s", (int)(at - text), text, argument, at + 2);
}

void drv_take_other(const struct arg *a, struct words *stands_for)
{
    const char *given = as_given(a), *gpus = NULL, *as = NULL;
    enum flag_id id = a->id;
    if (id == FLAG_H && a->next) /* "-h omp" is "-homp" */
        id = drv_find_flag(mem_printf("-h%s", a->next));
    const struct other *t = &others[id];
    if (t->verdict == NAMES_GPU && (gpus = gpus_in(a->value)))
        as = mem_printf("--gpu-arch=%s", gpus);
    if (t->verdict == TAKEN_AS)
        as = filled_in(t->text, a->value ? a->value : "");
    if (as) {
        words_add_parts(stands_for, as, " ");
        say(TAKEN_AS, mem_printf("'%s' is a flag of %s: it is taken as '%s'", given, t->whose, as));
    } else if (t->verdict == REFUSED)
        say(REFUSED, mem_printf("'%s' is a flag of %s: %s", given, t->whose, t->text));
    else if (t->verdict != SAME)
        say(NO_EFFECT,
            mem_printf("'%s' is a flag of %s, without effect: %s", given, t->whose, t->text));
}

/* ------------------------------------------------------------------ nearly ours */
/* Of the names; "=" ends that of a flag with an argument. */
static unsigned distance_of(const char *word, const struct flag *f, unsigned limit)
{
    bool has_argument = f->spelling[f->length - 1] == '=';
    return text_distance(word, has_argument ? strcspn(word, "=") : strlen(word), f->spelling,
                         f->length - has_argument, limit);
}

/* The flag of ours that the word is nearly, or NULL. */
static const char *meant(const char *word)
{
    enum { FAR = 3 };
    const char *best = NULL;
    unsigned nearest = FAR;
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        const struct flag *f = &drv_flags[i];
        unsigned d = f->group == OURS ? distance_of(word, f, nearest) : nearest;
        if (d < nearest) {
            best = f->spelling;
            nearest = d;
        }
    }
    return best;
}

static bool clang_knows(const char *word)
{
    struct proc p = { .err = drv_answer_file("known.err"), .doing = "asking for a flag" };
    WORDS_ADD(&p.argv, drv_clang(), "-Werror=unknown-warning-option", "-fsyntax-only", "-x", "c",
              "/dev/null", word);
    return drv_proc_run(&p) == 0;
}

void drv_check_spelling(const struct options *o)
{
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        bool family = a->id == FLAG_F_REST || a->id == FLAG_W_REST || a->id == FLAG_R_REST;
        const char *ours = a->id == FLAG_UNKNOWN || family ? meant(a->word) : NULL;
        if (ours && !clang_knows(a->word))
            diag_fatal(EXIT_USAGE, "unknown flag '%s'; did you mean '%s'?", a->word, ours);
    }
}

/* ------------------------------------------------------------------ the manual page */
static void print_verdict(const struct other *t, void (*text)(const char *))
{
    static const char *const words[] = {
        [SAME] = "is so anyway",
        [TAKEN_AS] = "taken as ",
        [NAMES_GPU] = "names of GPUs go to --gpu-arch=",
        [NO_EFFECT] = "no effect: ",
        [REFUSED] = "refused: "
    };
    text(words[t->verdict]);
    if (t->verdict == TAKEN_AS)
        text(filled_in(t->text, "ARG"));
    else if (t->verdict == NO_EFFECT || t->verdict == REFUSED)
        text(t->text);
}

void drv_print_others(void (*text)(const char *))
{
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        const struct flag *f = &drv_flags[i];
        if (f->group != OTHERS)
            continue;
        text(f->spelling);
        text(f->kind == JOINED                     ? "ARG"
             : f->kind == JOINED_SEP               ? "TRIPLE ARG"
             : f->kind == SEP || f->kind == EITHER ? " ARG"
                                                   : "");
        putchar('\t');
        text(others[i].whose);
        fputs("\tT{\n", stdout);
        print_verdict(&others[i], text);
        fputs("\nT}\n", stdout);
    }
}
