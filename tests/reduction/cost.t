#!/bin/sh
# What a reduction costs in GPU code, counted in the PTX for sm_90 of tests/bench/gpu_reductions.c (`make bench` prints the table).
. tests/lib.sh
CUDA_SUM_DOUBLE=240                   # PTX instructions of the same kernel in tests/bench/cuda/reductions.cu under nvcc 13.0

field() { awk -v name="$1" -v field="$2" '$1 ~ "^" name "_[0-9]+$" { print $field }' "$T/count"; }
at_most() { echo "$1, at most $2"; [ "$1" -le "$2" ]; }
registers() {
    ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
    "$ptxas" -v -arch=sm_90 "$T/app.ptx" -o "$T/app.cubin" >"$T/usage" 2>&1 || { cat "$T/usage"; return 1; }
    at_most "$(awk -v name="$1" '/Compiling entry/ { on = $0 ~ name } on && /Used/ { for (i = 1; i < NF; i++) if ($(i + 1) == "registers,") print $i }' \
        "$T/usage")" "$2"
}

check "the kernels compile" "$CC" -O2 --gpu-arch=sm_90 --emit=ptx "$ROOT/tests/bench/gpu_reductions.c" -o "$T/app.ptx" || finish
awk -f "$ROOT/tests/bench/reductions.awk" "$T/app.ptx" >"$T/count"
for k in sum_int sum_float sum_double dot minloc_double sum_complex four eight; do
    check "$k: two barriers" at_most "$(field $k 3)" 2
done
check "array of 1024: three barriers, whatever its length" at_most "$(field array_1024 3)" 3
for k in sum_double four array_1024; do
    check "$k: no indirect call, no stack frame, no 64-bit division" at_most "$(($(field $k 6) + $(field $k 7) + $(field $k 8)))" 0
done
for k in sum_int sum_float sum_double dot minloc_double sum_complex four; do
    check "$k: four loads in flight" at_most 4 "$(field $k 5)"
done
sed -n '/entry sum_double/,/^}/p' "$T/app.ptx" >"$T/sum_double.ptx"
check "the last team: four slots in flight" sh -c "[ \$(grep -c 'ld.global.*+128\]' '$T/sum_double.ptx') -ge 5 ]"
check "one double: at most 1.3 times the instructions of CUDA" at_most $((10 * $(field sum_double 2))) $((13 * CUDA_SUM_DOUBLE))
check "four variables: shuffle steps of one (8 words to 2)" at_most "$(field four 4)" $((4 * $(field sum_double 4)))
if have_ptxas; then
    for k in sum_int sum_double dot; do check "$k: 32 registers" registers $k 32; done
else skip "registers" "no ptxas"; fi

# collapsed loops: no division in the loop, four iterations at a time
cat >collapse.c <<'C'
double two(const double *a, int n, int m)
{
    double s = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: s) is_device_ptr(a)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) s += a[i * m + j];
    return s;
}
double three(const double *a, int n, int m, int l)
{
    double s = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+: s) is_device_ptr(a)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++) s += a[(i * m + j) * l + k];
    return s;
}
C
check "collapsed: the kernels compile" "$CC" -O2 --gpu-arch=sm_90 --emit=ptx collapse.c -o "$T/app.ptx"
awk -f "$ROOT/tests/bench/reductions.awk" "$T/app.ptx" >"$T/count"
for k in two three; do
    check "collapse, $k: four loads in flight" at_most 4 "$(field $k 5)"
    check "collapse, $k: two barriers, no indirect call, stack frame or 64-bit division" \
        at_most "$(($(field $k 3) + $(field $k 6) + $(field $k 7) + $(field $k 8)))" 2
    if have_ptxas; then check "collapse, $k: 32 registers" registers $k 32; else skip "collapse, $k: registers" "no ptxas"; fi
done

# a reduction of a team: addresses with known distances are computed from each other, or are constants
cat >inner.c <<'C'
void product(int n, int m, const float *x, const float *y, float *z)
{
#pragma omp target teams distribute is_device_ptr(x, y, z)
    for (int i = 0; i < n; i++) {
        float s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = 0; k < m; k++) s += x[i * m + k] * y[k * n + i];
        z[i] = s;
    }
}
C
check "inner product: the kernel compiles" "$CC" -O2 --gpu-arch=sm_90 --emit=ptx inner.c -o "$T/app.ptx"
# per_load LOADS: the most instructions for each load in the loop with so many
per_load() {
    awk -v want="$1" '/^\$L/ { loads = n = 0 } /ld.global/ { loads++ } /^\t[@a-z]/ { n++ }
        /bra/ { if (loads == want) most = int((n + loads - 1) / loads); loads = n = 0 } END { print most ? most : 99 }' "$T/app.ptx"
}
check "inner product: at most three instructions a load, sixteen iterations at a time" at_most "$(per_load 32)" 3
check "inner product: at most four, four iterations at a time" at_most "$(per_load 8)" 4

# what a function adds: as if it stood in the loop
cat >called.c <<'C'
struct sum { double s, c; };
static void add(struct sum *k, double v) { double y = v - k->c, t = k->s + y; k->c = t - k->s - y; k->s = t; }
static void join(struct sum *a, const struct sum *b) { add(a, b->s), add(a, -b->c); }
#pragma omp declare reduction(kahan : struct sum : join(&omp_out, &omp_in)) initializer(omp_priv = (struct sum){ 0 })
double kahan(const double *a, int n)
{
    struct sum k = { 0 };
#pragma omp target teams distribute parallel for reduction(kahan: k) map(k) is_device_ptr(a)
    for (int i = 0; i < n; i++) add(&k, a[i]);
    return k.s;
}
C
check "called: the kernel compiles" "$CC" -O2 --gpu-arch=sm_90 --emit=ptx called.c -o "$T/app.ptx"
awk -f "$ROOT/tests/bench/reductions.awk" "$T/app.ptx" >"$T/count"
check "called: four loads in flight" at_most 4 "$(field kahan 5)"
if have_ptxas; then check "called: 32 registers" registers kahan 32; else skip "called: registers" "no ptxas"; fi
check "the benchmark compiles" "$CC" --gpu-arch=emu -O2 "$ROOT/tests/bench/gpu_reductions.c" -o "$T/bench" -lm
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
check "the benchmark's results are right on the emulated device" in_time "$T/bench" 10 10 3
finish
