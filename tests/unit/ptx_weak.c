/* ptx_weak.c - OMPGPU_PTX_MEMORY=weak: what is not ordered is seen late under some seed, what is ordered under none; a thread
 * sees its own stores at once. */
#include "tests/unit/ptx.h"

/* Each thread leaves a value in out[thread]; thread 0 sends to thread 32, in another warp of its team. */
static const char globals[] = ".global .align 8 .b32 data[64];\n.global .align 4 .u32 flag;\n.shared .align 16 .b8 s[256];\n";
#define MESSAGE(fence, store)                                                                                                    \
    "mov.b64 %rd9, 7; setp.eq.s32 %p1, %r20, 0; @!%p1 bra R; st.global.b32 [data], 7; st.global.b32 [data+64], 8; " fence store  \
    " bra END; R: setp.eq.s32 %p2, %r20, 32; @!%p2 bra END; L: ld.relaxed.gpu.global.b32 %r5, [flag]; setp.eq.s32 %p3, %r5, 0; " \
    "@%p3 bra L; fence.acq_rel.gpu; ld.global.b32 %r9, [data]; cvt.u64.u32 %rd9, %r9; END:"
#define FLAG "st.relaxed.gpu.global.b32 [flag], 1; "
#define FENCE "fence.acq_rel.gpu; "
#define SHARED                                                                                                                   \
    "shl.b32 %r5, %r20, 2; mov.u32 %r6, s; add.s32 %r5, %r5, %r6; xor.b32 %r7, %r5, 4; st.shared.b32 [%r5], 7; "

static const struct row {
    const char *name, *body;
    int late; /* some seed shows it */
} rows[] = {
    { "a message without a fence", MESSAGE("", FLAG), 1 },
    { "a message with a fence", MESSAGE(FENCE, FLAG), 0 },
    { "a message with st.release", MESSAGE("", "st.release.gpu.global.b32 [flag], 1;"), 0 },
    { "a message by an atomic update without a fence", MESSAGE("", "red.global.add.u32 [flag], 1;"), 1 },
    { "a message by an atomic update with a fence", MESSAGE(FENCE, "red.global.add.u32 [flag], 1;"), 0 },
    { "a message by atom.acq_rel", MESSAGE("", "atom.acq_rel.gpu.global.add.u32 %r8, [flag], 1;"), 0 },
    { "a neighbour's word", SHARED "shfl.sync.idx.b32 %r9, %r20, 0, 31, -1; ld.shared.b32 %r9, [%r7]; cvt.u64.u32 %rd9, %r9;", 1 },
    { "a neighbour's word after bar.warp.sync", SHARED "bar.warp.sync -1; ld.shared.b32 %r9, [%r7]; cvt.u64.u32 %rd9, %r9;", 0 },
    { "a neighbour's word after a barrier", SHARED "bar.sync 0; ld.shared.b32 %r9, [%r7]; cvt.u64.u32 %rd9, %r9;", 0 },
    { "the thread's own word", SHARED "ld.shared.b32 %r9, [%r5]; cvt.u64.u32 %rd9, %r9;", 0 },
    { "bytes of the thread's own word",
      SHARED "mov.b16 %h1, 1; st.shared.b8 [%r5+1], %h1; ld.shared.b32 %r9, [%r5]; sub.s32 %r9, %r9, 256; cvt.u64.u32 %rd9, %r9;", 0 },
    { "the last of several stores to a word", SHARED "st.shared.b32 [%r5], 9; st.shared.b32 [%r5], 7; bar.sync 0; ld.shared.b32 %r9, [%r7]; "
      "cvt.u64.u32 %rd9, %r9;", 0 },
    { "an atomic update of the thread's own word", SHARED "atom.shared.add.u32 %r9, [%r5], 1; cvt.u64.u32 %rd9, %r9;", 0 },
    { "vectors", "shl.b32 %r5, %r20, 3; mov.u32 %r6, s; add.s32 %r5, %r5, %r6; setp.lt.u32 %p1, %r20, 32; mov.b64 %rd9, 7; @!%p1 bra X; "
      "st.shared.v2.b32 [%r5], {%r20, 7}; ld.shared.v2.b32 {%r8, %r9}, [%r5]; cvt.u64.u32 %rd9, %r9; X:", 0 },
};

/* Whether every thread has 7; `out` is what some other thread saw late where it has not. */
static int good_with(const char *text, const char *seed)
{
    uint64_t in[3] = { 0 }, out[64] = { 0 };
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CUcontext c;
        setenv("OMPGPU_PTX_SCHEDULE", seed, 1);
        cuInit(0);
        cuDevicePrimaryCtxRetain(&c, 0);
        cuCtxSetCurrent(c);
        cuStreamCreate(&stream, 0);
        CUresult r = run(text, 1, 64, out, 64, in, 3);
        int good = !r && !*messages;
        for (unsigned t = 0; t < 64; t++)
            good &= out[t] == 7;
        _exit(!good);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

int main(void)
{
    enum { SEEDS = 12 };
    setenv("OMPGPU_PTX_MEMORY", "weak", 1);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = kernel_text(globals, rows[i].body);
        int good = 0;
        for (int k = 1; k <= SEEDS; k++) {
            char seed[8];
            snprintf(seed, sizeof seed, "%d", k);
            good += good_with(text, seed);
        }
        check(rows[i].late ? good < SEEDS : good == SEEDS, "%s: %s", rows[i].name, rows[i].late ? "seen late" : "in order");
    }
    setenv("OMPGPU_PTX_MEMORY", "strong", 1);
    check(good_with(kernel_text(globals, rows[0].body), "1"), "%s, but the memory is strong", rows[0].name);
    printf("1..%u\n", tests);
    return failures != 0;
}
