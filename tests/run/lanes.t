#!/bin/sh
# lanes.c with any number of lanes: on the emulated device in several orders and with its checks, and as the GPU's code on the PTX machine, in several
# orders, with stores that others see late, and some with its race check.  OMPGPU_LONG: more orders, and all numbers at -O0, too.  What stops lanes, and what the compiler says of it.
. tests/lib.sh
few="2 32" seeds=1 executed="1 4 32"
[ -z "${OMPGPU_LONG:-}" ] || few="1 2 4 8 16 32" seeds="1 2" executed=$few
for flags in -O2 -O0; do
    # at -O0 the GPU's code is not executed, and the short form has fewer numbers, there and of those on the PTX machine
    if [ "$flags" = -O2 ]; then ARCH=--gpu-arch=sm_90,emu numbers="1 2 4 8 16 32"; else ARCH=--gpu-arch=emu numbers=$few; fi
    check "compiles $flags" "$CC" $ARCH $flags -w "$ROOT/tests/run/lanes.c" -o lanes -lm || continue
    for lanes in $numbers; do
        OMPGPU_LANES=$lanes; export OMPGPU_LANES
        OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
        check "$flags, $lanes lanes" ./lanes
        for seed in $seeds; do OMPGPU_EMU_SCHEDULE=random:$seed check "$flags, $lanes lanes, random:$seed" ./lanes; done
        case "$flags $executed " in -O2*" $lanes "*) ;; *) continue ;; esac
        OMPGPU_DEVICE=ptx
        check "$lanes lanes on the PTX machine" ./lanes
        [ -z "${OMPGPU_LONG:-}" ] || OMPGPU_PTX_SCHEDULE=$lanes check "$lanes lanes on the PTX machine, another order" ./lanes
        OMPGPU_PTX_SCHEDULE=$lanes OMPGPU_PTX_MEMORY=weak check "$lanes lanes on the PTX machine, another order, weak" ./lanes
        case $lanes in 4 | 32) OMPGPU_CHECK=race check "$lanes lanes on the PTX machine, race" ./lanes ;; esac
    done
done
unset OMPGPU_LANES OMPGPU_DEVICE

# says WORDS CLAUSES STATEMENT [BEFORE]: a row with that statement in a simd loop with these clauses, and one before it; in a loop with $directive.
# All rows are one file, a function each.
directive=simd
rows=0
cat >says.c <<C
#include <omp.h>
#include <stdlib.h>
static double next(double *p) { return (*p)++; }
C
says() {
    rows=$((rows + 1))
    printf '%s\n' "$1" >words.$rows
    echo "$directive $2 $3 ${4:-}: $1" >name.$rows
    cat >>says.c <<C
void row$rows(int n, const int *e, const double *restrict a, double *restrict y, double *restrict z, double *p, int *count)
{
#pragma omp target teams distribute parallel for map(to: e[0:n + 1], a[0:9 * n]) map(tofrom: y[0:9 * n], z[0:9 * n], p[0:9 * n], count[0:n])
    for (int i = 0; i < n; i++) {
        double s = 0, t = 0, tmp[9];
        int m = count[i];
        ${4:-;};
#pragma omp $directive reduction(+: s) $2
        for (int k = e[i]; k < e[i + 1]; k++) {
            $3;
        }
        y[i] = s + t + tmp[0] + m;
    }
}
C
}
says "8 or 32 lanes of a warp .* where the inner loop is long enough" "" "s += a[k]"
says "16 lanes of a warp .* as simdlen says" "simdlen(16)" "s += a[k]"
says "4 lanes of a warp .* long enough" "safelen(7)" "s += a[k]"
says "4 lanes of a warp .* as simdlen says" "safelen(7) simdlen(6)" "s += a[k]"
says "'simdlen' says that it takes one lane" "simdlen(1)" "s += a[k]"
says "'safelen' says that it takes one lane" "safelen(1)" "s += a[k]"
says "8 or 32 lanes" "" "s += a[k] * p[e[k]]"
says "8 or 32 lanes" "" "z[k] = a[k] + z[k]"
says "not side by side" "" "s += a[k * n + i]"
says "16 lanes" "simdlen(16)" "s += a[k * n + i]"
says "may access" "simdlen(16)" "z[k] = z[k + 1]"
says "may access" "simdlen(16)" "p[k] = a[k]"
says "may access" "simdlen(16)" "z[(char)k] = a[k]"
says "may access" "simdlen(16)" "z[e[k]] = a[k]"
says "may access" "simdlen(16)" "z[i] = a[k]"
says "may access" "simdlen(16)" "*(z + k) = a[k]"
says "16 lanes" "simdlen(16) order(concurrent)" "p[k] = p[k + 1]"
says "'t' is set in the inner loop" "simdlen(16)" "t = a[k]"
says "'tmp' is set in the inner loop" "simdlen(16)" "tmp[k % 9] = a[k]"
says "16 lanes" "simdlen(16) private(t)" "t = a[k], s += t"
says "'lastprivate'" "simdlen(16) lastprivate(t)" "t = a[k]"
says "'if'" "simdlen(16) if(n > 3)" "s += a[k]"
says "may do more than compute" "simdlen(16)" "s += next(p)"
says "takes an address" "simdlen(16)" "s += *&tmp[1]"
says "takes an address" "simdlen(16)" "s += a[k]" "double **q = &p; *q = z"
says "takes an array's address" "simdlen(16)" "s += a[k]" "double *q = tmp; *q = 1"
says "a statement sets a variable" "simdlen(16)" "s += a[k]" "y[m++] = 1"
says "only one lane may evaluate" "simdlen(16)" "s += a[k]" "if (next(p) > 1) t = 2"
says "not looked into" "simdlen(16)" "s += a[k]" "goto end; end: t = 1"
says "neither the iteration's own nor mapped" "simdlen(16)" "s += a[k]" "n = 3"
says "volatile" "simdlen(16)" "s += a[k]" "t = *(volatile double *)p"
says "16 lanes" "simdlen(16)" "s += a[k]" "if (m > 2) y[i] = 3; else z[next(p) > 1] = 4"
says "all of another loop" "" "s += a[k]" "for (int j = 0; j < m; j++) t += j"
# a parallel region with a loop
for directive in "parallel for" "parallel for simd" "parallel loop"; do
    says "8 or 32 lanes of a warp .* where the inner loop is long enough" "" "s += a[k]"
    says "8 or 32 lanes" "" "p[k] = a[k], z[k] = p[k + 1]"
    says "8 or 32 lanes" "" "z[e[k]] = a[k]"
    says "not side by side" "" "s += a[k * n + i]"
    says "store to the same element" "" "y[i] += a[k]"
    says "store to the same element" "" "*count = k"
    says "'t' is set in the inner loop" "" "t = a[k]"
    says "8 or 32 lanes" "private(t) default(shared)" "t = a[k], s += t"
    says "'firstprivate'" "firstprivate(t)" "t += a[k], s += t"
    says "may do more than compute" "" "s += next(p)"
