/* rt_data.c - map clauses on the fake device: counts, copies, structs with attached pointers, overlap, declare target. */
#include "tests/unit/rt_fake.h"

static int global_on_device[4] = { 1, 2, 3, 4 };
static void *linked_on_device;
const struct fake_variable fake_variables[] = {
    { "global", global_on_device, sizeof global_on_device }, { "linked", &linked_on_device, sizeof linked_on_device }, { 0 } };
static int global[4] = { 1, 2, 3, 4 }, linked[8];
static const struct ompgpu_var vars[] = { { "global", global, sizeof global, 0 }, { "linked", linked, sizeof linked, 1 } };

static void kernel_add(void **p)                    /* x, n, amount */
{
    int *x = *(int **)p[1];
    for (int i = 0; i < *(int *)p[2]; i++)
        x[i] += *(int *)p[3];
}
static void *last_argument;
static void kernel_look(void **p) { last_argument = *(void **)p[1]; }
struct list { int n, *data; long sum, *more; };
static void kernel_list(void **p)
{
    struct list *l = *(struct list **)p[1];
    for (l->sum = 0; l->n > 0; l->n--)
        l->sum += l->data[l->n - 1]++;
}
static void kernel_private(void **p)
{
    int *a = *(int **)p[1], *out = *(int **)p[2];
    for (int i = 0; i < 10; i++)
        out[i] = a[i]++ * 2;
}
const struct fake_kernel fake_kernels[] = { { "add", kernel_add, 1, 0, 0 }, { "look", kernel_look, 1, 0, 0 }, { "list", kernel_list, 1, 0, 0 },
                                            { "private", kernel_private, 1, 0, 0 }, { 0 } };
static struct ompgpu_region add = FAKE_REGION("add", 10), look = FAKE_REGION("look", 11), list = FAKE_REGION("list", 12),
                            private = FAKE_REGION("private", 13);
static const struct ompgpu_launch plain = { .device = OMPGPU_DEVICE_DEFAULT };

#define TARGET(region, maps, params) __ompgpu_target(&region, maps, COUNT(maps), params, COUNT(params), &plain)

static int run_add(int *x, int n, int amount, unsigned how)
{
    const struct ompgpu_map maps[] = { { x, x, (size_t)n * sizeof *x, NULL, how, 0, "x[0:n]" } };
    const struct ompgpu_param params[] = { { NULL, 8, 0 }, { &n, 4, OMPGPU_PARAM_LITERAL }, { &amount, 4, OMPGPU_PARAM_LITERAL } };
    return TARGET(add, maps, params);
}
static void *run_look(const void *base, const void *begin, size_t size, unsigned how)
{
    const struct ompgpu_map maps[] = { { base, begin, size, NULL, how, 0, "p" } };
    const struct ompgpu_param params[] = { { NULL, 8, 0 } };
    last_argument = NULL;
    TARGET(look, maps, params);
    return last_argument;
}

static void simple_maps(void)
{
    int x[5] = { 1, 2, 3, 4, 5 };
    OK(run_add(x, 5, 10, OMPGPU_MAP_TOFROM) == 0 && x[0] == 11 && x[4] == 15, "tofrom");
    OK(run_add(x, 5, 10, OMPGPU_MAP_TO) == 0 && x[0] == 11, "to: nothing comes back");
    run_add(x, 5, 0, OMPGPU_MAP_FROM);
    OK(x[0] == (int)0xa5a5a5a5, "from: nothing goes there");
    OK(!is_present(x) && fake_live == 0, "nothing stays");
}

