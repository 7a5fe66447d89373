/* rt_whole.c - the whole library as a program uses it: a unit with an image for the emulated device, registered by a constructor, and
 * the end of the program: exit handlers and destructors that still run regions, faults, units that leave early.
 *
 * The file is three things: with -DIMAGE the device image, without arguments the test, with arguments one program of the test. */
#ifdef IMAGE
#include "hostrt/plugin.h"
struct ompgpu_emu_ops *__ompgpu_emu_ops;
long __ompgpu_emu_self_at;
int counter[2] = { 40, 50 };
void add(void **), fault(void **), ask(void **);
void add(void **p)                                  /* x, n */
{
    int *x = *(int **)p[1];
    for (int i = 0; i < *(int *)p[2]; i++)
        x[i]++;
    counter[0]++;
}
void fault(void **p)
{
    **(int **)p[1] = 77;
    **(volatile int **)p[2] = 1;                    /* a null pointer */
}
void ask(void **p)
{
    struct ompgpu_env *env = p[0];
    (*(int **)p[1])[0] = env->scratch ? 1 : 2, (*(int **)p[1])[1] = (int)env->device_num, (*(int **)p[1])[2] = (int)env->thread_limit;
}
#else
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hostrt/image.h"
#include "hostrt/ompgpu.h"

int omp_get_num_devices(void);

/* ------------------------------------------------------------------ one unit */
static const char *const kernels[] = { "add", "fault", "ask" };
enum { KERNELS = sizeof kernels / sizeof *kernels };
struct container { struct ompgpu_image_header header; struct ompgpu_image_entry image; struct ompgpu_kernel_entry kernels[KERNELS]; char text[64]; char bytes[]; };
static int counter[2] = { 40, 50 };
static const struct ompgpu_var vars[] = { { "counter", counter, sizeof counter, 0 } };
static struct ompgpu_unit unit = { .abi = OMPGPU_ABI_VERSION, .file = "whole.c", .vars = vars, .nvars = 1 };
static struct ompgpu_region add = { "add", "whole.c", "main", "target", 10, 1, &unit, 0, 0, NULL }, fault = { "fault", "whole.c", "main", "target", 20, 1, &unit, 0, 0, NULL },
                            ask = { "ask", "whole.c", "main", "target", 30, 1, &unit, 0, 0, NULL };

static struct container *make_container(const char *path)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f), at = 1;
    rewind(f);
    struct container *c = calloc(1, sizeof *c + size);
    if (fread(c->bytes, 1, size, f) != size)
        exit(90);
    fclose(f);
    c->header = (struct ompgpu_image_header){
        .magic = OMPGPU_IMAGE_MAGIC, .version = OMPGPU_IMAGE_VERSION, .header_size = sizeof c->header, .total_size = sizeof *c + size,
        .nimages = 1, .nkernels = KERNELS, .images = offsetof(struct container, image), .kernels = offsetof(struct container, kernels) };
    c->image = (struct ompgpu_image_entry){ OMPGPU_IMAGE_EMU, 0, sizeof *c, size, size };
    for (unsigned i = 0; i < KERNELS; i++) {
        c->kernels[i].name = (uint32_t)(offsetof(struct container, text) + at);
        c->kernels[i].function = c->kernels[i].file = c->kernels[i].directive = (uint32_t)offsetof(struct container, text);
        c->kernels[i].mode = 1, c->kernels[i].line = 10 * (i + 1);
        c->kernels[i].reduce_bytes = i == 2 ? 16 : 0;
        at += strlen(strcpy(c->text + at, kernels[i])) + 1;
    }
    ompgpu_image_seal(&c->header);
    return c;
}

static struct container *container;
__attribute__((constructor)) static void come(void)
{
    const char *path = getenv("RT_WHOLE_IMAGE");
    if (path) {
        unit.image = container = make_container(path);
        __ompgpu_register(&unit);
    }
}
__attribute__((destructor)) static void go(void)
{
    if (container)
        __ompgpu_unregister(&unit);                 /* the container stays, as one in an object file does */
}

