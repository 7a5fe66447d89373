/* doctor.c - --doctor: what this machine has, and whether a program runs on each kind of device.
 *
 * A line for each check.  What is `bad` keeps programs from being compiled or run; what is a `note`
 * is a choice that the user should know of, such as a machine without a GPU.  Nothing here ends the
 * command: the later checks still say what they find. */
#include "driver/run/run.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finding {
    enum health { GOOD, NOTE, BAD } health;
    const char *what, *remedy; /* remedy NULL: nothing to do */
};

/* ------------------------------------------------------------------ running something */
enum { PATIENCE = 60 }; /* seconds: the PTX machine on a slow computer takes two */

/* What it wrote goes to the file `out`; -> exit code, -1: a signal or too long. */
static int run_command(struct words argv, const char *out)
{
    struct proc p = { .argv = argv, .out = out, .err = out, .doing = "looking at this machine" };
    if (access(argv.v[0], X_OK) != 0) {
        file_write(out, "no such program\n", 16);
        return -1;
    }
    drv_proc_start(&p);
    if (!drv_proc_wait_for(&p, PATIENCE))
        drv_proc_kill(&p);
    return p.code;
}

static const char *scratch(const char *name) { return mem_printf("%s/%s", drv_temp_dir(), name); }

static const char *first_line(const char *file)
{
    char *text = file_read(file, NULL), *line = text ? text_line(&text) : NULL;
    return line ? line : "";
}

/* This program, however it was called. */
static const char *command_itself(void)
{
    static char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    return n > 0 ? self : "ompgpu-cc";
}

/* What loads libraries for us; where it is missing, look_at_parts() says so. */
static const char *asker(void) { return mem_printf("%s/ompgpu/omp-machine", drv_lib_dir()); }

/* ------------------------------------------------------------------ the compiler's parts */
static struct finding look_at_clang(const struct options *o)
{
    (void)o;
    const char *clang = drv_find_clang(), *out = scratch("clang-version");
    struct words w = { 0 };
    if (!clang)
        return (struct finding){ BAD, "clang " OMPGPU_LLVM ": not found",
                                 "apt-get install clang-" OMPGPU_LLVM " libomp-" OMPGPU_LLVM
                                 "-dev, or name it with OMPGPU_CLANG" };
    WORDS_ADD(&w, clang, "-dumpversion");
    int code = run_command(w, out);
    const char *version = first_line(out);
    if (code != 0 || strtoul(version, NULL, 10) != strtoul(OMPGPU_LLVM, NULL, 10))
        return (struct finding){ BAD, mem_printf("clang: %s says it is '%s'", clang, version),
                                 "this ompgpu-cc needs clang " OMPGPU_LLVM };
    return (struct finding){ GOOD, mem_printf("clang %s (%s)", version, clang), NULL };
}

static struct finding look_at_parts(const struct options *o)
{
    (void)o;
    static const char *const parts[] = { "ompgpu/omp-split",
                                         "ompgpu/omp-device",
                                         "ompgpu/omp-machine",
                                         "ompgpu/devicertl-nvptx64.bc",
                                         "ompgpu/devicertl-x86_64.bc",
                                         "libompgpu.so",
                                         "libompgpu-ptx.so" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *path = mem_printf("%s/%s", drv_lib_dir(), parts[i]);
        if (!file_exists(path))
            return (struct finding){ BAD, mem_printf("installation: %s is missing", path),
                                     "install again, all files (make install)" };
    }
    return (struct finding){ GOOD, mem_printf("installation (%s)", drv_lib_dir()), NULL };
}

/* The second line says 1 where libomp has all that clang's omp.h declares: a distribution may put
 * an older one beside it.  ompgpu-cc gets along with that, but those routines are missing. */
static const char host_program[] =
    "#define _GNU_SOURCE\n"
    "#include <dlfcn.h>\n"
    "#include <omp.h>\n"
    "#include <stdio.h>\n"
    "int main(void) {\n"
    "    int n = 0; Dl_info i = { 0 };\n"
    "    #pragma omp parallel for reduction(+: n) num_threads(2)\n"
    "    for (int i = 0; i < 100; i++) n += i;\n"
    "    dladdr(dlsym(RTLD_DEFAULT, \"__kmpc_fork_call\"), &i);\n"
    "    printf(\"%d %d %s\\n\", n, dlsym(RTLD_DEFAULT, \"omp_get_devices_all_allocator\") != 0,\n"
    "           i.dli_fname ? i.dli_fname : \"\");\n"
    "    return 0;\n"
    "}\n";

