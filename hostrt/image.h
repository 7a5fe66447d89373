/* image.h - the container of device images inside a fat object, written by the driver, read by
 * hostrt.
 *
 *   header | image table | kernel table | alias table | strings and image bytes
 *
 * All offsets are from the header's first byte; little endian.  Containers lie in section
 * .ompgpu.image, one after the other, each a multiple of 16 bytes.
 *
 * Device link.  A file whose regions need functions or variables of other files has bitcode instead
 * of images (NEEDS_LINK); a file that defines some has bitcode besides its images.  When the driver
 * links a program it joins the bitcode of the files that belong together (the members) to one more
 * container (LINKED), in the same section of the program, and then writes into the header of each
 * member where that is.  From there on the member's kernels and variables are those of the linked
 * container.                       */
#ifndef OMPGPU_IMAGE_H
#define OMPGPU_IMAGE_H
#include <stddef.h>
#include <stdint.h>
#define OMPGPU_IMAGE_MAGIC 0x5550474F504D4Full /* "OMPGPU" */
#define OMPGPU_IMAGE_VERSION 10u
enum ompgpu_image_kind {
    OMPGPU_IMAGE_PTX = 1,
    OMPGPU_IMAGE_CUBIN = 2,
    OMPGPU_IMAGE_EMU = 3 /* x86-64 ELF shared object */,
    OMPGPU_IMAGE_BITCODE_GPU = 4,
    OMPGPU_IMAGE_BITCODE_EMU = 5 /* for a device link, not to be loaded */
};
struct ompgpu_image_header {
    uint64_t magic;
    uint32_t version, header_size;
    uint64_t total_size;
    uint32_t nimages, nkernels;
    /* offsets of struct ompgpu_image_entry[] / struct ompgpu_kernel_entry[] */
    uint64_t images, kernels;
    uint64_t aliases; /* LINKED: offset of struct ompgpu_alias[] */
    uint32_t naliases;
    uint32_t flags; /* OMPGPU_CONTAINER_* */
    /* strings: how it was compiled ("level=2 …", for the driver), the source; 0: none */
    uint32_t options, file;
    /* bytes from this header to that of the linked container; 0: none */
    int64_t link;
    uint32_t member, reserved; /* with link: this file's number there */
    uint64_t content_sum;      /* of all that follows the header */
    uint64_t header_sum; /* of what is above; link and member are written later, and it again */
};
enum {
    OMPGPU_CONTAINER_NEEDS_LINK = 1,
    OMPGPU_CONTAINER_LINKED = 2,
    OMPGPU_CONTAINER_CHECKED = 4 /* compiled with -fompgpu-check */
};
/* A sum that differs whenever one word differs, as each step is one-to-one both in the word and in
 * the sum so far; other damage passes once in 2^64.  Eight bytes at a time, because each start of a
 * program sums its images up; and no library, which neither the runtime nor the driver needs for
 * anything else.  It protects from accidents, not from an attacker. */
static inline uint64_t ompgpu_image_sum(const void *bytes, size_t size)
{
    uint64_t sum = 0x4F4D50475055ull + size, word;
    const char *p = (const char *)bytes;
    for (; size; p += sizeof word) {
        size_t n = size < sizeof word ? size : sizeof word;
        word = 0;
        __builtin_memcpy(&word, p, n);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
        size -= n;
    }
    return sum;
}
static inline uint64_t ompgpu_image_header_sum(const struct ompgpu_image_header *h)
{
    return ompgpu_image_sum(h, offsetof(struct ompgpu_image_header, header_sum));
}
/* total_size, which is not smaller than the header, is right. */
static inline uint64_t ompgpu_image_content_sum(const struct ompgpu_image_header *h)
{
    return ompgpu_image_sum(h + 1, (size_t)(h->total_size - sizeof *h));
}
static inline void ompgpu_image_seal(struct ompgpu_image_header *h)
{
    if (h->total_size >= sizeof *h)
        h->content_sum = ompgpu_image_content_sum(h);
    h->header_sum = ompgpu_image_header_sum(h);
}
struct ompgpu_image_entry {
    /* arch: 75, 90 …; 0 for emu.  PTX is NUL-terminated (the NUL counts in size) */
    uint32_t kind, arch;
    uint64_t offset, size;
    /* size when uncompressed; equal to size: not compressed; otherwise zstd */
    uint64_t usize;
};
/* The four smallest bytes of a frame stand for 128 KiB at most.  Asked before room is allocated. */
static inline int ompgpu_image_size_possible(const struct ompgpu_image_entry *e)
{
    return e->usize >= e->size && e->usize / (128 * 1024 / 4) <= e->size;
}
struct ompgpu_kernel_entry {
    uint32_t name, function, file, directive; /* offsets of NUL-terminated strings */
    uint32_t line, column;
    uint32_t mode;        /* OMPGPU_MODE_* */
    uint32_t max_threads; /* 0 unknown */
    uint32_t reduce_bytes;
    uint32_t flags;                   /* OMPGPU_KERNEL_* */
    uint32_t registers, shared_bytes; /* of the first cubin, as ptxas says; 0 unknown */
    /* bytes of each team heap for locals, at offsets that the compiler has assigned */
    uint64_t heap_bytes;
    /* … for copies of reduced arrays that sequential code makes, of constant size */
    uint64_t block_bytes;
    /* of each thread, for those that parallel regions make, of constant size */
    uint64_t copy_bytes;
    /* of a thread, of the first cubin, as ptxas says; RECURSIVE: each function once, without a
     * cubin their locals; 0 unknown */
    uint32_t stack_bytes;
    /* locals that the emulated image's functions have in memory, each function once */
    uint32_t frame_bytes;
    uint32_t shape; /* text.  WIDE: struct ompgpu_stream.  TILED: OMPGPU_TILE_FORMAT */
    uint32_t uses;  /* OMPGPU_USES_* */
};
/* A kernel or variable of a member that has another name in the linked image, because two files
 * have one of that name. */
