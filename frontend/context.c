/* context.c - context selectors (section 9 of OpenMP 5.2): metadirectives and declare variant.
 *
 * A metadirective stands for one of the directives in it.  Which one is known here: inside a target
 * construct the context is the device's, elsewhere the host's or, in a function that the device
 * gets too, again the device's.  The tokens of the choice, a part of the metadirective's own,
 * become the pragma's tokens, and the rest of the frontend sees a directive like any other.  What
 * the host runs instead is chosen here, too, and written into the host text: clang does not look at
 * the constructs around, and gcc 12 at no metadirective.
 *
 * A call of a function with variants is redirected in device code; on the host clang does that.
 *
 * Kind, architecture and vendor are those of an NVIDIA GPU, also for the emulated device, which
 * runs the same code.  What is known only at run time (target_device, conditions that are not
 * constant, an isa that some of the GPUs have) is an error. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

enum answer { NO, YES, UNKNOWN };
enum {
    MAX_TRAITS = 32,
    MOST_CANDIDATES = sizeof((struct fe_candidates *)0)->at / sizeof(struct fe_candidate)
};
#define TRAIT_LEAVES (OMPL_TARGET | OMPL_TEAMS | OMPL_PARALLEL | OMPL_FOR | OMPL_SIMD)
#define TRAIT_DISPATCH (1u << 31) /* no leaf */

/* The constructs around, outermost first: one leaf each. */
struct around {
    unsigned leaves[MAX_TRAITS], n;
};

struct trait {
    enum fe_trait_set set;
    unsigned selector;
    const char *property;
};

struct selector { /* the argument of when(), match() while it is read, and what came out */
    struct fe *fe;
    const struct fe_pragma *p;
    bool device; /* the context's device is the GPU */
    const struct around *around;
    enum answer all, any; /* of the traits so far */
    enum fe_match how;
    unsigned long long score;
    unsigned unknown; /* token of the first trait that cannot be determined */
    /* A condition that is no constant: it may hold, and is the tokens [condition, condition_end).
     */
    bool late;
    unsigned condition, condition_end;
    struct trait traits[MAX_TRAITS];
    unsigned ntraits;
};

/* ------------------------------------------------------------------ tokens */
static bool token_is(const struct selector *s, unsigned k, const char *word)
{
    return fe_word_at(s->fe, s->p, k, word);
}
static bool opens_clause(const struct selector *s, unsigned k, enum omp_clause_kind kind)
{
    return token_is(s, k + 1, "(") && fe_clause_named(s->fe, &s->p->tokens[k]) == kind;
}

static unsigned closing(const struct selector *s, unsigned k) { return fe_closing(s->fe, s->p, k); }
static unsigned find_top(const struct selector *s, unsigned k, unsigned end, const char *word)
{
    return fe_find_top(s->fe, s->p, k, end, word);
}

/* Is it a word of the set, or a string with one in it? */
bool fe_is_property(const struct fe *fe, const struct fe_pragma *p, unsigned k, enum fe_words set,
                    unsigned *value)
{
    const struct fe_token *t = &p->tokens[k];
    unsigned quote = t->kind == TOK_STRING;
    *value = 0;
    return k < p->ntokens &&
           fe_word(set, fe->u->text + t->begin + quote, t->end - t->begin - 2 * quote, value);
}

/* 0: it is none. */
static unsigned word_value(const struct selector *s, unsigned k, enum fe_words set)
{
    unsigned value;
    fe_is_property(s->fe, s->p, k, set, &value);
    return value;
}

/* ------------------------------------------------------------------ traits */
static enum answer yes(bool b) { return b ? YES : NO; }

static enum answer holds_for(const struct selector *s, unsigned devices)
{
    return yes(devices & (s->device ? FE_ON_GPU : FE_ON_HOST));
}
static enum answer kind_trait(struct selector *s, unsigned b, unsigned e)
{
    (void)e;
    return holds_for(s, word_value(s, b, WORDS_KIND));
}
static enum answer arch_trait(struct selector *s, unsigned b, unsigned e)
{
    (void)e;
    return holds_for(s, word_value(s, b, WORDS_ARCH));
}
static bool host_is_gcc;