/* A variable that the region only reduces into. */
static void results(void)
{
    enum { RESULT = OMPGPU_MAP_TOFROM | OMPGPU_MAP_RESULT };
    int x[5] = { 1, 2, 3, 4, 5 }, large[17] = { 1 };
    const struct ompgpu_map whole[] = { MAP(x, OMPGPU_MAP_TO) };
    run_add(x, 1, 1, RESULT);           /* the first one makes the cells */
    long to = fake_calls[FAKE_TO], from = fake_calls[FAKE_FROM], alloc = fake_calls[FAKE_ALLOC], sync = fake_calls[FAKE_SYNC];
    run_add(x, 5, 10, RESULT);
    OK(x[0] == 12 && x[4] == 15 && !is_present(x), "a result comes back");
    OK(fake_calls[FAKE_TO] == to && fake_calls[FAKE_FROM] == from && fake_calls[FAKE_ALLOC] == alloc && fake_calls[FAKE_SYNC] == sync + 1,
       "… without a copy, memory of its own or another wait");
    run_add(x, 5, 10, OMPGPU_MAP_TO | OMPGPU_MAP_RESULT);
    OK(x[0] == 12, "with map(to:) it does not come back");
    BEGIN(whole);
    run_add(x, 5, 1, RESULT);
    OK(x[0] == 12 && DEVICE(x)[0] == 13 && fake_calls[FAKE_FROM] == from, "where it is mapped it stays there");
    END(whole);
    run_add(large, 17, 1, RESULT);
    OK(large[0] == 2 && large[16] == 1 && fake_calls[FAKE_FROM] == from + 1, "a large one is mapped");
    fake_fail[FAKE_LAUNCH] = 1;
    OK(FATAL(run_add(x, 5, 1, RESULT)) && x[0] == 12, "a region that fails leaves it alone");
}

static void nested(void)
{
    int x[5] = { 1, 2, 3, 4, 5 };
    const struct ompgpu_map tofrom[] = { MAP(x, OMPGPU_MAP_TOFROM) }, alloc[] = { MAP(x, OMPGPU_MAP_ALLOC) },
                            always_from[] = { MAP(x, OMPGPU_MAP_FROM | OMPGPU_MAP_ALWAYS) }, delete[] = { MAP(x, OMPGPU_MAP_DELETE) },
                            release[] = { MAP(x, OMPGPU_MAP_RELEASE) }, part[] = { { x, x + 1, 8, NULL, OMPGPU_MAP_TOFROM, 0, "x[1:2]" } };
    long to = fake_calls[FAKE_TO], from = fake_calls[FAKE_FROM];
    BEGIN(tofrom), BEGIN(alloc);
    run_add(x, 5, 1, OMPGPU_MAP_TOFROM);
    OK(x[0] == 1 && DEVICE(x)[0] == 2 && fake_calls[FAKE_TO] == to + 1 && fake_calls[FAKE_FROM] == from, "present data does not travel");
    BEGIN(part), END(part);
    OK(x[1] == 2, "a part of what is present counts for the whole");
    run_add(x, 5, 1, OMPGPU_MAP_TOFROM | OMPGPU_MAP_ALWAYS);
    OK(x[0] == 2 && DEVICE(x)[0] == 2, "always travels both ways");
    DEVICE(x)[0] = 7;
    BEGIN(always_from), END(always_from);
    OK(x[0] == 7, "always, from copies back while other references stay");
    END(alloc);
    DEVICE(x)[0] = 8;
    END(tofrom);
    OK(x[0] == 8 && !is_present(x), "the last reference copies back and frees");
    BEGIN(tofrom), BEGIN(tofrom);
    DEVICE(x)[0] = 9;
    END(delete);
    OK(x[0] == 8 && !is_present(x), "delete takes all references and copies nothing");
    BEGIN(tofrom), BEGIN(tofrom), END(release);
    OK(is_present(x), "release takes one reference");
    END(release), END(release), END(tofrom);
    OK(!is_present(x) && x[0] == 8 && fake_live == 0, "… and copies nothing; leaving what is not present does nothing");
}

static void same_construct_twice(void)
{
    int x[2] = { 1, 2 };
    const struct ompgpu_map from_to[] = { MAP(x, OMPGPU_MAP_FROM), MAP(x, OMPGPU_MAP_TO) }, to_from[] = { MAP(x, OMPGPU_MAP_TO), MAP(x, OMPGPU_MAP_FROM) },
                            once[] = { MAP(x, OMPGPU_MAP_TO) };
    BEGIN(from_to);
    OK(DEVICE(x)[1] == 2, "mapped from and to in one construct: the data goes there");
    DEVICE(x)[1] = 5;
    END(from_to);
    OK(x[1] == 5 && !is_present(x), "… and comes back, and the storage goes");
    BEGIN(to_from), DEVICE(x)[1]++, END(to_from);
    OK(x[1] == 6 && !is_present(x), "the same in the other order");
    BEGIN(once), BEGIN(to_from), END(once);
    OK(is_present(x), "one construct counts once (enter)");
    END(to_from);
    OK(!is_present(x), "one construct counts once (exit)");
}

