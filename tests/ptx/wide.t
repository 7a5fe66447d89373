#!/bin/sh
# Loops that stream have a wide form: several iterations a thread, accesses of 16 bytes, loads through the read-only cache.  The host launches
# it where the ranges that the kernel accesses are disjoint.
. tests/lib.sh
have_ptxas || skip_all "no ptxas"

cat >wide.c <<'E'
#include <stdio.h>
enum { N = 8192, MOST = N + 16 };   /* the PTX machine has room for N threads */
static float x[MOST], y[MOST], z[MOST];
static double p[MOST], q[MOST];
static short h[MOST];
float g[MOST], k[MOST];
#pragma omp declare target(g, k)
struct pair { float a, b[2]; };
#define LOOP _Pragma("omp target teams distribute parallel for is_device_ptr(a, b, c)") for (int i = 0; i < n; i++)
#define FLOATS int n, float *a, float *b, float *c
static void add(FLOATS) { LOOP c[i] = a[i] + b[i]; }
static void apart(int n, float *restrict a, float *restrict b, float *restrict c) { LOOP c[i] = a[i] + b[i]; }
static void same(FLOATS) { LOOP c[i] += a[i] * b[0]; }
static void neighbours(FLOATS) { LOOP c[i] = a[i] + a[i + 1] + b[i]; }
static void backwards(FLOATS) { LOOP c[i] = a[n - 1 - i] + b[i]; }
static void chosen(FLOATS) { LOOP c[i] = a[i] > b[i] ? a[i] : b[i]; }
static void indirect(FLOATS) { LOOP c[i] = a[(int)b[i]]; }
__attribute__((unused)) static void twice(FLOATS) { LOOP { c[i] = a[i]; c[i + 1] = b[i]; } }
static void doubles(int n, double s)
{
#pragma omp target teams distribute parallel for map(to: p[:n]) map(tofrom: q[:n])
    for (int i = 0; i < n; i++)
        q[i] += s * p[i];
}
static void shorts(int n, struct pair s)
{
#pragma omp target teams distribute parallel for map(from: h[:n]) map(to: x[:n])
    for (int i = 0; i < n; i++)
        h[i] = (short)(x[i] * s.b[1]);
}
static void variables(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        k[i] = g[i] + i;
}
static int bad;
static void expect(const char *what, int n, int i, double is, double should)
{
    if (is != should && bad++ < 9)
        printf("%s, %d iterations: [%d] is %g, not %g\n", what, n, i, is, should);
}
static void reset(void)
{
    for (int i = 0; i < MOST; i++) {
        x[i] = i, y[i] = 2, z[i] = -1, p[i] = i, q[i] = 2 * i, h[i] = -1, g[i] = i, k[i] = -1;
    }
#pragma omp target update to(g, k)
}
static void plain(int n)
{
    static const struct { const char *name; void (*run)(FLOATS); } runs[] = {
        { "add", add }, { "apart", apart }, { "same", same }, { "neighbours", neighbours }, { "backwards", backwards }, { "chosen", chosen }, { "indirect", indirect } };
    for (unsigned r = 0; r < sizeof runs / sizeof *runs; r++) {
        reset();
#pragma omp target data map(tofrom: x, y, z) use_device_addr(x, y, z)
        runs[r].run(n, x, y, z);
        for (int i = 0; i < MOST; i++) {
            float should[] = { i + 2, i + 2, -1 + i * 2, i + i + 1 + 2, n - 1 - i + 2, i > 2 ? i : 2, 2 };
            expect(runs[r].name, n, i, z[i], i < n ? should[r] : -1);
        }
    }
}
int main(void)
{
    for (int n = N - 1; n < N + 5; n += n == N + 1 ? 2 : 1) {
        plain(n);
        reset();
        doubles(n, 3);
        shorts(n, (struct pair){ 1, { 2, 2 } });
        variables(n);
#pragma omp target update from(k)
        for (int i = 0; i < MOST; i++) {
            expect("doubles", n, i, q[i], i < n ? 5. * i : 2. * i);
            expect("shorts", n, i, h[i], i < n ? (short)(2 * i) : -1);
            expect("variables", n, i, k[i], i < n ? 2 * i : -1);
        }
    }
    /* pointers that the host finds to overlap, or not aligned */
    reset();
#pragma omp target data map(tofrom: x, z) use_device_addr(x, z)
    {
        add(N, x, x, x);
        add(N, x, x, z + 1);
    }
    for (int i = 0; i < N; i++) {
        expect("overlapping", N, i, x[i], 2. * i);
        expect("not aligned", N, i, z[i + 1], 4. * i);
    }
    printf("%d bad\n", bad);
    return bad != 0;
}
E
check "compiles" "$CC" -O2 --gpu-arch=sm_75 wide.c -o wide
check "runs" env OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=profile.json OMPGPU_CHECK=race OMP_TARGET_OFFLOAD=MANDATORY ./wide
check "PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx wide.c -o wide.ptx
form() { sed -n "/entry $1_[0-9]*__omp_wide(/,/^}/p" wide.ptx; }
for n in add chosen doubles; do form $n >$n.ptx; done
check "four floats at a time, read only" has add.ptx 'ld\.global\.nc\.v4' 'st\.global\.v4'
check "an address is one instruction: no shift before it" test "$(sed '/st.global.v4/q' add.ptx | grep -c '[[:space:]]shl')" = 0
check "two doubles" has doubles.ptx 'ld\.global\.nc\.v2\.b64' 'ld\.global\.v2\.b64' 'st\.global\.v2\.b64'
for n in same neighbours shorts variables; do check "$n: has the form" has wide.ptx "entry ${n}_[0-9]*__omp_wide"; done
for n in indirect twice backwards; do form $n >$n.ptx; check "$n: has none" test ! -s $n.ptx; done
for n in add apart same neighbours chosen doubles shorts variables; do check "$n: was launched" has profile.json "${n}_[0-9]*__omp_wide"; done
check "add: the other form, too" has profile.json '"add_[0-9]*"'
cat >constants.c <<'C'
#include <stdio.h>
enum { N = 8192 };
#pragma omp begin declare target
static const char odd[] = "x";
static const float table[N] = { 1, 2, 3, 4, 5, 6, 7 };
static struct { float a[N]; } s;
static float out[N];
#pragma omp end declare target
int main(void)
{
    int wrong = 0, c = 0;
    for (int i = 0; i < N; i++) s.a[i] = (float)i;
#pragma omp target update to(s)
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) out[i] = table[i] * 2;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) out[i] += s.a[i] * 2;
#pragma omp target map(tofrom: c)
    c += odd[c];
