#!/bin/sh
# Nests whose accesses suit it have a tiled form, whose teams run tiles of the two innermost loops.  The host launches it where tiles occupy
# the device and few of their iterations stick out.
. tests/lib.sh

cat >tiles.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 192, MOST = 400 };
static int x[N][N], y[N][N];
static float *a, *b, *c;
#define STR(text) #text
#define NEST(k) _Pragma(STR(omp target teams distribute parallel for collapse(k)))
static void transpose(int n, int m)
{
    NEST(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[j * n + i] = a[i * m + j];
}
static void backwards(long n, long m)          /* other counters and steps */
{
    NEST(2)
    for (long i = n - 1; i >= 0; i--)
        for (unsigned short j = 1; j < 2 * m; j += 2)
            b[j / 2 * n + i] = a[i * m + j / 2];
}
static void product(int n, int m)
{
    NEST(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                s += a[i * 9 + k] * c[k * m + j];
            b[i * m + j] = s;
        }
}
static void triangle(int n, int m)
{
    (void)m;
    NEST(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            b[i * n + j] = c[i * n + j] + c[j * n + i];
}
static void batch(int n, int m)
{
    NEST(3)
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[(l * m + j) * n + i] = a[(l * n + i) * m + j];
}
static void four(int n, int m)
{
    NEST(4)
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 3; l++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    b[((k * 3 + l) * m + j) * n + i] = a[((k * 3 + l) * n + i) * m + j];
}
static void constant(void)
{
    NEST(2)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            y[j][i] += x[i][j];
}
static void constant3(void)
{
    NEST(3)
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N / 2; i++)
            for (int j = 0; j < N; j++)
                y[j][2 * i + k] -= x[2 * i + k][j];
}
static void rows(int n, int m)                  /* no shape is better */
{
    NEST(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] = a[i * m + j] + c[i * m + j];
}
static void scheduled(int n, int m)
{
#pragma omp target teams distribute parallel for collapse(2) schedule(static, 1)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[j * n + i] = a[i * m + j];
}
static void generic(int n)                      /* another mode: the module's kernels are divided into sets */
{
#pragma omp target teams distribute map(from: y)
    for (int i = 0; i < N; i++) {
        y[i][0] = n;
#pragma omp parallel for
        for (int j = 0; j < N; j++)
            y[i][j] = 1 + n * j;
    }
}
static int bad;
static void expect(const char *what, int n, int m, int i, float is, float should)
{
    if (is != should && bad++ < 9)
        printf("%s, %d x %d: [%d] is %g, not %g\n", what, n, m, i, is, should);
}
static void reset(int count)
{
    for (int i = 0; i < count; i++)
        b[i] = -1;
#pragma omp target update to(b[:count])
}
static void get(int count)
{
#pragma omp target update from(b[:count])
}
static void check_transposed(const char *what, int n, int m, int sheets)
{
    get(sheets * n * m + 9);
    for (int l = 0; l < sheets; l++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                expect(what, n, m, (l * m + j) * n + i, b[(l * m + j) * n + i], a[(l * n + i) * m + j]);
    for (int i = sheets * n * m; i < sheets * n * m + 9; i++)
        expect(what, n, m, i, b[i], -1);
}
static void run(int n, int m)
{
    reset(n * m + 9), transpose(n, m), check_transposed("transpose", n, m, 1);
    reset(n * m + 9), backwards(n, m), check_transposed("backwards", n, m, 1);
    reset(n * m + 9), scheduled(n, m), check_transposed("scheduled", n, m, 1);
    reset(3 * n * m + 9), batch(n, m), check_transposed("batch", n, m, 3);
    reset(6 * n * m + 9), four(n, m), check_transposed("four", n, m, 6);
    reset(n * m + 9), product(n, m), get(n * m + 9);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                s += a[i * 9 + k] * c[k * m + j];
            expect("product", n, m, i * m + j, b[i * m + j], s);
        }
    reset(n * m + 9), rows(n, m), get(n * m + 9);
    for (int i = 0; i < n * m + 9; i++)
        expect("rows", n, m, i, b[i], i < n * m ? a[i] + c[i] : -1);
    reset(n * n + 9), triangle(n, m), get(n * n + 9);
    for (int i = 0; i < n * n; i++)
        expect("triangle", n, n, i, b[i], i % n <= i / n ? c[i] + c[i % n * n + i / n] : -1);
}
int main(void)
{
    static const int sizes[][2] = { { 256, 64 }, { 97, 131 }, { 33, 400 }, { 3, 5 }, { 1, 300 }, { 300, 1 }, { 250, 203 }, { 129, 257 } };
    size_t most = (size_t)6 * MOST * MOST;
    float *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = malloc(most * sizeof *p[i]);
    a = p[0], b = p[1], c = p[2];
    for (size_t i = 0; i < most; i++)
        a[i] = i % 4093, c[i] = i % 61;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i][j] = i * 1000 + j;
#pragma omp target enter data map(to: a[:most], c[:most]) map(alloc: b[:most])
    generic(0);
    constant();
    for (int i = 0; i < N * N; i++)
        expect("constant", N, N, i, y[i % N][i / N], 1 + x[i / N][i % N]);
    constant3();
    for (int i = 0; i < N * N; i++)
        expect("constant3", N, N, i, y[i % N][i / N], 1);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run(sizes[i][0], sizes[i][1]);
#pragma omp target exit data map(delete: a[:most], b[:most], c[:most])
    for (int i = 0; i < 3; i++)
        free(p[i]);
    puts(bad ? "wrong" : "right");
    return bad != 0;
}
E
check "compiles" "$CC" -O2 --gpu-arch=sm_75,emu tiles.c -o tiles
check "on the emulated device" env OMPGPU_DEVICE=emu ./tiles
check "runs" env OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=profile.json OMP_TARGET_OFFLOAD=MANDATORY ./tiles
for n in transpose backwards product triangle batch four constant constant3; do
    check "$n: was launched in tiles" has profile.json "${n}_[0-9]*__omp_tiled"