static void sections(void)
{
    static int x[100];
    const struct ompgpu_map some[] = { SECTION(&x[0], 10, 20, OMPGPU_MAP_TOFROM) };
    BEGIN(some);
    OK(run_look(x, x, 0, OMPGPU_MAP_LOOKUP) == DEVICE(x + 10) - 10, "the base address of the section is translated, too");
    OK(run_look(x + 9, x + 9, 0, OMPGPU_MAP_LOOKUP) == DEVICE(x + 10) - 1 && !is_present(x + 9), "… and what lies between, but is not present");
    int *before = (int *)((uintptr_t)x - sizeof *x);
    OK(run_look(before, before, 0, OMPGPU_MAP_LOOKUP) == before, "a pointer before its base stays");
    OK(run_look(x + 15, x + 15, 0, OMPGPU_MAP_LOOKUP) == DEVICE(x + 10) + 5, "a pointer into it is translated");
    OK(run_look(x + 30, x + 30, 0, OMPGPU_MAP_LOOKUP) == x + 30, "a pointer behind it stays");
    OK(run_look(x, x + 12, 8, OMPGPU_MAP_TO) == DEVICE(x + 10) - 10, "the kernel gets the address of the base");
    OK(run_look(x, x + 12, 0, OMPGPU_MAP_TOFROM) == DEVICE(x + 10) - 10, "a section of size zero is translated, not counted");
    OK(run_look(NULL, NULL, 0, OMPGPU_MAP_LOOKUP) == NULL, "a null pointer stays");
    DEVICE(x + 10)[0] = 77;
    OK(run_look(x, x, sizeof x, OMPGPU_MAP_TOFROM | OMPGPU_MAP_IMPLICIT) == DEVICE(x + 10) - 10, "an implicit map takes the part that is there");
    OK(x[10] == 0, "… without copying, for it is referenced elsewhere");
    run_look(x, x, sizeof x, OMPGPU_MAP_TOFROM | OMPGPU_MAP_IMPLICIT | OMPGPU_MAP_ALWAYS);
    OK(x[10] == 0 && DEVICE(x + 10)[0] == 0, "… and always copies no more than the part");

    const struct ompgpu_map over[] = { { x, x + 5, 40, NULL, OMPGPU_MAP_TO, 44, "x[5:10]" } };
    OK(FATAL(BEGIN(over)) && strcmp(fatal_text, "ompgpu: app.c:44: error: target data: x[5:10], 40 bytes: only a part of it is mapped already: "
        "&x[0][10:20], 80 bytes, mapped at app.c:30; map the larger range first\n") == 0, "partial overlap is an error that names both");
    const struct ompgpu_map around[] = { MAP(x, OMPGPU_MAP_TO) };
    OK(FATAL(BEGIN(around)) && strstr(fatal_text, "only a part"), "so is a range around a mapped one");
    x[10] = 1, DEVICE(x + 10)[0] = 78;
    const struct ompgpu_map all[] = { MAP(x, OMPGPU_MAP_FROM | OMPGPU_MAP_ALWAYS) }, must[] = { MAP(x, OMPGPU_MAP_FROM | OMPGPU_MAP_PRESENT) };
    END(all);
    UPDATE(all);
    OK(x[10] == 1 && DEVICE(x + 10)[0] == 78 && is_present(x + 10), "at the end, and in an update, it is not present: nothing happens");
    OK(FATAL(UPDATE(must)), "… but for `present`");
    END(some);
    OK(!is_present(x + 10) && fake_live == 0, "nothing stays");
}

