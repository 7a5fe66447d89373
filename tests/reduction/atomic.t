#!/bin/sh
# -fompgpu-atomic-reduction: what becomes atomic and what does not, no scratchpad, the right results; and what -Rompgpu=all and OMPGPU_INFO
# say of reductions.
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD

cat >"$T/all.c" <<'C'
#include <stdio.h>
int n = 1, v[4] = { 1, 2, 3, 4 }; unsigned u = ~0u; long l = -1; unsigned long m = 7, x = 5; long long s = 1 << 20; float f = 0.5f; double d = 0.25;
enum colour { RED = 1, GREEN = 2, BLUE = 4 } c;
int main(void)
{
    #pragma omp target teams distribute parallel for reduction(+:n, f, d, v) reduction(-:s) reduction(max:m) reduction(min:u) reduction(&:l) reduction(^:x) reduction(|:c)
    for (int i = 0; i < 3000; i++) {
        n += i, f += 1, d += i, v[i & 3] += i, s -= i, m = (unsigned long)i * 7 > m ? (unsigned long)i * 7 : m, u = u < 9000u - i ? u : 9000u - i;
        l &= ~(long)(i & 8), x ^= (unsigned long)i * 0x123456789, c |= i & 1 ? RED : BLUE;
    }
    #pragma omp target teams distribute num_teams(50) reduction(+:n, d) reduction(max:u)
    for (int i = 0; i < 300; i++) n += i, d += 2, u = (unsigned)i * 100 > u ? (unsigned)i * 100 : u;
    int rows = 0;
    #pragma omp target teams distribute num_teams(20) reduction(+:rows)
    for (int i = 0; i < 60; i++) {
        int row = 0;
        #pragma omp parallel for reduction(+:row)
        for (int k = 0; k < 100; k++) row += k;
        rows += row == 4950;
    }
    printf("%d %g %g %d %d %d %d %lld %lu %u %ld %lx %d %d\n", n, f, d, v[0], v[1], v[2], v[3], s, m, u, l, x, c, rows);
    return 0;
}
C
result='4544351 3000.5 4.4991e+06 1122751 1123502 1124253 1125004 -3449924 20993 29900 -9 f5c28f5bd 5 60'
right() { OMPGPU_EMU_SCHEDULE=$1 OMPGPU_EMU_THREADS=$2 OMPGPU_INFO=1 "$T/prog" >out 2>err && [ "$(cat out)" = "$3" ] || { cat out; echo "$3"; cat err; false; }; }
host() { "$CLANG" -fopenmp "$T/all.c" -o "$T/host" && OMP_TARGET_OFFLOAD=DISABLED "$T/host" >"$T/want" || "$CLANG" -Wno-unknown-pragmas "$T/all.c" -o "$T/host" && "$T/host" >"$T/want"; }
host >/dev/null 2>&1 && result=$(cat "$T/want")
for level in -O0 -O2; do
    check "$level: compiles" "$CC" $level --gpu-arch=emu -fompgpu-atomic-reduction "$T/all.c" -o "$T/prog"
    for s in '' random:1 random:2 random:3; do check "$level: right with schedule '$s'" right "$s" 2 "$result"; done
    check "$level: right with 5 threads" right '' 5 "$result"
    check "$level: no scratchpad" lacks err 'the last team' 'scratchpad of'
    check "$level: atomic updates" sh -c '[ "$(grep -c "teams by atomic updates, no scratchpad" err)" = 3 ]'
done
check "without the flag: compiles" "$CC" -O2 --gpu-arch=emu "$T/all.c" -o "$T/prog"
check "without the flag: right" right random:4 2 "$result"
check "without the flag: a scratchpad" has err 'reduction in main_6: 10 variables; full warps, [0-9]* warps a team; the last team combines [0-9]* slots, scratchpad of [0-9]* bytes'
check "one thread a team" has err 'reduction in main_11: 3 variables; one thread a team; the last team combines 50 slots, scratchpad of 928 bytes'

if have_ptxas; then
    check "goes through ptxas" "$CC" -O2 --gpu-arch=sm_75,sm_80,sm_90,sm_100 -fompgpu-atomic-reduction -save-temps -c "$T/all.c" -o a.o
    for arch in sm_75 sm_80 sm_90 sm_100; do
        check "$arch: the hardware's operations" has all.$arch.ptx 'atom.global.add.u32' 'atom.global.add.f32' 'atom.global.add.f64' 'atom.global.add.u64' \
            'atom.global.max.u64' 'atom.global.min.u32' 'atom.global.max.u32' 'atom.global.and.b64' 'atom.global.xor.b64' 'atom.global.or.b32'
        check "$arch: no loop of comparisons, no slots" lacks all.$arch.ptx 'atom.*cas' 'atom.*inc'
    done
else
    skip "atomics in PTX" "no ptxas"
fi

