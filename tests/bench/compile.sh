#!/bin/sh
# compile.sh - times to compile, as ratios taken in one run: a file with four kernels, a file without target constructs, and every sample.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
CLANG=${OMPGPU_CLANG:-clang-22}
RUNS=${RUNS:-7}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT

# seconds COMMAND…: the shortest of $RUNS runs
seconds() {
    if command -v hyperfine >/dev/null; then
        hyperfine -N --warmup 1 --runs "$RUNS" --export-csv "$T/csv" "$*" >/dev/null 2>&1 || return 1
        awk -F, 'NR == 2 { print $(NF - 1) }' "$T/csv"
    else
        best=
        for _ in $(seq "$RUNS"); do
            begin=$(date +%s%N)
            "$@" >/dev/null 2>&1 || return 1
            best=$(echo "$best $(( $(date +%s%N) - begin ))" | awk '{ print NF == 1 || $2 < $1 ? $NF : $1 }')
        done
        echo "$best" | awk '{ print $1 / 1e9 }'
    fi
}
# cpu COMMAND…: the least seconds of processor time of $RUNS runs, with all processes
cpu() {
    for _ in $(seq "$RUNS"); do
        sh -c '"$@" >/dev/null 2>&1 || exit 1; times' sh "$@" || return 1
    done | awk 'NF == 2 && !(++n % 2) { s = 0
        for (i = 1; i <= 2; i++) { split($i, t, "m"); s += 60 * t[1] + t[2] }
        if (!best || s < best) best = s
    } END { print best }'
}
# row TEXT VALUE BAR [UNIT]
row() { awk -v t="$1" -v v="$2" -v b="$3" -v u="${4:-}" 'BEGIN { printf "  %-54s %6.2f %-2s at most %4.2f   %s\n", t, v, u, b, v <= b ? "met" : "NOT MET" }'; }

cat >"$T/four.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), a = 2, sum = 0;
#pragma omp target teams distribute parallel for map(from: x[0:n], y[0:n])
    for (int i = 0; i < n; i++)
        x[i] = i, y[i] = 1;
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
#pragma omp target teams distribute parallel for map(to: y[0:n]) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += y[i];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: x[0:n])
    for (int i = 0; i < n / 10; i++)
        for (int j = 0; j < 10; j++)
            x[i * 10 + j] += j;
    printf("%g %g\n", sum, x[n - 1]);
    return 0;
}
EOF
cat >"$T/host.c" <<'EOF'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double f(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += sqrt(v[i]) * sin(v[i]); return s; }
int main(int argc, char **argv)
{
    double v[1000];
    for (int i = 0; i < 1000; i++) v[i] = i * (double)argc;
    printf("%g %s\n", f(v, 1000), argv[0]);
    return EXIT_SUCCESS;
}
EOF
echo "compile times (the shortest of $RUNS runs)"
four=$(seconds "$CC" -O2 --gpu-arch=sm_90 "$T/four.c" -o "$T/four") || exit 1
row "four kernels, compile and link, sm_90" "$four" 0.5 s
if offload=$(seconds "$CLANG" -O2 -fopenmp --offload-arch=sm_90 -c "$T/four.c" -o "$T/four.o"); then
    ours=$(seconds "$CC" -O2 --gpu-arch=sm_90 -c "$T/four.c" -o "$T/four.o") || exit 1
    row "four kernels, -c, of clang's offload -c" "$(echo "$ours $offload" | awk '{ print $1 / $2 }')" 0.5
else
    echo "  (clang here has no device runtime for nvptx64: no offload time)"
fi
clang=$(seconds "$CLANG" -O2 -fopenmp -c "$T/host.c" -o "$T/host.o") || exit 1
ours=$(seconds "$CC" -O2 -c "$T/host.c" -o "$T/host.o") || exit 1
row "no target construct, -c, of clang's" "$(echo "$ours $clang" | awk '{ print $1 / $2 }')" 1.1
for h in assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib string \
    tgmath time wchar wctype unistd fcntl pthread sys/types sys/stat sys/time sys/mman sys/socket netinet/in omp immintrin; do
    echo "#include <$h.h>"
done >"$T/headers.c"
cat >>"$T/headers.c" <<'EOF'
void add(int n, float a, const float *x, float *y)
{
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
EOF
headers=$(cpu "$CC" -O2 --gpu-arch=sm_90 -c "$T/headers.c" -o "$T/headers.o") || exit 1
row "35 headers and a kernel, -c, sm_90, processor time" "$headers" 0.9 s
# copies FILE WORDS LAST: the kernels of FILE up to the line LAST twelve times, under names of their own; WORDS: what a kernel begins with
copies() {
    awk -v words="$2" -v last="$3" '
    $0 ~ last { exit }
    function name_of(line) { sub(/^.*[ (]void |^TRIAD\(/, "", line); sub(/[(,].*/, "", line); return line }
    index($0, words) == 1 || /^TRIAD/ { name = name_of($0); names[++n] = name; sub(/^static /, ""); sub(name, name "@"); on = 1 }
    on { body[n] = body[n] $0 "\n"; if (/^}/ || /^TRIAD/) on = 0; next }
    { print }
    END { for (k = 0; k < 12; k++) for (i = 1; i <= n; i++) { b = body[i]; gsub("@", "_" k, b); printf "%s", b } }' "$1"
}
copies tests/bench/pairs.c "static void" "^static void reset" >"$T/many.c"
copies tests/bench/cuda/pairs.cu "__global__ void" "^#ifdef MAIN" >"$T/many.cu"
many=$(cpu "$CC" -O2 --gpu-arch=sm_90 -c "$T/many.c" -o "$T/many.o") || exit 1
if nvcc=$(command -v nvcc) && theirs=$(cpu "$nvcc" -O3 -arch=sm_90 -c "$T/many.cu" -o "$T/many.cu.o"); then
    row "204 kernels, -c, sm_90, processor time, of nvcc's $theirs s" "$(echo "$many $theirs" | awk '{ print $1 / $2 }')" 1.0
else
    echo "  204 kernels, -c, sm_90: $many s of processor time (no nvcc)"
fi
for name in axpy sum jacobi matmul teams nw fork_join; do
    clang=$(seconds "$CLANG" -O2 -fopenmp -c "samples/$name.c" -o "$T/a.o") && ours=$(seconds "$CC" -O2 --gpu-arch=sm_90 -c "samples/$name.c" -o "$T/a.o") || exit 1
    echo "$name $ours $clang" | awk '{ printf "  %-10s sm_90 -c %.2f s, clang for the host alone %.2f s\n", $1, $2, $3 }'
done
