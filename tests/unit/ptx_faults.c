/* ptx_faults.c - what a GPU would punish, one of each kind, beside it a twin that differs only in being right.  A fault says
 * the kernel, the thread, the line of the PTX and the place of the source with its column; its error is sticky. */
#include "tests/unit/ptx.h"

#define BAD_ADDRESS CUDA_ERROR_ILLEGAL_ADDRESS
#define BAD_ALIGNMENT CUDA_ERROR_MISALIGNED_ADDRESS
#define BAD_INSTRUCTION CUDA_ERROR_ILLEGAL_INSTRUCTION
#define BAD_PC CUDA_ERROR_INVALID_PC
#define FAILED CUDA_ERROR_LAUNCH_FAILED
#define DEADLOCK CUDA_ERROR_LAUNCH_TIMEOUT
/* Uses %r5 for a decision. */
#define USE(r) " setp.eq.s32 %p2, " r ", 0; @%p2 bra USED; USED: "
#define ODD_ONE(yes, no) "setp.eq.s32 %p1, %r20, 5; @%p1 bra X; " no " bra Y; X: " yes " Y: "
#define HALF_DEFINED "mov.b16 %h5, 7; st.shared.b16 [s2], %h5; ld.shared.b32 %r5, [s2]; " /* the low half */
#define EXIT(n) "setp.eq.s32 %p1, %r20, " #n "; @%p1 exit; "
#define CALL_1(f, value) "{ .param .b64 x; st.param.b64 [x], " value "; call.uni " f ", (x); } "
#define ALLOCATE(size, to)                                                                                                       \
    "{ .param .b64 x; .param .b64 y; mov.b64 %rd8, " size "; st.param.b64 [x], %rd8; call.uni (y), malloc, (x); ld.param.b64 " to ", [y]; } "
#define DEEP(n) "{ .param .b32 x; .param .b32 y; mov.b32 %r5, " n "; st.param.b32 [x], %r5; call.uni (y), deep, (x); } "

