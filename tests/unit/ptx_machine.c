/* ptx_machine.c - the PTX machine through the CUDA driver's calls: instructions one by one against values that the PTX
 * manual gives, synchronisation. */
#include <inttypes.h>
#include "tests/unit/ptx.h"

/* ------------------------------------------------------------------ instructions */
#define R "cvt.u64.u32 %rd9, %r9;"
#define H "cvt.u64.u16 %rd9, %h9;"
#define P "selp.b64 %rd9, 1, 0, %p1;"
#define F(x) ((union { float f; uint32_t u; }){ x }).u
#define D(x) ((union { double d; uint64_t u; }){ x }).u
static const struct row {
    const char *name, *body;
    uint64_t a, b, c, result;
} rows[] = {
    { "add.s16", "add.s16 %h9, %h1, %h2; " H, 0xfffe, 5, 0, 3 },
    { "add.s32", "add.s32 %r9, %r1, %r2; " R, 0xfffffffe, 5, 0, 3 },
    { "add.s64", "add.s64 %rd9, %rd1, -3;", 1, 0, 0, (uint64_t)-2 },
    { "sub.s32", "sub.s32 %r9, %r1, %r2; " R, 3, 5, 0, 0xfffffffe },
    { "mul.lo.s32", "mul.lo.s32 %r9, %r1, %r2; " R, 0x10001, 0x10001, 0, 0x20001 },
    { "mul.hi.s32", "mul.hi.s32 %r9, %r1, %r2; " R, 0xffffffff, 2, 0, 0xffffffff },
    { "mul.hi.u32", "mul.hi.u32 %r9, %r1, %r2; " R, 0xffffffff, 2, 0, 1 },
    { "mul.hi.u64", "mul.hi.u64 %rd9, %rd1, %rd2;", ~0ull, 3, 0, 2 },
    { "mul.hi.s64", "mul.hi.s64 %rd9, %rd1, %rd2;", ~0ull, 3, 0, ~0ull },
    { "mul.hi.u16", "mul.hi.u16 %h9, %h1, %h2; " H, 0xffff, 0x10, 0, 15 },
    { "mul.wide.s32", "mul.wide.s32 %rd9, %r1, -4;", 5, 0, 0, (uint64_t)-20 },
    { "mul.wide.u32", "mul.wide.u32 %rd9, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0xfffffffe00000001 },
    { "mul.wide.s16", "mul.wide.s16 %r9, %h1, %h2; " R, 0xffff, 7, 0, (uint32_t)-7 },
    { "mul.wide.u16", "mul.wide.u16 %r9, %h1, %h2; " R, 0xffff, 7, 0, 0xffff * 7 },
    { "mad.lo.s32", "mad.lo.s32 %r9, %r1, %r2, %r3; " R, 7, 6, 0xffffffff, 41 },
    { "mad.lo.s64", "mad.lo.s64 %rd9, %rd1, %rd2, %rd3;", 7, 6, 5, 47 },
    { "mad.wide.s32", "mad.wide.s32 %rd9, %r1, %r2, %rd3;", 0xffffffff, 6, 5, (uint64_t)-1 },
    { "mad.hi.u32", "mad.hi.u32 %r9, %r1, %r2, %r3; " R, 0x80000000, 4, 7, 9 },
    { "add.cc, addc", "add.cc.u32 %r8, %r1, %r2; addc.u32 %r9, 0, 5; " R, 0xffffffff, 1, 0, 6 },
    { "sub.cc, subc", "sub.cc.s64 %rd8, %rd1, %rd2; subc.cc.s64 %rd9, 0, 0;", 1, 2, 0, ~0ull },
    { "sub.cc, addc", "sub.cc.u32 %r8, %r1, %r2; addc.u32 %r9, 0, 0; " R, 2, 1, 0, 1 },
    { "sub.cc with a borrow, addc", "sub.cc.u32 %r8, %r1, %r2; addc.u32 %r9, 0, 0; " R, 1, 2, 0, 0 },
    { "mad.cc, madc", "mad.lo.cc.u32 %r8, %r1, %r2, %r3; madc.hi.u32 %r9, %r1, %r2, 0; " R, 0xffffffff,
      0xffffffff, 0xffffffff, 0xffffffff },
    { "div.s32", "div.s32 %r9, %r1, %r2; " R, (uint32_t)-7, 2, 0, (uint32_t)-3 },
    { "div.u32 by 0", "div.u32 %r9, %r1, %r2; " R, 7, 0, 0, 0xffffffff },
    { "div.s32 of INT_MIN", "div.s32 %r9, %r1, -1; " R, 0x80000000, 0, 0, 0x80000000 },
    { "rem.s64", "rem.s64 %rd9, %rd1, %rd2;", (uint64_t)-7, 3, 0, (uint64_t)-1 },
    { "rem.u16", "rem.u16 %h9, %h1, %h2; " H, 17, 5, 0, 2 },
    { "min.s32", "min.s32 %r9, %r1, %r2; " R, 0xffffffff, 1, 0, 0xffffffff },
    { "max.u32", "max.u32 %r9, %r1, %r2; " R, 0xffffffff, 1, 0, 0xffffffff },
    { "abs.s32", "abs.s32 %r9, %r1; " R, (uint32_t)-5, 0, 0, 5 },
    { "neg.s64", "neg.s64 %rd9, %rd1;", 5, 0, 0, (uint64_t)-5 },
    { "and.b32 with -1", "and.b32 %r9, %r1, -1; " R, 0x12345678, 0, 0, 0x12345678 },
    { "xor.b32 with -1", "xor.b32 %r9, %r1, -1; cvt.u64.u32 %rd9, %r9;", 0, 0, 0, 0xffffffff },
    { "not.b16", "not.b16 %h9, %h1; " H, 0, 0, 0, 0xffff },
    { "shl.b32 by 33", "shl.b32 %r9, %r1, %r2; " R, 1, 33, 0, 0 },
    { "shr.s32 by 40", "shr.s32 %r9, %r1, %r2; " R, 0x80000000, 40, 0, 0xffffffff },
    { "shr.u64", "shr.u64 %rd9, %rd1, %r2;", 1ull << 63, 63, 0, 1 },
    { "shf.l.wrap", "shf.l.wrap.b32 %r9, %r1, %r2, %r3; " R, 0x80000000, 1, 33, 3 },
    { "shf.r.clamp", "shf.r.clamp.b32 %r9, %r1, %r2, %r3; " R, 5, 6, 40, 6 },
    { "clz.b32", "clz.b32 %r9, %r1; " R, 0x10000, 0, 0, 15 },
    { "clz.b64 of 0", "clz.b64 %r9, %rd1; " R, 0, 0, 0, 64 },
    { "popc.b64", "popc.b64 %r9, %rd1; " R, ~0ull, 0, 0, 64 },
    { "brev.b32", "brev.b32 %r9, %r1; " R, 1, 0, 0, 0x80000000 },
    { "bfind.u32", "bfind.u32 %r9, %r1; " R, 0x100, 0, 0, 8 },
    { "bfe.u32", "bfe.u32 %r9, %r1, 8, 8; " R, 0x12345678, 0, 0, 0x56 },
    { "bfe.s32", "bfe.s32 %r9, %r1, 4, 4; " R, 0x80, 0, 0, 0xfffffff8 },
    { "bfe.u64", "bfe.u64 %rd9, %rd1, 60, 8;", 0xf000000000000000, 0, 0, 15 },
    { "bfi.b32", "bfi.b32 %r9, %r1, %r2, 8, 8; " R, 0xab, 0x12345678, 0, 0x1234ab78 },
    { "bmsk.clamp.b32", "bmsk.clamp.b32 %r9, %r1, %r2; " R, 28, 40, 0, 0xf0000000 },
    { "bmsk.wrap.b32", "bmsk.wrap.b32 %r9, %r1, %r2; " R, 36, 35, 0, 0x70 },
    { "min.s16x2", "min.s16x2 %r9, %r1, %r2; " R, 0xffff0001, 0x00018000, 0, 0xffff8000 },
    { "max.u16x2", "max.u16x2 %r9, %r1, %r2; " R, 0xffff0001, 0x00018000, 0, 0xffff8000 },
    { "add.u16x2", "add.u16x2 %r9, %r1, %r2; " R, 0xffffffff, 0x00010002, 0, 0x1 },
    { "dp2a.lo", "dp2a.lo.s32.s32 %r9, %r1, %r2, %r3; " R, 0xffff0002, 0x0000fd05, 7, 20 },
    { "dp2a.hi", "dp2a.hi.u32.u32 %r9, %r1, %r2, %r3; " R, 0x00030002, 0x04050000, 1, 23 },
    { "vabsdiff4", "vabsdiff4.u32.u32.u32 %r9, %r1, %r2, %r8; " R, 0x01ff0304, 0x02fe0701, 0, 0x01010403 },
    { "vabsdiff2.add", "vabsdiff2.u32.u32.u32.add %r9, %r1, %r2, %r3; " R, 0x00050001, 0x00020003, 10, 15 },
    { "cp.async", "cp.async.ca.shared.global [s+16], [%rd21], 8; cp.async.commit_group; cp.async.wait_group 0; ld.shared.b64 %rd9, [s+16];",
      77, 0, 0, 77 },
    { "cp.async, zeros", "cp.async.cg.shared.global [s+16], [%rd21], 16, 8; cp.async.wait_all; ld.shared.b64 %rd9, [s+24];", 77, 5, 0, 0 },
    { "prmt.b32", "prmt.b32 %r9, %r1, %r2, %r3; " R, 0x33221100, 0x77665544, 0x7520, 0x77552200 },
    { "prmt.b32 sign", "prmt.b32 %r9, %r1, %r2, %r3; " R, 0x80, 0, 0x8888, 0xffffffff },
    { "lop3.b32", "lop3.b32 %r9, %r1, %r2, %r3, 0x96; " R, 0xff00, 0xf0f0, 0xcccc, 0xff00 ^ 0xf0f0 ^ 0xcccc },
    { "add.rn.f32", "add.rn.f32 %r9, %r1, %r2; " R, 0x3f800000, 0x40000000, 0, 0x40400000 },
    { "add.rz.f32", "add.rz.f32 %r9, %r1, %r2; " R, 0x3f800000, 0x337fffff, 0, 0x3f800000 },
    { "add.rp.f32", "add.rp.f32 %r9, %r1, %r2; " R, 0x3f800000, 0x32000000, 0, 0x3f800001 },
    { "fma.rn.f64", "fma.rn.f64 %rd9, %rd1, %rd2, %rd3;", 0x4008000000000000, 0x4010000000000000,
      0x3ff0000000000000, 0x402a000000000000 },
    { "mul.ftz.f32", "mul.rn.ftz.f32 %r9, %r1, %r2; " R, 0x00800000, 0x3f000000, 0, 0 },
    { "min.f32 of a NaN", "min.f32 %r9, %r1, %r2; " R, 0x7fc00000, 0x3f800000, 0, 0x3f800000 },
    { "max.NaN.f32", "max.NaN.f32 %r9, %r1, %r2; and.b32 %r9, %r9, 0x7f800000; " R, 0x7fc00000, 0x3f800000, 0,
      0x7f800000 },
    { "copysign.f32", "copysign.f32 %r9, %r1, %r2; " R, 0x80000000, 0x3f800000, 0, 0xbf800000 },
    { "rcp.rn.f32", "rcp.rn.f32 %r9, %r1; " R, 0x40000000, 0, 0, 0x3f000000 },
    { "rcp.approx.ftz.f64", "rcp.approx.ftz.f64 %rd9, %rd1;", 0x4008000000000000, 0, 0, 0x3fd5555500000000 },
    { "sqrt.rn.f64", "sqrt.rn.f64 %rd9, %rd1;", 0x4010000000000000, 0, 0, 0x4000000000000000 },
    { "ex2.approx.f32", "ex2.approx.ftz.f32 %r9, %r1; " R, 0x40400000, 0, 0, 0x41000000 },
    { "lg2.approx.f32", "lg2.approx.f32 %r9, %r1; " R, 0x41000000, 0, 0, 0x40400000 },
    { "testp.infinite", "testp.infinite.f32 %p1, %r1; " P, 0x7f800000, 0, 0, 1 },
    { "add.rn.f16", "add.rn.f16 %h9, %h1, %h2; " H, 0x3c00, 0x4000, 0, 0x4200 },
    { "fma.rn.f16x2", "fma.rn.f16x2 %r9, %r1, %r2, %r3; " R, 0x3c004000, 0x40003c00, 0, 0x40004000 },
    { "fma.rn.f16 rounds once", "fma.rn.f16 %h9, %h1, %h2, %h3; " H, 0x3c20, 0x3c10, 1, 0x3c31 },
    { "fma.rn.bf16", "fma.rn.bf16 %h9, %h1, %h2, %h3; " H, 0x3f80, 0x4000, 0x4040, 0x40a0 },
    { "fma.rn.relu.f16", "fma.rn.relu.f16 %h9, %h1, %h2, %h3; " H, 0x3c00, 0xc000, 0x3c00, 0 },
    { "add.ftz.f16", "add.ftz.f16 %h9, %h1, %h2; " H, 0x0200, 0x3c00, 0, 0x3c00 },
    { "ex2.approx.f16x2", "ex2.approx.f16x2 %r9, %r1; " R, 0x40003c00, 0, 0, 0x44004000 },
    { "cvt.rz.f16.f32", "cvt.rz.f16.f32 %h9, %r1; " H, 0xbf801fff, 0, 0, 0xbc00 },
    { "cvt.rm.f16.f32", "cvt.rm.f16.f32 %h9, %r1; " H, 0xbf801fff, 0, 0, 0xbc01 },
    { "cvt.rz.f16.f32 too large", "cvt.rz.f16.f32 %h9, %r1; " H, 0x4f000000, 0, 0, 0x7bff },
    { "cvt.rn.f16.f32 too large", "cvt.rn.f16.f32 %h9, %r1; " H, 0x477ff000, 0, 0, 0x7c00 },
    { "cvt.rn.f16.f32 subnormal", "cvt.rn.f16.f32 %h9, %r1; " H, 0x33c00000, 0, 0, 0x0002 },
    { "cvt.rn.f16.f64 rounds once", "cvt.rn.f16.f64 %h9, %rd1; " H, 0x3ff0020000001000, 0, 0, 0x3c01 },
    { "cvt.rn.relu.bf16x2.f32", "cvt.rn.relu.bf16x2.f32 %r9, %r1, %r2; " R, 0xbf800000, 0x3f808001, 0, 0x3f81 },
    { "cvt.rn.bf16.s32", "cvt.rn.bf16.s32 %h9, %r1; " H, 0x1010001, 0, 0, 0x4b81 },
    { "set.gt.u32.f16x2", "set.gt.u32.f16x2 %r9, %r1, %r2; " R, 0x3c004000, 0x40003c00, 0, 0xffff },
    { "set.ge.bf16x2.bf16x2", "set.ge.bf16x2.bf16x2 %r9, %r1, %r2; " R, 0x3f803f80, 0x3f804000, 0, 0x3f800000 },
    { "set.eq.f16.f16", "set.eq.f16.f16 %h9, %h1, %h2; " H, 0x8000, 0, 0, 0x3c00 },
    { "add.sat.s32", "add.sat.s32 %r9, %r1, %r2; " R, 0x7ffffff0, 0x20, 0, 0x7fffffff },
    { "sub.sat.s32", "sub.sat.s32 %r9, %r1, %r2; " R, 0x80000000, 1, 0, 0x80000000 },
    { "min.relu.s32", "min.relu.s32 %r9, %r1, %r2; " R, 0xffffffff, 5, 0, 0 },
    { "max.relu.s32", "max.relu.s32 %r9, %r1, %r2; " R, 0xffffffff, 5, 0, 5 },
    { "min.s16x2.relu", "min.s16x2.relu %r9, %r1, %r2; " R, 0xffff0003, 0x00050002, 0, 2 },
    { "min.f32 of three", "min.f32 %r9, %r1, %r2, %r3; " R, 0x40400000, 0x7fc00000, 0x3f800000, 0x3f800000 },
    { "max.f32 of three", "max.f32 %r9, %r1, %r2, %r3; " R, 0x40400000, 0x40800000, 0x3f800000, 0x40800000 },
    { "WARP_SZ", "mov.u32 %r9, WARP_SZ; " R, 0, 0, 0, 32 },
    { "a decimal float", "mov.f32 %r9, -1.5; " R, 0, 0, 0, 0xbfc00000 },
    { "%clock_hi", "mov.u32 %r9, %clock_hi; " R, 0, 0, 0, 0 },
    { "cvt.rni.s32.f32", "cvt.rni.s32.f32 %r9, %r1; " R, 0x40200000, 0, 0, 2 },
    { "cvt.rzi.s32.f64 too large", "cvt.rzi.s32.f64 %r9, %rd1; " R, 0x4341c37937e08000, 0, 0, 0x7fffffff },
    { "cvt.rzi.u32.f32 of a negative", "cvt.rzi.u32.f32 %r9, %r1; " R, 0xbf800000, 0, 0, 0 },
    { "cvt.rzi.s32.f32 of a NaN", "cvt.rzi.s32.f32 %r9, %r1; " R, 0x7fc00000, 0, 0, 0 },
    { "cvt.rzi.s32.f16", "cvt.rzi.s32.f16 %r9, %h1; " R, 0xc580, 0, 0, 0xfffffffb },
    { "cvt.rzi.u32.f16", "cvt.rzi.u32.f16 %r9, %h1; " R, 0x7bff, 0, 0, 65504 },
    { "cvt.rzi.s64.f16", "cvt.rzi.s64.f16 %rd9, %h1;", 0xc580, 0, 0, 0xfffffffffffffffb },
    { "cvt.rzi.u64.f16", "cvt.rzi.u64.f16 %rd9, %h1;", 0x7bff, 0, 0, 65504 },
    { "cvt.rzi.s16.f16", "cvt.rzi.s16.f16 %h9, %h1; " H, 0xc580, 0, 0, 0xfffb },
    { "cvt.rzi.u16.f16", "cvt.rzi.u16.f16 %h9, %h1; " H, 0x7bff, 0, 0, 65504 },
    { "cvt.s32.s8", "cvt.s32.s8 %r9, %r1; " R, 0x80, 0, 0, 0xffffff80 },
    { "cvt.rn.f32.u64", "cvt.rn.f32.u64 %r9, %rd1; " R, 1ull << 40, 0, 0, 0x53800000 },
    { "cvt.sat.f32.f32", "cvt.sat.f32.f32 %r9, %r1; " R, 0x40000000, 0, 0, 0x3f800000 },
    { "cvt.sat.u8.s32", "cvt.sat.u8.s32 %r9, %r1; " R, 300, 0, 0, 255 },
    { "cvt.rmi.f64.f64", "cvt.rmi.f64.f64 %rd9, %rd1;", 0xbff8000000000000, 0, 0, 0xc000000000000000 },
    { "cvt.f16x2.f32", "cvt.rn.f16x2.f32 %r9, %r1, %r2; " R, 0x3f800000, 0x40000000, 0, 0x3c004000 },
    { "setp.lt.s32", "setp.lt.s32 %p1, %r1, 0; " P, 0xffffffff, 0, 0, 1 },
    { "setp.lt.u32", "setp.lt.u32 %p1, %r1, 1; " P, 0xffffffff, 0, 0, 0 },
    { "setp.eq.and", "setp.eq.s32 %p2, 1, 1; setp.eq.and.s32 %p1, %r1, 4, !%p2; " P, 4, 0, 0, 0 },
    { "setp two results", "setp.eq.s32 %p2|%p1, %r1, 4; " P, 4, 0, 0, 0 },
    { "setp.neu.f32 of a NaN", "setp.neu.f32 %p1, %r1, %r1; " P, 0x7fc00000, 0, 0, 1 },
    { "setp.ne.f32 of a NaN", "setp.ne.f32 %p1, %r1, %r1; " P, 0x7fc00000, 0, 0, 0 },
    { "setp.geu.f64", "setp.geu.f64 %p1, %rd1, %rd2; " P, 0x7ff8000000000000, 0, 0, 1 },
    { "set.eq.u32.s32", "set.eq.u32.s32 %r9, %r1, 4; " R, 4, 0, 0, 0xffffffff },
    { "selp.b32", "setp.eq.s32 %p1, %r1, 1; selp.b32 %r9, -1, 7, %p1; " R, 1, 0, 0, 0xffffffff },
    { "mov.b64 unpacked", "mov.b64 {%r8, %r9}, %rd1; " R, 0x1234567890abcdef, 0, 0, 0x12345678 },
    { "mov.b64 packed", "mov.b64 %rd9, {%r1, %r2};", 1, 2, 0, 0x200000001 },
    { "mov.b32 of halves", "mov.b32 {%h8, %h9}, %r1; " H, 0x12345678, 0, 0, 0x1234 },
    { "pred logic", "setp.eq.s32 %p2, %r1, 1; not.pred %p3, %p2; or.pred %p1, %p2, %p3; " P, 1, 0, 0, 1 },
    { "guard", "setp.eq.s32 %p1, %r1, 1; @%p1 mov.b64 %rd9, 5; @!%p1 mov.b64 %rd9, 6;", 1, 0, 0, 5 },
    { "%ntid", "mov.u32 %r9, %ntid.x; " R, 0, 0, 0, 1 },
    { "ld.s8", "st.global.b64 [%rd20], %rd1; ld.global.s8 %r9, [%rd20]; " R, 0x80, 0, 0, 0xffffff80 },
    { "ld.nc.s8", "st.global.b64 [%rd20], %rd1; ld.global.nc.s8 %r9, [%rd20]; " R, 0x80, 0, 0, 0xffffff80 },
    { "ld.v2", "ld.global.v2.b32 {%r8, %r9}, [%rd21]; " R, 0x500000004, 0, 0, 5 },
    { "st.v2", "st.global.v2.b32 [%rd20], {%r1, %r2}; ld.global.b64 %rd9, [%rd20];", 1, 2, 0, 0x200000001 },
    { "shared", "st.shared.b64 [s+8], %rd1; ld.shared.b64 %rd9, [s+8];", 42, 0, 0, 42 },
    { "generic shared", "mov.u64 %rd8, s; cvta.shared.u64 %rd8, %rd8; st.b64 [%rd8], %rd1; ld.shared.b64 %rd9, [s];",
      43, 0, 0, 43 },
    { "isspacep", "mov.u64 %rd8, s; cvta.shared.u64 %rd8, %rd8; isspacep.shared %p1, %rd8; " P, 0, 0, 0, 1 },
    { "global initialiser", "ld.global.b32 %r9, [table+4]; " R, 0, 0, 0, 20 },
    { "global pointer", "ld.global.u64 %rd8, [pointer]; ld.b32 %r9, [%rd8]; " R, 0, 0, 0, 30 },
    { "atom.add", "st.shared.b32 [s], %r1; atom.shared.add.u32 %r8, [s], %r2; ld.shared.b32 %r9, [s]; " R, 4, 5, 0, 9 },
    { "atom.inc wraps", "st.shared.b32 [s], %r1; atom.shared.inc.u32 %r8, [s], %r2; ld.shared.b32 %r9, [s]; " R, 5, 5, 0, 0 },
    { "atom.cas", ("st.shared.b32 [s], %r1; atom.relaxed.cta.shared.cas.b32 %r9, [s], 4, 7; ld.shared.b32 %r8, [s]; "
                   "mov.b64 %rd9, {%r9, %r8};"), 4, 0, 0, 0x700000004 },
    { "atom.min.s32", "st.shared.b32 [s], %r1; atom.shared.min.s32 %r8, [s], -3; ld.shared.b32 %r9, [s]; " R, 4, 0, 0,
      (uint32_t)-3 },
    { "atom.add.f64", "st.shared.b64 [s], %rd1; atom.shared.add.f64 %rd8, [s], %rd2; ld.shared.b64 %rd9, [s];",
      0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000 },
    { "red.or", "st.shared.b32 [s], %r1; red.shared.or.b32 [s], 8; ld.shared.b32 %r9, [s]; " R, 1, 0, 0, 9 },
    { "brx.idx", "bra START; T: .branchtargets A, B; START: brx.idx %r1, T; A: mov.b64 %rd9, 10; bra E; B: mov.b64 %rd9, 20; E:",
      1, 0, 0, 20 },
    { "call", "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), twice, (x); ld.param.b32 %r9, [y]; } " R,
      21, 0, 0, 42 },
    { "indirect call", "mov.u64 %rd8, twice; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; "
                       "Q: .callprototype (.param .b32 _) _ (.param .b32 _); call (y), %rd8, (x), Q; ld.param.b32 %r9, [y]; } " R,
      4, 0, 0, 8 },
    { "recursion", "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), sum, (x); ld.param.b32 %r9, [y]; } " R,
      100, 0, 0, 5050 },
    { "alloca", "stacksave.u64 %rd8; alloca.u64 %rd7, %rd1, 16; st.local.b64 [%rd7+8], %rd2; ld.local.b64 %rd9, [%rd7+8]; "
                "stackrestore.u64 %rd8;", 64, 9, 0, 9 },
};
static const char globals[] =
    ".global .align 4 .b32 table[3] = {10, 20, 30};\n"
    ".global .align 8 .u64 pointer = generic(table)+8;\n"
    ".shared .align 16 .b8 s[256];\n.shared .align 16 .b8 s2[4096];\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n"
    "{ .reg .b32 %q<3>; ld.param.b32 %q1, [x]; add.s32 %q2, %q1, %q1; st.param.b32 [r], %q2; ret; }\n"
    ".func (.param .b32 r) sum(.param .b32 x)\n"
    "{ .reg .b32 %q<4>; .reg .pred %c; ld.param.b32 %q1, [x]; mov.b32 %q3, 0; setp.eq.s32 %c, %q1, 0; @%c bra DONE;\n"
    "add.s32 %q2, %q1, -1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %q2; call.uni (b), sum, (a); ld.param.b32 %q3, [b]; }\n"
    "add.s32 %q3, %q3, %q1; DONE: st.param.b32 [r], %q3; ret; }\n";

static void test_instructions(void)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *x = &rows[i];
        uint64_t in[3] = { x->a, x->b, x->c }, out[4] = { 0 };
        CUresult r = run(kernel_text(globals, x->body), 1, 1, out, 4, in, 3);
        check(!r && out[0] == x->result, "%s", x->name);
        if (r || out[0] != x->result)
            printf("# error %d, 0x%" PRIx64 " instead of 0x%" PRIx64 "\n# %s\n", (int)r, out[0],
                   x->result, messages);
    }
}

