/* ptx_print.c - what kernels print on the PTX machine: when the host sees it, how much of it, and which formats a GPU knows. */
#include "hostrt/ptx/beyond.h"
#include "ptx.h"

static CUmodule module, other;
static CUfunction function;
static CUdeviceptr block, result;
static int terminal, file; /* standard output: the real one; where it goes between capture() and seen() */

/* Thread t prints text t of a block of arguments (argument for argument, 8 bytes each, where there is one thread). */
static const char *printing(const char *format)
{
    static char globals[4096];
    int n = snprintf(globals, sizeof globals,
                     ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.global .align 1 .b8 format[%zu] = {",
                     strlen(format) + 1);
    for (const char *f = format; *f; f++)
        n += snprintf(globals + n, sizeof globals - (size_t)n, "%d, ", *f);
    snprintf(globals + n, sizeof globals - (size_t)n, "0};\n");
    return kernel_text(globals, "mov.u64 %rd5, format; cvta.global.u64 %rd5, %rd5; mad.wide.u32 %rd6, %r20, 8, %rd21;\n"
                                "{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd5; st.param.b64 [p1], %rd6;\n"
                                "call (q), vprintf, (p0, p1); ld.param.b32 %r9, [q]; } cvt.s64.s32 %rd9, %r9;");
}

static void start(const char *format, const void *arguments, size_t size)
{
    if (load(&module, printing(format)) || cuModuleGetFunction(&function, module, "k") ||
        cuMemcpyHtoDAsync_v2(block, arguments, size, stream))
        exit(2);
}

static CUresult launch(unsigned threads)
{
    void *params[] = { &result, &block };
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

/* ------------------------------------------------------------------ standard output */
static void capture(void)
{
    fflush(stdout);
    if (ftruncate(file, 0) || dup2(file, 1) < 0)
        exit(3);
    lseek(file, 0, SEEK_SET);
}

static char *seen(void)
{
    static char text[3 << 20];
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    dup2(terminal, 1);
    text[n < 0 ? 0 : n] = 0;
    return text;
}

/* ------------------------------------------------------------------ when */
static CUevent event;
static void nothing(void *argument) { (void)argument; }
static void ask(void) { cuStreamQuery(stream); }
static void ask_event(void) { cuEventRecord(event, stream), cuEventQuery(event); }
static void copy(void)
{
    uint64_t value;
    cuMemcpyDtoHAsync_v2(&value, block, 8, stream), cuMemcpyHtoDAsync_v2(block, &value, 8, stream);
}
static void allocate(void)
{
    CUdeviceptr p;
    cuMemAlloc_v2(&p, 100), cuMemFree_v2(p);
}
static void call(void) { cuLaunchHostFunc(stream, nothing, NULL); }
static void wait_for_stream(void) { cuStreamSynchronize(stream); }
static void wait_for_event(void) { cuEventRecord(event, stream), cuEventSynchronize(event); }
static void launch_again(void) { launch(1); }
static void load_other(void) { load(&other, head); }
static void unload_other(void) { cuModuleUnload(other); }

static void test_moments(void)
{
    static const struct {
        const char *name;
        void (*call)(void);
        bool prints;
    } calls[] = {
        { "to ask for a stream", ask, false },
        { "to ask for an event", ask_event, false },
        { "copies", copy, false },
        { "memory", allocate, false },
        { "to wait for a stream", wait_for_stream, true },
        { "to wait for an event", wait_for_event, true },
        { "a launch", launch_again, true },
        { "to load a module", load_other, true },
        { "to unload one", unload_other, true },
        { "a function of the host", call, true },
    };
    start("text %d\n", (int[]){ 42 }, 4);
    cuEventCreate(&event, 0);
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        capture();
        launch(1);
        calls[i].call();
        bool printed = !strcmp(seen(), "text 42\n");
        check(printed == calls[i].prints, "%s: text is %s", calls[i].name, calls[i].prints ? "printed" : "kept");
        capture();
        cuStreamSynchronize(stream);
        seen();
    }
    cuModuleUnload(module);
}

/* The driver is gone when the program gives back what it has. */
static void unload_at_exit(void) { cuModuleUnload(module), cuStreamSynchronize(stream); }
static void test_exit(void)
{
    int status = 1;
    fflush(stdout);
    if (ftruncate(file, 0))
        exit(3);
    if (!fork()) {
        CUcontext c;
        atexit(unload_at_exit);
        dup2(file, 1);
        if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&stream, 0) || cuMemAlloc_v2(&block, 8192) ||
            cuMemAlloc_v2(&result, 8192))
            exit(1);
        start("text %d\n", (int[]){ 42 }, 4);
        exit(launch(1) != CUDA_SUCCESS);
    }
    wait(&status);
    check(!status && !*seen(), "at the program's end: text is lost");
}

