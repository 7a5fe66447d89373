/* theme_pointers.c - what is mapped through pointers: sections of arrays of every shape, records with pointers in them, device pointers.  All of it
 * comes back, so that nothing need be saved. */
#include "gen.h"

/* A region on what is seen from `from` on; the views end with it. */
static void put_region(struct scope from, const char *clauses)
{
    line("#pragma omp target%s map(tofrom: out)%s%s", WORD("", "", " teams num_teams(1)", " parallel num_threads(1)"), *clauses ? " " : "", clauses);
    open_block();
    line("unsigned h = %u;", below(9));
    region_statements(0, 1 + (int)below(3));
    for (int k = 0; k < 3; k++) set_something();
    line("out[%u] += h + %s;", below(4), expression());
    close_block();
    end_scope(from);
}
static char *heap(struct type *t, int n)
{
    char *name = text("m%d", fresh());
    line("%s *%s = malloc(%d * sizeof *%s);", t->name, name, n, name);
    line("for (int k = 0; k < %d; k++)", n);
    fill((struct view){ text("%s[k]", name), t, true, false, 0 }, "(unsigned)k * 3u");
    return name;
}
static void mix_elements(const char *name, struct type *t, int n)
{
    line("for (int k = 0; k < %d; k++)", n);
    mix((struct view){ text("%s[k]", name), t, true, false, 0 });
}
static void see_elements(const char *name, struct type *t, int first, int n)
{
    for (int k = first; k < first + n; k++) see(text("%s[%d]", name, k), t, true, false);
}

/* Elements first … first + n - 1 of total, and how a section says so. */
struct section { int total, first, n; };
static struct section random_section(void)
{
    struct section s = { .total = 2 + (int)below(6) };
    s.first = (int)below((unsigned)s.total), s.n = 1 + (int)below((unsigned)(s.total - s.first));
    return s;
}
static char *spell(const char *base, struct section s, bool whole_known)
{
    if (s.first + s.n == s.total && whole_known && chance(30)) return text("%s[%d:]", base, s.first);
    if (!s.first && chance(30)) return text("%s[:%d]", base, s.n);
    return text(chance(30) ? "%s[%d * one:%d]" : "%s[%d:%d]", base, s.first, s.n);
}

/* ---- shapes */
static void of_pointer(void)
{
    struct type *t = random_type(1);
    struct section s = random_section();
    char *p = heap(t, s.total);
    struct scope from = begin_scope();
    see_elements(p, t, s.first, s.n);
    put_region(from, text("map(tofrom: %s)", spell(p, s, false)));
    mix_elements(p, t, s.total);
}
static void of_array(void)
{
    struct section s = random_section();
    struct type *t = random_type(1), *a = array_of(t, s.total);
    struct object o = new_object((enum storage[]){ LOCAL, STATIC, GLOBAL, EXTERN }[below(4)], a);
    fill_object(&o);
    struct scope from = begin_scope();
    see_elements(o.name, t, s.first, s.n);
    put_region(from, text("map(tofrom: %s)", spell(o.name, s, true)));
    mix_object(&o);
}
/* Rows of a matrix, which is an array, a pointer to rows, or has bounds that are known when the program runs. */
static void of_rows(void)
{
    struct section s = random_section();
    struct type *t = random_type(2);
    int width = 1 + (int)below(4), id = fresh();
    bool run_time = chance(40), pointer = chance(50);
    char *bound = text(run_time ? "%d * one" : "%d", width), *base = text("r%d", id);
    line("%s matrix%d[%d][%s];", t->name, id, s.total, bound);
    if (pointer) line("%s (*%s)[%s] = matrix%d;", t->name, base, bound, id);
    else base = text("matrix%d", id);
    line("for (int k = 0; k < %d; k++) for (int m = 0; m < %d; m++)", s.total, width);
    fill((struct view){ text("matrix%d[k][m]", id), t, true, false, 0 }, "(unsigned)(k * 5 + m)");
    struct scope from = begin_scope();
    for (int k = s.first; k < s.first + s.n; k++) see_elements(text("%s[%d]", base, k), t, 0, width);
    char *section = spell(base, s, !pointer);
    if (chance(40)) section = text("%s[0:%d]", section, width);
    put_region(from, text("map(tofrom: %s)", section));
    line("for (int k = 0; k < %d; k++) for (int m = 0; m < %d; m++)", s.total, width);
    mix((struct view){ text("matrix%d[k][m]", id), t, true, false, 0 });
}

