#!/bin/sh
# Private copies of arrays that do not fit on the stack, in generic kernels: in the team's storage, whose size is exact where it can be known;
# never by a device malloc.
. tests/lib.sh
emu() { OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY "$@"; }

# constants, in this file's functions too, and what the host can foresee
cat >exact.c <<'C'
#include <stdlib.h>
enum { N = 100 };
static void add(double *p, int m)
{
#pragma omp for reduction(+: p[0:N])
    for (int i = 0; i < m; i++) p[i % N] += 1;
}
static void alone(double *p, int m)
{
#pragma omp parallel for reduction(+: p[0:40])
    for (int i = 0; i < m; i++) p[i % 40] += 1;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, runs = argc > 2 ? atoi(argv[2]) : 1, m = 3000;
    double *a = calloc(4 * n, sizeof *a), total[2000] = { 0 }, want;
#pragma omp target data map(tofrom: a[0:4 * n], total)
    for (int r = 0; r < runs; r++) {
#pragma omp target teams num_teams(2) thread_limit(64) reduction(+: total)
#pragma omp distribute
        for (int t = 0; t < 4; t++) {
            double b[1000] = { 0 }, c[512] = { 0 }, *p = a + t * n;
#pragma omp parallel for reduction(+: b, c)
            for (int i = 0; i < m; i++) b[i % 1000]++, c[i % 512]++;
#pragma omp parallel reduction(+: p[0:n])
            {
#pragma omp for reduction(+: b[0:n + 1], c)
                for (int i = 0; i < m; i++) b[i % (n + 1)]++, c[i % 512]++;
                add(c, m);
#pragma omp for
                for (int i = 0; i < m; i++) p[i % n] += 1;
#pragma omp single
                alone(c, 40);
            }
            for (int i = 0; i < 1000; i++) total[i] += b[i];
            for (int i = 0; i < 512; i++) total[1000 + i] += c[i];
        }
    }
    for (int k = 0; k < n; k++)
        for (int t = 0; t < 4; t++)
            if (a[t * n + k] != runs * (m / n + (k < m % n))) return 1;
    for (int k = 0; k < 1000; k++)
        if (total[k] != 4. * runs * (3 + (k <= n ? m / (n + 1) + (k < m % (n + 1)) : 0))) return 2;
    for (int k = 0; k < 512; k++) {
        want = 2 * (m / 512 + (k < m % 512)) + (k < N ? m / N : 0) + (k < 40);
        if (total[1000 + k] != 4 * runs * want) return 3;
    }
    free(a);
    return 0;
}
C
cat >unknown.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    int sizes[1] = { atoi(argv[1]) }, bad = 0, length = 0;
    (void)argc;
#pragma omp target thread_limit(64) map(to: sizes) map(tofrom: bad)
    {
        double a[4000];
        int n = sizes[0];
        for (int i = 0; i < n; i++) a[i] = 0;
#pragma omp parallel num_threads(64)
#pragma omp for reduction(+: a[0:n])
        for (int i = 0; i < 1000; i++) a[i % n] += 1;
        for (int i = 0; i < n; i++) bad += a[i] != 1000 / n + (i < 1000 % n);
        if (length > 0)                         /* what the host makes of this size is never used: it does not count */
#pragma omp parallel reduction(+: a[0:length - 1])
            a[0]++;
    }
    return bad != 0;
}
C
for p in exact unknown; do
    for o in 0 2; do
        check "$p -O$o: compiles" "$CC" --gpu-arch=emu,sm_75 -fompgpu-mode=generic -O$o $p.c -o $p.$o
        check "$p -O$o: PTX" "$CC" --gpu-arch=sm_75 -fompgpu-mode=generic -O$o --emit=ptx $p.c -o $p.$o.ptx
        check "$p -O$o: no device malloc" lacks $p.$o.ptx malloc
    done
    check "$p, late SPMD: compiles" "$CC" --gpu-arch=emu -O2 $p.c -o $p.late
done
for v in 0 2 late; do
    for n in 1 31 32 33 999; do check "exact sizes, $v, $n: right, whatever the user's limit" emu env OMPGPU_TEAM_HEAP=1 OMPGPU_EMU_SCHEDULE=random:$n ./exact.$v $n 3; done
    for n in 1 32 33 700 1024; do check "unknown sizes, $v, $n" emu ./unknown.$v $n; done
