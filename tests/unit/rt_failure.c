/* rt_failure.c - each call of the device and each allocation of the runtime fails in turn.  Always: a message with place and reason, the
 * host's data and the present table as before, nothing left on the device, and the next run of the same program works. */
#include "tests/unit/rt_fake.h"
const struct fake_variable fake_variables[] = { { 0 } };

struct item { long n; int *data; };
static void kernel(void **p)
{
    struct item *s = *(struct item **)p[1];
    int *x = *(int **)p[2], *private = *(int **)p[3];
    for (int i = 0; i < 8; i++)
        x[i] += s->data[i] + private[i];
    s->n = -1;
}
const struct fake_kernel fake_kernels[] = { { "work", kernel, 1, 0, 64 }, { 0 } };
static struct ompgpu_region region = FAKE_REGION("work", 20);

static int x[8], data[8], firstprivate[8], *many[6];
static struct item s;
static bool on_host;

static void set_data(void)
{
    for (int i = 0; i < 8; i++)
        x[i] = i, data[i] = 10 * i, firstprivate[i] = 100 * i;
    s = (struct item){ 8, data };
}

static bool data_is(int factor)
{
    bool good = s.n == (factor == 1 ? 8 : -1) && s.data == data;
    for (int i = 0; i < 8; i++)
        good &= x[i] == i * factor && data[i] == 10 * i && firstprivate[i] == 100 * i;
    return good;
}

/* Maps of every kind: more than fit into the thread's own arrays, so that these grow, too. */
static void launch(void)
{
    static const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 3, .trip = 100, .flags = OMPGPU_LAUNCH_TEAMS | OMPGPU_LAUNCH_PARALLEL | OMPGPU_LAUNCH_REDUCTION };
    struct ompgpu_map maps[40] = { MAP(s, OMPGPU_MAP_TOFROM), MEMBER(s.data, 0, 8, OMPGPU_MAP_TO), MAP(x, OMPGPU_MAP_TOFROM),
                                   MAP(firstprivate, OMPGPU_MAP_TO | OMPGPU_MAP_PRIVATE_COPY), MAP(many, OMPGPU_MAP_TO) };
    struct ompgpu_param params[40] = { { NULL, 8, 0 }, { NULL, 8, 2 }, { NULL, 8, 3 } };
    for (int i = 0; i < 6; i++)
        many[i] = &data[0], maps[5 + i] = (struct ompgpu_map)MEMBER(many[i], 0, 8, OMPGPU_MAP_TO);
    for (int i = 11; i < 40; i++)
        maps[i] = (struct ompgpu_map)MAP(x, OMPGPU_MAP_TO);
    for (int i = 3; i < 40; i++)
        params[i] = (struct ompgpu_param){ NULL, 8, 2 };
    on_host = __ompgpu_target(&region, maps, 40, params, 40, &l) != 0;
}
static const struct ompgpu_map outer[] = { MAP(x, OMPGPU_MAP_TO), MAP(data, OMPGPU_MAP_TO) };

static struct ompgpu_device *device(void) { return &ompgpu_devices[0]; }

/* Runs once with the failure armed.  True: the failure was met. */
static bool fails_well(const char *what, long nth, long *armed, bool with_outer)
{
    set_data();
    size_t before = ompgpu_devices ? ompgpu_present_count(device()) : 0;
    *armed = nth;
    bool fatal = FATAL(launch());
    bool met = *armed == 0;
    *armed = 0;
    if (!met && !fatal)
        return false;
    bool same = data_is(1) && (!ompgpu_devices || ompgpu_present_count(device()) == before) && (with_outer ? is_present(x) : !is_present(x));
    if (!fatal && strcmp(what, "free") && strcmp(what, "pick"))
        OK(false, "%s call %ld: no error", what, nth);
    else if (fatal && (strncmp(fatal_text, "ompgpu: app.c:20: error: region work: ", 38) || !strstr(fatal_text, *what == 'm' ? "out of host memory" : what)))
        OK(false, "%s call %ld: message %s", what, nth, fatal_text);
    else if (fatal && !same)
        OK(false, "%s call %ld: data or table changed", what, nth);
    return true;
}

