#!/bin/sh
# Which loops have a kernel for launches with fewer threads than iterations, and what OMP_NUM_TEAMS does to those that have none.
. tests/lib.sh
# forms NUMBER LOOP [FLAGS…]: kernels of the region, wide ones apart
forms() {
    wanted=$1
    printf 'extern int omp_get_team_num(void);\nstatic int f(int i) { return i + omp_get_team_num(); }\nvoid work(int n, int from, long m, unsigned u, float *x)\n{\n%b\n}\n' "$2" >loop.c
    shift 2
    "$CC" -O2 --gpu-arch=sm_75 --emit=ptx "$@" loop.c -o loop.ptx || return 1
    n=$(grep -c '^\.visible \.entry work_[0-9]*\(__omp_strided\)\{0,1\}(' loop.ptx)
    [ "$n" = "$wanted" ] || { echo "$n kernels"; grep '\.entry' loop.ptx; return 1; }
}
P='#pragma omp target teams distribute parallel for'
check "an int from a constant: one kernel" forms 1 "$P\nfor (int i = 0; i < n; i++) x[i] = 1;"
check "... with a step" forms 1 "$P\nfor (int i = 7; i <= n; i += from) x[i] = 1;"
check "... down to a constant" forms 1 "$P\nfor (int i = n; i >= 0; i--) x[i] = 1;"
check "... a short" forms 1 "$P\nfor (short i = from; i < n; i++) x[i] = 1;"
check "... with schedule(dynamic)" forms 1 "$P schedule(dynamic)\nfor (int i = 0; i < n; i++) x[i] = 1;"
check "... with a limit of threads" forms 1 "$P thread_limit(64)\nfor (int i = 0; i < n; i++) x[i] = 1;"
check "-fompgpu-team-limits: two" forms 2 "$P\nfor (int i = 0; i < n; i++) x[i] = 1;" -fompgpu-team-limits
check "num_teams: two" forms 2 "$P num_teams(n)\nfor (int i = 0; i < n; i++) x[i] = 1;"
check "perhaps more than 2^31 iterations: one" forms 1 "$P\nfor (int i = from; i < n; i++) x[i] = 1;"
check "... an unsigned" forms 1 "$P\nfor (unsigned i = 0; i < u; i++) x[i] = 1;"
check "... a long" forms 1 "$P\nfor (long i = 0; i < m; i++) x[i] = 1;"
check "... !=" forms 1 "$P\nfor (int i = 0; i != n; i++) x[i] = 1;"
wide() { forms 1 "$1" && grep -q '^\.visible \.entry work_[0-9]*__omp_wide(' loop.ptx; }
check "... which has a wide form" wide "$P\nfor (long i = 0; i < m; i++) x[i] = 1;"
check "... an unsigned, too" wide "$P\nfor (unsigned i = 0; i < u; i++) x[i] = 1;"
check "a nest of such loops: one" forms 1 "$P collapse(2)\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;"
check "... triangular" forms 1 "$P collapse(2)\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j <= i; j++) x[i * n + j] = 1;"
check "... the outer one of any int" forms 1 "$P collapse(2)\nfor (unsigned i = from; i != u; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;"
check "... with schedule(dynamic)" forms 1 "$P collapse(2) schedule(dynamic)\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;"
check "an inner one from a variable on: two" forms 2 "$P collapse(2)\nfor (int i = 0; i < n; i++)\nfor (int j = from; j < n; j++) x[i * n + j] = 1;"
check "... a long outside" forms 2 "$P collapse(2)\nfor (long i = 0; i < m; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;"
check "... num_teams" forms 2 "$P num_teams(n) collapse(2)\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;"
check "... -fompgpu-team-limits" forms 2 "$P collapse(2)\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) x[i * n + j] = 1;" -fompgpu-team-limits
check "a body that asks for its team: two" forms 2 "$P\nfor (int i = 0; i < n; i++) x[i] = (float)omp_get_team_num();"
check "... by a function" forms 2 "$P\nfor (int i = 0; i < n; i++) x[i] = (float)f(i);"

cat >app.c <<'C'
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { MOST = 100000 };
static int v[MOST];
static void add(int n)
{
#pragma omp target teams distribute parallel for map(tofrom: v)
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            continue;
        v[i] += i;
    }
}
static int count(int n)
{
    int teams = 0;
#pragma omp target teams distribute parallel for map(tofrom: v, teams)
    for (int i = 0; i < n; i++) {
        v[i] += 1;
        if (i == 0)
            teams = omp_get_num_teams();
    }
    return teams;
}
static int last_of(int n)
{
    int last = -1, j = 0;
#pragma omp target teams distribute parallel for lastprivate(j) map(tofrom: last)
    for (int i = n; i >= 0; i--) {
        j = i + 7;
        if (i == 0)
            last = i;
    }
    return j + last;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : MOST, bad = 0;
    add(n);
    int teams = count(n);
    for (int i = 0; i < MOST; i++)
        bad += v[i] != (i < n ? (i % 3 ? i : 0) + 1 : 0);
    printf("%d %d %d\n", bad, last_of(n), teams);
    return 0;
}
C
# says OUTPUT [WARNINGS] COMMAND…
says() {
    wanted=$1 warnings=$2
    shift 2
    on_device "$@" >out 2>err || { cat out err; return 1; }
    [ "$(cat out)" = "$wanted" ] && [ "$(grep -c 'does not apply to a loop' err)" = "$warnings" ] || { cat out err; return 1; }
}
for level in -O0 -O2; do
    check "$level" "$CC" $level "$ARCH" app.c -o app
    check "$level: a limit that larger teams keep" says "0 7 3" 0 env OMP_NUM_TEAMS=3 ./app 2000
    check "$level: one that none can keep, said once" says "0 7 3" 1 env OMP_NUM_TEAMS=3 ./app
    check "... with the place and the flag" has err 'app.c:9: .*limit of 3 teams.*-fompgpu-team-limits'
    check "$level: one that needs nothing" says "0 7 5" 0 env OMP_NUM_TEAMS=5 ./app 50
    check "$level: no iterations" says "0 7 0" 0 env OMP_NUM_TEAMS=5 ./app 0
    check "$level: with a limit of threads" says "0 7 3" 1 env OMP_NUM_TEAMS=3 OMP_TEAMS_THREAD_LIMIT=32 ./app 2000
    check "$level: -fompgpu-team-limits" "$CC" $level -fompgpu-team-limits "$ARCH" app.c -o app
    check "... the limit applies" says "0 7 3" 0 env OMP_NUM_TEAMS=3 ./app
done
cat >long.c <<'C'
#include <limits.h>
#include <stdio.h>
int main(void)
{
    int last = 0;
#pragma omp target teams distribute parallel for map(tofrom: last)
    for (int i = 0; i < INT_MAX; i++)
        if (i == INT_MAX - 1)
            last = i;
    printf("%d\n", last);
#pragma omp target teams distribute parallel for map(tofrom: last)
    for (int i = INT_MAX; i >= 0; i--)
        if (i == 0)
            last = 7;
    printf("%d\n", last);
    return 0;
}
C
check "2^31 - 1 and 2^31 iterations" "$CC" -O2 "$ARCH" long.c -o long
check "... run" sh -c './long >out && printf "2147483646\n7\n" | diff - out'
finish