void fe_set_host(bool gcc) { host_is_gcc = gcc; }
bool fe_host_is_gcc(void) { return host_is_gcc; }
const char *fe_vendor(void) { return host_is_gcc ? "gnu" : "llvm"; }

/* Of the host's compiler, whose traits a declare variant has there; clang compiles for devices. */
static enum answer vendor_trait(struct selector *s, unsigned b, unsigned e)
{
    unsigned vendor = word_value(s, b, WORDS_VENDOR);
    (void)e;
    if (vendor == VENDOR_GNU)
        return yes(host_is_gcc);
    return yes(vendor == VENDOR_LLVM && (s->device || !host_is_gcc));
}

static enum answer extension_trait(struct selector *s, unsigned b, unsigned e)
{
    unsigned how;
    bool known = fe_is_property(s->fe, s->p, b, WORDS_EXTENSION, &how);
    (void)e;
    if (how)
        s->how = (enum fe_match)how;
    return yes(known);
}

static enum answer condition_trait(struct selector *s, unsigned b, unsigned e)
{
    long long value;
    if (fe_constant(s->fe, s->p, b, e, &value))
        return yes(value != 0);
    if (!s->late)
        return UNKNOWN;
    s->condition = b;
    s->condition_end = e;
    return YES;
}

static enum answer unknown_trait(struct selector *s, unsigned b, unsigned e)
{
    (void)s, (void)b, (void)e;
    return UNKNOWN;
}

/* One text serves all GPUs of --gpu-arch=, whose numbers lie between these; the last is 0 where the
 * GPU turns out later. */
static unsigned long lowest_sm = 75, highest_sm;

void fe_set_archs(unsigned long lowest, unsigned long highest)
{
    lowest_sm = lowest ? lowest : lowest_sm;
    highest_sm = highest;
}

/* sm_80 is what each GPU from there on executes. */
static enum answer isa_trait(struct selector *s, unsigned b, unsigned e)
{
    const struct fe_token *t = &s->p->tokens[b];
    const char *word = s->fe->u->text + t->begin + (t->kind == TOK_STRING);
    bool gpu = strncmp(word, "sm_", 3) == 0;
    (void)e;
    if (!s->device)
        return gpu ? NO : UNKNOWN;
    if (!gpu)
        return strncmp(word, "ptx", 3) ? NO : UNKNOWN;
    char *end;
    unsigned long sm = strtoul(word + 3, &end, 10);
    if (*end == 'a' || *end == 'f')
        return UNKNOWN;
    return sm <= lowest_sm ? YES : highest_sm && sm > highest_sm ? NO : UNKNOWN;
}

/* What the default device is turns out when the program runs. */
static enum answer target_kind_trait(struct selector *s, unsigned b, unsigned e)
{
    (void)e;
    return word_value(s, b, WORDS_KIND) == FE_ON_ANY ? YES : UNKNOWN;
}

static unsigned directive_leaf(const struct selector *s, unsigned k)
{
    unsigned n;
    enum omp_directive d = fe_directive_at(s->fe, s->p, k, &n);
    return d == OMPDIR_UNKNOWN ? 0 : fe_directive_rows[d].leaf;
}

/* A construct that a selector can name, as it is in `around`. */
static unsigned trait_at(const struct selector *s, unsigned k)
{
    unsigned n;
    if (fe_directive_at(s->fe, s->p, k, &n) == OMPDIR_DISPATCH)
        return TRAIT_DISPATCH;
    return directive_leaf(s, k) & TRAIT_LEAVES;
}

static void add_trait(struct selector *s, enum fe_trait_set set, unsigned name, unsigned b,
                      unsigned e)
{
    struct omp_extent text = { 0, 0 };
    if (b < e)
        text = (struct omp_extent){ s->p->tokens[b].begin, s->p->tokens[e - 1].end };
    if (s->ntraits < MAX_TRAITS)
        s->traits[s->ntraits++] =
            (struct trait){ set, set == TRAITS_CONSTRUCT ? 0 : word_value(s, name, WORDS_SELECTOR),
                            fe_text(s->fe, text) };
}

