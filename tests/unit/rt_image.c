/* rt_image.c - the container of images: good ones are read, damaged ones are refused with a reason and never read out of bounds. */
#include "tests/unit/rt_fake.h"
const struct fake_variable fake_variables[] = { { 0 } };
const struct fake_kernel fake_kernels[] = { { "first", NULL, 1, 0, 0 }, { "second", NULL, 0, 1, 16 }, { 0 } };

#define CONTAINER __typeof__(fake_container)
static CONTAINER *fresh(void)                       /* on the heap, so that ASan knows its end */
{
    CONTAINER *c = malloc(sizeof *c);
    memcpy(c, &fake_container, sizeof *c);
    return c;
}

static const struct damage { const char *what; size_t offset; unsigned size; uint64_t value; const char *message; } damages[] = {
#define AT(member) offsetof(CONTAINER, member), sizeof fake_container.member
    { "magic", AT(header.magic), 1, "not a container of device images" },
    { "version", AT(header.version), 11, "the container of device images has version 11, this libompgpu reads version 10" },
    { "header size", AT(header.header_size), 8, "sizes are wrong" },
    { "total size", AT(header.total_size), 8, "sizes are wrong" },
    { "image table", AT(header.images), 1 << 20, "image table lies outside" },
    { "image table, unaligned", AT(header.images), 57, "image table lies outside" },
    { "number of images", AT(header.nimages), 0xffffffff, "image table lies outside" },
    { "kernel table", AT(header.kernels), ~0ull - 3, "kernel table lies outside" },
    { "number of kernels", AT(header.nkernels), 0xffffffff, "kernel table lies outside" },
    { "alias table", AT(header.aliases), ~0ull - 3, "alias table lies outside" },
    { "number of aliases", AT(header.naliases), 0xffffffff, "alias table lies outside" },
    { "options", AT(header.options), 0xffffffff, "string outside of the container" },
    { "source", AT(header.file), 0xfffffff0, "string outside of the container" },
    { "kind", AT(image.kind), 9, "image 0 is of unknown kind 9" },
    { "image size", AT(image.size), ~0ull, "image 0 lies outside of the container" },
    { "image offset", AT(image.offset), ~0ull - 4, "image 0 lies outside of the container" },
    { "uncompressed size", AT(image.usize), 1, "image 0 has an impossible size" },
    { "uncompressed size that no frame of this size has", AT(image.usize), 1ull << 40, "image 0 has an impossible size" },
    { "kernel name", AT(kernels[1].name), 0xffffffff, "kernel 1 has a name outside of the container" },
    { "kernel mode", AT(kernels[1].mode), 2, "kernel second has unknown mode 2" },
};

static void damaged(void)
{
    for (unsigned i = 0; i < COUNT(damages); i++) {
        CONTAINER *c = fresh();
        memcpy((char *)c + damages[i].offset, &damages[i].value, damages[i].size);
        if (c->header.total_size <= sizeof *c)
            ompgpu_image_seal(&c->header);
        const char *bad = ompgpu_image_check(c);
        OK(bad && strstr(bad, damages[i].message), "%s: %s", damages[i].what, bad ? bad : "accepted");
        free(c);
    }
    CONTAINER *c = fresh();
    c->image.kind = OMPGPU_IMAGE_PTX;
    memset(c->text, 'x', 8);
    c->image.offset = offsetof(CONTAINER, text);
    ompgpu_image_seal(&c->header);
    OK(strstr(ompgpu_image_check(c), "PTX without its final NUL") != NULL, "PTX without NUL");
    free(c);
}

/* Whatever bit of a container is flipped, it is refused. */
static void flipped_bits(void)
{
    unsigned accepted = 0;
    CONTAINER *c = fresh();
    for (size_t bit = 0; bit < 8 * sizeof *c; bit++) {
        ((unsigned char *)c)[bit / 8] ^= 1 << bit % 8;
        accepted += !ompgpu_image_check(c);
        ((unsigned char *)c)[bit / 8] ^= 1 << bit % 8;
    }
    OK(!accepted && !ompgpu_image_check(c), "each of %zu bits flipped: %u accepted", 8 * sizeof *c, accepted);
    free(c);
}