# ------------------------------------------------------------------ teams that reduce by themselves
cat >"$T/nested.c" <<'C'
#include <stdio.h>
int main(void)
{
    int n = 0; double d = 0, m = 0;
    #pragma omp target teams num_teams(7) map(tofrom: n, d, m)
    {
        int half = omp_get_num_teams() / 2;
        #pragma omp distribute parallel for reduction(+:n, d)
        for (int i = 0; i < 1000; i++) n += half, d += i;
        #pragma omp distribute parallel for reduction(max:m)
        for (int i = 0; i < 1000; i++) m = m > i ? m : i;
        #pragma omp distribute simd reduction(+:n)
        for (int i = 0; i < 100; i++) n += i;
    }
    printf("%d %g %g\n", n, d, m);
    return 0;
}
C
sed -i '1i int omp_get_num_teams(void);' "$T/nested.c"
check "teams by themselves: compile" "$CC" -O2 --gpu-arch=emu,sm_90 --emit=ptx -fompgpu-atomic-reduction "$T/nested.c" -o nested.ptx
check "teams by themselves: atomic, and the last team where there is none" has nested.ptx 'atom.*add.u32' 'atom.*add.f64' 'atom.*inc.u32'
for flag in -fompgpu-atomic-reduction -w; do
    check "teams by themselves, $flag: compile" "$CC" -O2 --gpu-arch=emu -Rompgpu=all $flag "$T/nested.c" -o "$T/prog" && cp "$T/.log" "nested$flag"
    for s in '' random:1 random:2; do check "teams by themselves, $flag: right with schedule '$s'" right "$s" 3 '7950 499500 999'; done
done
check "atomic: said" has nested-fompgpu-atomic-reduction "reduction of 'n', 'd': .*, each team's result by atomic updates" "ends with the last team in spite of.*'m' has"
check "the last team: said" has nested-w "reduction of 'n', 'd': .*, league by the last team at the end of the kernel" "reduction of 'm': .*, league by the last team"

# ------------------------------------------------------------------ what has no atomic
cat >"$T/not.c" <<'C'
#include <stdio.h>
struct pair { double a, b; };
#pragma omp declare reduction(add : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b)
int main(void)
{
    short h = 1; double p = 2, big[100] = { 3 }; _Bool t = 1; int k = 1; struct pair q = { 0, 0 };
    #pragma omp target teams distribute parallel for reduction(+:h)
    for (int i = 0; i < 1000; i++) h += i & 3;
    #pragma omp target teams distribute parallel for reduction(max:p)
    for (int i = 0; i < 1000; i++) p = p > i ? p : i;
    #pragma omp target teams distribute parallel for reduction(+:big)
    for (int i = 0; i < 1000; i++) big[i % 100] += i;
    #pragma omp target teams distribute parallel for reduction(&&:t, k)
    for (int i = 0; i < 1000; i++) t = t && i < 2000, k = k && i != 5;
    #pragma omp target teams distribute parallel for reduction(add:q)
    for (int i = 0; i < 1000; i++) q.a += i, q.b += 1;
    printf("%d %g %g %d %d %g %g\n", h, p, big[0], t, k, q.a, q.b);
    return 0;
}
C
cat >"$T/own.c" <<'C'
int f(int n, int k)
{
    #pragma omp target firstprivate(k)
    #pragma omp teams distribute parallel for reduction(+:k)
    for (int i = 0; i < n; i++) k += i;
    #pragma omp target teams
    {
        int own = 0;
        #pragma omp distribute simd reduction(+:own)
        for (int i = 0; i < n; i++) own += i;
    }
    return k;
}
C
check "a team's own variable" "$CC" -O0 --gpu-arch=sm_75 --emit=ptx -fompgpu-atomic-reduction -Rompgpu=all "$T/own.c" -o own.ptx && cp "$T/.log" remarks
check "is not updated atomically" lacks own.ptx 'atom.global.add' 'atom.add'
check "and that is said, where teams are several" sh -c 'grep -q "with the last team .*: .k. is a copy of the team.s" remarks && ! grep -q ".own. is a copy" remarks'

check "others: compile" "$CC" -O2 --gpu-arch=emu -fompgpu-atomic-reduction -Rompgpu=all "$T/not.c" -o "$T/prog" && cp "$T/.log" remarks
check "others: right" right random:1 3 '1501 999 4503 1 0 499500 1000'
check "others: the last team" sh -c '[ "$(grep -c "the last team combines" err)" = 5 ]'
check "others: remarks say why" has remarks "not.c:7:.*remark: .*-fompgpu-atomic-reduction.*'h'.*\[-Rompgpu=all\]" \
    "not.c:9:.*-fompgpu-atomic-reduction.*'p'" "not.c:11:.*-fompgpu-atomic-reduction.*'big'.* array" "not.c:13:.*-fompgpu-atomic-reduction.*'t'" "not.c:15:.*-fompgpu-atomic-reduction.*'q'.* user-defined"

# ------------------------------------------------------------------ -Rompgpu=all
remark() { "$CC" -O2 -Rompgpu=all --gpu-arch="$1" -c "$2" -o "$T/r.o" 2>remarks; }
check "-Rompgpu=all" remark emu "$T/not.c"
check "a tree" has remarks "not.c:9:.*: remark: reduction of 'p': 1 variable .* 8 bytes; .*tree.*2 words.* 16 bytes of scratchpad .*\[-Rompgpu=all\]"
check "redux" has remarks "not.c:13:.*: remark: reduction of 't', 'k': 2 variables .* 8 bytes; .*redux.sync"
check "an array" has remarks "not.c:11:.*: remark: reduction of 'big': 1 array .*scratchpad"
printf 'double d;\nvoid f(double *a, int k) {\n#pragma omp target teams distribute parallel for num_threads(64) reduction(+:d)\nfor (int i = 0; i < k; i++) d += a[i]; }\n' >"$T/whole.c"
check "-Rompgpu=all, whole warps" remark emu "$T/whole.c"
check "a full tree" has remarks "reduction of 'd': 1 variable .* 8 bytes; full-warp tree"
check "-Rompgpu=all, two generations" remark sm_75,sm_90 "$T/not.c"
check "redux or a tree" has remarks "reduction of 'h': 1 variable .* 2 bytes; .*redux.sync .*sm_80.*tree"
finish