static bool has_trait(const struct selector *s, const struct trait *t)
{
    for (unsigned i = 0; i < s->ntraits; i++)
        if (s->traits[i].set == t->set && s->traits[i].selector == t->selector &&
            !strcmp(s->traits[i].property, t->property))
            return true;
    return false;
}

/* Is what x asks for a part of what y asks for? */
static bool is_part(const struct selector *x, const struct selector *y)
{
    for (unsigned i = 0; i < x->ntraits; i++)
        if (!has_trait(y, &x->traits[i]))
            return false;
    return x->ntraits < y->ntraits;
}

/* A selector that is a part of another one that matches has no score. */
static bool is_better(const struct selector *s, const struct selector *than)
{
    return is_part(than, s) || (s->score > than->score && !is_part(s, than));
}

static void add_answer(struct selector *s, enum answer a, unsigned at)
{
    if (a == UNKNOWN && !s->unknown)
        s->unknown = at;
    if (s->all == YES || (a == NO && s->all == UNKNOWN))
        s->all = a;
    if (s->any == NO || (a == YES && s->any == UNKNOWN))
        s->any = a;
}

/* construct={target, parallel}: these, in that order, are among the constructs around; each counts
 * by its place. */
static void read_constructs(struct selector *s, unsigned b, unsigned e)
{
    unsigned next = 0;
    for (unsigned k = b; k < e; k = find_top(s, k, e, ",") + 1) {
        for (unsigned end = find_top(s, k, e, ","), w = k; w < end;
             w++) { /* `parallel for` is two */
            if (token_is(s, w, "(")) {
                w = closing(s, w);
                continue;
            }
            unsigned leaf = trait_at(s, w);
            while (leaf && next < s->around->n && s->around->leaves[next] != leaf)
                next++;
            bool found = leaf && next < s->around->n;
            if (found)
                s->score += 1ull << next++;
            add_trait(s, TRAITS_CONSTRUCT, w, w, w + 1);
            add_answer(s, yes(found), w);
        }
    }
}

/* ------------------------------------------------------------------ sets of selectors */
enum { NO_WEIGHT = -1, NO_TRAIT = -2 };
static const struct selector_row {
    enum fe_trait_set set;
    enum fe_selector selector; /* 0: any other */
    enum answer (*trait)(struct selector *, unsigned, unsigned);
    int weight;
} selector_rows[] = {
    { TRAITS_DEVICE, SELECTOR_KIND, kind_trait, 0 },
    { TRAITS_DEVICE, SELECTOR_ARCH, arch_trait, 1 },
    { TRAITS_DEVICE, SELECTOR_ISA, isa_trait, 2 },
    { TRAITS_IMPLEMENTATION, SELECTOR_VENDOR, vendor_trait, NO_WEIGHT },
    { TRAITS_IMPLEMENTATION, SELECTOR_EXTENSION, extension_trait, NO_TRAIT },
    { TRAITS_IMPLEMENTATION, 0, unknown_trait, NO_WEIGHT },
    { TRAITS_USER, SELECTOR_CONDITION, condition_trait, NO_WEIGHT },
    { TRAITS_TARGET_DEVICE, SELECTOR_KIND, target_kind_trait, 0 },
    { TRAITS_TARGET_DEVICE, 0, unknown_trait, NO_WEIGHT },
};

static const struct selector_row *find_selector(enum fe_trait_set set, unsigned selector)
{
    for (unsigned i = 0; i < sizeof selector_rows / sizeof *selector_rows; i++)
        if (selector_rows[i].set == set &&
            (!selector_rows[i].selector || selector_rows[i].selector == selector))
            return &selector_rows[i];
    return NULL;
}

/* score(n): before the traits. */
static unsigned read_score(struct selector *s, unsigned b, unsigned e, long long *score)
{
    if (b >= s->p->ntokens || fe_keyword(s->fe, &s->p->tokens[b]) != OMPK_SCORE ||
        !token_is(s, b + 1, "("))
        return b;
    unsigned close = closing(s, b + 1);
    if (!fe_constant(s->fe, s->p, b + 2, close, score))
        *score = 0;
    return close + 1 < e && token_is(s, close + 1, ":") ? close + 2 : close + 1;
}

