/* copy.c - copying user text with edits.
 *
 * Three sorted lists of the unit are merged while an extent is copied: renames, uses of variables,
 * and constructs.  At one offset a rename comes first: the frontend asked for it everywhere. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/text/text.h"

/* ------------------------------------------------------------------ environment */
const char *cg_spell(const struct cg *cg, const struct omp_var *v)
{
    return cg->env[v->id] ? cg->env[v->id] : v->name;
}

const char *cg_address(struct cg *cg, const struct omp_var *v)
{
    const char *s = cg->env[v->id];
    size_t n = s ? strlen(s) : 0;
    return n > 3 && !strncmp(s, "(*", 2) && s[n - 1] == ')' ? cg_strf(cg, "%.*s", (int)n - 3, s + 2)
                                                            : cg_strf(cg, "&%s", cg_spell(cg, v));
}

const char *cg_bind(struct cg *cg, const struct omp_var *v, const char *spelling)
{
    const char *old = cg->env[v->id];
    cg->env[v->id] = spelling;
    return old;
}

const char **cg_push_env(struct cg *cg, bool fresh)
{
    const char **saved = cg->env;
    size_t size = (cg->unit->nvars + 1) * sizeof *saved;
    cg->env = malloc(size);
    if (!cg->env)
        abort();
    memcpy(cg->env, fresh ? cg->file_env : saved, size);
    return saved;
}

void cg_pop_env(struct cg *cg, const char **saved)
{
    free(cg->env);
    cg->env = saved;
}

/* ------------------------------------------------------------------ searching the sorted lists */
#define FIRST_AT(list, n, member, offset)                                                          \
    ({                                                                                             \
        unsigned lo_ = 0, hi_ = (n);                                                               \
        while (lo_ < hi_) {                                                                        \
            unsigned mid_ = lo_ + (hi_ - lo_) / 2;                                                 \
            if ((list)[mid_] member < (offset))                                                    \
                lo_ = mid_ + 1;                                                                    \
            else                                                                                   \
                hi_ = mid_;                                                                        \
        }                                                                                          \
        lo_;                                                                                       \
    })

unsigned cg_first_ref(const struct omp_unit *u, unsigned offset)
{
    return FIRST_AT(u->refs, u->nrefs, .offset, offset);
}

static bool find_ref(const struct omp_unit *u, struct omp_extent e, const struct omp_var *v,
                     bool write)
{
    for (unsigned i = cg_first_ref(u, e.begin); i < u->nrefs && u->refs[i].offset < e.end; i++)
        if (u->refs[i].var == v && (u->refs[i].write || !write))
            return true;
    return false;
}

bool cg_is_used(const struct omp_unit *u, struct omp_extent e, const struct omp_var *v)
{
    return find_ref(u, e, v, false);
}
bool cg_is_written(const struct omp_unit *u, struct omp_extent e, const struct omp_var *v)
{
    return find_ref(u, e, v, true);
}

bool cg_is_renamed(const struct omp_unit *u, struct omp_extent e)
{
    unsigned i = FIRST_AT(u->renames, u->nrenames, .offset, e.begin);
    return i < u->nrenames && u->renames[i].offset < e.end;
}

struct omp_extent cg_whole(const struct omp_construct *c)
{
    return (struct omp_extent){ c->pragma.begin, cg_empty(c->body) ? c->pragma.end : c->body.end };
}

/* ------------------------------------------------------------------ the copier */
struct cursor {
    unsigned ref, rename, construct, guard;
    bool guarded; /* inside of that guard */
};

static unsigned construct_at(struct cg *cg, unsigned *i, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    while (*i < u->nconstructs && cg->handles && !cg->handles(cg, u->constructs[*i]))
        ++*i;
    return cg->handles && *i < u->nconstructs && u->constructs[*i]->pragma.begin < end
               ? u->constructs[*i]->pragma.begin
               : end;
}

/* Place all cursors at or after `offset`. */
static void place_cursors(const struct omp_unit *u, struct cursor *c, unsigned offset)
{
    c->ref = cg_first_ref(u, offset);
    c->rename = FIRST_AT(u->renames, u->nrenames, .offset, offset);
    c->construct = FIRST_AT(u->constructs, u->nconstructs, ->pragma.begin, offset);
    c->guard = FIRST_AT(u->guards, u->nguards, .extent.begin, offset);
    c->guarded = false;
}