static void blocks(void)
{
    enum { B = OMPGPU_MAP_BLOCK };
    struct { int a, b, c, d; long e; } s = { 1, 2, 3, 4, 5 };
    int x[20] = { 0 };
#define PART(member, how) { &s, &s.member, sizeof s.member, NULL, (how) | B, 0, "s." #member }
    const struct ompgpu_map some[] = { PART(d, OMPGPU_MAP_TO), PART(b, OMPGPU_MAP_TOFROM) }, more[] = { PART(a, OMPGPU_MAP_TO), PART(b, OMPGPU_MAP_TO) },
                            alone[] = { { &s, &s.e, sizeof s.e, NULL, OMPGPU_MAP_TOFROM, 0, "s.e" } }, present[] = { PART(c, OMPGPU_MAP_PRESENT), PART(a, OMPGPU_MAP_PRESENT) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 } };
    long copies = fake_calls[FAKE_TO];
    BEGIN(some);
    OK(!is_present(&s.a) && is_present(&s.b) && is_present(&s.c) && is_present(&s.d) && !is_present(&s.e), "the block reaches from the lowest member to the highest");
    OK(fake_calls[FAKE_TO] == copies + 2 && *DEVICE(&s.b) == 2 && *DEVICE(&s.c) != 3 && *DEVICE(&s.d) == 4, "what lies between is not copied");
    BEGIN(alone);
    OK(*DEVICE(&s.e) == 5, "a sibling that comes later has storage of its own");
    OK(FATAL(TARGET(look, more, params)) && strstr(fatal_text, "s.b, 4 bytes: its parts do not lie together on the device: s.a, 4 bytes, was mapped apart at app.c"),
       "a region cannot reach a member that was mapped apart");
    OK(!is_present(&s.a) && is_present(&s.b), "… and leaves nothing behind");
    OK(FATAL(run_look(&s, &s, sizeof s, OMPGPU_MAP_TOFROM | OMPGPU_MAP_IMPLICIT)) && strstr(fatal_text, "together") && strstr(fatal_text, "s.e, 8 bytes"),
       "nor the whole, of which there are two parts");
    OK(FATAL(BEGIN(present)) && strstr(fatal_text, "s.a, 4 bytes: not mapped"), "a sibling that is not mapped is not present");
    END(alone), *DEVICE(&s.b) = 20, *DEVICE(&s.c) = 30, END(some);
    OK(s.b == 20 && s.c == 3 && !is_present(&s.c) && fake_live == 0, "only the members come back, and the block goes as a whole");

    int *p = x, *q = NULL;
    const struct ompgpu_map parts[] = { { p, p + 5, 0, NULL, B, 0, "p[5:0]" }, { p, p + 12, 8, NULL, B | OMPGPU_MAP_TO, 0, "p[12:2]" }, { p, p + 3, 4, NULL, B | OMPGPU_MAP_TO, 0, "p[3:1]" } },
                            null[] = { { q, (void *)offsetof(struct list, sum), 8, NULL, OMPGPU_MAP_TO, 0, "q->sum" } };
    TARGET(look, parts, params);
    OK(last_argument && last_argument != p && fake_live == 0, "sections of one pointer are a block, whichever has no elements");
    OK(FATAL(BEGIN(null)) && strstr(fatal_text, "the pointer is null"), "a member of what a null pointer leads to");
}

static void bad_items(void)
{
    int x = 1, *null = NULL;
    const struct ompgpu_map nothing[] = { SECTION(null, 0, 4, OMPGPU_MAP_TO) }, negative[] = { { &x, &x, (size_t)-4, NULL, OMPGPU_MAP_TO, 0, "x[0:n]" } },
                            present[] = { MAP(x, OMPGPU_MAP_TO | OMPGPU_MAP_PRESENT) }, big[] = { { &x, &x, 1ul << 45, NULL, 0, 0, "x[0:n]" } };
    OK(FATAL(BEGIN(nothing)) && strstr(fatal_text, "null[0:4], 16 bytes: the pointer is null"), "null pointer with a section");
    OK(FATAL(BEGIN(negative)) && strstr(fatal_text, "a length negative"), "negative length");
    OK(FATAL(BEGIN(big)) && strstr(fatal_text, "x[0:n], 35184372088832 bytes: fake alloc failed: out of memory"), "out of memory");
    OK(FATAL(BEGIN(present)) && strstr(fatal_text, "not mapped, but the `present` modifier requires it"), "present modifier");
    static const struct ompgpu_place leave = { "app.c", 31, "target exit data", OMPGPU_EXIT_DATA };
    OK(FATAL(__ompgpu_data_end(&leave, 0, present, 1)) && FATAL(UPDATE(present)), "… in target exit data and in an update, too");
    OK(!FATAL(END(present)), "… but not where a construct ends");
    OK(!is_present(&x) && fake_live == 0, "nothing stays");
}