static void read_trait(struct selector *s, const struct selector_row *row, unsigned name,
                       unsigned b, unsigned e)
{
    enum answer answer = row->trait(s, b, e);
    add_trait(s, row->set, name, b, e);
    if (row->weight != NO_TRAIT || answer == NO)
        add_answer(s, answer, name);
}

/* Each of a list counts for itself (kind(nohost, gpu)): with match_any one is enough. */
static void read_traits(struct selector *s, const struct selector_row *row, unsigned name,
                        unsigned b, unsigned e)
{
    bool list = row->trait != condition_trait;
    if (b >= e)
        read_trait(s, row, name, name, name);
    for (unsigned k = b, end; k < e; k = end + 1) {
        end = list ? find_top(s, k, e, ",") : e;
        read_trait(s, row, name, k, end);
    }
}

static void read_selector(struct selector *s, enum fe_trait_set set, unsigned name, unsigned b,
                          unsigned e)
{
    const struct selector_row *row = find_selector(set, word_value(s, name, WORDS_SELECTOR));
    long long score = 0;
    if (!row) {
        add_answer(s, UNKNOWN, name);
        return;
    }
    b = read_score(s, b, e, &score);
    read_traits(s, row, name, b, e);
    if (row->weight >= 0)
        s->score += 1ull << (s->around->n + (unsigned)row->weight);
    if (score > 0)
        s->score += (unsigned long long)score;
}

static void read_set(struct selector *s, enum fe_trait_set set, unsigned b, unsigned e)
{
    if (set == TRAITS_CONSTRUCT) {
        read_constructs(s, b, e);
        return;
    }
    while (b < e) {
        unsigned end = find_top(s, b, e, ","), open = b + 1;
        if (open < end && token_is(s, open, "("))
            read_selector(s, set, b, open + 1, closing(s, open));
        else
            read_selector(s, set, b, b, b);
        b = end + 1;
    }
}

/* The context selector in tokens [b, e). */
static enum answer evaluate(struct selector *s, unsigned b, unsigned e)
{
    s->all = YES;
    s->any = NO;
    s->how = MATCH_ALL;
    s->score = 0;
    s->unknown = 0;
    s->ntraits = 0;
    while (b < e) {
        unsigned end = find_top(s, b, e, ","), set = word_value(s, b, WORDS_TRAIT_SET);
        if (set && token_is(s, b + 1, "=") && token_is(s, b + 2, "{"))
            read_set(s, (enum fe_trait_set)set, b + 3, closing(s, b + 2));
        else if (set)
            fe_error(s->fe, s->p->tokens[b].end, "expected '={' after the name of a set of traits");
        b = end + 1;
    }
    if (s->how == MATCH_ALL)
        return s->all;
    if (s->how == MATCH_ANY)
        return s->any;
    return s->any == UNKNOWN ? UNKNOWN : yes(s->any == NO);
}

/* ------------------------------------------------------------------ the constructs around */
static void add_leaves(struct around *a, unsigned leaves)
{
    static const unsigned order[] = { OMPL_TARGET, OMPL_TEAMS, OMPL_PARALLEL, OMPL_FOR, OMPL_SIMD };
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        if ((leaves & order[i]) && a->n < MAX_TRAITS)
            a->leaves[a->n++] = order[i];
}

static bool has_target(const struct around *a) { return a->n && a->leaves[0] == OMPL_TARGET; }

/* Constructs whose statement holds the offset; their directives are known as far as they stand in
 * front of it. */
static bool has_statement(const struct fe_pragma *p)
{
    return p->found && (p->assoc == ASSOC_STMT || p->assoc == ASSOC_LOOP || p->takes_statement);
}

static void add_around(struct fe *fe, unsigned offset, bool host, struct around *a)
{
    for (unsigned i = 0; i < fe->pragmas.n && fe->pragmas.at[i].extent.begin < offset; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (has_statement(p) && fe_stmt_end(fe, p->stmt) > offset)
            add_leaves(a, host && p->c->for_host ? p->host_leaves : p->c->leaves);
    }
}