/* ------------------------------------------------------------------ threads */
static void expect(const char *name, const char *body, unsigned threads, uint64_t (*value)(unsigned))
{
    static uint64_t out[1024];
    uint64_t in[3] = { 0 };
    CUresult r = run(kernel_text(globals, body), 1, threads, out, 1024, in, 3);
    int good = !r;
    for (unsigned t = 0; t < threads && good; t++)
        good = out[t] == value(t);
    check(good, "%s, %u threads", name, threads);
    if (!good)
        printf("# error %d, thread 0: %" PRIu64 "\n# %s\n", (int)r, out[0], messages);
}
static uint64_t next_thread(unsigned t) { return t ^ 1; }
static uint64_t below(unsigned t) { return t % 32 ? t - 1 : t; }
static uint64_t above(unsigned t) { return t % 32 == 31 ? t : t + 1; }
static uint64_t mirrored(unsigned t) { return t / 32 * 32 + 31 - t % 32; }
static uint64_t all_lanes(unsigned t) { return (void)t, 0xffffffff; }
static uint64_t all_and_uni(unsigned t) { return (void)t, 5; }
static uint64_t elected(unsigned t) { return t % 32 ? 0 : 100; }
static uint64_t odd_even(unsigned t) { return t % 2 ? 100 : 200; }
static uint64_t ballot(unsigned t) { return (void)t, 0x55555555; }
static uint64_t sum_of_lanes(unsigned t) { return (void)t, 496; }
static uint64_t sixteen(unsigned t) { return (void)t, 16; }
static uint64_t same_parity(unsigned t) { return t % 2 ? 0xaaaaaaaa : 0x55555555; }
static uint64_t half(unsigned t) { return (void)t, 32; }
static uint64_t iterations(unsigned t) { return t * 3; }
static uint64_t one_less(unsigned t) { return t == 3 ? 77 : 63; }
static uint64_t without_3(unsigned t) { return t == 3 ? 77 : 0xfffffff7; }
static uint64_t first_after_3(unsigned t) { return t == 3 ? 77 : t < 3 ? 0 : 4; }
/* Thread 3 goes another way, which ends after the others wait for the rest of the warp, at the latest. */
#define LATE_EXIT "setp.ne.s32 %p1, %r20, 3; @%p1 bra STAY; mov.b32 %r8, 0; L: add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, 3000; " \
                  "@%p2 bra L; mov.b64 %rd9, 77; st.global.b64 [%rd22], %rd9; exit; STAY: "

