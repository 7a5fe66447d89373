/* copy.c - copying user text with edits.
 *
 * Three sorted lists of the unit are merged while an extent is copied: renames, uses of variables,
 * and constructs.  At one offset a rename comes first: the frontend asked for it everywhere. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"

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

struct omp_extent cg_whole(const struct omp_construct *c)
{
    return (struct omp_extent){ c->pragma.begin, cg_empty(c->body) ? c->pragma.end : c->body.end };
}

/* ------------------------------------------------------------------ the copier */
struct cursor {
    unsigned ref, rename, construct;
};

static unsigned construct_at(struct cg *cg, unsigned *i, unsigned end)
{
    const struct omp_unit *u = cg->unit;
    while (*i < u->nconstructs && cg->handles && !cg->handles(u->constructs[*i]))
        ++*i;
    return cg->handles && *i < u->nconstructs && u->constructs[*i]->pragma.begin < end
               ? u->constructs[*i]->pragma.begin
               : end;
}

/* Place all cursors at or after `offset`. */
static void seek(const struct omp_unit *u, struct cursor *c, unsigned offset)
{
    c->ref = cg_first_ref(u, offset);
    c->rename = FIRST_AT(u->renames, u->nrenames, .offset, offset);
    c->construct = FIRST_AT(u->constructs, u->nconstructs, ->pragma.begin, offset);
}

static void copy_construct(struct cg *cg, const struct omp_construct *c, unsigned resume)
{
    struct omp_place place = cg->place;
    cg->place = c->place;
    cg->construct(cg, c);
    cg->place = place;
    cg_marker(cg, fe_place(cg->unit, resume));
}

static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

void cg_copy(struct cg *cg, struct omp_extent e)
{
    const struct omp_unit *u = cg->unit;
    struct cursor cur;
    seek(u, &cur, e.begin);
    for (unsigned pos = e.begin;;) {
        unsigned ref = cur.ref < u->nrefs ? min(u->refs[cur.ref].offset, e.end) : e.end;
        unsigned rename = cg->renames && cur.rename < u->nrenames
                              ? min(u->renames[cur.rename].offset, e.end)
                              : e.end;
        unsigned construct = construct_at(cg, &cur.construct, e.end);
        unsigned next = min(min(ref, rename), construct);
        if (next > pos)
            cg_write(cg, u->text + pos, next - pos), pos = next;
        if (next >= e.end)
            return;
        if (construct == next) {
            const struct omp_construct *c = u->constructs[cur.construct];
            pos = cg_whole(c).end;
            copy_construct(cg, c, pos);
            seek(u, &cur, pos);
        } else if (rename == next) {
            cg_puts(cg, u->renames[cur.rename].text);
            pos += u->renames[cur.rename++].length;
            while (cur.ref < u->nrefs && u->refs[cur.ref].offset < pos)
                cur.ref++;
        } else {
            const struct omp_ref *r = &u->refs[cur.ref++];
            const char *spelling = cg->env[r->var->id];
            if (spelling)
                cg_puts(cg, spelling);
            else
                cg_write(cg, u->text + pos, r->length);
            pos += r->length;
        }
    }
}

void cg_copy_body(struct cg *cg, struct omp_extent e)
{
    cg_marker(cg, fe_place(cg->unit, e.begin));
    cg_copy(cg, e);
}

/* One line: line markers go, white space shrinks.  String and character literals cannot hold
 * newlines. */
static const char *one_line(struct cg *cg, const char *s)
{
    char *line = strdup(s), *to = line;
    if (!line)
        abort();
    bool start = false, quoted = false;
    char quote = 0;
    for (const char *p = s; *p; p++) {
        if (quoted) {
            *to++ = *p;
            if (*p == '\\' && p[1])
                *to++ = *++p;
            else if (*p == quote)
                quoted = false;
            continue;
        }
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
            quoted = true, quote = *p;
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