#pragma omp target update from(out)
    for (int i = 0; i < N; i++) wrong += out[i] != table[i] * 2 + 2 * (float)i;
    printf("%d wrong\n", wrong);
    return wrong != 0 || c != 'x';
}
C
check "constants: compiles" "$CC" -O2 --gpu-arch=sm_75 constants.c -o constants
check "constants: runs" env OMPGPU_DEVICE=ptx OMP_TARGET_OFFLOAD=MANDATORY ./constants
check "constants: PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx constants.c -o constants.ptx
check "constants and structs of which groups are accessed are aligned for it" [ "$(grep -c 'align 16 .*\(table\|s\|out\)_[0-9a-f]*\[32768\]' constants.ptx)" = 3 ]
check "-g: none, since lines are of the text" "$CC" -O2 -g --gpu-arch=sm_75 --emit=ptx wide.c -o g.ptx && check "..." lacks g.ptx __omp_wide

# Fields of structs and parts of complex numbers that fill 16 bytes: also where an iteration has one struct, and no group.
cat >fields.c <<'C'
#include <complex.h>
#include <stdio.h>
typedef double _Complex dc;
typedef float _Complex fc;
struct v3 { float x, y, z; };
struct v4 { float x, y, z, m; };
struct d3 { double x, y, z; };
struct d4 { double x, y, z, w; };
struct mix { int id; float v; double w; };
struct large { double v[10]; };
enum { N = 8192 + 3, ROOM = 5 * N };
#define KERNEL(name, P, Q, ...) \
    static void name(int n, void *a, void *b, double *s) \
    { \
        P *p = a; \
        Q *q = b; \
        _Pragma("omp target teams distribute parallel for is_device_ptr(p, q, s)") for (int i = 0; i < n; i++) { __VA_ARGS__; } \
    }