static struct finding look_at_libomp(const struct options *o)
{
    (void)o;
    static const char remedy[] = "apt-get install libomp-" OMPGPU_LLVM "-dev libomp5-" OMPGPU_LLVM;
    const char *source = scratch("host.c"), *program = scratch("host"), *out = scratch("host.out");
    struct words compile = { 0 }, run = { 0 };
    if (!drv_find_clang())
        return (struct finding){ BAD, "libomp: not looked at without clang", NULL };
    file_write(source, host_program, sizeof host_program - 1);
    WORDS_ADD(&compile, drv_find_clang(), "-fopenmp", "-w", source, "-o", program);
    words_add(&run, program);
    if (run_command(compile, out) != 0)
        return (struct finding){ BAD, mem_printf("libomp: no program links: %s", first_line(out)),
                                 remedy };
    if (run_command(run, out) != 0 || !text_starts(first_line(out), "4950 "))
        return (struct finding){ BAD, mem_printf("libomp: a program fails: %s", first_line(out)),
                                 remedy };
    const char *path = strrchr(first_line(out), ' ') + 1;
    char *real = realpath(path, NULL);
    path = real ? mem_strdup(real) : path;
    free(real);
    if (text_starts(first_line(out), "4950 0"))
        return (struct finding){ NOTE, mem_printf("libomp is older than clang's omp.h (%s)", path),
                                 "routines that are new in it are missing; libomp5-" OMPGPU_LLVM
                                 " has them" };
    return (struct finding){ GOOD, mem_printf("libomp (%s)", path), NULL };
}

static struct finding look_at_zstd(const struct options *o)
{
    struct words w = { 0 };
    WORDS_ADD(&w, asker(), "--library", "libzstd.so.1");
    if (run_command(w, scratch("zstd")) == 0)
        return (struct finding){ GOOD, "libzstd.so.1", NULL };
    return (struct finding){ o->uncompressed ? NOTE : BAD,
                             "libzstd.so.1: not found, so programs cannot unpack device images",
                             "apt-get install libzstd1, or compile with --no-offload-compress" };
}

/* ------------------------------------------------------------------ CUDA */
static struct finding look_at_ptxas(const struct options *o)
{
    const char *ptxas = drv_ptxas(o), *version = drv_cuda_version(o);
    if (!ptxas)
        return (
            struct finding){ NOTE, "ptxas: not found; programs carry PTX alone",
                             "the driver compiles it at each program's first start; install the "
                             "CUDA toolkit or name it with --cuda-path=" };
    if (!version)
        return (
            struct finding){ BAD, mem_printf("ptxas: %s does not say its version", ptxas),
                             "install the CUDA toolkit again or name another with --cuda-path=" };
    return (struct finding){ GOOD, mem_printf("ptxas of CUDA %s (%s)", version, ptxas), NULL };
}

static struct finding look_at_libdevice(const struct options *o)
{
    const char *path = drv_libdevice(o);
    if (path)
        return (struct finding){ GOOD, mem_printf("libdevice (%s)", path), NULL };
    return (struct finding){ NOTE,
                             "libdevice: not found; no functions of math.h in regions on GPUs",
                             "install the CUDA toolkit or name it with --cuda-path=" };
}

static const char *gpus; /* what omp-machine says */

static struct finding look_at_driver(const struct options *o)
{
    (void)o;
    struct words w = { 0 };
    const char *out = scratch("gpus");
    WORDS_ADD(&w, asker(), "--gpus");
    int code = run_command(w, out);
    gpus = code == 0 ? file_read(out, NULL) : NULL;
    if (code == 1)
        return (struct finding){ NOTE, "GPU's driver: no libcuda.so.1",
                                 "where there is an NVIDIA GPU, install its driver" };
    if (!gpus)
        return (struct finding){ BAD, "GPU's driver: libcuda.so.1 crashes", "install it again" };
    if (text_starts(gpus, "failed "))
        return (struct finding){ BAD, mem_printf("GPU's driver: %s", first_line(out) + 7),
                                 "see that nvidia-smi works" };
    return (struct finding){ GOOD,
                             text_starts(gpus, "driver ")
                                 ? mem_printf("GPU's driver (%s)", first_line(out) + 7)
                                 : "GPU's driver",
                             NULL };
}