struct ompgpu_alias {
    uint32_t member, name, symbol;
};
enum { OMPGPU_MODE_GENERIC, OMPGPU_MODE_SPMD };
enum {
    OMPGPU_KERNEL_WORKERS = 1, /* generic kernel that can reach a parallel region */
    /* uses a barrier or warp operation: the emulated device needs fibers */
    OMPGPU_KERNEL_SYNC = 2,
    /* allocates further blocks of the team heap, of sizes not known here */
    OMPGPU_KERNEL_HEAP = 4,
    /* recursion or calls through pointers: what stack it needs is not known */
    OMPGPU_KERNEL_RECURSIVE = 8,
    OMPGPU_KERNEL_MALLOC = 16, /* calls malloc on the device */
    /* copies of reduced arrays in parallel regions, of sizes not known here */
    OMPGPU_KERNEL_COPIES = 32,
    /* the league reduction ends with atomic updates: no scratchpad */
    OMPGPU_KERNEL_ATOMIC = 64,
    OMPGPU_KERNEL_REDUX = 128, /* its record can be combined by redux.sync */
    /* two bits: which form of a covering kernel it is.  The strided one, for launches that do not
     * cover the loop; … */
    OMPGPU_KERNEL_STRIDED = 256,
    /* with several iterations a thread (codegen/ir/passes/wide.c): the kernel's name with
     * OMPGPU_WIDE_SUFFIX; … */
    OMPGPU_KERNEL_WIDE = 512,
    /* with teams that run tiles of a nest (codegen/ir/passes/tiles.c): the kernel's name with
     * OMPGPU_TILED_SUFFIX */
    OMPGPU_KERNEL_TILED = 768,
    /* … or a bit of its own: with several lanes of a warp an iteration (codegen/c/device/lanes.c):
     * the kernel's name with OMPGPU_LANES_SUFFIX and how many */
    OMPGPU_KERNEL_LANES = 1 << 30,
    OMPGPU_KERNEL_FORM = OMPGPU_KERNEL_TILED | OMPGPU_KERNEL_LANES, /* all of them */
    /* launched with max_threads threads, neither more nor fewer: its clauses are constant */
    OMPGPU_KERNEL_EXACT = 1024,
    /* bit 31 is OMPGPU_KERNEL_NUMBERED */
    /* shift: variables in the record (8 bits); arrays (the 11 bits after it) */
    OMPGPU_KERNEL_VARIABLES = 11,
    OMPGPU_KERNEL_MOST_ARRAYS = 2047,
};
/* The body of a covering kernel may ask for the number of its thread, which LLVM cannot tell from
 * that of its iteration: it has one thread an iteration, hence no wide form. */
#define OMPGPU_KERNEL_NUMBERED (1u << 31)
enum {
    OMPGPU_USES_TEAM_ICVS = 1, /* it can call routines that ask for or set them */
    OMPGPU_USES_PRINTS = 2, /* it can print by the CUDA driver, which keeps the text for a while */
    OMPGPU_USES_TEAM_MEMORY = 4, /* it can allocate blocks for a team: devicertl/team_memory.c */
};
/* What such a kernel has, and, in a module of several sets of kernels, variables with more after
 * the name. */
#define OMPGPU_TEAM_MEMORY "__ompgpu_state_memory_size"
/* The variable that an image with such a kernel has (devicertl/omp_api.c). */
#define OMPGPU_TEAM_ICVS "__ompgpu_team_icvs"
#define OMPGPU_WIDE_SUFFIX "__omp_wide"
#define OMPGPU_TILED_SUFFIX "__omp_tiled"
#define OMPGPU_LANES_SUFFIX "__omp_lanes"
enum { OMPGPU_TILE = 256 }; /* iterations, and threads of a team */
enum { OMPGPU_STREAMS = 8 };
/* What iteration i accesses through a pointer that is a kernel's parameter: `bytes` from pointer +
 * offset + i * stride on.  Text of a wide form's `shape`: iterations a thread, then these. */
struct ompgpu_stream {
    unsigned param;   /* from 0 */
    unsigned written; /* or only read */
    unsigned align;   /* pointer + offset is to be a multiple of it */
    long long offset;
    unsigned bytes;
    long long stride;
};
#define OMPGPU_TILE_FORMAT "grid %u" /* log2 of the width; the launch has a grid of tiles */
#define OMPGPU_LANES_FORMAT "%u;"
#define OMPGPU_STREAM_FORMAT "%u %u %u %lld %u %lld;"
/* The name in PTX of what is called `name`: each byte of a letter that is not ASCII is $ and two
 * hexadecimal digits.  size: 3 times the length, and 1; a longer name is cut off. */
static inline void ompgpu_gpu_name(char *to, size_t size, const char *name)
{
    static const char digits[] = "0123456789abcdef";
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        size_t n = c < 0x80 ? 1 : 3;
        if (size <= n)
            break;
        if (n == 1)
            *to = *name;
        else
            to[0] = '$', to[1] = digits[c >> 4], to[2] = digits[c & 15];
        to += n, size -= n;
    }
    *to = 0;
}
#endif