static void test_threads(void)
{
    expect("barrier and shared memory",
           "shl.b32 %r5, %r20, 2; mov.u32 %r6, s2; add.s32 %r5, %r5, %r6; st.shared.b32 [%r5], %r20; bar.sync 0; "
           "xor.b32 %r7, %r20, 1; shl.b32 %r7, %r7, 2; add.s32 %r7, %r7, %r6; ld.shared.b32 %r9, [%r7]; " R,
           128, next_thread);
    expect("shfl.up", "shfl.sync.up.b32 %r9, %r20, 1, 0, -1; " R, 64, below);
    expect("shfl.down", "shfl.sync.down.b32 %r9, %r20, 1, 31, -1; " R, 64, above);
    expect("shfl.idx", "mov.u32 %r5, %laneid; sub.s32 %r5, 31, %r5; shfl.sync.idx.b32 %r9, %r20, %r5, 31, -1; " R, 64, mirrored);
    expect("shfl.bfly", "shfl.sync.bfly.b32 %r9, %r20, 1, 31, -1; " R, 64, next_thread);
    expect("bar.arrive", "setp.lt.u32 %p1, %r20, 32; @!%p1 bra X; shl.b32 %r5, %r20, 2; mov.u32 %r6, s2; add.s32 %r5, %r5, %r6; "
           "st.shared.b32 [%r5], 32; bar.arrive 1, 64; mov.b64 %rd9, 32; bra Y; X: bar.sync 1, 64; ld.shared.b32 %r9, [s2]; " R " Y:", 64, half);
    expect("activemask", "activemask.b32 %r9; " R, 64, all_lanes);
    expect("vote.all, any, uni", "setp.lt.u32 %p1, %r20, 64; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, !%p1, -1; "
           "vote.sync.uni.pred %p4, !%p1, -1; selp.b64 %rd9, 1, 0, %p2; @%p3 add.s64 %rd9, %rd9, 2; @%p4 add.s64 %rd9, %rd9, 4;", 64, all_and_uni);
    expect("elect", "elect.sync %r9|%p1, -1; @%p1 add.s32 %r9, %r9, 100; " R, 64, elected);
    expect("divergence joins", "and.b32 %r5, %r20, 1; setp.eq.s32 %p1, %r5, 1; @%p1 bra ODD; mov.b64 %rd9, 200; bra JOIN; "
                               "ODD: mov.b64 %rd9, 100; JOIN: bar.warp.sync -1;", 32, odd_even);
    expect("loops of different length", "mov.b32 %r5, 0; LOOP: setp.ge.u32 %p1, %r5, %r20; @%p1 bra OUT; add.s64 %rd9, %rd9, 3; "
                                        "add.s32 %r5, %r5, 1; bra LOOP; OUT: bar.sync 0;", 96, iterations);
    expect("vote.ballot", "and.b32 %r5, %r20, 1; setp.eq.s32 %p1, %r5, 0; vote.sync.ballot.b32 %r9, %p1, -1; " R, 32, ballot);
    expect("redux", "redux.sync.add.s32 %r9, %r20, -1; " R, 32, sum_of_lanes);
    expect("redux.min, signed", "sub.s32 %r5, %r20, 16; redux.sync.min.s32 %r9, %r5, -1; neg.s32 %r9, %r9; " R, 32, sixteen);
    expect("redux.max, signed", "sub.s32 %r5, %r20, 15; redux.sync.max.s32 %r9, %r5, -1; " R, 32, sixteen);
    expect("redux.min, unsigned", "sub.s32 %r5, %r20, 32; redux.sync.min.u32 %r9, %r5, -1; add.s32 %r9, %r9, 48; " R, 32, sixteen);
    expect("redux.max, unsigned", "sub.s32 %r5, %r20, 16; redux.sync.max.u32 %r9, %r5, -1; add.s32 %r9, %r9, 17; " R, 32, sixteen);
    expect("redux.and", "xor.b32 %r5, %r20, 15; or.b32 %r5, %r5, 16; redux.sync.and.b32 %r9, %r5, -1; " R, 32, sixteen);
    expect("redux.or", "and.b32 %r5, %r20, 16; redux.sync.or.b32 %r9, %r5, -1; " R, 32, sixteen);
    expect("redux.xor", "setp.eq.s32 %p1, %r20, 7; selp.b32 %r5, 19, 3, %p1; redux.sync.xor.b32 %r9, %r5, -1; " R, 32, sixteen);
    expect("match", "and.b32 %r5, %r20, 1; match.any.sync.b32 %r9, %r5, -1; " R, 32, same_parity);
    expect("exit before a barrier", LATE_EXIT "setp.ne.s32 %p1, %r20, 64; bar.red.popc.u32 %r9, 0, %p1; " R, 64, one_less);
    expect("... with a count", LATE_EXIT "setp.ne.s32 %p1, %r20, 64; bar.arrive 1, 64; bar.red.popc.u32 %r9, 2, 64, %p1; " R, 64, one_less);
    expect("... not aligned", LATE_EXIT "setp.ne.s32 %p1, %r20, 64; barrier.red.popc.u32 %r9, 2, 64, %p1; " R, 64, one_less);
    expect("exit before a vote", LATE_EXIT "setp.ne.s32 %p1, %r20, 64; vote.sync.ballot.b32 %r9, %p1, -1; " R, 32, without_3);
    expect("exit before bar.warp.sync", LATE_EXIT "bar.warp.sync -1; activemask.b32 %r9; " R, 32, without_3);
    expect("exit before a match", LATE_EXIT "mov.b32 %r5, 1; match.all.sync.b32 %r9, %r5, -1; " R, 32, without_3);
    expect("exit before elect", LATE_EXIT "bar.warp.sync -1; setp.lt.s32 %p3, %r20, 3; @%p3 bra E; elect.sync %r9|%p1, 0xfffffff8; E: " R, 32,
           first_after_3);
    expect("bar.red.popc", "and.b32 %r5, %r20, 1; setp.eq.s32 %p1, %r5, 0; bar.red.popc.u32 %r9, 0, %p1; " R, 64, half);
}