static void updates(void)
{
    int x[4] = { 1, 2, 3, 4 };
    const struct ompgpu_map all[] = { MAP(x, OMPGPU_MAP_ALLOC) }, to[] = { SECTION(&x[0], 1, 2, OMPGPU_MAP_TO) },
                            from[] = { SECTION(&x[0], 2, 1, OMPGPU_MAP_FROM) };
    UPDATE(to);
    OK(!is_present(x), "an update of what is not mapped does nothing");
    BEGIN(all), UPDATE(to);
    OK(DEVICE(x)[1] == 2 && DEVICE(x)[2] == 3 && DEVICE(x)[0] != 1 && DEVICE(x)[3] != 4, "update to: the section and no more");
    DEVICE(x)[1] = 20, DEVICE(x)[2] = 30;
    UPDATE(from);
    OK(x[1] == 2 && x[2] == 30, "update from: the section and no more");
    END(all);
}

static void attached_pointers(void)
{
    int data[3] = { 1, 2, 3 }, other[2] = { 5, 6 };
    long more = 9;
    struct list l = { 3, data, 0, &more };
    const struct ompgpu_map whole[] = { MAP(l, OMPGPU_MAP_TOFROM), MEMBER(l.data, 0, 3, OMPGPU_MAP_TOFROM) },
                            reversed[] = { MEMBER(l.data, 0, 3, OMPGPU_MAP_TOFROM), MAP(l, OMPGPU_MAP_TOFROM) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 } }, params2[] = { { NULL, 8, 1 } };
    TARGET(list, whole, params);
    OK(l.sum == 6 && l.n == 0 && data[0] == 2 && data[2] == 4, "a region follows the attached pointer");
    OK(l.data == data && l.more == &more, "the host's pointers are as they were");
    l.n = 3;
    TARGET(list, reversed, params2);
    OK(l.sum == 9 && l.data == data, "the pointee may come first");

    const struct ompgpu_map update_to[] = { MAP(l, OMPGPU_MAP_TO) }, update_from[] = { MAP(l, OMPGPU_MAP_FROM) };
    BEGIN(whole);
    struct list *d = DEVICE(&l);
    int *pointee = DEVICE(data);
    OK(d->data == pointee && d->more == &more, "pointers without an attachment keep the host's value");
    long to = fake_calls[FAKE_TO];
    BEGIN(whole), END(whole);
    OK(fake_calls[FAKE_TO] == to, "attaching again writes nothing");
    l.n = 4;
    UPDATE(update_to);
    OK(d->n == 4 && d->data == pointee, "an update to keeps the device's pointer");
    d->n = 5;
    UPDATE(update_from);
    OK(l.n == 5 && l.data == data, "an update from keeps the host's pointer");

    l.data = other;
    const struct ompgpu_map again[] = { MEMBER(l.data, 0, 2, OMPGPU_MAP_TO) };
    BEGIN(again);
    OK(d->data == DEVICE(other) && d->data[1] == 6, "another pointee is attached instead");
    END(again);
    d->sum = 11;
    const struct ompgpu_map end[] = { MAP(l, OMPGPU_MAP_TOFROM), { data, data, sizeof data, NULL, OMPGPU_MAP_TOFROM, 0, "data" } };
    END(end);
    OK(l.sum == 11 && l.data == other && fake_live == 0, "… and the struct comes back with the host's pointer");

    int *array[40];
    struct ompgpu_map rows[41] = { MAP(array, OMPGPU_MAP_TOFROM) };
    for (int i = 0; i < 40; i++) {
        array[i] = calloc(1, sizeof(int));
        rows[i + 1] = (struct ompgpu_map)MEMBER(array[i], 0, 1, OMPGPU_MAP_TOFROM);
    }
    BEGIN(rows);
    bool good = true;
    for (int i = 0; i < 40; i++)
        good &= DEVICE(&array[0])[i] == DEVICE(array[i]), *DEVICE(array[i]) = i;
    END(rows);
    for (int i = 0; i < 40; i++)
        good &= *array[i] == i, free(array[i]);
    OK(good && fake_live == 0, "forty pointers in one array");
}

