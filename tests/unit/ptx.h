/* ptx.h - how the unit tests of the PTX machine load a text, run it and see what it says. */
#ifndef TESTS_UNIT_PTX_H
#define TESTS_UNIT_PTX_H
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hostrt/cuda/driver.h"

static unsigned tests, failures;
static CUstream stream;
__attribute__((unused)) static int only_texts; /* --texts: print them instead */
static char log_text[512], messages[4096];

__attribute__((format(printf, 2, 3))) static void check(int good, const char *fmt, ...)
{
    va_list ap;
    if (only_texts)
        return;
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    failures += !good;
}

/* ------------------------------------------------------------------ running a text */
static CUresult load(CUmodule *m, const char *text)
{
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log_text, (void *)sizeof log_text };
    log_text[0] = 0;
    return cuModuleLoadDataEx(m, text, 2, options, values);
}

/* Runs kernel k(out, in) and what it prints on standard error; the error of the synchronisation. */
__attribute__((unused)) static CUresult run(const char *text, unsigned teams, unsigned threads, uint64_t *out, size_t nout,
                    const uint64_t *in, size_t nin)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr dout = 0, din = 0;
    if (only_texts) {
        puts(text);
        return CUDA_ERROR_UNKNOWN;
    }
    CUresult r = load(&m, text);
    if (r) {
        snprintf(messages, sizeof messages, "%s", log_text);
        return r;
    }
    FILE *capture = tmpfile();
    int saved = dup(2);
    dup2(fileno(capture), 2);
    if (cuModuleGetFunction(&f, m, "k") || cuMemAlloc_v2(&dout, nout * 8) ||
        cuMemAlloc_v2(&din, nin * 8 + 8) || cuMemcpyHtoDAsync_v2(din, in, nin * 8, stream))
        r = CUDA_ERROR_UNKNOWN;
    void *params[] = { &dout, &din };
    if (!r)
        r = cuLaunchKernel(f, teams, 1, 1, threads, 1, 1, 0, stream, params, NULL);
    if (!r)
        r = cuStreamSynchronize(stream);
    if (!r)
        r = cuMemcpyDtoHAsync_v2(out, dout, nout * 8, stream);
    dup2(saved, 2);
    close(saved);
    rewind(capture);
    messages[fread(messages, 1, sizeof messages - 1, capture)] = 0;
    fclose(capture);
    cuMemFree_v2(dout);
    cuMemFree_v2(din);
    cuModuleUnload(m);
    return r;
}

static const char head[] = ".version 8.3\n.target sm_75\n.address_size 64\n";
static const char registers[] =
    "{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<30>; .reg .b64 %rd<30>;\n"
    "ld.param.u64 %rd20, [k_param_0]; ld.param.u64 %rd21, [k_param_1];\n";
/* out[thread] = %rd9, from in[0..2] in %rd1 … %rd3 and their low halves %r1 … %r3. */
__attribute__((unused)) static char *kernel_text(const char *globals, const char *body)
{
    static char text[16384];
    snprintf(text, sizeof text,
             "%s%s.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n%s"
             "ld.global.b64 %%rd1, [%%rd21]; ld.global.b64 %%rd2, [%%rd21+8]; ld.global.b64 %%rd3, [%%rd21+16];\n"
             "cvt.u32.u64 %%r1, %%rd1; cvt.u32.u64 %%r2, %%rd2; cvt.u32.u64 %%r3, %%rd3;\n"
             "cvt.u16.u64 %%h1, %%rd1; cvt.u16.u64 %%h2, %%rd2; cvt.u16.u64 %%h3, %%rd3;\n"
             "mov.u32 %%r20, %%tid.x; mul.wide.u32 %%rd22, %%r20, 8; add.s64 %%rd22, %%rd22, %%rd20;\n"
             "mov.b64 %%rd9, 0; mov.b32 %%r9, 0; mov.b16 %%h9, 0;\n"
             "%s\nst.global.b64 [%%rd22], %%rd9;\nret;\n}\n",
             head, globals, registers, body);
    return text;
}
#endif