KERNEL(whole, dc, dc, p[i] += 2 * q[i])
KERNEL(shorter, fc, fc, p[i] = 2 * q[i])
KERNEL(scaled, dc, dc, p[i] = s[i] * q[i])
KERNEL(three, struct v3, struct v3, p[i].x += 2 * q[i].x; p[i].y += q[i].z; p[i].z += q[i].y)
KERNEL(four, struct v4, struct v4, p[i].x += q[i].m * q[i].x; p[i].y += q[i].m * q[i].y; p[i].z = q[i].m * q[i].z; p[i].m = q[i].m)
KERNEL(gathered, struct v4, float, p[i].x = q[i]; p[i].y = 2 * q[i]; p[i].z = 3 * q[i]; p[i].m = 4)
KERNEL(turned, struct d4, struct d4, p[i].x = q[i].w; p[i].y = q[i].z; p[i].z = q[i].y; p[i].w = q[i].x)
KERNEL(second, struct d4, struct d4, p[i].z = q[i].x; p[i].w = q[i].y)
KERNEL(swapped, struct d4, float, double t = p[i].x; p[i].x = p[i].y; p[i].y = t + (q == 0))
KERNEL(halves, float, float, p[2 * i] = q[2 * i + 1]; p[2 * i + 1] = q[2 * i])
KERNEL(neighbours, dc, dc, p[i] = q[i] + q[i + 1] + q[i + 2])
KERNEL(around, struct d3, struct d3, p[i + 2].x = q[i + 1].x; p[i + 2].y = q[i + 2].y; p[i + 2].z = q[i + 3].z)
KERNEL(mixed, struct mix, struct mix, p[i].id += i; p[i].v *= 2; p[i].w = q[i].w)
KERNEL(part, struct v4, struct v4, p[i].x = q[i].x; p[i].y = q[i].y)
KERNEL(next, double, dc, p[2 * i] = __real__ q[i]; p[2 * i + 2] = __imag__ q[i])
KERNEL(large, struct large, double, for (int k = 0; k < 4; k++) p[i].v[2 * k] = p[i].v[2 * k + 1] + q[i])
static const struct { const char *name; void (*run)(int, void *, void *, double *); } runs[] = {
    { "whole", whole }, { "shorter", shorter }, { "scaled", scaled }, { "three", three }, { "four", four }, { "gathered", gathered }, { "turned", turned },
    { "second", second }, { "swapped", swapped }, { "halves", halves }, { "neighbours", neighbours }, { "around", around }, { "mixed", mixed }, { "part", part } };