/* What is mapped of a struct is the storage of pointers to list items: it makes way for the struct. */
static void covered_pointers(void)
{
    int data[3] = { 1, 2, 3 };
    long more = 9;
    struct list l = { 3, data, 0, &more };
#define POINTER(member) { &l, &l.member, sizeof l.member, NULL, OMPGPU_MAP_ALLOC | OMPGPU_MAP_POINTER, 0, #member }
    const struct ompgpu_map first[] = { POINTER(data), MEMBER(l.data, 0, 3, OMPGPU_MAP_TO) },
                            second[] = { POINTER(more), MEMBER(l.more, 0, 1, OMPGPU_MAP_TO) },
                            whole[] = { MAP(l, OMPGPU_MAP_TOFROM) }, alloc[] = { MAP(l, OMPGPU_MAP_ALLOC) },
                            named[] = { { &l, &l.data, sizeof l.data, NULL, OMPGPU_MAP_TO, 0, "l.data" } };
    BEGIN(first), BEGIN(second), BEGIN(first);
    int **cell = (int **)DEVICE(&l.data);
    OK(is_present(&l.data) && !is_present(&l.n) && *cell == DEVICE(data), "the storage of pointers alone is mapped");
    BEGIN(whole);
    struct list *d = DEVICE(&l);
    OK(is_present(&l.n) && d->n == 3 && d->data == DEVICE(data) && d->more == DEVICE(&more), "the struct takes its place, with the pointers");
    END(first);
    d->sum = 7;
    END(whole);
    OK(l.sum == 7 && l.data == data && l.more == &more && !is_present(&l.n), "… and comes back with the host's");
    OK(is_present(&l.data) && is_present(&l.more) && DEVICE(&l.data) == (void *)cell && *cell == DEVICE(data), "then they are where they were");
    BEGIN(alloc);
    d = DEVICE(&l);
    OK(d->data == DEVICE(data), "also where nothing is copied");
    END(first);
    OK(!is_present(data) && is_present(&more), "the last reference of a pointer may end meanwhile");
    BEGIN(second), END(second);
    l.more = &l.sum;
    const struct ompgpu_map moved[] = { MEMBER(l.more, 0, 1, OMPGPU_MAP_TO) };
    BEGIN(moved), END(moved), END(alloc);
    OK(!is_present(&l.data) && *(long **)DEVICE(&l.more) != DEVICE(&more), "what is attached meanwhile counts afterwards");
    l.more = &more;
    END(second);
    OK(!is_present(&l.more) && fake_live == 0, "nothing stays");

    BEGIN(first), BEGIN(named);
    OK(FATAL(BEGIN(whole)) && strstr(fatal_text, "only a part"), "a pointer that a clause has named stays, which is an error");
    END(named), END(first);
    BEGIN(first), BEGIN(second);
    fake_fail[FAKE_ALLOC] = 1;
    OK(FATAL(BEGIN(whole)) && is_present(&l.data) && is_present(&l.more), "where the struct gets no memory, all is as it was");
    END(second), END(first);
    BEGIN(first), BEGIN(whole);
    const struct ompgpu_map delete[] = { { &l, &l.data, sizeof l.data, NULL, OMPGPU_MAP_DELETE | OMPGPU_MAP_POINTER, 0, "l.data" } };
    END(delete), END(whole);
    OK(!is_present(&l.data), "delete takes all references of a pointer");
    END(first);
    OK(!is_present(data) && fake_live == 0, "nothing stays after that either");
}

static void private_copies(void)
{
    int a[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, out[10];
    const struct ompgpu_map maps[] = { MAP(a, OMPGPU_MAP_TO | OMPGPU_MAP_PRIVATE_COPY), MAP(out, OMPGPU_MAP_FROM) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 }, { NULL, 8, 1 } };
    bool good = true;
    for (int round = 0; round < 3; round++) {
        TARGET(private, maps, params);
        for (int i = 0; i < 10; i++)
            good &= out[i] == 2 * i && a[i] == i;
    }
    OK(good && !is_present(a), "a firstprivate array is fresh each time and never present");
}