done
check "in rows, too" has profile.json '"transpose_[0-9]*"' '"four_[0-9]*"' '"product_[0-9]*"'
check "PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx tiles.c -o tiles.ptx
for n in rows scheduled; do check "$n: has no tiles" lacks tiles.ptx "${n}_[0-9]*__omp_tiled"; done
sed -n "/__omp_tiled(/,/^}/p" tiles.ptx >only.ptx
check "no barrier, call, stack" lacks only.ptx 'bar\.' call '\.local'
check "teams have 256 threads" has tiles.ptx 'reqntid 256'
check "-O0: none" "$CC" -O0 --gpu-arch=sm_75 --emit=ptx tiles.c -o 0.ptx && check "..." lacks 0.ptx __omp_tiled __ompgpu_tile_
check "-Rompgpu says it of each form" "$CC" -O2 --gpu-arch=sm_75 -Rompgpu=all -c tiles.c -o /dev/null

# What says how many threads there are, or how large teams are, has rows.
in_rows() { env OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=rows.json "$@" ./tiles && lacks rows.json __omp_tiled; }
check "OMP_NUM_TEAMS" in_rows OMP_NUM_TEAMS=7
check "OMP_TEAMS_THREAD_LIMIT" in_rows OMP_TEAMS_THREAD_LIMIT=64
check "OMP_THREAD_LIMIT_DEV" in_rows OMP_THREAD_LIMIT_DEV=200

# Kernels of two files that have one name
cat >one.c <<'C'
#include <stdio.h>
enum { N = 96 };
int ok(int (*t)[N]) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) if (t[j][i] != i * N + j ADD) return 0; return 1; }
static int f(int n)
{
    static int s[N][N], t[N][N];
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s[i][j] = i * N + j;
    #pragma omp target teams distribute parallel for collapse(2) map(to: s) map(from: t)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[j][i] = s[i][j] ADD;
    return ok(t);
}
C
sed 's/ok(/ok2(/; s/return ok(/return ok2(/; s/ADD/+ 1/' one.c >two.c; sed -i 's/ADD//' one.c
echo 'int main(void) { extern int other(void); return !(f(N) && other()); }' >>one.c
echo 'int other(void) { return f(N); }' >>two.c
check "two files" "$CC" -O2 --gpu-arch=sm_75 one.c two.c -o both && check "... each its own" env OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=both.json ./both
check "... in tiles" has both.json __omp_tiled
check "two files, device link" "$CC" -O2 --gpu-arch=sm_75 -fgpu-rdc one.c two.c -o linked && check "... each its own" env OMPGPU_DEVICE=ptx OMPGPU_PTX_PROFILE=linked.json ./linked
check "... in tiles" has linked.json __omp_tiled
finish
