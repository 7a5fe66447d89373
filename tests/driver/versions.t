#!/bin/sh
# The host's versions of regions are optimised less than what is around them (codegen/ir/passes/versions.c): which functions that concerns, with
# which flags, and that they do the same.
. tests/lib.sh
cat >app.c <<'C'
#include <math.h>
#include <omp.h>
#include <stdio.h>
enum { N = 4096 };
float x[N], y[N], z[N];
static float of_both(float v) { return 3 * v + 1; }
static float of_region(float v) { return 2 * v - 1; }
static inline __attribute__((always_inline)) float inlined(float v) { return v * v; }
void around(int n)
{
    for (int i = 0; i < n; i++)
        z[i] = of_both(x[i]) + inlined(y[i]);
}
void region(int n)
{
#pragma omp target teams distribute parallel for map(tofrom: x, y)
    for (int i = 0; i < n; i++)
        y[i] = of_both(x[i]) + of_region(y[i]) + inlined(x[i]);
}
void parts(int n)
{
    float sum = 0, last = 0;
#pragma omp target map(tofrom: x, y, sum, last) if(n > 0)
    {
        float local[8] = { 1, 2 };
#pragma omp parallel for reduction(+: sum) lastprivate(last)
        for (int i = 0; i < n; i++) {
            last = x[i] + local[i & 1];
            sum += y[i];
        }
#pragma omp parallel sections
        {
#pragma omp section
            x[0] += sum;
#pragma omp section
            x[1] += last;
        }
    }
#pragma omp target nowait depend(inout: x) map(tofrom: x)
    for (int i = 2; i < n; i++)
        x[i] = sqrtf(x[i]) + 1;
#pragma omp taskwait
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        z[i] += x[i];
}
int main(void)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 16), y[i] = (float)(i % 5);
    region(N), around(N), parts(N);
    for (int i = 0; i < N; i++)
        s += x[i] + y[i] + z[i];
    printf("%.6g\n", s);
    return 0;
}
C
# code FUNCTION PATTERN: in that function of app.s, and in those that clang makes of it, there is such a line
code() { awk -v f="$1" '/^[A-Za-z_]/ { on = index($0, f) == 1 || index($0, "_" f "_l") } on' app.s >part && has part "$2"; }
no_code() { ! code "$1" "$2" >/dev/null && test -s part; }
# uses_steps NUMBER FLAGS…: commands of the host's part before the last
uses_steps() {
    wanted=$1
    shift
    "$CC" -### --gpu-arch=emu "$@" -c app.c -o app.o 2>commands || { cat commands; return 1; }
    n=$(grep -c 'host-versions=\|-emit-llvm .*host\.c' commands)
    [ "$n" = "$wanted" ] || { echo "$n of them"; cat commands; return 1; }
}
for flags in -O1 -O2 -Os -Oz "-O2 -g" "-O2 -fPIC -march=native -ffast-math"; do
    # shellcheck disable=SC2086
    check "$flags: two more" uses_steps 2 $flags
done
for flags in "" -O0 -O3 -Ofast -Og "-O2 -fsanitize=address" "-O2 --coverage" "-O2 -fprofile-instr-generate" "-O2 -pg" "-O2 -mllvm -stats" \
    "-O2 -Xclang -fno-pch-timestamp" "-O2 -fompgpu-check-host" "-O2 -fsave-optimization-record"; do
    # shellcheck disable=SC2086
    check "'$flags': none" uses_steps 0 $flags
done
if command -v gcc >/dev/null; then check "--host-cc=gcc: none" uses_steps 0 -O2 --host-cc=gcc; fi

check "-O3 -S" "$CC" -O3 --gpu-arch=emu -save-temps -c app.c -o app.o
check "... the version is vectorised" code region 'mulps\|addps'
check "-O2 -S" "$CC" -O2 --gpu-arch=emu -save-temps -c app.c -o app.o
check "... it is not" no_code region 'mulps'
check "... but has its variables in registers" code region 'mulss'
check "... and a function that is to be inlined" no_code region 'call.*inlined'
check "... what is around the regions is vectorised" code around 'mulps'
check "... with the functions that it shares with regions" no_code around 'call.*of_both'
check "... and the loop of the host's own construct" code parts 'addps'

"$CC" -O3 --gpu-arch=emu app.c -o app -lm && OMP_TARGET_OFFLOAD=disabled ./app >wanted
check "-O3 prints something" test -s wanted
for flags in -O0 -O1 -O2 -Os -Oz "-O2 -g" "-O2 -fPIC -ffunction-sections -fdata-sections" "-O2 -std=gnu11 -Wall -Werror" "-O2 -fopenmp-offload-mandatory"; do
    # shellcheck disable=SC2086
    check "$flags" "$CC" $flags --gpu-arch=emu app.c -o app -lm
    case $flags in *mandatory) way=default ;; *) way=disabled ;; esac
    check "... runs on the host, and prints the same" sh -c "OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=$way ./app >out && diff wanted out"
done
check "lines of a version, with -g" sh -c '"$0" -O2 -g --gpu-arch=emu -c app.c -o app.o && llvm-dwarfdump-22 --debug-line app.o 2>/dev/null >lines || objdump -dl app.o >lines; grep -q "app.c" lines' "$CC"
finish