/* A record with pointers, at two depths; reached by name or through a pointer. */
static void of_record(void)
{
    struct type *t = random_type(2), *u = random_type(2), *w = random_type(2);
    int id = fresh();
    struct section s = random_section(), r = random_section();
    char *p = heap(t, s.total), *q = heap(u, r.total);
    line("struct record%1$d { unsigned n; %2$s *p; %3$s w; struct { short m; %4$s *q; } in[2]; } rec%1$d = { .n = 4 }, *at%1$d = &rec%1$d;", id, t->name, w->name, u->name);
    line("rec%1$d.p = %2$s, rec%1$d.in[1].q = %3$s, rec%1$d.in[1].m = 2; (void)at%1$d;", id, p, q);
    bool arrow = chance(50);
    char *x = arrow ? text("at%d->", id) : text("rec%d.", id), *whole = arrow ? text("at%d[0:1]", id) : text("rec%d", id);
    fill((struct view){ text("%sw", x), w, true, false, 0 }, "5u");
    struct scope from = begin_scope();
    char *list = whole;
    switch (below(3)) {
    case 0:                           /* all of it, and what its pointers point to */
        see(text("%sw", x), w, true, false);
        see(text("%sn", x), named_scalar("unsigned"), true, false);
        see_elements(text("%sp", x), t, s.first, s.n);
        see_elements(text("%sin[1].q", x), u, r.first, r.n);
        list = text("%s, %s, %s", list, spell(text("%sp", x), s, false), spell(text("%sin[1].q", x), r, false));
        break;
    case 1:                           /* one pointer's elements alone */
        see_elements(text("%sp", x), t, s.first, s.n);
        list = spell(text("%sp", x), s, false);
        break;
    default:                          /* a pointer's elements and another member */
        see_elements(text("%sp", x), t, s.first, s.n);
        see(text("%sn", x), named_scalar("unsigned"), true, false);
        list = text("%s, %sn", spell(text("%sp", x), s, false), x);
    }
    if (chance(30)) {
        line("#pragma omp target enter data map(to: %s)", list);
        put_region(from, text("map(tofrom: %s)", list));
        line("#pragma omp target exit data map(from: %s)", list);
    } else {
        put_region(from, text("map(tofrom: %s)", list));
    }
    mix_elements(p, t, s.total), mix_elements(q, u, r.total);
    mix((struct view){ text("%sw", x), w, true, false, 0 });
    line("h += rec%1$d.n + (rec%1$d.p == %2$s) + (rec%1$d.in[1].q == %3$s);", id, p, q);
}
static void of_pointers(void)
{
    struct type *t = random_type(2);
    struct section s = random_section(), r = random_section();
    char *p = heap(t, s.total), *q = heap(t, r.total);
    int id = fresh();
    line("%s *list%d[3] = { %s, 0, %s };", t->name, id, p, q);
    struct scope from = begin_scope();
    see_elements(text("list%d[0]", id), t, s.first, s.n);
    see_elements(text("list%d[2]", id), t, r.first, r.n);
    put_region(from, text("map(to: list%d) map(tofrom: %s, %s)", id, spell(text("list%d[0]", id), s, false), spell(text("list%d[2]", id), r, false)));
    mix_elements(p, t, s.total), mix_elements(q, t, r.total);
}
/* Pointers that the region gets in other ways, while all of it is mapped. */
static void of_device_pointer(void)
{
    struct type *t = random_type(1);
    struct section s = random_section();
    char *p = heap(t, s.total), *all = text("%s[0:%d]", p, s.total);
    struct scope from = begin_scope();
    switch (below(4)) {
    case 0:
        line("#pragma omp target data map(tofrom: %s) use_device_ptr(%s)", all, p);
        see_elements(p, t, 0, s.total);
        put_region(from, text("is_device_ptr(%s)", p));
        break;
    case 1:
        line("#pragma omp target data map(tofrom: %s)", all);
        open_block();
        line("%s *q%s = %s + %d;", t->name, p, p, s.first);
        see_elements(text("q%s", p), t, 0, s.n);
        put_region(from, "");
        close_block();
        break;
    case 2:
        line("#pragma omp target data map(tofrom: %s)", all);
        see_elements(p, t, s.first, s.n);
        put_region(from, text("map(tofrom: %s)", spell(p, s, false)));
        break;
    default:
        line("#pragma omp target enter data map(to: %s)", all);
        line("for (int k = 0; k < %d; k++)", s.total);
        fill((struct view){ text("%s[k]", p), t, true, false, 0 }, "(unsigned)k + 9u");
        line("#pragma omp target update to(%s)", all);
        see_elements(p, t, 0, s.total);
        put_region(from, "");
        line("#pragma omp target update from(%s)", all);
        line("#pragma omp target exit data map(delete: %s)", all);
    }
    mix_elements(p, t, s.total);
}
static void of_device_address(void)
{
    struct type *t = chance(50) ? random_struct(1) : array_of(random_type(2), 3);
    struct object o = new_object((enum storage[]){ LOCAL, STATIC, GLOBAL }[below(3)], t);
    fill_object(&o);
    struct scope from = begin_scope();
    see_object(&o, true);
    line("#pragma omp target data map(tofrom: %s) use_device_addr(%s)", o.name, o.name);
    put_region(from, text("has_device_addr(%s)", o.name));
    mix_object(&o);
}

void theme_pointers(void)
{
    static void (*const shapes[])(void) = { of_pointer, of_array, of_rows, of_record, of_record, of_pointers, of_device_pointer, of_device_address };
    line("unsigned out[4] = { 1, 2, 3, 4 };");
    for (int n = 1 + (int)below(3); n--;) PART (*PICK(shapes))();
    line("for (int i = 0; i < 4; i++) h = h * 5 + out[i];");
}
