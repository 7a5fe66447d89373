#!/bin/sh
# lanes_team.c as the GPU's code on the PTX machine: in several orders, with stores that others see late and with its race check.  What the compiler
# says of a team's loop, and what stops lanes.
. tests/lib.sh
ARCH=--gpu-arch=sm_90,emu
check "compiles" "$CC" $ARCH -O2 -w "$ROOT/tests/run/lanes_team.c" -o lanes -lm || { finish; exit 1; }
OMPGPU_DEVICE=ptx; export OMPGPU_DEVICE
check "on the PTX machine" ./lanes
for seed in 1 2 3; do
    OMPGPU_PTX_SCHEDULE=$seed check "order $seed" ./lanes
    OMPGPU_PTX_SCHEDULE=$seed OMPGPU_PTX_MEMORY=weak check "order $seed, weak" ./lanes
done
OMPGPU_CHECK=race check "race" ./lanes
unset OMPGPU_DEVICE

# says WORDS ROWS CLAUSES STATEMENT: of `parallel for` with these clauses over rows, with that statement in a simd loop
says() {
    cat >says.c <<C
#include <omp.h>
void f(int n, int m, const double *a, double *y)
{
#pragma omp target teams distribute map(to: a[0:9 * n]) map(tofrom: y[0:n])
    for (int b = 0; b < 9; b++) {
        double local[9], scale = b;
#pragma omp parallel
        {
            double own = omp_get_thread_num();
#pragma omp for $2
            for (int i = 0; i < n; i++) {
                double s = 0;
#pragma omp simd reduction(+: s) $3
                for (int k = 0; k < m; k++)
                    s += a[i * m + k];
                $4;
            }
        }
    }
}
C
    "$CC" $ARCH -O2 -w -Rompgpu -c says.c -o says.o >says 2>&1
    check "'$2' '$3' '$4': $1" has says "lanes .*$1"
}
says "where there are fewer iterations than threads" "" "" "y[i] = s + scale"
says "where there are fewer iterations than threads" "nowait" "safelen(8)" "local[i % 9] = s"
says "16 lanes of a warp run an iteration together, as simdlen says" "" "simdlen(16)" "y[i] = s"
says "each thread has a 'own' of its own" "" "" "y[i] = s + own"
says "the loop around it has 'schedule'" "schedule(dynamic)" "" "y[i] = s"
says "the loop around it has 'schedule'" "schedule(static, 4)" "" "y[i] = s"
says "may ask which thread it runs in" "" "" "y[i] = omp_get_thread_num()"
finish