/* in is 0, 0, 0; out and s2 are undefined; `fixed` is 16 bytes of constant memory. */
static const struct fault {
    const char *name, *body, *says;
    CUresult error;
    unsigned threads;
    const char *twin;
} faults[] = {
    /* global memory */
    { "a null pointer", "mov.b64 %rd8, 0; ld.global.b32 %r9, [%rd8];", "null pointer", BAD_ADDRESS, 1,
      "mov.b64 %rd8, %rd21; ld.global.b32 %r9, [%rd8];" },
    { "a load through a host pointer", "mov.b64 %rd8, 0x7fff00001000; ld.b32 %r9, [%rd8];", "a pointer of the host?", BAD_ADDRESS, 1,
      "ld.b32 %r9, [%rd21];" },
    { "a store through a host pointer", "mov.b64 %rd8, 0x7fff00001000; st.b32 [%rd8], %r9;", "a pointer of the host?", BAD_ADDRESS, 1,
      "st.b32 [%rd20], %r9;" },
    { "an atomic update through a host pointer", "mov.b64 %rd8, 0x7fff00001000; atom.add.u32 %r9, [%rd8], 1;", "a pointer of the host?",
      BAD_ADDRESS, 1, "atom.add.u32 %r9, [%rd21], 1;" },
    { "past the end of a block", "st.global.b64 [%rd20+8192], %rd9;", "outside of any block", BAD_ADDRESS, 1,
      "st.global.b64 [%rd20+8184], %rd9;" },
    { "half past the end of a block", "st.global.v2.b64 [%rd21+32], {%rd9, %rd9};", "outside of any block", BAD_ADDRESS, 1,
      "st.global.v2.b64 [%rd21+16], {%rd9, %rd9};" },
    { "before a block", "st.global.b64 [%rd20+-8], %rd9;", "outside of any block", BAD_ADDRESS, 1, "st.global.b64 [%rd20], %rd9;" },
    { "after the end of a variable", "ld.global.b32 %r9, [table+12];", "outside of any block", BAD_ADDRESS, 1, "ld.global.b32 %r9, [table+8];" },
    { "after the end of constant memory", "ld.const.b32 %r9, [fixed+16];", "outside of any block", BAD_ADDRESS, 1,
      "ld.const.b32 %r9, [fixed+12];" },
    { "a misaligned load", "ld.global.b64 %rd8, [%rd20+4];", "misaligned", BAD_ALIGNMENT, 1, "ld.global.b64 %rd8, [%rd20+8];" },
    { "a misaligned store", "st.global.b32 [%rd20+2], %r9;", "misaligned", BAD_ALIGNMENT, 1, "st.global.b16 [%rd20+2], %h9;" },
    { "a misaligned vector", "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd21+8];", "misaligned", BAD_ALIGNMENT, 1,
      "ld.global.v2.b32 {%r5, %r6}, [%rd21+8];" },
    { "an atomic update of a byte, by its word, that was never written", "atom.global.or.b32 %r5, [%rd20+4], 5;", "never written", FAILED, 1,
      "mov.b16 %h5, 1; st.global.b8 [%rd20+5], %h5; ld.global.b32 %r5, [%rd20+4]; atom.global.cas.b32 %r6, [%rd20+4], %r5, %r5; setp.eq.s32 %p1, %r5, %r6; "
      "@%p1 bra S; S: atom.global.or.b32 %r5, [one], 256; ld.global.b8 %h5, [one+1]; cvt.u32.u16 %r6, %h5;" USE("%r6") },
    { "... beyond the word", "ld.global.b16 %h5, [one+2];", "outside of any block", BAD_ADDRESS, 1, "ld.global.b8 %h5, [one+1];" },
    { "a misaligned atomic update", "atom.global.add.u64 %rd9, [%rd21+4], 1;", "misaligned", BAD_ALIGNMENT, 1,
      "atom.global.add.u32 %r9, [%rd21+4], 1;" },
    /* the other spaces */
    { "beyond shared memory", "st.shared.b32 [s2+8192], %r9;", "outside of the shared memory", BAD_ADDRESS, 1, "st.shared.b32 [s2+252], %r9;" },
    { "between variables of shared memory", "st.shared.b32 [s2+256], %r9; st.shared.b32 [s3], %r9;", "outside of the shared memory", BAD_ADDRESS,
      1, "st.shared.b32 [s2+252], %r9; st.shared.b32 [s3], %r9;" },
    { "dynamic shared memory that the launch has not asked for", "st.shared.b32 [dynamic], %r9;", "the dynamic shared memory", BAD_ADDRESS, 1,
      "st.shared.b32 [s2], %r9;" },
    { "beyond shared memory by a generic address", "cvta.shared.u64 %rd8, 8192; st.b32 [%rd8], %r9;", "outside of the shared memory",
      BAD_ADDRESS, 1, "mov.u64 %rd8, s2; cvta.shared.u64 %rd8, %rd8; st.b32 [%rd8], %r9;" },
    { "a generic address in a load of shared memory", "mov.u64 %rd8, s2; cvta.shared.u64 %rd8, %rd8; st.shared.b32 [%rd8], %r9;",
      "shared memory", BAD_ADDRESS, 1, "mov.u64 %rd8, s2; st.shared.b32 [%rd8], %r9;" },
    { "misaligned in shared memory", "ld.shared.b32 %r9, [s2+2];", "misaligned", BAD_ALIGNMENT, 1, "ld.shared.b16 %h9, [s2+2];" },
    { "beyond local memory", "mov.b64 %rd8, 4096; st.local.b32 [%rd8], %r9;", "local memory", BAD_ADDRESS, 1, "st.local.b32 [array], %r9;" },
    { "a store beyond a variable whose alignment is larger", "st.global.v4.b32 [odd], {%r5, %r6, %r7, %r8};", "outside of any block", BAD_ADDRESS, 1,
      "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [odd]; st.global.v2.b32 [odd], {%r5, %r6}; st.global.b32 [odd+8], %r7;" },
    { "a load that begins there", "ld.global.b32 %r5, [odd+12];", "outside of any block", BAD_ADDRESS, 1, "ld.global.b32 %r5, [odd+8];" },
    { "a load beyond such a variable", "ld.global.b64 %rd8, [odd+16];", "outside of any block", BAD_ADDRESS, 1, "ld.global.b64 %rd8, [odd];" },
    { "past a local array", "st.local.b32 [array+32], %r9;", "local memory", BAD_ADDRESS, 1, "st.local.b32 [array+28], %r9;" },
    { "between local arrays by an index",
      "mov.u64 %rd8, array; cvta.local.u64 %rd8, %rd8; mul.wide.u32 %rd7, %r20, 4; add.s64 %rd8, %rd8, %rd7; st.b32 [%rd8+32], %r9;", "local memory",
      BAD_ADDRESS, 1, "mov.u64 %rd8, array; cvta.local.u64 %rd8, %rd8; mul.wide.u32 %rd7, %r20, 4; add.s64 %rd8, %rd8, %rd7; st.b32 [%rd8+28], %r9;" },
    { "before an array of a called function", CALL_1("fill", "-8"), "local memory", BAD_ADDRESS, 1, CALL_1("fill", "0") },
    { "past an array of a called function", CALL_1("fill", "16"), "local memory", BAD_ADDRESS, 1, CALL_1("fill", "12") },
    { "misaligned in local memory", "st.local.b64 [array+4], %rd9;", "misaligned", BAD_ALIGNMENT, 1, "st.local.b64 [array+8], %rd9;" },
    { "beyond an alloca", "alloca.u64 %rd8, 16; st.local.b32 [%rd8+16], %r9;", "local memory", BAD_ADDRESS, 1,
      "alloca.u64 %rd8, 16; st.local.b32 [%rd8+12], %r9;" },
    { "beyond the parameters", "ld.param.b32 %r9, [k_param_0+64];", "the parameters", BAD_ADDRESS, 1, "ld.param.b32 %r9, [k_param_0+8];" },
    /* what was never written */
    { "a branch on undefined global memory", "ld.global.b32 %r5, [%rd20+64];" USE("%r5"), "never written", FAILED, 1,
      "st.global.b32 [%rd20+64], %r9; ld.global.b32 %r5, [%rd20+64];" USE("%r5") },
    { "a branch on undefined shared memory", "ld.shared.b32 %r5, [s2+64];" USE("%r5"), "never written", FAILED, 1,
      "ld.shared.b32 %r5, [s2+64]; mov.b32 %r5, 0;" USE("%r5") },
    { "a branch on undefined local memory", "ld.local.b32 %r5, [array];" USE("%r5"), "never written", FAILED, 1,
      "st.local.b32 [array], %r9; ld.local.b32 %r5, [array];" USE("%r5") },
    { "a branch on half undefined memory", "st.global.b16 [%rd20+64], %h9; ld.global.b32 %r5, [%rd20+64];" USE("%r5"), "never written", FAILED, 1,
      "st.global.b16 [%rd20+64], %h9; ld.global.b32 %r5, [%rd20+64]; and.b32 %r5, %r5, 0xffff;" USE("%r5") },
    { "a branch on memory copied from undefined memory",
      "ld.global.b64 %rd5, [%rd20+64]; st.global.b64 [%rd20+72], %rd5; ld.global.b32 %r5, [%rd20+72];" USE("%r5"), "never written", FAILED, 1,
      "ld.global.b64 %rd5, [%rd20+64]; st.global.b64 [%rd20+72], %rd5; ld.global.b32 %r6, [%rd20+72];" },
    { "a branch on bits from undefined memory",
      "ld.global.b32 %r5, [%rd20+64]; and.b32 %r5, %r5, 240; st.global.b32 [%rd20+68], %r5; ld.global.b32 %r5, [%rd20+68];" USE("%r5"), "never written",
      FAILED, 1, /* an update of a bit-field */
      "ld.global.b32 %r6, [%rd20+64]; and.b32 %r8, %r6, 240; st.global.b32 [%rd20+64], %r8; ld.global.b32 %r5, [%rd20+64];" USE("%r5") },
    { "a branch on an upper half that sums made undefined",
      "ld.global.b64 %rd5, [%rd20+64]; and.b64 %rd5, %rd5, -4294967296; add.s64 %rd6, %rd5, %rd5; shr.u64 %rd6, %rd6, 32; cvt.u32.u64 %r5, %rd6;"
      USE("%r5"), "never written", FAILED, 1,
      "ld.global.b64 %rd5, [%rd20+64]; and.b64 %rd5, %rd5, -4294967296; add.s64 %rd6, %rd5, %rd5; mad.lo.s64 %rd6, %rd6, 3, %rd5; "
      "setp.eq.s32 %p2, %r20, 0; selp.b64 %rd6, %rd6, %rd5, %p2; cvt.u32.u64 %r5, %rd6;" USE("%r5") },
    { "an address from undefined memory", "ld.global.b64 %rd5, [%rd20+64]; ld.global.b32 %r9, [%rd5];", "never written", BAD_ADDRESS, 1,
      "ld.global.b64 %rd5, [%rd20+64]; mov.b64 %rd5, %rd21; ld.global.b32 %r9, [%rd5];" },
    { "a register that was never written", USE("%r15"), "never written", FAILED, 1, "mov.b32 %r15, 1;" USE("%r15") },
    { "an atomic update of undefined memory", "atom.shared.add.u32 %r9, [s2+64], 1;", "never written", FAILED, 1,
      "atom.shared.exch.b32 %r8, [s2+64], 1;" },
    { "an undefined barrier", "barrier.sync %r15;", "never written", FAILED, 1, "mov.b32 %r15, 1; barrier.sync %r15;" },
    { "an undefined member mask", "bar.warp.sync %r15;", "never written", BAD_INSTRUCTION, 1, "mov.b32 %r15, 1; bar.warp.sync %r15;" },
    { "an undefined index of brx.idx", "bra S; T: .branchtargets A, A; S: brx.idx %r15, T; A:", "never written", FAILED, 1,
      "bra S; T: .branchtargets A, A; S: mov.b32 %r15, 1; brx.idx %r15, T; A:" },
    { "an undefined function", "Q: .callprototype ()_ (); call %rd15, (), Q;", "never written", BAD_PC, 1,
      "mov.u64 %rd15, nothing; Q: .callprototype ()_ (); call %rd15, (), Q;" },
    { "a value from a lane that takes no part", ODD_ONE("", "shfl.sync.idx.b32 %r5, %r20, 5, 31, 0xffffffdf;" USE("%r5")), "never written", FAILED,
      32, ODD_ONE("", "shfl.sync.idx.b32 %r5, %r20, 4, 31, 0xffffffdf;" USE("%r5")) },
    /* barriers */
    { "a barrier that some threads miss", ODD_ONE("barrier.sync 1;", "barrier.sync 0;"), "deadlock", DEADLOCK, 64,
      ODD_ONE("barrier.sync 0;", "barrier.sync 0;") },
    { "an aligned barrier in diverged code", ODD_ONE("barrier.sync 1;", "bar.sync 0;"), "deadlock", DEADLOCK, 32,
      ODD_ONE("", "") "bar.sync 0;" },
    { "cp.async without a wait", "cp.async.ca.shared.global [s2+16], [%rd21], 8; ld.shared.b32 %r5, [s2+16];" USE("%r5"), "never written", FAILED, 1,
      "cp.async.ca.shared.global [s2+16], [%rd21], 8; cp.async.wait_all; ld.shared.b32 %r5, [s2+16];" USE("%r5") },
    { "cp.async to a misaligned address", "cp.async.cg.shared.global [s2+8], [%rd21], 16; cp.async.wait_all;", "misaligned", BAD_ALIGNMENT, 1,
      "cp.async.cg.shared.global [s2+16], [%rd21], 16; cp.async.wait_all;" },
    { "different aligned barriers in one warp", ODD_ONE("bar.sync 0;", "bar.sync 0;"), "aligned barrier", BAD_INSTRUCTION, 32,
      ODD_ONE("barrier.sync 0;", "barrier.sync 0;") },
    { "barrier 16", "mov.b32 %r5, 16; barrier.sync %r5;", "barrier 16", BAD_INSTRUCTION, 32, "mov.b32 %r5, 15; barrier.sync %r5;" },
    { "a count of 33", "barrier.sync 1, 33;", "multiple of 32", BAD_INSTRUCTION, 64, "barrier.sync 1, 64;" },
    { "a count of more than the team has", "barrier.sync 1, 96;", "deadlock", DEADLOCK, 64, "barrier.sync 1, 64;" },
    { "counts that differ", "setp.lt.u32 %p1, %r20, 32; @%p1 bra X; barrier.sync 1, 32; bra Y; X: barrier.sync 1, 96; Y:", "with a count of",
      BAD_INSTRUCTION, 64, "setp.lt.u32 %p1, %r20, 32; @%p1 bra X; barrier.sync 1, 64; bra Y; X: barrier.sync 1, 64; Y:" },
    /* warps */
    { "a shuffle by a lane that its mask lacks", "shfl.sync.idx.b32 %r9, %r20, 0, 31, 1;", "in which they are not", BAD_INSTRUCTION, 32,
      "shfl.sync.idx.b32 %r9, %r20, 0, 31, -1;" },
    { "a vote by a lane that its mask lacks", "vote.sync.any.pred %p1, %p2, 1;", "in which they are not", BAD_INSTRUCTION, 32,
      "setp.eq.s32 %p2, %r20, 0; vote.sync.any.pred %p1, %p2, -1;" },
    { "a value from a lane that does not exist", "shfl.sync.idx.b32 %r5, %r20, 8, 31, -1;" USE("%r5"), "never written", FAILED, 8,
      "shfl.sync.idx.b32 %r5, %r20, 7, 31, -1;" USE("%r5") },
    { "a value from a lane that has exited", EXIT(3) "shfl.sync.idx.b32 %r5, %r20, 3, 31, -1;" USE("%r5"), "never written", FAILED, 32,
      EXIT(3) "shfl.sync.idx.b32 %r5, %r20, 4, 31, -1;" USE("%r5") },
    { "an undefined byte that was shuffled and shifted", HALF_DEFINED "shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; shr.u32 %r5, %r5, 9; or.b32 %r5, %r5, 1;"
      USE("%r5"), "never written", FAILED, 32, HALF_DEFINED "shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; shl.b32 %r5, %r5, 16; or.b32 %r5, %r5, 1;" USE("%r5") },
    { "an undefined byte that `or` does not hide", HALF_DEFINED "or.b32 %r5, %r5, 0xfe00ff00;" USE("%r5"), "never written", FAILED, 1,
      HALF_DEFINED "or.b32 %r5, %r5, 0xffff0000;" USE("%r5") },
    { "a vote on an undefined value", "setp.eq.s32 %p2, %r15, 0; vote.sync.any.pred %p1, %p2, -1; @%p1 bra USED; USED:", "never written", FAILED, 32,
      "setp.eq.s32 %p2, %r20, 0; vote.sync.any.pred %p1, %p2, -1; @%p1 bra USED; USED:" },
    { "a warp that waits for a lane elsewhere", ODD_ONE("barrier.sync 2, 64;", "bar.warp.sync -1;"), "deadlock", DEADLOCK, 32,
      ODD_ONE("bar.warp.sync 0x20;", "bar.warp.sync 0xffffffdf;") },
    { "a match of lanes at different places", ODD_ONE("match.any.sync.b32 %r9, %r20, -1;", "match.any.sync.b32 %r9, %r20, -1;"), "deadlock",
      DEADLOCK, 32, ODD_ONE("", "") "match.any.sync.b32 %r9, %r20, -1;" },
    /* control */
    { "a trap", "trap;", "trap", FAILED, 1, "" },
    { "endless recursion", DEEP("-1"), "stack overflow", BAD_ADDRESS, 1, DEEP("100") },
    { "an alloca that is too large", "alloca.u64 %rd8, 0x7fffffff;", "stack overflow", BAD_ADDRESS, 1, "alloca.u64 %rd8, 4096;" },
    { "a call through a number", "mov.b64 %rd8, 12345; Q: .callprototype ()_ (); call %rd8, (), Q;", "not the address of a function", BAD_PC, 1,
      "mov.b64 %rd8, nothing; Q: .callprototype ()_ (); call %rd8, (), Q;" },
    { "brx.idx beyond its targets", "bra S; T: .branchtargets A, A; S: mov.b32 %r5, 2; brx.idx %r5, T; A:", "index 2", BAD_PC, 1,
      "bra S; T: .branchtargets A, A; S: mov.b32 %r5, 1; brx.idx %r5, T; A:" },
    { "a function without a definition", "call.uni nowhere;", "no definition", BAD_PC, 1, "call.uni nothing;" },
    /* the heap */
    { "free of a number", "mov.b64 %rd8, 4096; " CALL_1("free", "%rd8"), "no block", BAD_ADDRESS, 1, "mov.b64 %rd8, 0; " CALL_1("free", "%rd8") },
    { "free of a part of a block", ALLOCATE("64", "%rd7") "add.s64 %rd7, %rd7, 8; " CALL_1("free", "%rd7"), "no block", BAD_ADDRESS, 1,
      ALLOCATE("64", "%rd7") CALL_1("free", "%rd7") },
    { "free of a block twice", ALLOCATE("64", "%rd7") CALL_1("free", "%rd7") CALL_1("free", "%rd7"), "no block", BAD_ADDRESS, 1,
      ALLOCATE("64", "%rd7") ALLOCATE("64", "%rd6") CALL_1("free", "%rd7") CALL_1("free", "%rd6") },
    { "use after free", ALLOCATE("64", "%rd7") CALL_1("free", "%rd7") "st.global.b32 [%rd7], %r9;", "outside of any block", BAD_ADDRESS, 1,
      ALLOCATE("64", "%rd7") "st.global.b32 [%rd7], %r9; " CALL_1("free", "%rd7") },
};
static const char globals[] =
    ".file 1 \"fault.c\"\n.const .align 4 .b32 fixed[4] = {1, 2, 3, 4};\n.global .align 4 .b32 table[3] = {1, 2, 3};\n"
    ".global .align 16 .b32 odd[3] = {1, 2, 3};\n"
    ".global .align 4 .b8 one[2] = {0, 0};\n.extern .shared .align 16 .b8 dynamic[];\n.shared .align 16 .b8 s2[256];\n.shared .align 16 .b8 s3[16];\n.extern .func nowhere;\n"
    ".extern .func free(.param .b64 x);\n.extern .func (.param .b64 r) malloc(.param .b64 x);\n.func nothing { ret; }\n"
    ".func fill(.param .b64 x)\n"
    "{ .reg .b64 %a<3>; .local .align 8 .b8 room[16]; ld.param.b64 %a1, [x]; mov.u64 %a2, room; add.s64 %a2, %a2, %a1; st.local.b32 [%a2], 1; ret; }\n"
    ".func (.param .b32 r) deep(.param .b32 x)\n"
    "{ .reg .b32 %q<3>; .reg .pred %c; .local .align 8 .b8 room[1024]; ld.param.b32 %q1, [x]; setp.eq.s32 %c, %q1, 0; @%c bra DONE;\n"
    "add.s32 %q1, %q1, -1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %q1; call.uni (b), deep, (a); ld.param.b32 %q2, [b]; }\n"
    "DONE: st.param.b32 [r], %q1; ret; }\n";

