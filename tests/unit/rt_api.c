/* rt_api.c - the OpenMP routines about devices, and which device a construct uses.  The program runs itself again for each setting of the
 * environment, as settings are read once. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>
#include <sys/wait.h>
#include "tests/unit/rt_fake.h"
const struct fake_variable fake_variables[] = { { 0 } };
static int runs;
static void kernel(void **p) { (void)p, runs++; }
const struct fake_kernel fake_kernels[] = { { "k", kernel, 1, 0, 0 }, { 0 } };
static struct ompgpu_region region = FAKE_REGION("k", 5);

int omp_get_num_devices(void), omp_get_default_device(void), omp_get_initial_device(void), omp_is_initial_device(void), omp_get_device_num(void), omp_pause_resource(int, int), omp_pause_resource_all(int);
void omp_set_default_device(int), *omp_target_alloc(size_t, int), omp_target_free(void *, int), *omp_get_mapped_ptr(const void *, int);
int omp_target_is_present(const void *, int), omp_target_is_accessible(const void *, size_t, int);
int omp_target_memcpy(void *, const void *, size_t, size_t, size_t, int, int);
int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int, void **);
int omp_target_memcpy_rect(void *, const void *, size_t, int, const size_t *, const size_t *, const size_t *, const size_t *, const size_t *, int, int);
void *omp_target_memset(void *, int, size_t, int);
int omp_target_associate_ptr(const void *, const void *, size_t, size_t, int), omp_target_disassociate_ptr(const void *, int);

static int target(long device)
{
    struct ompgpu_launch l = { .device = device };
    return __ompgpu_target(&region, NULL, 0, NULL, 0, &l);
}

/* ------------------------------------------------------------------ routines */
static void numbers(void)
{
    OK(omp_get_num_devices() == 2 && omp_get_initial_device() == 2 && omp_get_device_num() == 2 && omp_is_initial_device() == 1, "numbers");
    OK(omp_get_default_device() == 0, "the default device is 0");
    omp_set_default_device(1);
    OK(omp_get_default_device() == 1, "… and can be set");
    omp_set_default_device(0);
    OK(target(OMPGPU_DEVICE_DEFAULT) == 0 && target(0) == 0 && target(1) == 0 && runs == 3, "regions on devices");
    OK(target(2) == 1 && target(-1) == 1 && runs == 3, "device(omp_get_initial_device()) and device(omp_initial_device): the host");
    OK(target(3) == 1 && target(-7) == 1 && runs == 3, "device(3) and device(-7), which do not exist: the host");
    OK(FATAL(target(-2)) && strcmp(fatal_text, "ompgpu: app.c:5: error: region k: the device is omp_invalid_device\n") == 0, "omp_invalid_device is an error");
    omp_set_default_device(2);
    OK(target(OMPGPU_DEVICE_DEFAULT) == 1, "the host as default device");
    omp_set_default_device(0);
}

