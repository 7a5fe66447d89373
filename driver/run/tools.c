/* tools.c - where the other programs are, and which devices to compile for. */
#include "driver/run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ this tree */
/* …/bin/ompgpu-cc -> …/lib: the tree may be moved, and the command may be called through a link. */
const char *drv_command(void)
{
    static char self[PATH_MAX];
    ssize_t n = *self ? 0 : readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        diag_fatal(EXIT_COMPILE, "cannot read /proc/self/exe: %s", strerror(errno));
    return self;
}

const char *drv_lib_dir(void)
{
    static const char *lib;
    if (lib)
        return lib;
    const char *root = path_dir(path_dir(drv_command()));
    return lib = mem_printf("%s/lib", strcmp(root, "/") == 0 ? "" : root);
}

const char *drv_tool(const char *name)
{
    const char *path = mem_printf("%s/ompgpu/%s", drv_lib_dir(), name);
    if (!file_exists(path))
        diag_fatal(EXIT_COMPILE, "'%s' is missing: the installation is not complete (make all)",
                   path);
    return path;
}

/* ------------------------------------------------------------------ programs in PATH */
static const char *in_path(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        const char *file = mem_printf("%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
        if (access(file, X_OK) == 0)
            return file;
        p += n + (p[n] == ':');
    }
    return NULL;
}

const char *drv_find_clang(void)
{
    static const char *found;
    const char *wish = getenv("OMPGPU_CLANG");
    if (found)
        return found;
    if (wish && *wish)
        return found = in_path(wish);
    found = in_path("clang-" OMPGPU_LLVM);
    return found ? found : (found = in_path("/usr/lib/llvm-" OMPGPU_LLVM "/bin/clang"));
}

const char *drv_clang(void)
{
    const char *found = drv_find_clang(), *wish = getenv("OMPGPU_CLANG");
    if (found)
        return found;
    if (wish && *wish)
        diag_fatal(EXIT_COMPILE, "OMPGPU_CLANG names '%s', which is not a program", wish);
    diag_fatal(EXIT_COMPILE, "clang-" OMPGPU_LLVM
                             " not found; install it (Debian: apt-get install clang-" OMPGPU_LLVM
                             " libomp-" OMPGPU_LLVM "-dev) or name it with OMPGPU_CLANG");
}

void drv_check_clang(void)
{
    const char *wish = getenv("OMPGPU_CLANG");
    if (!wish || !*wish)
        return;
    const char *out = drv_answer_file("clang-version");
    struct proc p = { .out = out, .err = "/dev/null", .doing = "asking for its version" };
    WORDS_ADD(&p.argv, drv_clang(), "-dumpversion");
    char *text = drv_proc_run(&p) == 0 ? file_read(out, NULL) : NULL;
    if (text && *text && strtoul(text, NULL, 10) != strtoul(OMPGPU_LLVM, NULL, 10))
        diag_fatal(EXIT_COMPILE,
                   "OMPGPU_CLANG names '%s', which has version %.*s; this ompgpu-cc needs "
                   "clang " OMPGPU_LLVM,
                   wish, (int)strcspn(text, "\n"), text);
}

const char *drv_host_cc(const struct options *o)
{
    if (!o->host_cc || strcmp(o->host_cc, "clang") == 0)
        return drv_clang();
    const char *cc = in_path(o->host_cc);
    if (!cc)
        diag_fatal(EXIT_COMPILE, "host compiler '%s' not found", o->host_cc);
    return cc;
}

const char *drv_host_file(const struct options *o, const char *name)
{
    const char *out = drv_answer_file("host-file");
    struct proc p = { .out = out, .doing = "asking for a file's name" };
    WORDS_ADD(&p.argv, drv_host_cc(o), mem_printf("-print-file-name=%s", name));
    char *text = drv_proc_run(&p) == 0 ? file_read(out, NULL) : NULL;
    return text && *text == '/' ? text_line(&text) : NULL;
}

/* ------------------------------------------------------------------ CUDA */
static bool is_cuda(const char *dir)
{
    return dir && *dir &&
           (file_exists(mem_printf("%s/nvvm/libdevice/libdevice.10.bc", dir)) ||
            file_exists(mem_printf("%s/bin/ptxas", dir)) ||
            file_exists(mem_printf("%s/libdevice/libdevice.10.bc", dir)));
}

/* The toolkit that the ptxas in PATH belongs to; distributions link it from elsewhere. */
static const char *cuda_of_path(void)
{
    const char *ptxas = in_path("ptxas");
    char *real = ptxas ? realpath(ptxas, NULL) : NULL;
    const char *dir = real ? path_dir(path_dir(mem_strndup(real, strlen(real)))) : NULL;
    free(real);
    return dir;
}

static const char *cuda_dir(const struct options *o)
{
    static const char *dir;
    static bool looked;
    if (looked)
        return dir;
    looked = true;
    if (o->cuda_path) {
        if (!is_cuda(o->cuda_path))
            diag_fatal(EXIT_COMPILE,
                       "'%s' holds no CUDA toolkit (no bin/ptxas and no nvvm/libdevice)",
                       o->cuda_path);
        return dir = o->cuda_path;
    }
    const char *const places[] = { getenv("CUDA_PATH"),
                                   getenv("CUDA_HOME"),
                                   cuda_of_path(),
                                   "/usr/local/cuda",
                                   "/usr/lib/nvidia-cuda-toolkit",
                                   "/usr/lib/cuda" };
    for (unsigned i = 0; !dir && i < sizeof places / sizeof *places; i++)
        if (is_cuda(places[i]))
            dir = places[i];
    return dir;
}

static const char *in_cuda(const struct options *o, const char *const names[], unsigned n)
{
    const char *dir = cuda_dir(o);
    for (unsigned i = 0; dir && i < n; i++) {
        const char *path = mem_printf("%s/%s", dir, names[i]);
        if (file_exists(path))
            return path;
    }
    return NULL;
}

const char *drv_ptxas(const struct options *o)
{
    static const char *const names[] = { "bin/ptxas" };
    const char *path = in_cuda(o, names, 1);
    return path || o->cuda_path ? path : in_path("ptxas");
}

const char *drv_libdevice(const struct options *o)
{
    static const char *const names[] = { "nvvm/libdevice/libdevice.10.bc",
                                         "libdevice/libdevice.10.bc" };
    const char *path = in_cuda(o, names, 2);
    if (path || o->cuda_path)
        return path;
    static const char *const others[] = { "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc",
                                          "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc",
                                          "/usr/lib/cuda/nvvm/libdevice/libdevice.10.bc" };
    for (unsigned i = 0; i < 3; i++)
        if (file_exists(others[i]))
            return others[i];
    return NULL;
}

const char *drv_cuda_version(const struct options *o)
{
    const char *ptxas = drv_ptxas(o);
    if (!ptxas)
        return NULL;
    const char *out = drv_answer_file("ptxas-version");
    struct proc p = { .out = out, .err = "/dev/null", .doing = "asking for its version" };
    words_add(&p.argv, ptxas);
    words_add(&p.argv, "--version");
    if (drv_proc_run(&p) != 0)
        return NULL;
    const char *text = file_read(out, NULL), *release = text ? strstr(text, "release ") : NULL;
    return release ? mem_strndup(release + 8, strspn(release + 8, "0123456789.")) : NULL;
}