static char *text_of(const char *body)
{
    static char all[8192];
    snprintf(all, sizeof all, ".local .align 16 .b8 array[32]; .local .align 16 .b8 other[32];\n.loc 1 7 3\n%s", body);
    return kernel_text(globals, all);
}

/* A fault is sticky: each runs in a process of its own. */
static int is_reported(const struct fault *f)
{
    uint64_t in[3] = { 0 }, out[1024];
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CUcontext c;
        cuDevicePrimaryCtxRetain(&c, 0);
        CUresult r = run(text_of(f->body), 1, f->threads, out, 1024, in, 3);
        CUresult again = cuStreamSynchronize(stream);
        int good = r == f->error && again == r && strstr(messages, f->says) && strstr(messages, "kernel k, team 0") &&
                   (strstr(messages, "fault.c:7:3") || strstr(messages, "function fill") || strstr(messages, "function deep"));
        if (!good)
            printf("# error %d, then %d: %s\n", (int)r, (int)again, messages);
        fflush(stdout);
        _exit(!good);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static void test_twin(const struct fault *f)
{
    uint64_t in[3] = { 0 }, out[1024];
    CUresult r = run(text_of(f->twin), 1, f->threads, out, 1024, in, 3);
    check(!r && !*messages, "no fault: the twin of %s", f->name);
    if (r || *messages)
        printf("# error %d: %s\n# %s\n", (int)r, messages, f->twin);
}

/* ------------------------------------------------------------------ what a launch may not ask for */
static void test_launch(void)
{
    static const struct {
        const char *name;
        unsigned grid, block, shared;
        CUresult error;
        bool exact;
    } launches[] = {
        { "a launch within .maxntid", 1, 64, 0, CUDA_SUCCESS, false },
        { "more threads than .maxntid", 1, 65, 0, CUDA_ERROR_INVALID_VALUE, false },
        { "as many threads as .reqntid", 1, 64, 0, CUDA_SUCCESS, true },
        { "fewer threads than .reqntid", 1, 32, 0, CUDA_ERROR_INVALID_VALUE, true },
        { "no thread", 1, 0, 0, CUDA_ERROR_INVALID_VALUE, false },
        { "no team", 0, 32, 0, CUDA_ERROR_INVALID_VALUE, false },
        { "more shared memory than there is", 1, 32, 64 << 10, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, false },
    };
    CUmodule m;
    CUfunction f[2];
    if (load(&m, ".version 8.3\n.target sm_75\n.address_size 64\n.visible .entry k() .maxntid 64, 1, 1 { ret; }\n"
                 ".visible .entry e() .reqntid 64, 1, 1 { ret; }\n") || cuModuleGetFunction(&f[0], m, "k") || cuModuleGetFunction(&f[1], m, "e"))
        exit(2);
    for (unsigned i = 0; i < sizeof launches / sizeof *launches; i++) {
        CUresult r = cuLaunchKernel(f[launches[i].exact], launches[i].grid, 1, 1, launches[i].block, 1, 1, launches[i].shared, stream, NULL, NULL);
        check(r == launches[i].error && !cuStreamSynchronize(stream), "%s", launches[i].name);
    }
    cuModuleUnload(m);
}

int main(void)
{
    CUcontext c;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cuStreamCreate(&stream, 0);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        check(is_reported(&faults[i]), "fault: %s", faults[i].name);
        test_twin(&faults[i]);
    }
    test_launch();
    printf("1..%u\n", tests);
    return failures != 0;
}
