/* rt_linked.c - units that were device-linked share one image; units that should have been and were not run on the host, saying why. */
#include "tests/unit/rt_fake.h"

static int first_ran, second_ran, variable_a, variable_b;
static void first(void **p) { (void)p, first_ran++; }
static void second(void **p) { (void)p, second_ran++; }
const struct fake_kernel fake_kernels[] = { { "work__m0", first, 1, 0, 0 }, { "work__m1", second, 1, 0, 0 }, { 0 } };
const struct fake_variable fake_variables[] = { { "count__m0", &variable_a, sizeof variable_a }, { "count__m1", &variable_b, sizeof variable_b }, { 0 } };

/* Two members, then what the device link made of them, as in one section of a program. */
static struct {
    struct ompgpu_image_header own[2] __attribute__((aligned(16)));
    __typeof__(fake_container) linked __attribute__((aligned(16)));
    struct ompgpu_alias aliases[4];
} program;

static int count_a, count_b;
static const struct ompgpu_var vars_a[] = { { "count", &count_a, sizeof count_a, 0 } }, vars_b[] = { { "count", &count_b, sizeof count_b, 0 } };
static struct ompgpu_unit unit_a = { .abi = OMPGPU_ABI_VERSION, .image = &program.own[0], .file = "a.c", .vars = vars_a, .nvars = 1 },
                          unit_b = { .abi = OMPGPU_ABI_VERSION, .image = &program.own[1], .file = "b.c", .vars = vars_b, .nvars = 1 };
static struct ompgpu_region in_a = { "work", "a.c", "main", "target", 1, 1, &unit_a, NULL, NULL, NULL }, in_b = { "work", "b.c", "main", "target", 2, 1, &unit_b, NULL, NULL, NULL };

static void make_program(bool linked)
{
    memset(&program, 0, sizeof program);
    fake_make_container();
    program.linked = fake_container;
    program.linked.header.flags = OMPGPU_CONTAINER_LINKED;
    program.linked.header.total_size = sizeof program.linked + sizeof program.aliases;
    program.linked.header.aliases = sizeof program.linked;
    program.linked.header.naliases = 4;
    uint32_t names[] = { fake_string("work"), fake_string("work__m0"), fake_string("work__m1"), fake_string("count"), fake_string("count__m0"),
                         fake_string("count__m1") };
    memcpy(program.linked.text, fake_container.text, sizeof fake_container.text);
    for (unsigned i = 0; i < 4; i++)
        program.aliases[i] = (struct ompgpu_alias){ i % 2, names[i / 2 * 3], names[i / 2 * 3 + 1 + i % 2] };
    for (unsigned i = 0; i < 2; i++)
        program.own[i] = (struct ompgpu_image_header){
            .magic = OMPGPU_IMAGE_MAGIC, .version = OMPGPU_IMAGE_VERSION, .header_size = sizeof program.own[i], .total_size = sizeof program.own[i],
            .flags = OMPGPU_CONTAINER_NEEDS_LINK, .member = i,
            .link = linked ? (char *)&program.linked.header - (char *)&program.own[i] : 0 };
    for (unsigned i = 0; i < 2; i++)
        ompgpu_image_seal(&program.own[i]);
    ompgpu_image_seal(&program.linked.header);
}

static int launch(struct ompgpu_region *r)
{
    static const struct ompgpu_launch l = { .device = 0 };
    return __ompgpu_target(r, NULL, 0, NULL, 0, &l);
}

static void shared_image(void)
{
    make_program(true);
    __ompgpu_register(&unit_a);
    __ompgpu_register(&unit_b);
    OK(launch(&in_a) == 0 && first_ran == 1 && second_ran == 0, "a member's kernel by its own name");
    OK(launch(&in_b) == 0 && first_ran == 1 && second_ran == 1, "the other member's kernel of that name");
    OK(fake_calls[FAKE_LOAD] == 1, "one image was loaded: %ld", fake_calls[FAKE_LOAD]);
    OK(__ompgpu_use_device(0, &count_a) == &variable_a && __ompgpu_use_device(0, &count_b) == &variable_b, "variables of one name");
    __ompgpu_unregister(&unit_a);
    OK(__ompgpu_use_device(0, &count_a) == &count_a && __ompgpu_use_device(0, &count_b) == &variable_b, "one unit leaves");
    OK(launch(&in_b) == 0 && second_ran == 2, "the other one still runs");
    __ompgpu_register(&unit_a);
    OK(launch(&in_a) == 0 && first_ran == 2 && fake_calls[FAKE_LOAD] == 1, "it comes back to the same image");
    __ompgpu_unregister(&unit_b);
    __ompgpu_unregister(&unit_a);
    __ompgpu_register(&unit_b);
    OK(launch(&in_b) == 0 && fake_calls[FAKE_LOAD] == 2, "the last one took the image along");
    __ompgpu_unregister(&unit_b);
}

static void failures(void)
{
    make_program(true);
    __ompgpu_register(&unit_a);
    fake_fail[FAKE_VARIABLE] = 1;
    OK(FATAL(launch(&in_a)) && strstr(fatal_text, "fake variable failed"), "a variable that cannot be found");
    OK(launch(&in_a) == 0, "then it can");
    __ompgpu_unregister(&unit_a);
    program.linked.header.version = OMPGPU_IMAGE_VERSION + 1;
    OK(FATAL(__ompgpu_register(&unit_b)) && strstr(fatal_text, "b.c: the container of device images has version"), "the linked container's version");
    program.linked.header.version = OMPGPU_IMAGE_VERSION;
    program.aliases[0].name = 1 << 30;
    ompgpu_image_seal(&program.linked.header);
    OK(FATAL(__ompgpu_register(&unit_b)) && strstr(fatal_text, "alias 0 has a name outside"), "a damaged alias");
}

static void not_linked(void)
{
    make_program(false);
    __ompgpu_register(&unit_b);
    OK(ompgpu_unit_not_linked(&unit_b), "not linked");
    OK(launch(&in_b) == 1 && second_ran == 3, "its region runs on the host");
    ompgpu_settings.offload = OMPGPU_OFFLOAD_MANDATORY;
    OK(FATAL(launch(&in_b)) && strstr(fatal_text, "was not device-linked: link with ompgpu-cc"), "MANDATORY");
    ompgpu_settings.offload = OMPGPU_OFFLOAD_DEFAULT;
    __ompgpu_unregister(&unit_b);
}

int main(void)
{
    ompgpu_fatal_hook = fatal_caught;
    shared_image();
    failures();
    not_linked();
    return tap_end();
}