static double a[ROOM], b[ROOM], s[ROOM];
static void reset(void)
{
    for (int i = 0; i < ROOM; i++) {
        ((float *)a)[2 * i] = i % 31, ((float *)a)[2 * i + 1] = i % 7;
        ((float *)b)[2 * i] = i % 23, ((float *)b)[2 * i + 1] = i % 13;
        s[i] = i % 3;
    }
}
static void show(const char *name, int n, int off)
{
    unsigned long long sum = 0;
    for (int i = 0; i < ROOM; i++)
        sum = 31 * sum + ((unsigned long long *)(void *)a)[i];
    printf("%s %d %d: %llx\n", name, n, off, sum);
}
int main(void)
{
    for (unsigned r = 0; r < sizeof runs / sizeof *runs; r++)
        for (int n = N - 3; n <= N; n += 3)
            for (int off = 0; off < 3; off++) {
                reset();
#pragma omp target data map(tofrom: a) map(to: b, s) use_device_addr(a, b, s)
                runs[r].run(n, a + (off == 1), b + (off == 2), s);
                show(runs[r].name, n, off);
            }
    for (int off = 0; off < 3; off++) {     /* what is read is written, by the same iteration or by none */
        reset();
#pragma omp target data map(tofrom: a) map(to: s) use_device_addr(a, s)
        {
            whole(N, a + off, a + off, s);
            scaled(N, a + off, a + off, s);
            whole(N / 2, a + off, a + N + 1, s);
        }
        show("overlapping", N, off);
    }
    return 0;
}
C
check "fields: compiles" "$CC" -O2 --gpu-arch=sm_75 -Wno-unused-function fields.c -o fields
OMP_TARGET_OFFLOAD=DISABLED ./fields >host.out
check "fields: runs" sh -c "OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=fields.json OMPGPU_CHECK=race OMP_TARGET_OFFLOAD=MANDATORY ./fields >ptx.out"
check "fields: as on the host" cmp host.out ptx.out
check "fields: PTX" "$CC" -O2 --gpu-arch=sm_75 -Wno-unused-function --emit=ptx fields.c -o wide.ptx
for n in whole shorter scaled three four gathered turned second swapped halves neighbours; do
    form $n >$n.ptx
    check "$n: accesses of 16 bytes" has $n.ptx 'ld\.global\(\.nc\)*\.\(v4\.b32\|v2\.b64\)' 'st\.global\.\(v4\.b32\|v2\.b64\)'
    check "$n: was launched, and so was the other form, for addresses that are no multiples of 16" has fields.json "${n}_[0-9]*__omp_wide\"" "${n}_[0-9]*\""
done
for n in mixed part next large; do check "$n: has none" lacks wide.ptx "entry ${n}_[0-9]*__omp_wide"; done

# The number of a thread that a loop asks for is not that of the iteration.
cat >numbers.c <<'C'
#include <omp.h>
#include <stdio.h>
enum { N = 20000 };
static int me[N], team[N], thread[N], threads[N];
static inline int myself(void) { return omp_get_team_num() * omp_get_num_threads() + omp_get_thread_num(); }
int main(void)
{
    int bad = 0;
#pragma omp target teams distribute parallel for map(from: me, team, thread, threads)
    for (int i = 0; i < N; i++)
        me[i] = myself(), team[i] = omp_get_team_num(), thread[i] = omp_get_thread_num(), threads[i] = omp_get_num_threads();
    for (int i = 0; i < N; i++)
        bad += me[i] != team[i] * threads[i] + thread[i];
    printf("%d bad\n", bad);
    return bad != 0;
}
C
check "numbers: compiles" "$CC" -O2 --gpu-arch=sm_75 numbers.c -o numbers
check "numbers: runs" env OMPGPU_DEVICE=ptx OMP_TARGET_OFFLOAD=MANDATORY ./numbers
check "numbers: PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx numbers.c -o numbers.ptx && check "numbers: no wide form" lacks numbers.ptx __omp_wide

# Large copies and fills go by words, not by bytes as LLVM would have them.
cat >words.c <<'C'
struct big { double v[40]; };
struct tail { short s[67]; };
void f(struct big *a, struct big *b, struct tail *c, struct tail t, int n)
{
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(from: b[0:n], c[0:n]) firstprivate(t)
    for (int i = 0; i < n; i++) {
        struct big zero = { { 0 } };
        b[i] = a[i].v[0] > 0 ? a[i] : zero;
        t.s[i % 67]++;
        c[i] = t;
    }
}
C
check "words: PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx words.c -o words.ptx && check "words: no bytes" lacks words.ptx '\(ld\|st\)\.[a-z.]*b8'
finish