/* With sums that fit: a container that passes can be walked: every name is a string inside of it. */
static void random_damage(void)
{
    uint64_t seed = 42, sum = 0;
    unsigned accepted = 0;
    CONTAINER *c = fresh();
    for (int round = 0; round < 200000; round++) {
        memcpy(c, &fake_container, sizeof *c);
        for (int n = 0; n < 3; n++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            size_t at = sizeof c->header.magic + (seed >> 33) % (offsetof(CONTAINER, text) - 8);
            ((unsigned char *)c)[at] = (unsigned char)(seed >> 20);
        }
        if (c->header.total_size > sizeof *c)       /* the section's true end is not known to the runtime */
            c->header.total_size = sizeof *c;
        ompgpu_image_seal(&c->header);
        if (ompgpu_image_check(c))
            continue;
        accepted++;
        sum += ompgpu_image_kinds(&c->header) + !ompgpu_image_kernel(&c->header, "no such kernel");
        for (unsigned i = 0; i < c->header.nimages; i++)
            sum += ((unsigned char *)c)[ompgpu_image_entry(&c->header, i)->offset];
    }
    free(c);
    OK(sum && accepted, "200000 randomly damaged containers, %u still readable", accepted);
}

static void reading(void)
{
    const void *data;
    size_t size;
    void *owned;
    OK(!ompgpu_image_check(&fake_container), "a good container");
    OK(ompgpu_image_kernel(&fake_container.header, "second") == &fake_container.kernels[1], "a kernel by name");
    OK(!ompgpu_image_kernel(&fake_container.header, "third"), "no such kernel");
    OK(ompgpu_image_kinds(&fake_container.header) == 1 << OMPGPU_IMAGE_EMU, "kinds");
    OK(!ompgpu_image_bytes(&fake_container.header, 0, &data, &size, &owned) && data == fake_container.text && size == 8 && !owned, "bytes");
    CONTAINER *c = fresh();
    c->image.usize = 100;
    memset(c->text, 0, 8);
    OK(ompgpu_image_bytes(&c->header, 0, &data, &size, &owned) && !owned && *ompgpu_plugin_message(), "damaged zstd: %s", ompgpu_plugin_message());
    /* zstd of 100 times 'z' */
    static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 100, (100 << 3 | 1 << 1 | 1) & 255, (100 << 3) >> 8, 0, 'z' };
    memcpy(c->text, frame, sizeof frame);
    c->image.size = sizeof frame;
    bool bad = ompgpu_image_bytes(&c->header, 0, &data, &size, &owned);
    if (bad && strstr(ompgpu_plugin_message(), "cannot be loaded"))
        printf("ok %d # SKIP no libzstd.so.1\n", ++tap_count);
    else
        OK(!bad && size == 100 && owned == data && ((const char *)data)[99] == 'z', "a compressed image");
    ompgpu_xfree(owned);
    free(c);
}

static void versions(void)
{
    struct ompgpu_unit unit = { .abi = 9, .image = &fake_container, .file = "old.c" };
    OK(FATAL(__ompgpu_register(&unit)) && strstr(fatal_text, "old.c was compiled for version 9 of the runtime interface, this libompgpu has version 5"),
       "another version of the runtime interface names both");
    unit.abi = OMPGPU_ABI_VERSION;
    fake_container.header.version = 99;
    OK(FATAL(__ompgpu_register(&unit)) && strstr(fatal_text, "old.c: the container of device images has version 99, this libompgpu reads version 10"),
       "another version of the container names both");
    fake_container.header.version = OMPGPU_IMAGE_VERSION;
}

int main(void)
{
    fake_make_container();
    ompgpu_fatal_hook = fatal_caught;
    reading();
    damaged();
    flipped_bits();
    random_damage();
    versions();
    return tap_end();
}
