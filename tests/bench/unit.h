/* unit.h - a unit made by hand, with two kernels that do nothing, so that nothing but libompgpu is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/image.h"
#include "hostrt/ompgpu.h"

enum { MAX_VARS = 16 };
static const char ptx[] = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry bench(.param .align 8 .b8 bench_0[16]) { ret; }\n"
                          ".visible .entry sum(.param .align 8 .b8 sum_0[16]) { ret; }\n";
static struct {
    struct ompgpu_image_header header;
    struct ompgpu_image_entry image;
    struct ompgpu_kernel_entry kernel[2];
    char strings[64], sum[8];
    char ptx[sizeof ptx];
} container;
#define AT(member) ((uint32_t)offsetof(__typeof(container), member))

static struct ompgpu_unit unit = { .abi = OMPGPU_ABI_VERSION, .image = &container, .file = "bench.c" };
static struct ompgpu_region region = { .kernel = "bench", .file = "bench.c", .function = "main", .directive = "target", .line = 1, .unit = &unit };
static struct ompgpu_region sum_region = { .kernel = "sum", .file = "bench.c", .function = "main", .directive = "target", .line = 2, .unit = &unit };
static unsigned char data[MAX_VARS][4096];

static void make_container(void)
{
    container.header = (struct ompgpu_image_header){
        .magic = OMPGPU_IMAGE_MAGIC, .version = OMPGPU_IMAGE_VERSION, .header_size = sizeof container.header,
        .total_size = sizeof container, .nimages = 1, .nkernels = 2, .images = AT(image), .kernels = AT(kernel) };
    container.image = (struct ompgpu_image_entry){
        .kind = OMPGPU_IMAGE_PTX, .arch = 75, .offset = AT(ptx), .size = sizeof ptx, .usize = sizeof ptx };
    container.kernel[0] = (struct ompgpu_kernel_entry){
        .name = AT(strings), .function = AT(strings), .file = AT(strings), .directive = AT(strings), .line = 1, .mode = 1 };
    container.kernel[1] = container.kernel[0];
    container.kernel[1].name = AT(sum);
    container.kernel[1].reduce_bytes = 16;
    strcpy(container.strings, "bench");
    strcpy(container.sum, "sum");
    memcpy(container.ptx, ptx, sizeof ptx);
    ompgpu_image_seal(&container.header);
}

/* The thread's own time: what else the machine does is not measured. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