/* ------------------------------------------------------------------ how much */
static void test_buffer(void)
{
    enum { THREADS = 1024, LENGTH = 2000 };
    static char texts[THREADS][LENGTH + 1];
    static uint64_t arguments[THREADS];
    CUdeviceptr text;
    for (unsigned i = 0; i < THREADS; i++) {
        memset(texts[i], 'x', LENGTH);
        snprintf(texts[i], 10, "%04u", i);
        texts[i][4] = 'x', texts[i][LENGTH - 1] = '\n';
    }
    if (cuMemAlloc_v2(&text, sizeof texts) || cuMemcpyHtoDAsync_v2(text, texts, sizeof texts, stream))
        exit(2);
    for (unsigned i = 0; i < THREADS; i++)
        arguments[i] = text + i * sizeof *texts;
    start("%s", arguments, sizeof arguments);
    capture();
    launch(THREADS);
    cuStreamSynchronize(stream);
    char *all = seen();
    size_t n = strlen(all);
    check(n > 1000000 && n <= 1 << 20, "a megabyte is kept, not two: %zu bytes", n);
    check(n % LENGTH == 0 && !strstr(all, "0000x") && strstr(all, "1023x"), "... the last, in whole calls");
    cuMemFree_v2(text);
    cuModuleUnload(module);
}

/* ------------------------------------------------------------------ formats */
static void test_format(const char *format, const void *arguments, size_t size, const char *wanted, int64_t returns)
{
    int64_t got = 0;
    start(format, arguments, size);
    capture();
    launch(1);
    cuStreamSynchronize(stream);
    const char *text = seen();
    cuMemcpyDtoHAsync_v2(&got, result, 8, stream);
    cuStreamSynchronize(stream);
    bool good = !strcmp(text, wanted) && got == returns;
    check(good, "format %.*s", (int)strcspn(format, "\n"), format);
    if (!good)
        printf("# printed '%s', not '%s'; returned %d\n", text, wanted, (int)got);
    cuModuleUnload(module);
}

static void test_formats(void)
{
    static const int numbers[40] = { 7, -300, 5, 6, 1, 2, 3, 4 };
    static const uint64_t longs[4] = { 1ull << 40, 5, 6, 7 };
    static const double doubles[2] = { 0.5, 2 };
    test_format("none\n", numbers, 8, "none\n", 0);
    test_format("%d %5d|%-3u|%+05i %%\n", numbers, 16, "7  -300|5  |+0006 %\n", 4);
    test_format("%lx %lld\n", longs, 16, "10000000000 5\n", 2);
    test_format("%hd %hd\n", numbers, 8, "7 -300\n", 2);
    test_format("%.2f %g\n", doubles, 16, "0.50 2\n", 2);
    test_format("%zu %d\n", longs, 16, "0 <?>\n", 1);
    test_format("%d %hhd %d\n", numbers, 12, "7 -300 <?>\n", 2);
    test_format("%*d %d\n", numbers, 12, "   -300 <?>\n", 2);
    test_format("%.*f %d\n", doubles, 16, "<?> <?>\n", 1);
    test_format("%F %d\n", doubles, 16, "<?> <?>\n", 1);
    test_format("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d %d", numbers, sizeof numbers,
                "7-300561234000000000000000000000000 %d", 32);
}

int main(void)
{
    FILE *f = tmpfile();
    CUcontext c;
    terminal = dup(1), file = fileno(f);
    test_exit();
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&stream, 0) || cuMemAlloc_v2(&block, 8192) ||
        cuMemAlloc_v2(&result, 8192))
        return 1;
    test_moments();
    test_buffer();
    test_formats();
    printf("1..%u\n", tests);
    return failures != 0;
}