static void memory(void)
{
    int host[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
    int *d = omp_target_alloc(sizeof host, 0), *e = omp_target_alloc(sizeof host, 1), *h = omp_target_alloc(sizeof host, 2);
    OK(d && e && h, "omp_target_alloc");
    OK(!omp_target_alloc(8, 3) && !omp_target_alloc(0, 0) && !omp_target_alloc(1ul << 50, 0) && !omp_target_alloc(8, -6), "… of what cannot be");
    OK(!omp_target_memcpy(d, host, sizeof host, 0, 0, 0, 2) && !omp_target_memcpy(e, d, sizeof host, 0, 0, 1, 0)
       && !omp_target_memcpy(h, e, sizeof host, 0, 0, 2, 1) && !omp_target_memcpy(back, h, 8, 4, 8, -1, 2) && back[1] == 3 && back[2] == 4 && !back[3],
       "omp_target_memcpy: host, device, other device, host");
    OK(omp_target_memcpy(d, host, 4, 0, 0, 9, 2) == EINVAL && omp_target_memcpy(NULL, host, 4, 0, 0, 0, 2) == EINVAL
       && omp_target_memcpy(d, NULL, 4, 0, 0, 0, 2) == EINVAL, "… bad arguments");
    OK(!omp_target_memcpy(d, d, 4, 8, 0, 0, 0) && d[2] == 1, "… within a device");
    OK(!omp_target_memcpy_async(back, d, 4, 0, 8, 2, 0, 0, NULL) && back[0] == 1, "omp_target_memcpy_async");
    fake_fail[FAKE_TO] = 1;
    OK(omp_target_memcpy(d, host, 4, 0, 0, 0, 2) != 0, "… a copy that fails");
    OK(omp_target_is_accessible(d, 16, 0) && !omp_target_is_accessible(d, 17, 0) && !omp_target_is_accessible(d, 4, 1)
       && !omp_target_is_accessible(host, 4, 0) && omp_target_is_accessible(host, 4, 2) && !omp_target_is_accessible(NULL, 0, 0)
       && !omp_target_is_accessible(d, 0, 0) && !omp_target_is_accessible(host, 0, 2), "omp_target_is_accessible");
    omp_target_free(d, 0), omp_target_free(e, 1), omp_target_free(h, 2), omp_target_free(NULL, 0);
    OK(fake_live == 0, "omp_target_free");

    char *big = omp_target_alloc(100001, 0);
    bool good = omp_target_memset(big, 0x5a, 100000, 0) == big && big[100000] == (char)0xa5;
    for (int i = 0; i < 100000; i++)
        good &= big[i] == 0x5a;
    OK(good && omp_target_memset(back, 1, 4, 2) == back && back[0] == 0x01010101, "omp_target_memset");
    omp_target_free(big, 0);
    char *across = omp_target_alloc(3 << 20, 0), *there = omp_target_alloc(3 << 20, 1);
    for (int i = 0; i < 3 << 20; i++)
        across[i] = (char)(i * 7 + i / 1000);
    OK(!omp_target_memcpy(there, across, (3 << 20) - 5, 5, 0, 1, 0) && !memcmp(there + 5, across, (3 << 20) - 5), "a long copy between devices");
    omp_target_free(across, 0), omp_target_free(there, 1);
}

static void rectangles(void)
{
    int host[4][5][6], *d = omp_target_alloc(sizeof(int[3][4][5]), 0);
    for (int i = 0; i < 4 * 5 * 6; i++)
        ((int *)host)[i] = i;
    size_t volume[] = { 2, 3, 4 }, to[] = { 1, 0, 1 }, from[] = { 2, 1, 0 }, to_dims[] = { 3, 4, 5 }, from_dims[] = { 4, 5, 6 };
    omp_target_memset(d, 0, sizeof(int[3][4][5]), 0);
    OK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0) == INT_MAX, "omp_target_memcpy_rect: dimensions");
    bool good = !omp_target_memcpy_rect(d, host, sizeof(int), 3, volume, to, from, to_dims, from_dims, 0, 2);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 5; k++) {
                bool in = i >= 1 && j < 3 && k >= 1;
                good &= d[(i * 4 + j) * 5 + k] == (in ? host[i + 1][j + 1][k - 1] : 0);
            }
    OK(good, "… a box out of a box into a box");
    OK(omp_target_memcpy_rect(d, host, 0, 3, volume, to, from, to_dims, from_dims, 0, 2) == EINVAL
       && omp_target_memcpy_rect(d, host, 4, 0, volume, to, from, to_dims, from_dims, 0, 2) == EINVAL
       && omp_target_memcpy_rect(d, host, 4, 3, NULL, to, from, to_dims, from_dims, 0, 2) == EINVAL, "… bad arguments");
    omp_target_free(d, 0);
}

static void associations(void)
{
    int x[4] = { 1, 2, 3, 4 }, y = 0;
    int *d = omp_target_alloc(64, 0);
    const struct ompgpu_map maps[] = { MAP(x, OMPGPU_MAP_TOFROM) };
    OK(!omp_target_is_present(x, 0) && omp_target_is_present(x, 2) && !omp_target_is_present(NULL, 2) && !omp_target_is_present(x, 7), "omp_target_is_present");
    OK(!omp_target_associate_ptr(x, d, sizeof x, 16, 0) && omp_get_mapped_ptr(&x[1], 0) == d + 5, "omp_target_associate_ptr");
    OK(!omp_target_associate_ptr(x, d, sizeof x, 16, 0) && omp_target_associate_ptr(x, d, sizeof x, 0, 0) && omp_target_associate_ptr(x, d, 4, 16, 0)
       && omp_target_associate_ptr(x, d, 4, 0, 2) && omp_target_associate_ptr(NULL, d, 4, 0, 0), "… the same again, other things again");
    d[4] = 99;
    BEGIN(maps), END(maps);
    OK(x[0] == 1 && omp_target_is_present(x, 0) && !omp_target_is_present(x, 1), "an association counts as mapped for good");
    OK(!omp_pause_resource(1, 0) && !omp_pause_resource(1, 2) && omp_pause_resource(1, 9) && !omp_pause_resource_all(1),
       "omp_pause_resource: no such device");
    OK(omp_get_mapped_ptr(x, 2) == x && !omp_get_mapped_ptr(&y, 0) && !omp_get_mapped_ptr(x, 8), "omp_get_mapped_ptr");
    OK(omp_target_disassociate_ptr(&x[1], 0) == EINVAL && !omp_target_disassociate_ptr(x, 0) && omp_target_disassociate_ptr(x, 0) == EINVAL
       && !omp_target_is_present(x, 0), "omp_target_disassociate_ptr");
    BEGIN(maps);
    OK(omp_target_associate_ptr(x, d, sizeof x, 0, 0) == EINVAL && omp_target_disassociate_ptr(x, 0) == EINVAL, "not of what a construct has mapped");
    END(maps);
    omp_target_free(d, 0);
    OK(fake_live == 0, "nothing stays");
}