static void all_in_turn(const char *what, long *armed, const char *when, bool with_outer, bool cold)
{
    long nth = 1;
    int bad = tap_bad;
    if (cold)
        __ompgpu_unregister(&fake_unit), __ompgpu_register(&fake_unit);
    while (fails_well(what, nth, armed, with_outer)) {
        nth++;
        if (cold)                                   /* loads and finds its kernel again */
            __ompgpu_unregister(&fake_unit), __ompgpu_register(&fake_unit);
        else {                                      /* gets its scratchpad again */
            set_data();
            launch();
        }
    }
    OK(tap_bad == bad && nth > 1, "%s: each of %ld calls fails well (%s)", what, nth - 1, when);
    set_data();
    OK(!FATAL(launch()) && (with_outer || data_is(111)), "%s: … and the next region runs (%s)", what, when);
}

/* All come back, or none. */
static void copies_back(void)
{
    set_data();
    fake_fail[FAKE_FROM] = 1;
    OK(FATAL(launch()) && strstr(fatal_text, "fake from_device failed") && data_is(1) && !is_present(x), "from_device: the first copy back");
    fake_fail[FAKE_FROM] = 2;
    OK(FATAL(launch()) && strstr(fatal_text, "error: region work: s, 16 bytes: fake from_device failed") && data_is(1) && !is_present(x), "from_device: the second");
    set_data();
    OK(!FATAL(launch()) && data_is(111), "from_device: … and the next region runs");
}

static void data_constructs(void)
{
    volatile int bad = 0;                           /* survives longjmp */
    set_data();
    enum fake_call kinds[] = { FAKE_ALLOC, FAKE_TO, FAKE_SYNC };
    for (int k = 0; k < 3; k++)
        for (int nth = 1; nth <= (kinds[k] == FAKE_SYNC ? 1 : 2); nth++) {
            fake_fail[kinds[k]] = nth;
            if (!FATAL(BEGIN(outer)) || strncmp(fatal_text, "ompgpu: app.c:30: error: target data: ", 38) || is_present(x) || is_present(data))
                printf("# %s call %d: %s\n", fake_names[kinds[k]], nth, fatal_text), bad++;
        }
    OK(!bad, "a data construct that fails leaves nothing");
}

int main(void)
{
    static const enum fake_call steady[] = { FAKE_ALLOC, FAKE_TO, FAKE_LAUNCH, FAKE_SYNC };
    static const enum fake_call loading[] = { FAKE_LOAD, FAKE_FUNCTION };
    fake_register();
    set_data();
    fake_fail[FAKE_OPEN] = 1;
    OK(FATAL(launch()) && strstr(fatal_text, "region work: fake open failed") && data_is(1), "open fails");
    for (int i = 0; i < 2; i++)
        all_in_turn(fake_names[loading[i]], &fake_fail[loading[i]], "loading", false, true);
    all_in_turn("memory", &ompgpu_xalloc_fail, "loading", false, true);
    all_in_turn("memory", &ompgpu_xalloc_fail, "steady", false, false);
    for (int i = 0; i < 4; i++)
        all_in_turn(fake_names[steady[i]], &fake_fail[steady[i]], "nothing mapped", false, false);
    set_data();
    BEGIN(outer);
    for (int i = 0; i < 4; i++)
        all_in_turn(fake_names[steady[i]], &fake_fail[steady[i]], "inside target data", true, false);
    END(outer);
    copies_back();
    data_constructs();
    __ompgpu_unregister(&fake_unit);
    ompgpu_threads_close();
    OK(fake_live == 0, "nothing is left on the device");
    return tap_end();
}
