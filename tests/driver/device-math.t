#!/bin/sh
# What flags of optimisation and of floating-point arithmetic make of code for a GPU.
. tests/lib.sh
have_libdevice || skip_all "no libdevice"

cat >math.c <<'E'
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <stdio.h>
#pragma omp begin declare target
static double apart(double x, double y) { double t = x * y; return t + x; }
static double together(double x, double y) { return x * y + x; }
static double never(double x, double y)
{
#pragma STDC FP_CONTRACT OFF
    return x * y + x;
}
#pragma omp end declare target
#define REGION _Pragma("omp target teams distribute parallel for map(tofrom: x[:n])") for (int i = 0; i < n; i++)
void contract_apart(int n, double *x) { REGION x[i] = apart(x[i], x[i]); }
void contract_together(int n, double *x) { REGION x[i] = together(x[i], x[i]); }
void contract_never(int n, double *x) { REGION x[i] = never(x[i], x[i]); }
void block_never(int n, double *x)
{
    #pragma clang fp contract(off)
    REGION x[i] = together(x[i] * x[i] - x[i], 1);
}
void body_never(int n, double *x)
{
#pragma omp target map(tofrom: x[:n])
    {
#pragma STDC FP_CONTRACT OFF
#pragma omp parallel num_threads(4)
        x[omp_get_thread_num()] *= x[4] * x[5] - x[6];
        x[0] *= 2;
    }
}
void block_before(int n, double *x)
{
    {
#pragma STDC FP_CONTRACT OFF
        x[1] = x[0];
    }
    REGION x[i] = x[i] * x[i] - x[i];
}
#pragma STDC FP_CONTRACT OFF
void file_never(int n, double *x) { REGION x[i] = x[i] * x[i] - x[i]; }
#pragma STDC FP_CONTRACT DEFAULT
void lu(int n, double *x)
{
    REGION {
        double a[4][4];
        for (int j = 0; j < 16; j++)
            a[j / 4][j % 4] = x[i] + j * (j == j / 4 * 5);
        for (int k = 0; k < 4; k++)
            for (int r = k + 1; r < 4; r++) {
                a[r][k] /= a[k][k];
                for (int j = k + 1; j < 4; j++)
                    a[r][j] -= a[r][k] * a[k][j];
            }
        x[i] = a[3][3];
    }
}
enum { N = 9 };
void functions(int n, float *x)
{
    REGION {
        float s, c, v = 0.25f + i * 0.125f;
        sincosf(v, &s, &c);
        float y[N] = { sinf(v), cosf(v), tanf(v), expf(v), logf(v), log2f(v), log10f(v), powf(v, 1.5f), s / c };
        x[i] = y[i];
    }
}
void subnormal(int n, float *x) { REGION x[i] = x[i] * 0.5f; }
int main(int argc, char **argv)
{
    static const char *const names[] = { "sin", "cos", "tan", "exp", "log", "log2", "log10", "pow", "sincos" };
    float x[N], tiny = 1e-40f;
    int bad = 0;
    functions(N, x);
    for (int i = 0; i < N; i++) {
        double v = 0.25 + i * 0.125, y[N] = { sin(v), cos(v), tan(v), exp(v), log(v), log2(v), log10(v), pow(v, 1.5), tan(v) };
        if (!(fabs(x[i] - y[i]) <= 1e-5))
            bad = printf("%s(%g): %g, not %g\n", names[i], v, x[i], y[i]);
    }
    subnormal(1, &tiny);
    printf("%s\n", tiny == 0 ? "flushed" : "kept");
    (void)argv;
    return bad || (tiny == 0) != argc - 1;
}
E
# ptx FLAGS: math.ptx and one file a kernel, KERNEL.ptx
ptx() {
    "$CC" --gpu-arch=sm_75 -w "$@" --emit=ptx math.c -o math.ptx &&
        awk '/\.entry/ { f = $NF; sub(/_[0-9]*\(.*/, ".ptx", f) } f { print >f } /^}/ { if (f) close(f); f = "" }' math.ptx
}
check "-O2" ptx -O2
check "... arrays with constant bounds are in registers" lacks lu.ptx '\.local'
check "... contraction: across statements" has contract_apart.ptx 'fma\.'
for where in contract block body file; do check "... but not where a pragma forbids it: $where" lacks ${where}_never.ptx 'fma\.'; done
check "... where one has ended" has block_before.ptx 'fma\.'
check "... exact functions, subnormal numbers" lacks math.ptx '\(sin\|cos\|lg2\)\.approx' 'mul\.ftz'
check "-ffp-contract=on" ptx -O2 -ffp-contract=on
check "... contraction: in an expression" has contract_together.ptx 'fma\.'
check "... alone" lacks contract_apart.ptx 'fma\.'
for flag in -ffp-contract=off -ffp-model=strict; do
    check "$flag" ptx -O2 $flag && check "... no contraction" lacks contract_together.ptx 'fma\.'
done
for flag in -ffast-math -Ofast; do
    check "$flag" ptx $flag
    check "... fast functions, no call" lacks functions.ptx call
    for op in sin cos lg2 ex2; do check "... $op.approx" has functions.ptx "$op\.approx\.ftz"; done
    check "... flushes subnormal numbers" has subnormal.ptx 'mul\.ftz'
done
check "-fapprox-func" ptx -O2 -fapprox-func
check "... fast functions" has functions.ptx 'sin\.approx'
check "... and subnormal numbers" has subnormal.ptx 'mul\.f32'
for flags in "-Ofast -O2" "-ffast-math -fno-fast-math"; do
    # shellcheck disable=SC2086
    check "$flags" ptx $flags && check "... exact" lacks math.ptx '\(sin\|cos\|lg2\)\.approx' 'mul\.ftz'
done
if have_ptxas; then
    for flag in -O2 -ffast-math; do
        check "$flag: a program" "$CC" -O2 -w --gpu-arch=sm_75 $flag math.c -o prog -lm
        [ $flag = -O2 ] && arg= || arg=flush
        check "... its values" env OMPGPU_DEVICE=ptx OMP_TARGET_OFFLOAD=MANDATORY ./prog $arg
    done
else
    skip "programs" "no ptxas"
fi

# a device link
echo '#pragma omp begin declare target
float half(float x) { return x * 0.5f; }
#pragma omp end declare target' >half.c
cat >user.c <<'E'
float half(float);
#pragma omp declare target(half)
int main(int argc, char **argv)
{
    (void)argv;
    float x = argc;
#pragma omp target map(x)
    x = half(x) * x;
    return x > 1e30f;
}
E
linked() { "$CC" -w -O2 --gpu-arch=sm_75 "$1" -c half.c && "$CC" -w -O2 --gpu-arch=sm_75 "$2" -c user.c && "$CC" -w half.o user.o -save-temps -o linked; }
if have_ptxas; then
    check "two files with -ffast-math" linked -ffast-math -ffast-math && check "... flush" has linked.device-link.sm_75.ptx 'mul\.ftz'
    check "one with, one without" linked -ffast-math -O2 && check "... do not" lacks linked.device-link.sm_75.ptx 'mul\.ftz'
else
    skip "device link" "no ptxas"
fi
finish
