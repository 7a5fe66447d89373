/* main.c - omp-machine: what of this machine only a program that loads libraries can tell.
 *
 *   omp-machine --library NAME   exit code 0: a program can load it
 *   omp-machine --native         the GPUs for which to compile, a line each: "sm_90"; exit code 1:
 *                                there is none
 *   omp-machine --gpus           what the driver library says, for --doctor; a line each: "failed
 *                                WHY", "driver VERSION", "gpu NAME"; exit code 1: there is no
 * driver
 *
 * A program of its own: the driver library takes a while to start, and may crash; and ompgpu-cc,
 * which starts for every file that is compiled, needs no dynamic linker without dlopen. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CC_MAJOR = 75, CC_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */

struct cuda {
    int (*init)(unsigned), (*version)(int *), (*count)(int *), (*get)(int *, int);
    int (*attribute)(int *, int, int), (*name)(char *, int, int);
    int (*error)(int, const char **);
};

static bool load_cuda(struct cuda *c)
{
    const struct {
        void *function;
        const char *name;
    } calls[] = {
        { &c->init, "cuInit" },          { &c->count, "cuDeviceGetCount" },
        { &c->get, "cuDeviceGet" },      { &c->attribute, "cuDeviceGetAttribute" },
        { &c->name, "cuDeviceGetName" }, { &c->error, "cuGetErrorString" },
    };
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; cuda && i < sizeof calls / sizeof *calls; i++) {
        *(void **)calls[i].function = dlsym(cuda, calls[i].name);
        if (!*(void **)calls[i].function)
            return false;
    }
    if (cuda)
        *(void **)&c->version = dlsym(cuda, "cuDriverGetVersion"); /* nice to know */
    return cuda != NULL;
}

static bool ask_gpu(const struct cuda *c, int i, int *device, int *sm)
{
    int major, minor;
    if (c->get(device, i) || c->attribute(&major, CC_MAJOR, *device) ||
        c->attribute(&minor, CC_MINOR, *device))
        return false;
    *sm = 10 * major + minor;
    return true;
}

static int print_native(void)
{
    struct cuda c;
    int n = 0, printed = 0, device, sm;
    if (!load_cuda(&c) || c.init(0) || c.count(&n))
        return 1;
    for (int i = 0; i < n; i++)
        if (ask_gpu(&c, i, &device, &sm)) {
            printf("sm_%d\n", sm);
            printed++;
        }
    return printed ? 0 : 1;
}

static int print_gpus(void)
{
    struct cuda c;
    int version = 0, n = 0, device, sm;
    if (!load_cuda(&c))
        return 1;
    int failed = c.init(0);
    if (!failed)
        failed = c.count(&n);
    const char *why = NULL;
    if (failed)
        printf("failed %s\n", c.error(failed, &why) == 0 && why ? why : "cuInit");
    else if (c.version && c.version(&version) == 0)
        printf("driver CUDA %d.%d\n", version / 1000, version % 1000 / 10);
    for (int i = 0; !failed && i < n; i++) {
        char name[128] = "";
        if (ask_gpu(&c, i, &device, &sm) && c.name(name, sizeof name, device) == 0)
            printf("gpu sm_%d, %s\n", sm, name);
    }
    return 0;
}

static int load_library(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL) ? 0 : 1; }

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (argc == 3 && strcmp(what, "--library") == 0)
        return load_library(argv[2]);
    if (argc == 2 && strcmp(what, "--native") == 0)
        return print_native();
    if (argc == 2 && strcmp(what, "--gpus") == 0)
        return print_gpus();
    fputs("usage: omp-machine --library NAME | --native | --gpus\n", stderr);
    return 2;
}
