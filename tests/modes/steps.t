#!/bin/sh
# --emit=ir: the functions of a region before the first step and after each that changes them, then the module.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
cat >r.c <<'C'
static void add(int *a, int n) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i]++;
}
int main(void) {
    int a[8] = { 0 };
    #pragma omp target map(tofrom: a)
    { a[0] = 2; add(a, 8); }
    return a[0] != 3;
}
C
cat >banners <<'C'
; --- before: the first step
; --- after: jumps
; --- after: math
; --- after: prints
; --- after: spmd
; --- after: split
; --- after: inside
; --- after: globalise
; --- after: contexts
; --- after: link
; --- after: configure
; --- after: dispatch
; --- after: join
; --- after: internalise
; --- after: strip
; --- after: atomics
; --- after: tiles
; --- after: prepare
; --- after: optimise
C
# part FROM TO: the lines between two banners
part() { sed -n "/^; --- $1/,/^; --- $2/p" r.ll; }
for arch in emu sm_75; do
    for flags in "-O2" "-O0 -fompgpu-mode=spmd" "-O0 -g -fompgpu-mode=spmd"; do
        check "$arch $flags: emits" "$CC" --gpu-arch=$arch $flags --emit=ir r.c -o r.ll || continue
        grep '^; ---' r.ll >found
        check "$arch $flags: a banner for each step" same banners found
        part before after >before; part 'after: spmd' 'after: split' >after
        check "$arch $flags: before, a call of the function with the region" has before '^; define .*@main_7__omp_region' 'call void @add' '^; define .*@add('
        check "$arch $flags: after, a guard and a call of the region" has after '^; define .*@__ompgpu_guard_main_7' 'call void @add_2__omp_parallel' '^; @add is gone'
        check "$arch $flags: nothing is shown twice" test "$(grep -c '^; define.*@main_7__omp_region' r.ll)" -le 4
        check "$arch $flags: is IR" "$CLANG" -x ir -w -emit-llvm -c r.ll -o r.bc
    done
done
check "generic: emits" "$CC" --gpu-arch=emu -O2 -fompgpu-mode=generic --emit=ir r.c -o r.ll
part 'after: dispatch' 'after: internalise' >after
check "generic: the cascade" has after '^; define .*@__ompgpu_cascade'
part 'after: spmd' 'after: split' >after
check "generic: no change by the SPMD step" has after '^; no change$'
finish