static struct around constructs_around(struct fe *fe, unsigned offset, bool device_function)
{
    struct around a = { .n = 0 };
    if (device_function)
        add_leaves(&a, OMPL_TARGET);
    add_around(fe, offset, false, &a);
    return a;
}

/* The same for the host, where metadirectives around have become what the host chooses. */
static struct around constructs_around_on_host(struct fe *fe, unsigned offset)
{
    struct around a = { .n = 0 };
    add_around(fe, offset, true, &a);
    return a;
}

/* ------------------------------------------------------------------ metadirective */
struct choice {
    unsigned b, e, unknown;
    bool made;
};

/* The best of the variants that match, the first of several; else what default or otherwise says,
 * else nothing. */
static struct choice choose(struct fe *fe, const struct fe_pragma *p, bool device,
                            const struct around *around)
{
    struct selector s = { .fe = fe, .p = p, .device = device, .around = around };
    struct selector chosen = s;
    struct choice best = { 0 };
    for (unsigned k = p->clauses_at; k < p->ntokens; k++) {
        if (!token_is(&s, k + 1, "("))
            continue;
        unsigned close = closing(&s, k + 1);
        if (opens_clause(&s, k, OMPC_WHEN)) {
            unsigned colon = find_top(&s, k + 2, close, ":");
            enum answer a = colon < close ? evaluate(&s, k + 2, colon) : NO; /* clang complains */
            if (a == UNKNOWN && !best.unknown)
                best.unknown = s.unknown ? s.unknown : k;
            if (a == YES && (!best.made || is_better(&s, &chosen))) {
                best.b = colon + 1, best.e = close, best.made = true;
                chosen = s;
            }
        } else if (!best.made &&
                   (opens_clause(&s, k, OMPC_DEFAULT) || opens_clause(&s, k, OMPC_OTHERWISE))) {
            best.b = k + 2, best.e = close;
        }
        k = close;
    }
    return best;
}

bool fe_chosen_everywhere(struct fe *fe, const struct fe_pragma *p, unsigned *b, unsigned *e)
{
    struct around around = constructs_around(fe, p->extent.begin, false);
    bool in_target = has_target(&around);
    struct choice host = choose(fe, p, false, &around);
    if (!in_target)
        around = constructs_around(fe, p->extent.begin, true);
    struct choice device = choose(fe, p, true, &around);
    *b = host.b, *e = host.e;
    return !host.unknown && !device.unknown && host.b == device.b;
}

bool fe_chosen_apart(struct fe *fe, const struct fe_pragma *p, unsigned host[2], unsigned device[2])
{
    struct around around = constructs_around(fe, p->extent.begin, false);
    struct choice h = choose(fe, p, false, &around), d = choose(fe, p, true, &around);
    host[0] = h.b, host[1] = h.e;
    device[0] = d.b, device[1] = d.e;
    return has_target(&around) && !h.unknown && !d.unknown && h.b != d.b;
}

static bool mentions_target(const struct fe *fe, const struct fe_pragma *p)
{
    struct selector s = { .fe = (struct fe *)fe, .p = p };
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if ((directive_leaf(&s, k) & (OMPL_TARGET | OMPL_DATA)) && !token_is(&s, k + 1, "}") &&
            !token_is(&s, k + 1, ","))
            return true;
    return false;
}

#define TARGETS (OMPL_TARGET | OMPL_DATA)
static unsigned leaves_of(struct fe *fe, const struct fe_pragma *p, struct choice c)
{
    struct omp_construct construct = { .leaves = 0 };
    struct fe_pragma chosen = {
        .extent = p->extent, .tokens = p->tokens + c.b, .ntokens = c.e - c.b, .c = &construct
    };
    fe_read_directive(fe, &chosen);
    return construct.leaves;
}

/* Empty: nothing. */
static struct omp_extent extent_of(const struct fe_pragma *p, struct choice c)
{
    if (c.b == c.e)
        return (struct omp_extent){ 0, 0 };
    return (struct omp_extent){ p->tokens[c.b].begin, p->tokens[c.e - 1].end };
}

static void become(struct fe *fe, struct fe_pragma *p, struct choice c)
{
    p->c->chosen = extent_of(p, c);
    p->tokens += c.b;
    p->ntokens = c.e - c.b;
    fe_read_directive(fe, p);
}