/* ------------------------------------------------------------------ settings, each in a process of its own */
static const struct setting { const char *environment[4], *what; int status; const char *says; } settings[] = {
    { { "OMP_TARGET_OFFLOAD=disabled" }, "host silent", 0, "" },
    { { "OMP_TARGET_OFFLOAD=DISABLED", "OMP_DEFAULT_DEVICE=7" }, "host silent", 0, "" },
    { { "OMPGPU_DEVICE=cuda" }, "host", 0, "ompgpu: app.c:5: warning: region k: runs on the host: no CUDA device\n" },
    { { "OMPGPU_DEVICE=cuda", "OMP_TARGET_OFFLOAD=MANDATORY" }, "host", 1,
      "ompgpu: app.c:30: error: target data: OMP_TARGET_OFFLOAD=MANDATORY, but no CUDA device\n" },
    { { "OMPGPU_DEVICE=" }, "device", 0, "ompgpu: warning: regions run on the emulated device: no CUDA device (OMPGPU_DEVICE=emu asks for it)\n" },
    { { "OMPGPU_DEVICE=", "OMP_TARGET_OFFLOAD=MANDATORY" }, "host", 1,
      "ompgpu: app.c:30: error: target data: OMP_TARGET_OFFLOAD=MANDATORY, but no CUDA device; the emulated device must be asked for: OMPGPU_DEVICE=emu\n" },
    { { "OMPGPU_DEVICE=" }, "mandatory", 1,
      "ompgpu: app.c:30: error: target data: -fopenmp-offload-mandatory, but no CUDA device; the emulated device must be asked for: OMPGPU_DEVICE=emu\n" },
    { { "OMPGPU_DEVICE=emu" }, "device mandatory", 0, "" },
    { { "OMP_TARGET_OFFLOAD=DISABLED" }, "mandatory", 1,
      "ompgpu: app.c:30: error: target data: -fopenmp-offload-mandatory, but OMP_TARGET_OFFLOAD=DISABLED\n" },
    { { "OMPGPU_DEVICE=EMU" }, "device", 0, "" },
    { { "OMP_DEFAULT_DEVICE=1" }, "device 1", 0, "" },
    { { "OMP_DEFAULT_DEVICE=5" }, "range", 0, "ompgpu: app.c:5: warning: region k: runs on the host: device number 5 is out of range: there are 2 devices "
      "(0 … 1), and 2 or -1 is the host\n" },
    { { "OMP_DEFAULT_DEVICE=5", "OMP_TARGET_OFFLOAD=MANDATORY" }, "range", 1, "ompgpu: app.c:30: error: target data: OMP_TARGET_OFFLOAD=MANDATORY, but "
      "device number 5 is out of range: there are 2 devices (0 … 1), and 2 or -1 is the host\n" },
    { { "OMP_DEFAULT_DEVICE=5", "OMP_TARGET_OFFLOAD=DISABLED" }, "host", 0, "" },
    { { NULL }, "invalid", 1, "ompgpu: app.c:5: error: region k: the device is omp_invalid_device\n" },
    { { NULL }, "routine -2", 1, "ompgpu: error: a device routine is called with omp_invalid_device\n" },
    { { NULL }, "routine 7", 0, "" },
    { { "OMP_TARGET_OFFLOAD=MANDATORY" }, "routine 2", 0, "" },
    { { "OMP_TARGET_OFFLOAD=MANDATORY" }, "routine 7", 1, "ompgpu: error: OMP_TARGET_OFFLOAD=MANDATORY, but in a device routine device number 7 is out of "
      "range: there are 2 devices (0 … 1), and 2 or -1 is the host\n" },
    { { "OMPGPU_DEVICE=gpu" }, "device", 0, "ompgpu: warning: OMPGPU_DEVICE=gpu is ignored; valid: cuda, emu, ptx\n"
      "ompgpu: warning: regions run on the emulated device: no CUDA device (OMPGPU_DEVICE=emu asks for it)\n" },
    { { "OMP_DEFAULT_DEVICE=-2" }, "device", 0, "ompgpu: warning: OMP_DEFAULT_DEVICE=-2 is ignored; valid: a device number, 0 or more\n" },
    { { "OMP_TARGET_OFFLOAD=yes" }, "device", 0, "ompgpu: warning: OMP_TARGET_OFFLOAD=yes is ignored; valid: MANDATORY, DISABLED, DEFAULT\n" },
    { { "OMPGPU_INFO=3" }, "device", 0, "ompgpu: warning: OMPGPU_INFO=3 is ignored; valid: 0, 1, 2\n" },
    { { "OMP_NUM_TEAMS=0", "OMP_TEAMS_THREAD_LIMIT=3x" }, "device", 0,
      "ompgpu: warning: OMP_NUM_TEAMS=0 is ignored; valid: a number of teams, 1 or more\n"
      "ompgpu: warning: OMP_TEAMS_THREAD_LIMIT=3x is ignored; valid: a number of threads, 1 or more\n" },
    { { "OMPGPU_INFO= 1 " }, "info", 0, "ompgpu: app.c:30: copy to device: x, 12 bytes\nompgpu: app.c:5: launch k on emu:0: 1 team x 1 thread, SPMD, " },
    { { "OMPGPU_DEVICE=" }, "other kind", 0, "ompgpu: app.c:5: warning: region k: runs on the host: no CUDA device; app.c was compiled without an image for the emu device "
      "(--gpu-arch=emu adds it)\n" },
    { { NULL }, "unsuited", 0, "ompgpu: app.c:5: warning: region k: runs on the host: device 0 (fake 0): app.c has no image for it: fake pick failed\n" },
};

