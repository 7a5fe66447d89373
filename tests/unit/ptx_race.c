/* ptx_race.c - OMPGPU_CHECK=race: races of each kind, and beside each what is like it and has none. */
#include "tests/unit/ptx.h"

/* %r20 is the thread, %r19 the team, %r18 the lane; `data` and `flag` are 0 in global memory. */
static const char globals[] =
    ".global .align 8 .b32 data[64];\n.global .align 4 .u32 flag;\n.shared .align 16 .b8 s[256];\n";
#define START                                                                                                                    \
    "mov.u32 %r19, %ctaid.x; mov.u32 %r18, %laneid; setp.eq.s32 %p9, %r20, 0; setp.eq.s32 %p8, %r19, 0; "                        \
    "shl.b32 %r17, %r20, 2; mov.u32 %r16, s; add.s32 %r17, %r17, %r16; mov.u64 %rd18, data; mul.wide.u32 %rd17, %r19, 4; "       \
    "add.s64 %rd17, %rd18, %rd17; "
/* Team 0 sends, team 1 receives: `send` makes the flag 1, `receive` waits for it. */
#define MESSAGE(send, receive)                                                                                                   \
    "@!%p9 bra END; @!%p8 bra R; st.global.b32 [data], 7; " send " bra END; R: " receive                                         \
    " ld.global.b32 %r9, [data]; cvt.u64.u32 %rd9, %r9; st.global.b64 [%rd22+8], %rd9; END: bra OUT; OUT: exit;"
#define SPIN(load) "L: " load " %r5, [flag]; setp.eq.s32 %p1, %r5, 0; @%p1 bra L; "
#define GPU_FENCE "fence.acq_rel.gpu; "
#define STORE_FLAG "st.relaxed.gpu.global.b32 [flag], 1; "
#define LOAD_FLAG "ld.relaxed.gpu.global.b32"
/* Every thread stores its number to a word and uses its neighbour's. */
#define NEIGHBOUR(between)                                                                                                       \
    "st.shared.b32 [%r17], %r20; " between " xor.b32 %r5, %r17, 4; ld.shared.b32 %r9, [%r5]; cvt.u64.u32 %rd9, %r9;"
/* The last team to come adds what all of them have stored. */
#define LAST(before, after)                                                                                                      \
    "@%p9 st.global.b32 [%rd17], %r19; bar.sync 0; @!%p9 bra END; " before " atom.global.add.u32 %r5, [flag], 1; "               \
    "setp.ne.s32 %p1, %r5, 3; @%p1 bra END; " after " ld.global.b32 %r6, [data]; ld.global.b32 %r7, [data+12]; "                 \
    "add.s32 %r6, %r6, %r7; st.global.b32 [data+32], %r6; END:"