/* ------------------------------------------------------------------ programs */
static int x[3] = { 1, 2, 3 };
static const struct ompgpu_map map_x[] = { { x, x, sizeof x, 0, OMPGPU_MAP_TOFROM, 0, "x" } };
static const struct ompgpu_place place = { "whole.c", 5, "target data", OMPGPU_TARGET_DATA };
static const struct ompgpu_launch plain = { .device = OMPGPU_DEVICE_DEFAULT };

static int run_add(void)
{
    static const int n = 3;
    const struct ompgpu_param params[] = { { 0, 8, 0 }, { &n, 4, OMPGPU_PARAM_LITERAL } };
    return __ompgpu_target(&add, map_x, 1, params, 2, &plain);
}
static void print_x(const char *when)
{
    printf("%s: %d %d %d, counter %d\n", when, x[0], x[1], x[2], counter[0]);
    fflush(stdout);
}
static void update_counter(void)
{
    const struct ompgpu_map m[] = { { counter, counter, sizeof counter, 0, OMPGPU_MAP_FROM, 0, "counter" } };
    __ompgpu_data_update(&place, OMPGPU_DEVICE_DEFAULT, m, 1);
}
static void handler(void)
{
    int on_host = run_add();
    update_counter();
    print_x(on_host ? "handler on host" : "handler");
}
static void bad_handler(void)
{
    int *null = NULL;
    const struct ompgpu_param params[] = { { 0, 8, 0 }, { &null, 8, OMPGPU_PARAM_LITERAL } };
    __ompgpu_target(&fault, map_x, 1, params, 2, &plain);
}
static int as_destructor;
__attribute__((destructor)) static void destructor(void)
{
    if (as_destructor)
        handler();
}

static void *busy(void *arg)                        /* until the process ends under it */
{
    for (;;)
        run_add();
    return arg;
}

static int program(const char *name)
{
    pthread_t thread;
    if (strcmp(name, "plain") == 0) {
        int a[3] = { 0 };
        const struct ompgpu_map m[] = { { a, a, sizeof a, 0, OMPGPU_MAP_FROM, 0, "a" } };
        const struct ompgpu_param params[] = { { 0, 8, 0 } };
        const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 4, .thread_limit = 64, .flags = OMPGPU_LAUNCH_TEAMS | OMPGPU_LAUNCH_PARALLEL | OMPGPU_LAUNCH_SPMD };
        run_add(), update_counter(), print_x("main");
        __ompgpu_target(&ask, m, 1, params, 1, &l);
        printf("scratch %d, device %d, threads %d\n", a[0], a[1], a[2]);
    } else if (strcmp(name, "handler") == 0) {
        atexit(handler);
        __ompgpu_data_begin(&place, OMPGPU_DEVICE_DEFAULT, map_x, 1);       /* never ended */
        run_add(), print_x("main");
    } else if (strcmp(name, "destructor") == 0) {
        as_destructor = 1;
        run_add();
    } else if (strcmp(name, "fault") == 0) {
        int *null = NULL;
        const struct ompgpu_param params[] = { { 0, 8, 0 }, { &null, 8, OMPGPU_PARAM_LITERAL } };
        atexit(handler);
        print_x("before");
        __ompgpu_target(&fault, map_x, 1, params, 2, &plain);
    } else if (strcmp(name, "busy") == 0 || strcmp(name, "busy fault") == 0) {
        int *null = NULL;
        const struct ompgpu_param params[] = { { 0, 8, 0 }, { &null, 8, OMPGPU_PARAM_LITERAL } };
        for (int i = 0; i < 3; i++)
            pthread_create(&thread, NULL, busy, NULL);
        usleep(20000);
        if (name[4])
            __ompgpu_target(&fault, map_x, 1, params, 2, &plain);
        return 5;
    } else if (strcmp(name, "fault in handler") == 0) {
        atexit(bad_handler);
    } else if (strcmp(name, "leave") == 0) {
        for (int i = 0; i < 3; i++) {
            run_add(), update_counter(), print_x("registered");
            __ompgpu_unregister(&unit), __ompgpu_register(&unit);
        }
    } else if (strcmp(name, "unregistered") == 0) {
        __ompgpu_unregister(&unit);
        run_add();
    } else if (strcmp(name, "damaged") == 0) {
        memset(container->bytes + 16, 0xff, 200);
        run_add();
    } else if (strcmp(name, "no kernel") == 0) {
        add.kernel = "other";
        run_add();
    } else if (strcmp(name, "unused") != 0)
        return 99;
    return 0;
}