/* ------------------------------------------------------------------ the layout of user text
 * A statement that stands in generated code is moved to its indentation as a whole. */
static unsigned columns_of_blanks(const char *s)
{
    unsigned n = 0;
    for (; *s == ' ' || *s == '\t'; s++)
        n = *s == '\t' ? (n | 7) + 1 : n + 1;
    return n;
}

static bool starts_line(const struct omp_unit *u, unsigned offset)
{
    return !offset || u->text[offset - 1] == '\n';
}

/* Columns before the line in which the offset lies. */
static unsigned indent_at(const struct omp_unit *u, unsigned offset)
{
    while (!starts_line(u, offset))
        offset--;
    return columns_of_blanks(u->text + offset);
}

/* Where a line of the user's goes that has so many blanks. */
static unsigned moved_indent(const struct cg_layout *l, unsigned blanks)
{
    return l->to + (blanks > l->from ? blanks - l->from : 0);
}

static bool is_marker(const char *s) { return s[0] == '#' && s[1] == ' '; }

/* User text as it is, but for the blanks at the beginning of lines. */
static void write_user(struct cg *cg, unsigned begin, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    const struct cg_layout *l = &cg->layout;
    if (l->fixed) {
        cg_write(cg, u->text + begin, end - begin);
        if (memmem(u->text + begin, end - begin, "\n# ", 3)) /* line markers of the file's own */
            cg_forget_place(cg);
        return;
    }
    for (unsigned at = begin, next; at < end; at = next) {
        const char *newline = memchr(u->text + at, '\n', end - at);
        next = newline ? (unsigned)(newline - u->text) + 1 : end;
        if (cg_at_line_start(cg->out)) {
            unsigned blanks = indent_at(u, at);
            at += (unsigned)strspn(u->text + at, " \t");
            at = at < next ? at : next;
            bool marker = at < next && is_marker(u->text + at);
            if (at < next && u->text[at] != '\n' && !marker)
                cg_pad(cg, moved_indent(l, blanks));
            if (marker)
                cg_forget_place(cg);
        }
        cg_write(cg, u->text + at, next - at);
    }
}

/* The same where a name that is replaced begins the line. */
static void pad_user(struct cg *cg, unsigned at)
{
    if (cg_at_line_start(cg->out) && !cg->layout.fixed)
        cg_pad(cg, moved_indent(&cg->layout, indent_at(cg->unit, at)));
}

/* Blanks at the beginning of lines mean something in a raw string only. */
static struct cg_layout layout_of(const struct cg *cg, struct omp_extent e)
{
    const struct omp_unit *u = cg->unit;
    unsigned from = indent_at(u, e.begin);
    bool fixed =
        u->exact_lines || !e.begin || memmem(u->text + e.begin, e.end - e.begin, "R\"", 2) != NULL;
    return (struct cg_layout){ fixed, from, fixed ? from : cg->out->indent };
}

/* The columns of a construct's code: the directive's, or those of the statement that follows, since
 * many write directives at the beginning of the line. */
static unsigned indent_of(const struct omp_unit *u, const struct omp_construct *c)
{
    unsigned at = c->pragma.end, own = indent_at(u, c->pragma.begin);
    while (u->text[at] == '#' || u->text[at] == '\n') {
        at += (unsigned)strcspn(u->text + at, "\n");
        at += u->text[at] == '\n';
    }
    unsigned next = columns_of_blanks(u->text + at);
    return own > next ? own : next;
}

/* The offset from which the text goes on after a construct: the next line that is not empty, where
 * the construct ends one. */
static unsigned resume_at(const struct omp_unit *u, unsigned offset, unsigned end)
{
    unsigned next = offset + (unsigned)strspn(u->text + offset, " \t");
    while (next < end && u->text[next] == '\n') {
        offset = next + 1;
        next = offset + (unsigned)strspn(u->text + offset, " \t");
    }
    return offset;
}