static void declare_target(void)
{
    const struct ompgpu_map maps[] = { MAP(global, OMPGPU_MAP_TOFROM) }, delete[] = { MAP(global, OMPGPU_MAP_DELETE) },
                            link[] = { SECTION(&linked[0], 2, 4, OMPGPU_MAP_TO) }, whole[] = { MAP(linked, OMPGPU_MAP_TO) };
    OK(DEVICE(&global[1]) == &global_on_device[1], "a declare target variable is present");
    global[0] = 9;
    BEGIN(maps);
    OK(global_on_device[0] == 1, "mapping it copies nothing");
    UPDATE(maps);
    END(maps), END(delete);
    OK(DEVICE(&global[1]) == &global_on_device[1] && global[0] == 9 && global_on_device[0] == 9, "nor does it ever go away");
    linked_on_device = NULL;
    BEGIN(whole);
    OK(linked_on_device == DEVICE(&linked[0]), "a link variable's pointer is set when it is mapped");
    END(whole), BEGIN(link);
    OK((int *)linked_on_device + 2 == DEVICE(&linked[2]), "… and when a section of it is mapped");
    END(link);
}

/* ------------------------------------------------------------------ copies back that a region asks for with its launch */
static void kernel_calls(long *from, long *sync) { *from = fake_calls[FAKE_FROM], *sync = fake_calls[FAKE_SYNC]; }

static int *shared_array;
static void *other_thread(void *unused)
{
    run_add(shared_array, 5, 100, OMPGPU_MAP_FROM);
    return unused;
}
static void while_it_runs(void)
{
    pthread_t t;
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, NULL);
}

/* The last: from then on there are two threads. */
static void prefetched(void)
{
    int x[5] = { 1, 2, 3, 4, 5 }, large[1500] = { 1 };
    struct { int n, *data; long sum, *more; } l = { 5, x, 0, NULL };
    const struct ompgpu_map maps[] = { MAP(l, OMPGPU_MAP_TOFROM), MEMBER(l.data, 0, 5, OMPGPU_MAP_TOFROM) }, whole[] = { MAP(x, OMPGPU_MAP_TOFROM) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 } };
    long from, sync;
    fake_early.on = true;
    kernel_calls(&from, &sync);
    run_add(x, 5, 10, OMPGPU_MAP_TOFROM);
    OK(x[0] == 11 && x[4] == 15 && fake_early.calls == 1 && fake_calls[FAKE_FROM] == from && fake_calls[FAKE_SYNC] == sync + 1,
       "a small mapping comes back with the region's only wait");
    kernel_calls(&from, &sync);
    TARGET(list, maps, params);
    OK(l.n == 0 && l.data == x && l.sum == 65 && x[0] == 12 && fake_calls[FAKE_FROM] == from && fake_calls[FAKE_SYNC] == sync + 1,
       "… a struct with an attached pointer, and what that points to");
    kernel_calls(&from, &sync);
    run_add(large, 1500, 1, OMPGPU_MAP_TOFROM);
    OK(large[0] == 2 && fake_early.calls == 3 && fake_calls[FAKE_FROM] == from + 1 && fake_calls[FAKE_SYNC] == sync + 2, "not a large one");
    BEGIN(whole);
    run_add(x, 5, 1, OMPGPU_MAP_TOFROM);
    OK(x[0] == 12 && fake_early.calls == 3, "nor one that stays");
    END(whole);
    OK(x[0] == 13 && fake_early.calls == 3, "… which comes back with its own construct");
    fake_fail[FAKE_SYNC] = 1;
    OK(FATAL(run_add(x, 5, 7, OMPGPU_MAP_TOFROM)) && x[0] == 13, "nothing comes back from a region that fails");
    shared_array = x, fake_after_sync = while_it_runs;
    run_add(x, 5, 10, OMPGPU_MAP_FROM);
    OK(x[0] == (int)(0xa5a5a5a5u + 110), "what a second thread has changed in between is not lost");
    fake_early.on = false;
}

int main(void)
{
    fake_unit.vars = vars, fake_unit.nvars = COUNT(vars);
    fake_register();
    simple_maps();
    results();
    nested();
    same_construct_twice();
    sections();
    blocks();
    bad_items();
    updates();
    attached_pointers();
    covered_pointers();
    private_copies();
    declare_target();
    prefetched();
    __ompgpu_unregister(&fake_unit);
    OK(!is_present(global), "after its unit has gone a declare target variable is not present");
    return tap_end();
}
