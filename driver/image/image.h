/* image.h - containers of device images (hostrt/image.h): packed (container.c) from what omp-device
 * and ptxas (ptxas.c) wrote. */
#ifndef OMPGPU_DRIVER_IMAGE_H
#define OMPGPU_DRIVER_IMAGE_H
#include "driver/base/protocol.h"
#include "hostrt/image.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------ container.c */
struct image_file {
    unsigned kind, arch;
    const char *path;
};
/* from ptxas -v; frames: of all functions */
struct kernel_stats {
    const char *name;
    unsigned registers, shared, stack, frames;
    unsigned spills; /* bytes stored */
};
struct container { /* what drv_write_container packs */
    const struct image_file *files;
    unsigned nfiles;
    bool compress;               /* images that become smaller by it */
    const char *info, *emu_info; /* of omp-device; NULL: none */
    const struct kernel_stats *stats;
    unsigned nstats;
    unsigned flags;             /* OMPGPU_CONTAINER_* */
    const char *options, *file; /* how it was compiled, and the source */
};
struct kernel_stats *drv_read_ptxas(const char *path, unsigned *n); /* ptxas.c */
/* of a thread of a kernel with these flags */
unsigned drv_stack_bytes(const struct kernel_stats *, unsigned flags);
bool drv_write_container(const char *path, const struct container *);
/* One that begins here and ends within `room` bytes, with the right sums. */
bool drv_container_sound(const struct ompgpu_image_header *, uint64_t room);
/* the kernels of an info file, and what is to be said of them; n 0: there is none */
struct proto_kernel *drv_read_kernels(const char *info, unsigned *n);
struct proto_outcome *drv_read_outcomes(const char *info, unsigned *n);
/* which of n inputs the device link took */
bool *drv_read_members(const char *info, unsigned n);
/* into the empty section of the host's text */
bool drv_append_image(const char *assembly, const char *container, bool as_bytes);

/* ------------------------------------------------------------------ compress.c */
/* Both in the run's memory.  NULL: it does not become smaller; it is damaged. */
void *drv_compress(const void *bytes, size_t size, size_t *compressed);
const void *drv_image_bytes(const struct ompgpu_image_header *, const struct ompgpu_image_entry *);

/* ------------------------------------------------------------------ object.c */
/* The section of the containers in an ELF-64 file, which may be damaged; NULL: none. */
const Elf64_Shdr *drv_image_section(const void *file, size_t size);
/* A program or shared library that needs a library whose name begins so. */
bool drv_needs_library(const char *path, const char *name);
/* Calls `see` for the name of each global symbol of an object, a program, a library or the objects
 * of an archive, until it returns true: then that is returned.  For what is no ELF-64 file, such as
 * bitcode, it is called once with all its bytes. */
enum drv_seen { SEEN_UNDEFINED, SEEN_DEFINED, SEEN_BYTES };
typedef bool drv_see_symbol(void *data, const char *bytes, size_t length, enum drv_seen seen);
bool drv_sees_symbol(const char *file, size_t size, drv_see_symbol *see, void *data);
/* The same as drv_append_image, for an object file that the host compiler wrote. */
bool drv_fill_image(const char *object, const char *container);
/* A new object file with the container of a device link, under this hidden symbol. */
#define DRV_LINKED_IMAGE "__ompgpu_linked_image"
bool drv_write_image_object(const char *object, const char *container);

#endif