/* ------------------------------------------------------------------ the test */
static const struct expect { const char *program; int status; const char *says; } expects[] = {
    { "plain", 0, "main: 2 3 4, counter 41\nscratch 1, device 0, threads 64\n" },
    { "unused", 0, "" },
    { "handler", 0, "main: 1 2 3, counter 40\nhandler: 1 2 3, counter 42\n" },
    { "destructor", 0, "handler: 3 4 5, counter 42\n" },
    { "fault", 1, "before: 1 2 3, counter 40\nompgpu: whole.c:20: error: region fault: *handler: 2 3 4, counter 41\n" },
    { "busy", 5, "" },
    { "busy fault", 1, "ompgpu: whole.c:20: error: region fault: *\n" },
    { "fault in handler", 1, "ompgpu: whole.c:20: error: region fault: *\n" },
    { "leave", 0, "registered: 2 3 4, counter 41\nregistered: 3 4 5, counter 41\nregistered: 4 5 6, counter 41\n" },
    { "unregistered", 1, "ompgpu: whole.c:10: error: region add: its file whole.c is not registered with the runtime\n" },
    { "damaged", 1, "ompgpu: whole.c:10: error: region add: * (image of whole.c)\n" },
    { "no kernel", 1, "ompgpu: whole.c:10: error: region other: the image of whole.c has no kernel of this name\n" },
};

/* `*` once stands for anything. */
static int matches(const char *text, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(text, pattern) == 0;
    size_t head = (size_t)(star - pattern), tail = strlen(star + 1), all = strlen(text);
    return all >= head + tail && strncmp(text, pattern, head) == 0 && strcmp(text + all - tail, star + 1) == 0;
}

static int run(const char *self, const struct expect *e, int number)
{
    char says[4000];
    FILE *f = tmpfile();
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        dup2(fileno(f), 1), dup2(fileno(f), 2);
        execl(self, self, e->program, NULL);
        _exit(98);
    }
    waitpid(pid, &status, 0);
    rewind(f);
    says[fread(says, 1, sizeof says - 1, f)] = 0;
    fclose(f);
    int good = WIFEXITED(status) && WEXITSTATUS(status) == e->status && matches(says, e->says);
    printf("%sok %d - %s\n", good ? "" : "not ", number, e->program);
    if (!good)
        printf("# status %x\n# %s\n", (unsigned)status, says);
    fflush(stdout);
    return !good;
}

int main(int argc, char **argv)
{
    char command[1000], directory[] = "/tmp/rt_whole.XXXXXX", path[64];
    const char *cc = getenv("CLANG");
    int bad = 0, number = 0;
    if (argc > 1)
        return program(argv[1]);
    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof path, "%s/image.so", directory);
    snprintf(command, sizeof command, "%s -std=gnu11 -shared -fPIC -O1 -DIMAGE -I. -o %s %s", cc ? cc : "clang-22", path, __FILE__);
    if (system(command)) {
        printf("Bail out! cannot compile the image\n");
        return 1;
    }
    setenv("RT_WHOLE_IMAGE", path, 1);
    setenv("OMPGPU_DEVICE", "emu", 1);
    for (size_t i = 0; i < sizeof expects / sizeof *expects; i++)
        bad |= run(argv[0], &expects[i], ++number);
    unlink(path), rmdir(directory);
    printf("1..%d\n", number);
    return bad;
}
#endif
