/* theme_mapping.c - objects of every storage and type, each mapped or privatised in its own way, for one to three regions one after the
 * other, in data environments of every kind or none; parts of objects; defaultmap. */
#include "gen.h"
#include <string.h>

/* What a clause does with the value: `in` reaches the region, `out` comes back. */
struct how { const char *clause; bool in, out; };
static const struct how maps[] = {
    { "map(tofrom: %s)", true, true }, { "map(%s)", true, true }, { "map(always, tofrom: %s)", true, true }, { "map(to: %s)", true, false },
    { "map(from: %s)", false, true }, { "map(always, from: %s)", false, true }, { "map(alloc: %s)", false, false }, { "map(close, to: %s)", true, false },
};
static const struct how copies[] = { { "firstprivate(%s)", true, false }, { "private(%s)", false, false } };
static const struct how aggregate_by_default = { "", true, true };
/* Of what is present: nothing is copied. */
static const struct how of_present[] = {
    { "map(tofrom: %s)", true, true }, { "map(present, tofrom: %s)", true, true }, { "map(to: %s)", true, true },
    { "map(from: %s)", true, true }, { "map(alloc: %s)", true, true }, { "map(present, alloc: %s)", true, true },
};

/* Data environments: what an object is in while regions run; a block is open between. */
static const struct environment { const char *enter[2], *leave[2]; bool block; } environments[] = {
    { { "target data map(tofrom: %s)" }, { 0 }, true },
    { { "target enter data map(to: %s)" }, { "target exit data map(from: %s)" }, false },
    { { "target data map(alloc: %s)", "target update to(%s)" }, { "target update from(%s)" }, true },
    { { "target enter data map(alloc: %s)", "target update to(%s)" }, { "target update from(%s)", "target exit data map(delete: %s)" }, false },
    { { "target enter data map(to: %s)" }, { "target update from(%s)", "target exit data map(release: %s)" }, false },
    { { "target data map(to: %s)" }, { "target update from(%s)" }, true },
};
static const struct environment of_target_global = { { "target update to(%s)" }, { "target update from(%s)" }, false };

static const struct { const char *clause; struct how scalar, aggregate; } defaultmaps[] = {
    { "", { "", true, false }, { "", true, true } },
    { "", { "", true, false }, { "", true, true } },
    { " defaultmap(tofrom: scalar)", { "", true, true }, { "", true, true } },
    { " defaultmap(to: scalar)", { "", true, false }, { "", true, true } },
    { " defaultmap(firstprivate: aggregate)", { "", true, false }, { "", true, false } },
    { " defaultmap(to: aggregate)", { "", true, false }, { "", true, false } },
    { " defaultmap(tofrom)", { "", true, true }, { "", true, true } },
    { " defaultmap(tofrom: aggregate)", { "", true, false }, { "", true, true } },
};

struct item {
    struct object o;
    const struct environment *in;     /* NULL: in none */
    const struct how *how;            /* in the region at hand */
    char *list_item, *address, *size; /* of what is mapped */
    struct view part;                 /* root NULL: all of it */
    int saved;
};
static struct item items[8];
static int nitems;

static bool is_pointer(const struct item *it) { return it->o.storage == HEAP || it->o.storage == POINTER; }
/* In OpenMP's sense: vectors are mapped like aggregates. */
static bool is_scalar(const struct item *it) { return it->o.type->scalar && !it->o.count && strcmp(it->o.type->name, "four") != 0; }

static void enter(struct item *it)
{
    const struct environment *e = it->in;
    const char *what = mapped(&it->o);
    for (int i = 0; i < 2 && e->enter[i]; i++) {
        line(text("#pragma omp %s", e->enter[i]), what);
        if (!i && e->block) open_block();
    }
}
static void leave(struct item *it)
{
    const char *what = is_pointer(it) ? text("%s[0:%d]", it->o.name, it->o.count) : it->o.name;
    for (int i = 0; i < 2 && it->in->leave[i]; i++) line(text("#pragma omp %s", it->in->leave[i]), what);
    if (it->in->block) close_block();
}