static void complain_of(struct fe *fe, const struct fe_pragma *p, struct choice c,
                        enum fe_unsupported what)
{
    const struct fe_token *t = &p->tokens[c.unknown];
    fe_unsupported(fe, fe_place(fe->u, t->begin), what,
                   fe_text(fe, (struct omp_extent){ t->begin, t->end }), NULL);
}

/* set={selector, …}, …: [k, end) */
static bool are_sets(const struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end,
                     bool *constructs)
{
    bool good = k < end;
    for (unsigned next; k < end && good; k = next + 1) {
        unsigned set;
        next = fe_find_top(fe, p, k, end, ",");
        good = fe_is_property(fe, p, k, WORDS_TRAIT_SET, &set) && fe_word_at(fe, p, k + 1, "=") &&
               fe_word_at(fe, p, k + 2, "{") && fe_word_at(fe, p, next - 1, "}") &&
               fe_closing(fe, p, k + 2) == next - 1 &&
               fe_find_top(fe, p, k + 3, next - 1, "=") == next - 1;
        *constructs |= set == TRAITS_CONSTRUCT;
    }
    return good;
}

/* What is not well formed is left to clang, which says so. */
bool fe_asks_for_constructs(const struct fe *fe, const struct fe_pragma *p)
{
    bool good = p->clauses_at < p->ntokens, constructs = false;
    for (unsigned k = p->clauses_at, close; k < p->ntokens && good; k = close + 1) {
        k += k > p->clauses_at && fe_word_at(fe, p, k, ",");
        enum omp_clause_kind kind =
            k < p->ntokens ? fe_clause_named(fe, &p->tokens[k]) : OMPC_COUNT;
        close = fe_word_at(fe, p, k + 1, "(") ? fe_closing(fe, p, k + 1) : p->ntokens;
        unsigned colon = fe_find_top(fe, p, k + 2, close, ":");
        good = close < p->ntokens &&
               (kind == OMPC_WHEN ? colon < close && are_sets(fe, p, k + 2, colon, &constructs)
                                  : kind == OMPC_DEFAULT || kind == OMPC_OTHERWISE);
    }
    return good && constructs;
}

/* What depends on the host's instruction set is left to clang. */
static void choose_for_host(struct fe *fe, struct fe_pragma *p)
{
    struct around around = constructs_around_on_host(fe, p->extent.begin);
    struct choice c = choose(fe, p, false, &around);
    if (c.unknown) {
        if (host_is_gcc)
            complain_of(fe, p, c, UNSUPPORTED_CHOICE_OF_GCC);
        return;
    }
    p->host_leaves = leaves_of(fe, p, c);
    p->c->for_host = true;
    p->c->host_choice = extent_of(p, c);
    if (fe_asks_for_constructs(fe, p))
        p->metadirective = (struct omp_extent){ p->tokens[0].begin, p->tokens[p->ntokens - 1].end };
}

static void resolve(struct fe *fe, struct fe_pragma *p)
{
    struct around around = constructs_around(fe, p->extent.begin, false);
    bool device = has_target(&around);
    struct choice c = choose(fe, p, device, &around);
    if (c.unknown && (device || mentions_target(fe, p))) {
        complain_of(fe, p, c, UNSUPPORTED_RUN_TIME_CHOICE);
        c = (struct choice){ 0 };                    /* one complaint is enough */
    } else if (!device && !mentions_target(fe, p)) { /* host code, or a device function */
        around = constructs_around(fe, p->extent.begin, true);
        c = choose(fe, p, true, &around);
        if (c.unknown)
            return; /* on the device support.c will complain of the metadirective */
    } else if (!device && !(leaves_of(fe, p, c) & TARGETS)) {
        return; /* the host's; a device function would want another choice */
    }
    become(fe, p, c);
}

void fe_resolve_metadirectives(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_METADIRECTIVE) {
            choose_for_host(fe, &fe->pragmas.at[i]);
            resolve(fe, &fe->pragmas.at[i]);
        }
}

