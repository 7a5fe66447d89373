/* inscan.c - the text that the `check` stage shows to clang.
 *
 * clang 22 knows an inscan reduction on `for`, `simd` and their combinations with parallel, and
 * rejects it on `target parallel for` and the like.  In such directives the leaves that are ours,
 * and their clauses, become blanks: clang checks the rest, at the same places, and what is blanked
 * is checked by the frontend.  clang finds the text through an overlay of its file system, under
 * the file's name.
 *
 * It also rejects `scan` in collapsed loops.  In a file that has some all scans are hidden: they
 * are reductions then, without a directive. */
#include "driver/pipeline/pipeline.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line {
    char *at, *end;
}; /* what is left of a logical line */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool is_one_of(const char *list, const char *word, size_t n)
{
    for (const char *p = list; (p = memmem(p, strlen(p), word, n)); p += n)
        if (p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n' && *from != '\r' &&
            !(*from == '\\' && (from[1] == '\n' || from[1] == '\r')))
            *from = ' ';
}

/* The next word; its length, 0 at the end. */
static size_t next_word(struct line *l)
{
    size_t n = 0;
    while (l->at < l->end && *l->at != '"' && !is_word(*l->at))
        l->at++;
    while (l->at + n < l->end && is_word(l->at[n]))
        n++;
    return n;
}

/* Behind the clause's argument, when it has one. */
static char *clause_end(struct line l, size_t n)
{
    char *p = l.at + n;
    int depth = 0;
    while (p < l.end && (isspace((unsigned char)*p) || *p == '\\'))
        p++;
    if (p == l.end || *p != '(')
        return l.at + n;
    do
        depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    while (++p < l.end && depth);
    return p;
}

static bool names_target(const char *clause, const char *end)
{
    const char *p = memchr(clause, '(', (size_t)(end - clause));
    while (p && ++p < end && isspace((unsigned char)*p)) {}
    return p && end - p > 6 && strncmp(p, "target", 6) == 0 && !is_word(p[6]);
}

/* l: behind `omp`.  A directive's name is words without arguments. */
static bool change(struct line l)
{
    static const char leaves[] = " target teams distribute parallel for simd ",
                      ours[] = " target teams distribute ";
    static const char clauses[] =
        " map device defaultmap nowait is_device_ptr has_device_addr depend uses_allocators "
        "thread_limit priority num_teams dist_schedule ";
    struct line name = l;
    bool found = false, loop = false;
    size_t n;
    for (; (n = next_word(&l)) && is_one_of(leaves, l.at, n) && clause_end(l, n) == l.at + n;
         l.at += n) {
        found |= is_one_of(ours, l.at, n);
        loop |= is_one_of(" for simd ", l.at, n);
    }
    if (!found || !loop)
        return false;
    for (; name.at < l.at && (n = next_word(&name)) && name.at < l.at; name.at += n)
        if (is_one_of(ours, name.at, n))
            blank(name.at, name.at + n);
    while ((n = next_word(&l))) {
        char *end = clause_end(l, n);
        if (is_one_of(clauses, l.at, n) ||
            (n == 2 && strncmp(l.at, "if", 2) == 0 && names_target(l.at, end)))
            blank(l.at, end);
        l.at = end;
    }
    return true;
}

/* The logical line around p, from its word `omp` on. */
static struct line around(char *text, char *end, char *p)
{
    char *begin = p, *omp;
    while (begin > text && !(begin[-1] == '\n' && !(begin - text > 1 && begin[-2] == '\\')))
        begin--;
    while (p < end && !(*p == '\n' && p[-1] != '\\'))
        p++;
    omp = memmem(begin, (size_t)(p - begin), "omp", 3);
    return (struct line){ omp ? omp + 3 : p, p };
}

/* ------------------------------------------------------------------ collapsed loops */
static bool collapses(struct line l)
{
    size_t n;
    for (; (n = next_word(&l)); l.at = clause_end(l, n))
        if (is_one_of(" collapse ", l.at, n))
            return true;
    return false;
}

/* `inscan,` goes; of a scan directive its name and clause. */
static void hide(char *text, char *end)
{
    for (char *p = text; (p = memmem(p, (size_t)(end - p), "inscan", 6)); p += 6) {
        char *q = p + 6;
        while (q < end && (isspace((unsigned char)*q) || *q == '\\'))
            q++;
        blank(p, q < end && *q == ',' ? q + 1 : q);
    }
    for (char *p = text; (p = memmem(p, (size_t)(end - p), "omp", 3)); p += 3) {
        struct line l = { p + 3, around(text, end, p).end };
        size_t n = next_word(&l);
        if ((p > text && is_word(p[-1])) || is_word(p[3]) || !is_one_of(" scan ", l.at, n))
            continue;
        for (l.at += n; (n = next_word(&l)); l.at = clause_end(l, n)) {}
        blank(p, l.at);
        memcpy(p, "region", 6); /* says nothing to clang */
    }
}

static bool change_all(char *text, size_t size)
{
    char *end = text + size;
    bool changed = false, collapsed = false;
    for (char *p = text; (p = memmem(p, (size_t)(end - p), "inscan", 6)); p += 6) {
        struct line l = around(text, end, p);
        changed |= change(l);
        collapsed |= collapses(l);
    }
    if (collapsed)
        hide(text, end);
    return changed || collapsed;
}

/* ------------------------------------------------------------------ the overlay */
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

/* Adds what makes clang see the changed text of the job's file; returns the file to read as
 * standard input, if that is it. */
const char *drv_check_args(const struct job *j, struct words *w)
{
    size_t size;
    const char *text = file_read(j->input_file, &size), *file = drv_job_file(j, "check.c"),
               *overlay;
    if (!text || !memmem(text, size, "inscan", 6))
        return j->input_file;
    char *copy = mem_alloc(size + 1);
    memcpy(copy, text, size);
    if (!change_all(copy, size) || !file_write(file, copy, size))
        return j->input_file;
    if (strcmp(j->path, "-") != 0 && (overlay = write_overlay(j, file))) {
        words_add(w, "-ivfsoverlay");
        words_add(w, overlay);
    }
    return file;
}