static unsigned copy_construct(struct cg *cg, const struct omp_construct *c, unsigned end)
{
    struct omp_place place = cg->place;
    struct cg_layout layout = cg->layout;
    unsigned indent = cg->out->indent;
    cg->out->indent = moved_indent(&layout, indent_of(cg->unit, c));
    cg->place = c->place;
    cg->construct(cg, c);
    cg->place = place;
    cg->layout = layout;
    cg->out->indent = indent;
    unsigned resume = resume_at(cg->unit, cg_whole(c).end, end);
    cg_marker(cg, fe_place(cg->unit, resume));
    return resume;
}

static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned copy_rename(struct cg *cg, struct cursor *cur, unsigned pos)
{
    const struct omp_unit *u = cg->unit;
    pad_user(cg, pos);
    cg_puts(cg, u->renames[cur->rename].text);
    pos += u->renames[cur->rename++].length;
    while (cur->ref < u->nrefs && u->refs[cur->ref].offset < pos)
        cur->ref++;
    return pos;
}

/* For the typedef that is written there.  In the host's text the user's name does, but that clang
 * 22 crashes on a type made of it, in a construct without the size of the typedef itself. */
static const char *carried_type(struct cg *cg, const struct omp_ref *r)
{
    bool pointed = r->var->carries == OMPV_POINTS_TO_THE_TYPE;
    const char *star = pointed ? "*" : "",
               *name = cg_strf(cg, "%.*s", (int)r->length, cg->unit->text + r->offset);
    if (cg->renames)
        return cg_strf(cg, "__typeof__(%s%s)", star, cg_spell(cg, r->var));
    return cg_strf(cg, "__typeof__(%s(%s %s)(sizeof(%s) * 0))", star, name, star, name);
}

static unsigned copy_reference(struct cg *cg, struct cursor *cur, unsigned pos)
{
    const struct omp_ref *r = &cg->unit->refs[cur->ref++];
    const char *spelling = cg->env[r->var->id];
    if (!spelling && r->var->symbol)
        spelling = r->var->name;
    pad_user(cg, pos);
    if (r->var->carries)
        cg_puts(cg, carried_type(cg, r));
    else if (spelling)
        cg_puts(cg, spelling);
    else
        cg_write(cg, cg->unit->text + pos, r->length);
    return pos + r->length;
}

/* What follows another spelling of a name in its line is at the user's column again. */
static void restore_column(struct cg *cg, unsigned at, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    unsigned next = at + (unsigned)strspn(u->text + at, " \t");
    if (!u->exact_lines || next >= end || u->text[next] == '\n')
        return;
    struct omp_place p = fe_place(u, at);
    cg_end_line(cg);
    cg_show_place(cg, p);
    cg_pad(cg, p.col - 1);
}

/* The blanks before text that does not begin its line. */
static void begin_at_column(struct cg *cg, unsigned at)
{
    const struct omp_unit *u = cg->unit;
    if (u->exact_lines && cg_at_line_start(cg->out) && !starts_line(u, at))
        cg_pad(cg, fe_place(u, at).col - 1);
}

static unsigned rename_at(const struct cg *cg, const struct cursor *cur, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    return cg->renames && cur->rename < u->nrenames ? min(u->renames[cur->rename].offset, end)
                                                    : end;
}

/* Where the next guard begins, or the one that is open ends. */
static unsigned guard_at(const struct cg *cg, const struct cursor *cur, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    if (!cg->lanes || cur->guard == u->nguards)
        return end;
    struct omp_extent e = u->guards[cur->guard].extent;
    return min(cur->guarded ? e.end : e.begin, end);
}

/* At the end of one, or at the begin of one that is in the text up to `end`; false: at neither. */
static bool pass_guard(struct cg *cg, struct cursor *cur, unsigned pos, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    if (!cg->lanes || cur->guard == u->nguards)
        return false;
    const struct omp_guard *g = &u->guards[cur->guard];
    if (cur->guarded && g->extent.end == pos) {
        cg_put(cg, g->last ? " } }" : " } __ompgpu_row_sync(@lanes); }");
        cur->guarded = false;
        cur->guard++;
        return true;
    }
    if (cur->guarded || g->extent.begin != pos || pos >= end)
        return false;
    pad_user(cg, pos);
    cg_put(cg, "{ if (__ompgpu_row_once(@lanes)) { ");
    return cur->guarded = true;
}