static struct finding look_at_gpus(const struct options *o)
{
    (void)o;
    struct text t = { 0 };
    char *rest = gpus ? mem_strdup(gpus) : NULL;
    for (char *line = rest ? text_line(&rest) : NULL; line; line = text_line(&rest))
        if (text_starts(line, "gpu "))
            text_printf(&t, "%s%s", t.n ? "; " : "", line + 4);
    if (t.n)
        return (struct finding){ GOOD, mem_printf("GPU (%s)", t.s), NULL };
    gpus = NULL;
    return (struct finding){ NOTE, "GPU: none", "programs run on the emulated device, on the CPU" };
}

/* ------------------------------------------------------------------ one kernel on each device */
static const char device_program[] =
    "#include <omp.h>\n"
    "#include <stdio.h>\n"
    "int main(void) {\n"
    "    int sum = 0, host = 1, a[1000];\n"
    "    for (int i = 0; i < 1000; i++) a[i] = i;\n"
    "    #pragma omp target teams distribute parallel for map(to: a) reduction(+: sum)\n"
    "    for (int i = 0; i < 1000; i++) sum += a[i];\n"
    "    #pragma omp target map(from: host)\n"
    "    host = omp_is_initial_device();\n"
    "    printf(\"%d %d\\n\", sum, host);\n"
    "    return 0;\n"
    "}\n";

static bool compile_kernel(const struct options *o, const char *arch, const char *program)
{
    struct words w = { 0 };
    const char *source = scratch("kernel.c");
    file_write(source, device_program, sizeof device_program - 1);
    WORDS_ADD(&w, command_itself(), "-O1", arch, source, "-o", program);
    if (o->cuda_path)
        words_add(&w, mem_printf("--cuda-path=%s", o->cuda_path));
    if (o->host_cc)
        words_add(&w, mem_printf("--host-cc=%s", o->host_cc));
    return run_command(w, scratch("kernel.out")) == 0;
}

static struct finding run_kernel(const struct options *o, const char *device, const char *kind,
                                 const char *arch)
{
    const char *program = scratch("kernel"), *out = scratch("kernel.out");
    struct words w = { 0 };
    words_add(&w, program);
    if (!compile_kernel(o, arch, program))
        return (struct finding){
            BAD, mem_printf("%s: a kernel does not compile: %s", device, first_line(out)),
            "see the lines above"
        };
    setenv("OMPGPU_DEVICE", kind, 1);
    setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
    int code = run_command(w, out);
    if (code != 0 || strcmp(first_line(out), "499500 0") != 0)
        return (struct finding){
            BAD, mem_printf("%s: a kernel fails (%d): %s", device, code, first_line(out)),
            "see the lines above"
        };
    return (struct finding){ GOOD, mem_printf("%s runs a kernel", device), NULL };
}

static struct finding run_emulated(const struct options *o)
{
    return run_kernel(o, "the emulated device", "emu", "--gpu-arch=emu");
}

static struct finding run_machine(const struct options *o)
{
    return run_kernel(o, "the PTX machine", "ptx", "--gpu-arch=sm_75");
}

static struct finding run_gpu(const struct options *o)
{
    if (!gpus)
        return (struct finding){ NOTE, "the GPU: no kernel to run", NULL };
    return run_kernel(o, "the GPU", "cuda", "--gpu-arch=native");
}

/* ------------------------------------------------------------------ all */
static struct finding (*const looks[])(const struct options *) = {
    look_at_parts,  look_at_clang, look_at_libomp, look_at_zstd, look_at_ptxas, look_at_libdevice,
    look_at_driver, look_at_gpus,  run_emulated,   run_machine,  run_gpu,
};

int drv_doctor(const struct options *o)
{
    static const char *const words[] = { [GOOD] = "ok", [NOTE] = "note", [BAD] = "BAD" };
    int code = 0;
    printf("ompgpu-cc version " OMPGPU_VERSION "\n");
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct finding f = looks[i](o);
        printf("%-5s %s%s%s\n", words[f.health], f.what, f.remedy ? ": " : "",
               f.remedy ? f.remedy : "");
        fflush(stdout);
        if (f.health == BAD)
            code = EXIT_COMPILE;
    }
    return code;
}