done
check "remarks" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx -fompgpu-mode=generic -Rompgpu=all exact.c -o exact.ptx && cp "$T/.log" remarks
check "… name the algorithm" has remarks "exact.c:23:13: remark: reduction of 'b', 'c': 2 arrays element-wise.*\[-Rompgpu=all\]"
# b and c of 8000 and 4096 bytes together take most
check "… and the size" has remarks "exact.c:19:.*[^0-9]12096 bytes of global memory "
message="unknown.c:6: error: region main_6: no room for private copies of the reduced array 'a': set OMPGPU_TEAM_HEAP to more bytes a team at line 12"
check "more than the default: fails" test_must_fail 1 sh -c 'OMPGPU_DEVICE=emu ./unknown.2 1025 2>got'
check "… and says where, and what to do" has got "$message"
check "… which helps" emu env OMPGPU_TEAM_HEAP=2M ./unknown.2 4000
check "too little: fails" test_must_fail 1 env OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=$((64 * 33 * 8)) ./unknown.2 35
check "just enough" emu env OMPGPU_TEAM_HEAP=$((64 * 34 * 8)) ./unknown.2 34

driver=$OBJ/nullcuda/libcuda.so.1
if [ -e "$driver" ]; then
    counts() { OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_LOG=log NULLCUDA_COUNTS=counts.$2 ./exact.2 "$1" "$2" || :; }
    counts 512 10; counts 512 110
    more() { sort counts.110 >b; sort counts.10 | join -a 1 b - | awk '$2 != $3 { print $1, $2 - $3 }'; }
    more >got; printf 'cuLaunchKernel 100\ncuStreamQuery 100\n' >want
    check "steady state: launches and synchronises alone" same want got
    check "no heap for device malloc" lacks log 'limit heap'
else
    skip "steady state" "no nullcuda"
fi

# many teams: as many places as can run at a time, or as memory has room for; each team claims one
cat >many.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    int teams = atoi(argv[1]), n = 300, bad = 0, ran = 0;
    int *seen = calloc(teams, sizeof *seen);
    (void)argc;
#pragma omp target teams distribute num_teams(teams) thread_limit(16) map(tofrom: seen[0:teams]) reduction(+: bad, ran)
    for (int t = 0; t < teams; t++) {
        double b[1000] = { 0 };                    /* shared with the region: too large for a slot */
        double c[2 * n];
        for (int i = 0; i < n; i++) c[i] = t;
#pragma omp parallel for reduction(+: b)
        for (int i = 0; i < 2000; i++) b[i % 1000] += c[i % n] + 1;
        for (int i = 0; i < 1000; i++) bad += b[i] != 2 * (t + 1);
        seen[t]++, ran++;
    }
    for (int t = 0; t < teams; t++) bad += seen[t] != 1;
    free(seen);
    return bad || ran != teams;
}
C
for v in generic auto; do
    check "many teams, $v: compiles" "$CC" --gpu-arch=emu,sm_75 -O2 -fompgpu-mode=$v many.c -o many.$v
    for n in 1 70 2000; do check "$n teams, $v" emu ./many.$v $n; done
    for m in 2M 3M; do check "little memory, so few places ($m), $v" emu env OMPGPU_EMU_MEMORY=$m OMPGPU_EMU_SCHEDULE=random:1 OMPGPU_EMU_THREADS=4 ./many.$v 300; done
done
if [ -e "$driver" ]; then                         # of 1 GB
    OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_LOG=log ./many.generic 20000 2>got || :
    check "20,000 teams: launched" has log 'launch main_7 grid 20000'
fi

# the heap of those who do call malloc
cat >malloc.c <<'C'
#include <stdlib.h>
int main(void)
{
    int bad = 1;
#pragma omp target map(from: bad)
    { volatile int *p = malloc(8); bad = !p; if (p) *p = 1; free((void *)p); }
    return bad;
}
C
if [ -e "$driver" ] && check "a region with malloc: compiles" "$CC" --gpu-arch=sm_75 -O0 malloc.c -o m; then
    OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_LOG=log ./m || :
    check "the heap is an eighth of the device" has log '^limit heap 134217728$'
fi
finish