/* ------------------------------------------------------------------ loading */
static void test_load(void)
{
    CUmodule m;
    check(load(&m, kernel_text("", "frobnicate.s32 %r9, %r1;")) == CUDA_ERROR_INVALID_PTX && strstr(log_text, "frobnicate") &&
              strstr(log_text, "line "),
          "an unknown instruction is named with its line");
    check(load(&m, kernel_text("", "add.quickly.s32 %r9, %r1, %r2;")) == CUDA_ERROR_INVALID_PTX && strstr(log_text, "add.quickly"),
          "an unknown modifier");
    check(load(&m, kernel_text("", "add.f128 %r9, %r1, %r2;")) == CUDA_ERROR_INVALID_PTX, "an unknown type");
    static const char *const wrong[] = {
        "shfl.down.b32 %r9, %r1, 1, 31;", "vote.all.pred %p1, %p2;", "add.s32 %r9, %r1;", "add.s32 %r9, %r1, %r2, %r3;", "mul24.hi.u32 %r9, %r1, %r2;",
        "mad.hi.sat.s32 %r9, %r1, %r2, %r3;", "min.s32 %r9, %r1, %r2, %r3;", "mov.b128 %rd9, %rd1;", "ld.global.b32 %r9, [%rd1+%r1];",
        "mbarrier.init.shared.b64 [%r1], 1;", "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r9}, [%rd1, {%r1}];", "barrier.cluster.arrive;" };
    for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check(load(&m, kernel_text("", wrong[k])) == CUDA_ERROR_INVALID_PTX && strstr(log_text, "line "), "refused: %s", wrong[k]);
    static const char *const packed[] = { "min.f32x2 %rd9, %rd1, %rd2;", "add.rn.sat.f32x2 %rd9, %rd1, %rd2;", "div.rn.f16x2 %r9, %r1, %r2;" };
    for (unsigned k = 0; k < sizeof packed / sizeof *packed; k++)
        check(load(&m, kernel_text("", packed[k])) == CUDA_ERROR_INVALID_PTX, "no such operation on two numbers: %s", packed[k]);
    check(load(&m, kernel_text("", "bra NOWHERE;")) == CUDA_ERROR_INVALID_PTX && strstr(log_text, "NOWHERE"), "an unknown label");
    check(load(&m, kernel_text("", "mov.b32 %r9, %nosuch;")) == CUDA_ERROR_INVALID_PTX && strstr(log_text, "%nosuch"),
          "an unknown register");
    check(load(&m, ".version 8.3\n.target sm_999\n.address_size 64\n") == CUDA_ERROR_NO_BINARY_FOR_GPU, "a target that is too new");
    check(load(&m, "\x7f" "ELF") == CUDA_ERROR_NO_BINARY_FOR_GPU, "a cubin");
}

int main(int argc, char **argv)
{
    CUcontext c;
    only_texts = argc > 1 && !strcmp(argv[1], "--texts");
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cuStreamCreate(&stream, 0);
    test_load();
    test_instructions();
    /* the threads' bodies use s2 */
    test_threads();
    if (!only_texts)
        printf("1..%u\n", tests);
    return failures != 0;
}