static bool is_spelled_alike(const struct cg *cg, size_t written, unsigned from, unsigned to)
{
    const struct cg_text *t = cg->out;
    return t->n - written == to - from && !memcmp(t->s + written, cg->unit->text + from, to - from);
}

void cg_copy(struct cg *cg, struct omp_extent e)
{
    const struct omp_unit *u = cg->unit;
    struct cursor cur;
    struct cg_layout outer = cg->layout;
    cg->layout = layout_of(cg, e);
    place_cursors(u, &cur, e.begin);
    begin_at_column(cg, e.begin);
    for (unsigned pos = e.begin;;) {
        unsigned ref = cur.ref < u->nrefs ? min(u->refs[cur.ref].offset, e.end) : e.end;
        unsigned rename = rename_at(cg, &cur, e.end);
        unsigned construct = construct_at(cg, &cur.construct, e.end);
        unsigned next = min(min(ref, rename), min(construct, guard_at(cg, &cur, e.end)));
        write_user(cg, pos, next);
        pos = next;
        bool guard = pass_guard(cg, &cur, pos, e.end);
        if (next >= e.end)
            break;
        if (guard)
            continue;
        if (construct == next) {
            pos = copy_construct(cg, u->constructs[cur.construct], e.end);
            place_cursors(u, &cur, pos);
            continue;
        }
        size_t written = cg->out->n;
        pos = rename == next ? copy_rename(cg, &cur, pos) : copy_reference(cg, &cur, pos);
        if (!is_spelled_alike(cg, written, next, pos))
            restore_column(cg, pos, e.end);
    }
    cg->layout = outer;
}

void cg_copy_body(struct cg *cg, struct omp_extent e)
{
    cg_marker(cg, fe_place(cg->unit, e.begin));
    cg_copy(cg, e);
}

/* A string or character literal, which cannot hold newlines: one without an end is an apostrophe in
 * what clang ignores.  -> its last character */
static const char *copy_literal(const char *p, char **to)
{
    char quote = *p;
    for (*(*to)++ = *p++; *p && *p != '\n'; p++) {
        *(*to)++ = *p;
        if (*p == quote)
            return p;
        if (*p == '\\' && p[1])
            *(*to)++ = *++p;
    }
    return p - 1;
}

/* One line: line markers go, white space shrinks. */
static const char *one_line(struct cg *cg, const char *s)
{
    char *line = strdup(s), *to = line;
    if (!line)
        abort();
    bool start = false;
    for (const char *p = s; *p; p++) {
        if (start && *p == '#') {
            p += strcspn(p, "\n");
            p -= !*p;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            start = start || *p == '\n';
            if (to > line && to[-1] != ' ')
                *to++ = ' ';
            continue;
        }
        start = false;
        if (*p == '"' || *p == '\'')
            p = copy_literal(p, &to);
        else
            *to++ = *p;
    }
    while (to > line && to[-1] == ' ')
        to--;
    *to = 0;
    const char *kept = cg_strf(cg, "%s", line);
    free(line);
    return kept;
}

const char *cg_expr(struct cg *cg, struct omp_extent e)
{
    struct cg_text text = { 0 }, *out = cg->out;
    cg->out = &text;
    cg_puts(cg, "");
    cg_copy(cg, e);
    cg->out = out;
    const char *line = one_line(cg, text.s);
    free(text.s);
    return line;
}

const char *cg_raw(struct cg *cg, struct omp_extent e)
{
    return one_line(cg, cg_strf(cg, "%.*s", (int)(e.end - e.begin), cg->unit->text + e.begin));
}

const char *cg_directive(struct cg *cg, const struct omp_construct *c, bool bare)
{
    const char *s = cg_raw(cg, c->pragma);
    if (!bare)
        return s;
    const char *omp = strstr(s, "omp");
    return omp ? omp + 3 + strspn(omp + 3, " \t") : s;
}
