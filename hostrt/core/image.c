/* image.c - reading the container of device images (image.h).
 *
 * A container comes out of an object file that may be damaged or from another version, so
 * everything is checked once, when its unit registers, its sums first: afterwards offsets are used
 * as they are. Where a program was device-linked, a unit's own container leads to the linked one
 * (`link`), which is checked with it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "hostrt/core/core.h"

static _Thread_local char problem[160];
#define FAIL(...) (snprintf(problem, sizeof problem, __VA_ARGS__), problem)

static bool range_ok(const struct ompgpu_image_header *h, uint64_t offset, uint64_t size)
{
    return offset <= h->total_size && size <= h->total_size - offset;
}

static bool string_ok(const struct ompgpu_image_header *h, uint32_t offset)
{
    return offset < h->total_size && memchr((const char *)h + offset, 0, h->total_size - offset);
}

static const char *check_image(const struct ompgpu_image_header *h, unsigned i,
                               const struct ompgpu_image_entry *e)
{
    if (e->kind < OMPGPU_IMAGE_PTX || e->kind > OMPGPU_IMAGE_BITCODE_EMU)
        return FAIL("image %u is of unknown kind %u", i, e->kind);
    if (!e->size || !range_ok(h, e->offset, e->size))
        return FAIL("image %u lies outside of the container", i);
    if (!ompgpu_image_size_possible(e))
        return FAIL("image %u has an impossible size", i);
    if (e->kind == OMPGPU_IMAGE_PTX && e->usize == e->size &&
        ((const char *)h)[e->offset + e->size - 1])
        return FAIL("image %u: PTX without its final NUL", i);
    return NULL;
}

static const char *check_kernel(const struct ompgpu_image_header *h, unsigned i,
                                const struct ompgpu_kernel_entry *k)
{
    if (!string_ok(h, k->name) || !string_ok(h, k->function) || !string_ok(h, k->file) ||
        !string_ok(h, k->directive) || !string_ok(h, k->shape))
        return FAIL("kernel %u has a name outside of the container", i);
    if (k->mode > OMPGPU_MODE_SPMD)
        return FAIL("kernel %s has unknown mode %u", (const char *)h + k->name, k->mode);
    return NULL;
}

static const char *check_alias(const struct ompgpu_image_header *h, unsigned i,
                               const struct ompgpu_alias *a)
{
    return string_ok(h, a->name) && string_ok(h, a->symbol)
               ? NULL
               : FAIL("alias %u has a name outside of the container", i);
}

const char *ompgpu_image_check(const void *container)
{
    const struct ompgpu_image_header *h = container;
    const char *bad = NULL;
    if (h->magic != OMPGPU_IMAGE_MAGIC)
        return FAIL("not a container of device images");
    if (h->version != OMPGPU_IMAGE_VERSION)
        return FAIL(
            "the container of device images has version %u, this libompgpu reads version %u",
            h->version, OMPGPU_IMAGE_VERSION);
    if (h->header_sum != ompgpu_image_header_sum(h))
        return FAIL("the header of the device images is damaged");
    if (h->header_size < sizeof *h || h->total_size < h->header_size)
        return FAIL("the header's sizes are wrong");
    if (h->content_sum != ompgpu_image_content_sum(h))
        return FAIL("the device images are damaged");
    if (h->images % 8 ||
        !range_ok(h, h->images, (uint64_t)h->nimages * sizeof(struct ompgpu_image_entry)))
        return FAIL("the image table lies outside of the container");
    if (h->kernels % 8 ||
        !range_ok(h, h->kernels, (uint64_t)h->nkernels * sizeof(struct ompgpu_kernel_entry)))
        return FAIL("the kernel table lies outside of the container");
    if (h->aliases % 4 ||
        !range_ok(h, h->aliases, (uint64_t)h->naliases * sizeof(struct ompgpu_alias)))
        return FAIL("the alias table lies outside of the container");
    if (!string_ok(h, h->options) || !string_ok(h, h->file))
        return FAIL("the header has a string outside of the container");
    for (unsigned i = 0; i < h->naliases && !bad; i++)
        bad = check_alias(h, i, (const struct ompgpu_alias *)((const char *)h + h->aliases) + i);
    for (unsigned i = 0; i < h->nimages && !bad; i++)
        bad = check_image(h, i, ompgpu_image_entry(h, i));
    for (unsigned i = 0; i < h->nkernels && !bad; i++)
        bad = check_kernel(h, i,
                           (const struct ompgpu_kernel_entry *)((const char *)h + h->kernels) + i);
    return bad;
}

const struct ompgpu_image_entry *ompgpu_image_entry(const struct ompgpu_image_header *h,
                                                    unsigned index)
{
    return (const struct ompgpu_image_entry *)((const char *)h + h->images) + index;
}

const struct ompgpu_image_header *ompgpu_image_linked(const struct ompgpu_image_header *h)
{
    return (const struct ompgpu_image_header *)((const char *)h + h->link);
}

const char *ompgpu_image_symbol(const struct ompgpu_image_header *own, const char *name)
{
    const struct ompgpu_image_header *h = ompgpu_image_linked(own);
    const struct ompgpu_alias *a = (const struct ompgpu_alias *)((const char *)h + h->aliases);
    for (unsigned i = 0; i < h->naliases; i++)
        if (a[i].member == own->member && strcmp((const char *)h + a[i].name, name) == 0)
            return (const char *)h + a[i].symbol;
    return name;
}

const struct ompgpu_kernel_entry *ompgpu_image_kernel(const struct ompgpu_image_header *h,
                                                      const char *name)
{
    const struct ompgpu_kernel_entry *k =
        (const struct ompgpu_kernel_entry *)((const char *)h + h->kernels);
    for (unsigned i = 0; i < h->nkernels; i++)
        if (strcmp((const char *)h + k[i].name, name) == 0)
            return &k[i];
    return NULL;
}

const char *ompgpu_image_shape(const struct ompgpu_image_header *h,
                               const struct ompgpu_kernel_entry *k)
{
    return (const char *)h + k->shape;
}

unsigned ompgpu_image_kinds(const struct ompgpu_image_header *h)
{
    unsigned kinds = 0;
    for (unsigned i = 0; i < h->nimages; i++)
        kinds |= 1u << ompgpu_image_entry(h, i)->kind;
    return kinds;
}

/* ------------------------------------------------------------------ compressed images */
/* libzstd is looked for only when an image needs it. */
static int decompress(void *dst, size_t dst_size, const void *src, size_t src_size)
{
    void *lib = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t (*run)(void *, size_t, const void *, size_t) = NULL;
    if (lib)
        *(void **)&run = dlsym(lib, "ZSTD_decompress");
    if (!run)
        ompgpu_plugin_error(
            "the device image is compressed and libzstd.so.1 cannot be loaded: install it, or "
            "compile with --no-offload-compress");
    bool ok = run && run(dst, dst_size, src, src_size) == dst_size;
    if (run && !ok)
        ompgpu_plugin_error("the compressed device image is damaged");
    if (lib)
        dlclose(lib);
    return ok ? 0 : -1;
}

/* *owned: to be freed when the image is unloaded, or NULL. */
int ompgpu_image_bytes(const struct ompgpu_image_header *h, unsigned index, const void **data,
                       size_t *size, void **owned)
{
    const struct ompgpu_image_entry *e = ompgpu_image_entry(h, index);
    const char *bytes = (const char *)h + e->offset;
    *data = bytes, *size = e->size, *owned = NULL;
    if (e->usize == e->size)
        return 0;
    if (!(*owned = ompgpu_xalloc(e->usize)))
        return -1;
    *data = *owned, *size = e->usize;
    if (decompress(*owned, e->usize, bytes, e->size)) {
        ompgpu_xfree(*owned);
        *owned = NULL;
        return -1;
    }
    return 0;
}
