/* unneeded.c - static functions of system headers that nothing mentions are left out of the host
 * text, which clang reads in a fraction of the time then: <immintrin.h> alone has 5,000.
 *
 * A mention is the function's name as a word anywhere outside of its own definition and of others
 * that are left out, be it in a string: what could refer to it there, such as `cleanup` or `alias`,
 * need not be known.  Lines keep their numbers.
 *
 * Of functions that are variants for the GPU alone (frontend/lower/variant.c) the host text has the
 * declaration: what is in their bodies the host's compiler need not know. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/host/host.h"
#include "driver/base/mem.h"

struct candidate {
    const struct omp_function *function;
    bool needed, declared;
    unsigned other; /* index + 1 of one with the same name, which is overloaded */
};
struct candidates {
    const struct omp_unit *unit;
    struct candidate *at; /* by position */
    unsigned n, mask;
    unsigned *table; /* index + 1 of the name's candidate, open-addressed */
    unsigned *queue, nqueue;
};

static bool is_word(unsigned char c)
{
    return c == '_' || c == '$' || c >= 0x80 || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static unsigned word_length(const char *s, const char *end)
{
    const char *p = s;
    while (p < end && is_word((unsigned char)*p))
        p++;
    return (unsigned)(p - s);
}

/* ------------------------------------------------------------------ candidates
 * Not those whose declaration does more than declare the function: an attribute has it emitted
 * anyway, or it declares a tag. */
static bool keeps(const char *word, unsigned length)
{
    static const char *const words[] = {
        "used",   "retain", "constructor", "destructor",      "__used__",      "__retain__",
        "struct", "union",  "enum",        "__constructor__", "__destructor__"
    };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], word, length))
            return true;
    return false;
}

static bool only_declares(const char *text, struct omp_extent head)
{
    const char *end = text + head.end;
    for (const char *p = text + head.begin; p < end;) {
        unsigned length = word_length(p, end);
        if (length && keeps(p, length))
            return false;
        p += length ? length : 1;
    }
    return true;
}

/* Nothing of the declaration stands before it, such as attributes. */
static bool begins_there(const struct omp_unit *u, unsigned begin)
{
    unsigned line = begin;
    while (line && u->text[line - 1] != '\n')
        line--;
    unsigned before = line;
    while (line < begin && (u->text[line] == ' ' || u->text[line] == '\t'))
        line++;
    while (before && strchr(" \t\n", u->text[before - 1]))
        before--;
    unsigned last = before;
    while (last && u->text[last - 1] != '\n')
        last--;
    return line == begin && (!before || u->text[last] == '#' || strchr(";}", u->text[before - 1]));
}

static bool is_candidate(const struct omp_unit *u, const struct omp_function *f)
{
    return f->system && f->defined && f->is_static && !f->device && !f->constructs &&
           begins_there(u, f->extent.begin) &&
           only_declares(u->text, (struct omp_extent){ f->extent.begin, f->body.begin });
}

static bool is_for_gpu(const struct omp_function *f)
{
    return f->defined && fe_is_for_gpu(f->name);
}

static int by_position(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->function->extent.begin < y->function->extent.begin ? -1 : 1;
}

static unsigned slot_of(const struct candidates *c, const char *word, unsigned length)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < length; i++)
        h = (h ^ (unsigned char)word[i]) * 16777619u;
    for (h &= c->mask; c->table[h]; h = (h + 1) & c->mask) {
        const char *name = c->at[c->table[h] - 1].function->name;
        if (!strncmp(name, word, length) && !name[length])
            break;
    }
    return h;
}

static void find_candidates(struct candidates *c, const struct omp_unit *u)
{
    c->at = mem_array(u->nfunctions + 1, sizeof *c->at);
    for (unsigned i = 0; i < u->nfunctions; i++)
        if (is_candidate(u, u->functions[i]) || is_for_gpu(u->functions[i]))
            c->at[c->n++] =
                (struct candidate){ u->functions[i], false, is_for_gpu(u->functions[i]), 0 };
    qsort(c->at, c->n, sizeof *c->at, by_position);
    for (c->mask = 15; c->mask < 4 * c->n;)
        c->mask = 2 * c->mask + 1;
    c->table = mem_array(c->mask + 1, sizeof *c->table);
    c->queue = mem_array(c->n + 1, sizeof *c->queue);
    for (unsigned i = 0; i < c->n; i++) {
        const char *name = c->at[i].function->name;
        unsigned *first = &c->table[slot_of(c, name, (unsigned)strlen(name))];
        c->at[i].other = *first;
        *first = i + 1;
    }
}

/* ------------------------------------------------------------------ mentions */
static void look_for_mentions(struct candidates *c, unsigned begin, unsigned end)
{
    const char *text = c->unit->text;
    for (const char *p = text + begin; p < text + end;) {
        unsigned length = word_length(p, text + end),
                 found = length ? c->table[slot_of(c, p, length)] : 0;
        for (; found && !c->at[found - 1].needed; found = c->at[found - 1].other) {
            c->at[found - 1].needed = true;
            c->queue[c->nqueue++] = found - 1;
        }
        p += length ? length : 1;
    }
}

static void find_needed(struct candidates *c)
{
    unsigned at = 0;
    for (unsigned i = 0; i < c->n; i++) {
        look_for_mentions(c, at, c->at[i].function->extent.begin);
        at = c->at[i].function->extent.end;
    }
    look_for_mentions(c, at, (unsigned)c->unit->length);
    for (unsigned i = 0; i < c->nqueue; i++) {
        struct omp_extent e = c->at[c->queue[i]].function->extent;
        look_for_mentions(c, e.begin, e.end);
    }
}

/* ------------------------------------------------------------------ the text */
/* Its lines are empty, but for markers and pragmas. */
static void leave_out(struct cg *cg, struct omp_extent e)
{
    const char *end = cg->unit->text + e.end;
    for (const char *p = cg->unit->text + e.begin, *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        next = newline ? newline + 1 : end;
        if (*p == '#') {
            cg_write(cg, p, (size_t)(next - p));
            cg_forget_place(cg);
        } else if (newline) {
            cg_write(cg, newline, 1);
        }
    }
}

void cg_copy_needed(struct cg *cg)
{
    struct candidates c = { .unit = cg->unit };
    unsigned at = 0;
    find_candidates(&c, cg->unit);
    find_needed(&c);
    for (unsigned i = 0; i < c.n; i++) {
        struct omp_extent e = c.at[i].function->extent;
        if (c.at[i].declared)
            e.begin = c.at[i].function->body.begin;
        else if (c.at[i].needed)
            continue;
        cg_copy(cg, (struct omp_extent){ at, e.begin });
        cg_puts(cg, c.at[i].declared ? ";" : "");
        leave_out(cg, e);
        at = e.end;
    }
    cg_copy(cg, (struct omp_extent){ at, (unsigned)cg->unit->length });
}