done
directive="parallel for"
for question in get_thread_num get_num_threads get_level get_active_level get_max_threads get_team_num in_parallel; do
    says "may ask which thread" "" "s += omp_$question()"
done
says "may ask which thread\|only one lane" "" "s += a[k]" "omp_set_max_active_levels(2)"
says "8 or 32 lanes" "if(1) schedule(static) order(concurrent)" "s += a[k]"
says "8 or 32 lanes" "schedule(auto) shared(a)" "s += a[k]"
says "8 or 32 lanes" "schedule(static, 1)" "s += a[k]"
says "'schedule'" "schedule(static, 2)" "s += a[k]"
says "'schedule'" "schedule(static, n)" "s += a[k]"
says "'schedule'" "schedule(dynamic)" "s += a[k]"
says "'schedule'" "schedule(runtime)" "s += a[k]"
says "'if'" "if(n > 3)" "s += a[k]"
says "'if'" "if(0)" "s += a[k]"
says "'num_threads'" "num_threads(4)" "s += a[k]"
says "'proc_bind'" "proc_bind(close)" "s += a[k]"
says "'ordered'" "ordered" "s += a[k]"
says "'lastprivate'" "lastprivate(t)" "t = a[k]"
says "contains" "" "_Pragma(\"omp atomic\") z[k]++"
for inside in critical flush "cancel for" "parallel for" simd task; do
    statement="z[k] = 1"
    case $inside in
    flush | cancel*) statement="; $statement" ;;
    simd | parallel*) statement="for (int j = 0; j < n; j++) $statement" ;;
    esac
    says "contains" "" "_Pragma(\"omp $inside\") $statement"
done
directive="parallel for simd"
says "16 lanes of a warp .* as simdlen says" "simdlen(16) safelen(20) aligned(a)" "s += a[k * n]"
says "'linear'" "linear(m: 2)" "m += 2"
says "'if'" "if(simd: n > 3)" "s += a[k]"
directive=parallel
says "contains 'parallel'" "" "s += a[k]" "_Pragma(\"omp simd reduction(+: t)\") for (int j = 0; j < m; j++) t += a[j]"
check "the rows compile" sh -c "'$CC' --gpu-arch=sm_90 -O2 -w -Rompgpu --emit=ptx says.c -o says.ptx >says 2>&1"
awk "/ remark: region 'row[0-9]*_/ { of = \$4; gsub(/^'|_.*/, \"\", of) } of { print >of }" says
row=0
while [ $row -lt $rows ]; do
    row=$((row + 1))
    check "$(cat name.$row)" has row$row "lanes .*$(cat words.$row)"
done
finish