/* A member or some elements, instead of the whole; those of a bit-field have no address. */
static void choose_part(struct item *it)
{
    const struct type *t = it->o.type;
    it->part.root = NULL;
    it->list_item = mapped(&it->o), it->address = address_of(&it->o), it->size = size_of(&it->o);
    if (it->in || it->o.count || it->o.storage == NAMELESS || !chance(25)) return;
    if (t->nmembers && !t->is_union) {
        const struct member *m = &t->members[below((unsigned)t->nmembers)];
        if (m->bits) return;
        it->part = (struct view){ text("%s.%s", it->o.name, m->name), m->type, true, false, 0 };
    } else if (t->of) {
        it->part = (struct view){ text("%s[%u]", it->o.name, below((unsigned)t->n)), t->of, true, false, 0 };
    }
    if (!it->part.root) return;
    it->list_item = it->part.root, it->address = text("&%s", it->part.root), it->size = text("sizeof(%s)", it->part.root);
}

static const struct how *choose_how(struct item *it, const struct how *scalar, const struct how *aggregate)
{
    if (it->in) return (is_scalar(it) || chance(60)) && !(is_target(&it->o) && chance(50)) ? PICK(of_present) : &aggregate_by_default;
    if (it->part.root || is_pointer(it)) return PICK(maps);
    if (chance(30)) return is_scalar(it) ? scalar : aggregate;
    return chance(30) ? PICK(copies) : PICK(maps);
}

static void put_statements_of(struct item **in, int n)
{
    struct scope s = begin_scope();
    freeze();
    for (int i = 0; i < n; i++) {
        int first = nviews;
        if (in[i]->part.root) see(in[i]->part.root, in[i]->part.type, true, false);
        else see_object(&in[i]->o, true);
        if (!in[i]->how->in)
            for (int k = first; k < nviews; k++) fill(views[k], text("%uu", below(100)));
    }
    line("unsigned h = %u;", below(10));
    region_statements(0, 1 + (int)below(3));
    for (int k = s.views; k < nviews; k++)
        if (chance(50)) mix(views[k]);
    see("h", named_scalar("unsigned"), true, false);
    line("out[%u] += h;", below(4));
    end_scope(s);
}

static void region(void)
{
    struct item *in[8];
    int n = 0, d = (int)below(COUNT(defaultmaps));
    char *clauses = text("map(tofrom: out)%s", defaultmaps[d].clause);
    for (int i = 0; i < nitems; i++) {
        struct item *it = &items[i];
        if (chance(25)) continue;
        choose_part(it);
        it->how = choose_how(it, &defaultmaps[d].scalar, &defaultmaps[d].aggregate);
        if (it->in && it->how == &aggregate_by_default && *defaultmaps[d].clause) it->how = &of_present[0];
        if (*it->how->clause) clauses = text("%s %s", clauses, text(it->how->clause, it->how >= copies && it->how < copies + COUNT(copies) ? it->o.name : it->list_item));
        in[n++] = it;
    }
    for (int i = 0; i < n; i++)
        if (!in[i]->how->out) save(in[i]->address, in[i]->size, &in[i]->saved);
    line("#pragma omp target %s%s", clauses, WORD("", "", "", " thread_limit(7)", " if(one)", " device(0)", " nowait"));
    open_block();
    see_nothing();
    put_statements_of(in, n);
    close_block();
    line("#pragma omp taskwait");
    for (int i = 0; i < n; i++)
        if (!in[i]->how->out) restore(in[i]->address, in[i]->size, in[i]->saved);
}

void theme_mapping(void)
{
    nitems = 1 + (int)below(3);
    line("unsigned out[4] = { 1, 2, 3, 4 };");
    for (int i = 0; i < nitems; i++) {
        items[i] = (struct item){ .o = random_object() };
        if (is_target(&items[i].o)) items[i].in = &of_target_global;
        else if (chance(30)) items[i].in = PICK(environments);
        PART fill_object(&items[i].o);
    }
    for (int i = 0; i < nitems; i++)
        if (items[i].in) enter(&items[i]);
    for (int n = 1 + (int)below(2); n--;) PART region();
    for (int i = nitems; i--;)
        if (items[i].in) leave(&items[i]);
    for (int i = 0; i < nitems; i++) PART mix_object(&items[i].o);
    line("for (int i = 0; i < 4; i++) h = h * 5 + out[i];");
}