static int child(const char *what)
{
    int x[3] = { 1, 2, 3 };
    const struct ompgpu_map maps[] = { MAP(x, OMPGPU_MAP_TO) };
    if (strcmp(what, "other kind") == 0)
        fake_container.image.kind = OMPGPU_IMAGE_CUBIN;
    if (strcmp(what, "unsuited") == 0)
        fake_fail[FAKE_PICK] = 1;
    bool host = strncmp(what, "device", 6) && strcmp(what, "info");
    ompgpu_fatal_hook = NULL;
    if (strncmp(what, "routine ", 8) == 0)
        return omp_target_is_present(x, atoi(what + 8)) != (atoi(what + 8) == 2);
    if (strcmp(what, "invalid") == 0)
        return target(-2);
    BEGIN(maps);
    bool mapped = is_present(x);
    int on_host = target(OMPGPU_DEVICE_DEFAULT) + 2 * target(OMPGPU_DEVICE_DEFAULT);
    END(maps);
    if (mapped == host || on_host != (host ? 3 : 0) || (strcmp(what, "unsuited") && strcmp(what, "range") && omp_get_num_devices() != (host ? 0 : 2)))
        return 7;
    return strcmp(what, "device 1") == 0 && omp_get_default_device() != 1 ? 8 : 0;
}

static void run_setting(const char *self, const struct setting *s)
{
    char says[1000];
    FILE *f = tmpfile();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(f), 2);
        setenv("OMPGPU_DEVICE", "emu", 1);
        for (int i = 0; s->environment[i]; i++)
            putenv((char *)s->environment[i]);
        execl(self, self, s->what, NULL);
        _exit(99);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    rewind(f);
    says[fread(says, 1, sizeof says - 1, f)] = 0;
    fclose(f);
    bool right = strcmp(s->what, "info") ? strcmp(says, s->says) == 0 : strncmp(says, s->says, strlen(s->says)) == 0;
    if (!OK(WIFEXITED(status) && WEXITSTATUS(status) == s->status && right, "%s %s (%s)", s->environment[0] ? s->environment[0] : "",
            s->environment[0] && s->environment[1] ? s->environment[1] : "", s->what))
        printf("# status %x, said: %s\n", (unsigned)status, says);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strstr(argv[1], "mandatory"))
        fake_unit.flags = OMPGPU_OFFLOAD_IS_MANDATORY;
    fake_register();
    if (argc > 1) {
        int result = child(argv[1]);
        __ompgpu_unregister(&fake_unit);
        return result;
    }
    numbers();
    memory();
    rectangles();
    associations();
    __ompgpu_unregister(&fake_unit);
    for (unsigned i = 0; i < COUNT(settings); i++)
        run_setting(argv[0], &settings[i]);
    return tap_end();
}