/* ------------------------------------------------------------------ declare variant */
struct variant {
    struct fe_function *base, *function;
    const struct fe_pragma *p;
    unsigned match, end;
    unsigned from; /* As in clang: calls before it, and in the definition there, are the base's. */
};

static const struct omp_decl *function_after(const struct fe *fe, unsigned offset)
{
    const struct omp_decl *best = NULL;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        const struct omp_decl *d = &fe->decls.at[i];
        if (d->function && d->extent.begin >= offset &&
            (!best || d->extent.begin < best->extent.begin))
            best = d;
    }
    return best;
}

static bool read_variant(struct fe *fe, const struct fe_pragma *p, struct variant *v)
{
    struct selector s = { .fe = fe, .p = p };
    unsigned k = p->clauses_at;
    if (!token_is(&s, k, "(") || k + 1 >= p->ntokens)
        return false;
    const struct fe_token *name = &p->tokens[k + 1];
    const struct omp_decl *d = function_after(fe, p->extent.end);
    *v = (struct variant){ .p = p,
                           .base = d ? fe_function_of(fe, d->function) : NULL,
                           .from = d ? d->extent.end : 0,
                           .function = fe_function_named(fe, fe->u->text + name->begin,
                                                         name->end - name->begin) };
    for (k = closing(&s, k) + 1; k < p->ntokens; k++)
        if (opens_clause(&s, k, OMPC_MATCH))
            v->match = k + 2, v->end = closing(&s, k + 1);
    return v->base && v->function && v->match;
}

static enum answer applies(struct fe *fe, const struct variant *v, const struct around *around,
                           struct selector *s)
{
    *s = (struct selector){ .fe = fe, .p = v->p, .device = true, .around = around };
    return evaluate(s, v->match, v->end);
}

/* What a call at the offset, in code of the device, calls; NULL: the function that it names.
 * support.c complains where that cannot be determined. */
static struct fe_function *variant_for(struct fe *fe, const struct variant *v, unsigned n,
                                       struct fe_function *base, unsigned offset, bool in_target)
{
    struct around around = { .n = 0 };
    struct fe_function *best = NULL;
    struct selector chosen;
    for (unsigned i = 0; i < n; i++) {
        struct selector s;
        if (v[i].base != base || offset < v[i].from)
            continue;
        if (!around.n)
            around = constructs_around(fe, offset, !in_target);
        enum answer a = applies(fe, &v[i], &around, &s);
        if (a == UNKNOWN)
            return NULL;
        if (a == YES && (!best || is_better(&s, &chosen))) {
            best = v[i].function;
            chosen = s;
        }
    }
    return best;
}

static bool is_called(const struct fe *fe, const struct fe_fref *r)
{
    unsigned at = fe_skip_blank(fe->u, r->offset + r->length);
    return r->call || fe->u->text[at] == '(';
}

/* Calls in `e`, in so far as it runs on the device: the host text does not see the renames, which
 * types.c sorts. */
static void redirect(struct fe *fe, const struct variant *v, unsigned n, struct omp_extent e,
                     bool in_target)
{
    FE_EACH(r, fe->frefs, e) {
        struct fe_function *f =
            is_called(fe, r) ? variant_for(fe, v, n, r->function, r->offset, in_target) : NULL;
        if (!f)
            continue;
        r->function = f;
        *VEC_PUSH(fe->a, &fe->renames) =
            (struct omp_rename){ .offset = r->offset, .length = r->length, .text = f->f->name };
    }
}

typedef VEC(struct variant) variant_list;

static variant_list find_variants(struct fe *fe)
{
    variant_list v = { 0 };
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct variant one;
        if (fe->pragmas.at[i].c->directive == OMPDIR_DECLARE_VARIANT &&
            !fe_is_system(fe, fe->pragmas.at[i].extent.begin) &&
            read_variant(fe, &fe->pragmas.at[i], &one))
            *VEC_PUSH(fe->a, &v) = one;
    }
    return v;
}

/* ------------------------------------------------------------------ choices at run time */
const char *fe_variant_base(struct fe *fe, const struct fe_pragma *p)
{
    struct variant v;
    return read_variant(fe, p, &v) ? v.base->f->name : NULL;
}