static const struct row {
    const char *name, *body;
    unsigned teams, threads;
    bool races;
} rows[] = {
    { "a word of another warp without a barrier",
      "@%p9 st.shared.b32 [s], 5; ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9;", 1, 64, true },
    { "a word of another warp after a barrier",
      "@%p9 st.shared.b32 [s], 5; bar.sync 0; ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9;", 1, 64, false },
    { "a neighbour's word without bar.warp.sync", NEIGHBOUR(""), 1, 32, true },
    { "a neighbour's word after bar.warp.sync", NEIGHBOUR("bar.warp.sync -1;"), 1, 32, false },
    { "a neighbour's word after bar.warp.sync of half of the warp",
      NEIGHBOUR("setp.lt.u32 %p1, %r18, 16; selp.b32 %r8, 0xffff, 0xffff0000, %p1; bar.warp.sync %r8;"), 1, 32, false },
    { "a word of the other half after bar.warp.sync of each",
      "st.shared.b32 [%r17], %r20; setp.lt.u32 %p1, %r18, 16; selp.b32 %r8, 0xffff, 0xffff0000, %p1; bar.warp.sync %r8; "
      "xor.b32 %r5, %r17, 64; ld.shared.b32 %r9, [%r5]; cvt.u64.u32 %rd9, %r9;", 1, 32, true },
    { "a shuffle orders nothing", NEIGHBOUR("shfl.sync.idx.b32 %r8, %r20, 0, 31, -1;"), 1, 32, true },
    { "a store after another's load",
      NEIGHBOUR("bar.sync 0;") "st.shared.b32 [%r17], 9;", 1, 64, true },
    { "a store after another's load and a barrier",
      NEIGHBOUR("bar.sync 0;") "bar.sync 0; st.shared.b32 [%r17], 9;", 1, 64, false },
    { "stores of different values", "st.shared.b32 [s], %r20;", 1, 32, true },
    { "stores of the same value", "st.shared.b32 [s], 7;", 1, 64, false },
    { "bytes of a word",
      "mov.u32 %r5, s; add.s32 %r5, %r5, %r20; cvt.u16.u32 %h1, %r20; st.shared.b8 [%r5], %h1; ld.shared.u8 %h9, [%r5]; "
      "cvt.u64.u16 %rd9, %h9;", 1, 64, false },
    { "a byte and its word",
      "@%p9 st.shared.b32 [s], 5; @%p9 bra X; st.shared.b8 [s+3], 1; X:", 1, 64, true },
    { "a load whose value is not used",
      "ld.shared.b32 %r15, [s]; add.s32 %r14, %r15, 1; @%p9 st.shared.b32 [s], 5;", 1, 64, false },
    { "a load whose value some use, those in order",
      "ld.shared.b32 %r15, [s]; add.s32 %r15, %r15, 1; @!%p9 bra X; st.shared.b32 [s], 5; st.shared.b32 [s+8], %r15; X:", 1, 64, false },
    { "two warps of three at a barrier, the third reads",
      "setp.lt.u32 %p1, %r20, 64; @!%p1 bra X; @%p9 st.shared.b32 [s], 5; bar.sync 1, 64; X: ld.shared.b32 %r9, [s]; "
      "cvt.u64.u32 %rd9, %r9;", 1, 96, true },
    { "two warps of three at a barrier, these read",
      "setp.lt.u32 %p1, %r20, 64; @!%p1 bra X; @%p9 st.shared.b32 [s], 5; bar.sync 1, 64; ld.shared.b32 %r9, [s]; "
      "cvt.u64.u32 %rd9, %r9; X:", 1, 96, false },
    { "bar.arrive by those who write",
      "setp.lt.u32 %p1, %r20, 32; @!%p1 bra X; st.shared.b32 [%r17], 5; bar.arrive 1, 64; bra Y; X: bar.sync 1, 64; "
      "ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9; Y:", 1, 64, false },
    { "bar.arrive, then another write",
      "setp.lt.u32 %p1, %r20, 32; @!%p1 bra X; bar.arrive 1, 64; st.shared.b32 [%r17], 5; bra Y; X: bar.sync 1, 64; "
      "ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9; Y:", 1, 64, true },
    { "an atomic update and a load", "atom.global.add.u32 %r8, [flag], 1; ld.global.b32 %r9, [flag]; cvt.u64.u32 %rd9, %r9;", 2, 32,
      true },
    { "an atomic update and a relaxed load",
      "atom.global.add.u32 %r8, [flag], 1; ld.relaxed.gpu.global.b32 %r9, [flag]; setp.eq.s32 %p1, %r9, 0; @%p1 bra X; X:", 2, 32, false },
    { "atomic updates of two teams in the team's scope", "atom.relaxed.cta.global.add.u32 %r8, [flag], 1;", 2, 32, true },
    { "a loop of compare and exchange that begins with a load",
      "ld.global.b32 %r5, [flag]; L: add.s32 %r6, %r5, 1; atom.relaxed.gpu.global.cas.b32 %r7, [flag], %r5, %r6; "
      "setp.ne.s32 %p1, %r7, %r5; mov.b32 %r5, %r7; @%p1 bra L;", 2, 32, false },
    { "stores of two teams to a word", "@!%p9 bra X; st.global.b32 [data], %r19; X:", 2, 32, true },
    { "stores of two teams to words of their own", "@!%p9 bra X; st.global.b32 [%rd17], %r19; X:", 2, 32, false },
    { "a message with fences", MESSAGE(GPU_FENCE STORE_FLAG, SPIN(LOAD_FLAG) GPU_FENCE), 2, 32, false },
    { "a message with volatile accesses and fences",
      MESSAGE("membar.gl; st.volatile.global.b32 [flag], 1;", SPIN("ld.volatile.global.b32") "membar.gl; "), 2, 32, false },
    { "a message with release and acquire",
      MESSAGE("st.release.gpu.global.b32 [flag], 1;", SPIN("ld.acquire.gpu.global.b32")), 2, 32, false },
    { "a message without the sender's fence", MESSAGE(STORE_FLAG, SPIN(LOAD_FLAG) GPU_FENCE), 2, 32, true },
    { "a message without the receiver's fence", MESSAGE(GPU_FENCE STORE_FLAG, SPIN(LOAD_FLAG)), 2, 32, true },
    { "a message with a fence of the sender's team", MESSAGE("fence.acq_rel.cta; " STORE_FLAG, SPIN(LOAD_FLAG) GPU_FENCE), 2, 32, true },
    { "a message by an atomic update", MESSAGE(GPU_FENCE "red.global.add.u32 [flag], 1; ", SPIN(LOAD_FLAG) GPU_FENCE), 2, 32, false },
    { "a message through a plain flag", MESSAGE(GPU_FENCE "st.global.b32 [flag], 1; ", SPIN("ld.global.b32") GPU_FENCE), 2, 32, true },
    { "cp.async of a word that another warp reads before the barrier",
      "@%p9 cp.async.ca.shared.global [s], [data], 4; cp.async.wait_all; ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9;", 1, 64, true },
    { "cp.async of a word that another warp reads after the barrier",
      "@%p9 cp.async.ca.shared.global [s], [data], 4; cp.async.wait_all; bar.sync 0; ld.shared.b32 %r9, [s]; cvt.u64.u32 %rd9, %r9;", 1, 64,
      false },
    { "the last team reads all", LAST(GPU_FENCE, GPU_FENCE), 4, 64, false },
    { "the last team reads all, without a fence before", LAST("", GPU_FENCE), 4, 64, true },
    { "the last team reads all, without a fence after", LAST(GPU_FENCE, ""), 4, 64, true },
};

static char *text_of(const struct row *x)
{
    static char body[4096];
    snprintf(body, sizeof body, "%s%s", START, x->body);
    return kernel_text(globals, body);
}

/* A report is an error of the launch, which is sticky: each in a process of its own. */
static int run_row(const struct row *x)
{
    uint64_t in[3] = { 0 }, out[1024];
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CUresult r = run(text_of(x), x->teams, x->threads, out, 1024, in, 3);
        bool said = strstr(messages, "race: ") && strstr(messages, "nothing orders it");
        int good = x->races ? r == CUDA_ERROR_LAUNCH_FAILED && said : !r && !*messages;
        if (!good)
            printf("# error %d: %s\n", (int)r, messages);
        fflush(stdout);
        _exit(!good);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

int main(void)
{
    CUcontext c;
    setenv("OMPGPU_CHECK", "race", 1);
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cuStreamCreate(&stream, 0);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        check(run_row(&rows[i]), "%s: %s", rows[i].name, rows[i].races ? "a race" : "no race");
    printf("1..%u\n", tests);
    return failures != 0;
}