static const char *condition_of(struct fe *fe, const struct selector *s)
{
    return s->condition_end > s->condition
               ? fe_text(fe, (struct omp_extent){ s->p->tokens[s->condition].begin,
                                                  s->p->tokens[s->condition_end - 1].end })
               : "";
}

bool fe_is_late(struct fe *fe, const struct fe_pragma *p)
{
    struct around none = { .n = 0 };
    struct selector s = { .fe = fe, .p = p, .around = &none, .late = true };
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (opens_clause(&s, k, OMPC_MATCH))
            evaluate(&s, k + 2, closing(&s, k + 1));
    return *condition_of(fe, &s);
}

/* Behind those with the same score.  selectors: of what is in the list */
static void add_candidate(struct fe *fe, struct fe_candidates *list, struct selector *selectors,
                          const struct variant *v, const struct selector *s)
{
    unsigned i = list->n;
    if (i == MOST_CANDIDATES)
        return;
    for (list->n++; i && is_better(s, &selectors[i - 1]); i--) {
        list->at[i] = list->at[i - 1];
        selectors[i] = selectors[i - 1];
    }
    selectors[i] = *s;
    list->at[i] = (struct fe_candidate){ v->function->f->name, condition_of(fe, s), v->p,
                                         s->condition, s->condition_end };
}

static struct fe_candidates up_to_certain(struct fe_candidates list)
{
    for (unsigned i = 0; i < list.n; i++)
        if (!*list.at[i].condition)
            list.n = i + 1;
    return list;
}

struct fe_candidates fe_find_candidates(struct fe *fe, const char *base, unsigned offset,
                                        unsigned where, bool dispatch)
{
    struct fe_candidates list = { .n = 0 };
    struct selector selectors[MOST_CANDIDATES];
    variant_list v = find_variants(fe);
    struct around around = constructs_around(fe, offset, false);
    bool device = has_target(&around) || where == FE_ON_GPU;
    if (device && !has_target(&around))
        around = constructs_around(fe, offset, true);
    if (dispatch && around.n < MAX_TRAITS)
        around.leaves[around.n++] = TRAIT_DISPATCH;
    for (unsigned i = 0; i < v.n; i++) {
        struct selector s = {
            .fe = fe, .p = v.at[i].p, .device = device, .around = &around, .late = true
        };
        if (strcmp(v.at[i].base->f->name, base) == 0 && offset >= v.at[i].from &&
            evaluate(&s, v.at[i].match, v.at[i].end) == YES)
            add_candidate(fe, &list, selectors, &v.at[i], &s);
    }
    return up_to_certain(list);
}

void fe_apply_variants(struct fe *fe)
{
    variant_list v = find_variants(fe);
    if (!v.n)
        return;
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if ((fe->u->constructs[i]->leaves & OMPL_TARGET))
            redirect(fe, v.at, v.n, fe->u->constructs[i]->body, true);
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        if (f->defined)
            redirect(fe, v.at, v.n, f->body, false);
    }
}

/* A variant of a function that the device calls, of which is not known whether it is the one to
 * call.  -> what it depends on */
const char *fe_variant_unknown(struct fe *fe, const struct fe_pragma *p)
{
    struct variant v;
    struct selector s;
    struct around target = { { OMPL_TARGET }, 1 };
    if (p->c->directive != OMPDIR_DECLARE_VARIANT || !read_variant(fe, p, &v) ||
        !v.base->f->device || applies(fe, &v, &target, &s) != UNKNOWN)
        return NULL;
    return fe_text(fe, (struct omp_extent){ p->tokens[s.unknown].begin, p->tokens[s.unknown].end });
}

bool fe_variants_match(struct fe *fe, const struct fe_pragma *p, bool device)
{
    struct around all = {
        { OMPL_TARGET, OMPL_TEAMS, OMPL_PARALLEL, OMPL_FOR, OMPL_SIMD, TRAIT_DISPATCH }, 6
    };
    struct selector s = { .fe = fe, .p = p, .device = device, .around = &all };
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (opens_clause(&s, k, OMPC_MATCH))
            return evaluate(&s, k + 2, closing(&s, k + 1)) != NO;
    return true;
}
