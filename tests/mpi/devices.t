#!/bin/sh
# Devices of other ranks over MPI: what programs compute there, all of the plugin's operations, what they cost in messages.
# OMPGPU_LONG: all programs of tests/run.
. tests/lib.sh
. "$ROOT/tests/mpi/lib.sh"
cat >all.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 700000 };
static int table[4] = { 1, 2, 3, 4 };
#pragma omp declare target enter(table)
static int failures;
#define CHECK(e) ((e) ? 0 : (failures++, fprintf(stderr, "line %d: %s\n", __LINE__, #e)))

static void one(int d)
{
    int *a = malloc(N * sizeof *a), on = 0, number = -1;
    long sum = 0;
    for (int i = 0; i < N; i++) a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom: a[0:N]) reduction(+: sum) device(d)
    for (int i = 0; i < N; i++) a[i] *= 2, sum += a[i];
    CHECK(sum == (long)N * (N - 1));
    for (int i = 0; i < N; i++) if (a[i] != 2 * i) { CHECK(a[i] == 2 * i); break; }
#pragma omp target map(from: on, number) device(d)
    on = !omp_is_initial_device(), number = omp_get_device_num();
    CHECK(on && number == d);
    free(a);
}
/* The host has one table: not by several threads. */
static void global(int d)
{
#pragma omp target device(d)
    table[1] = 7;
    CHECK(table[1] == 2);
#pragma omp target update from(table) device(d)
    CHECK(table[1] == 7 && table[3] == 4);
    table[1] = 2;
}
/* From device to device; rectangles; a pointer that is device memory. */
static void copies(int n)
{
    int *on[8], host[1000];
    for (int d = 0; d < n; d++) on[d] = omp_target_alloc(N * sizeof(int), d);
    for (int i = 0; i < 1000; i++) host[i] = i;
    CHECK(!omp_target_memcpy(on[0], host, sizeof host, 0, 0, 0, omp_get_initial_device()));
    for (int d = 1; d < n; d++) {
        int *p = on[d];
        CHECK(!omp_target_memcpy(on[d], on[d - 1], N * sizeof(int), 0, 0, d, d - 1));
#pragma omp target is_device_ptr(p) device(d)
        for (int i = 0; i < 1000; i++) p[i] += i;
    }
    memset(host, 0, sizeof host);
    CHECK(!omp_target_memcpy(host, on[n - 1], sizeof host, 0, 0, omp_get_initial_device(), n - 1));
    for (int i = 0; i < 1000; i++) if (host[i] != n * i) { CHECK(host[i] == n * i); break; }
    for (int d = 0; d < n; d++) omp_target_free(on[d], d);
}
/* One after the other on all devices, by dependences; then all at once. */
static void queues(int n)
{
    int x[100], parts[8][100];
    for (int i = 0; i < 100; i++) x[i] = i;
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < n; d++) {
#pragma omp target teams distribute parallel for map(tofrom: x) device(d) nowait depend(inout: x)
            for (int i = 0; i < 100; i++) x[i] = 2 * x[i] + 1;
        }
    for (int d = 0; d < n; d++) {
#pragma omp target teams distribute parallel for map(from: parts[d]) device(d) nowait
        for (int i = 0; i < 100; i++) parts[d][i] = i * d;
    }
#pragma omp taskwait
    for (int i = 0; i < 100; i++) {
        int want = i;
        for (int k = 0; k < 3 * n; k++) want = 2 * want + 1;
        if (x[i] != want) { CHECK(x[i] == want); break; }
        for (int d = 0; d < n; d++) CHECK(parts[d][i] == i * d);
    }
}
int main(int argc, char **argv)
{
    int n = omp_get_num_devices();
    if (argc > 1) {                   /* empty regions */
#pragma omp target device(n - 1)
        { }
        for (int i = 0; i < atoi(argv[1]); i++) {
#pragma omp target device(n - 1)
            { }
        }
        return 0;
    }
    CHECK(n == 4);
    for (int d = 0; d < n; d++) one(d), global(d);
    copies(n);
    queues(n);
#pragma omp parallel for num_threads(4)
    for (int d = 0; d < n; d++) one(d);
    for (int d = 0; d < n; d++)
        for (int e = 0; e < d; e++) CHECK(strcmp(omp_get_uid_from_device(d), omp_get_uid_from_device(e)));
    printf("%d devices\n", n);
    return failures != 0;
}
C
messages() { ranks "$1" 3 ./all "$2" && sed -n 's/.*other nodes: \([0-9]*\) messages.*sent, \([0-9]*\) with.*/\1 \2/p' err; }
# A region: its launch, which is also the question whether it has ended, and the answer.
empty_regions() {
    OMPGPU_INFO=1; export OMPGPU_INFO
    few=$(messages "$1" 10) many=$(messages "$1" 1010)
    unset OMPGPU_INFO
    echo "10: $few; 1010: $many"
    [ $((${many% *} - ${few% *})) = 1000 ] && [ $((${many#* } - ${few#* })) = 1000 ]
}
# Constructs that depend on each other, on devices of two ranks in turn: an answer for each, its end, and none for what it waits for. Now and then
# the runtime looks how far they are.
cat >chain.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), x[100] = { 0 }, sum[2] = { 0 };
    double seconds = argc > 2 ? 1.5 : 0, start = omp_get_wtime();
    for (int d = 1; d < 3; d++) {
#pragma omp target enter data map(to: x) device(d)
#pragma omp target device(d) nowait depend(inout: x)
        for (double end = omp_get_wtime() + seconds; seconds > 0 && omp_get_wtime() < end;) ;
    }
    for (int i = 0; i < n; i++) {
#pragma omp target device(1 + i % 2) nowait depend(inout: x)
        x[0]++;
    }
    int late = seconds > 0 && omp_get_wtime() - start > seconds;
    /* What comes after on the host finds everything done there, also at the other rank. */
#pragma omp target exit data map(from: x) device(1) nowait depend(inout: x)
#pragma omp target update from(x) device(2) nowait depend(inout: x)
#pragma omp target map(tofrom: sum) map(to: x) device(3) nowait depend(inout: x)
    for (int i = 0; i < 2; i++) sum[i] += x[0] + i;
#pragma omp taskwait
    printf("%d %d%s\n", sum[0], sum[1], late ? " late" : "");
    return sum[0] != n / 2 || sum[1] != n / 2 + 1 || late;
}
C
chain() {
    OMPGPU_INFO=1; export OMPGPU_INFO
    few=$(ranks "$1" 3 ./chain 10 && sed -n 's/.*other nodes: \([0-9]*\) messages.*sent, \([0-9]*\) with.*/\1 \2/p' err)
    many=$(ranks "$1" 3 ./chain 210 && sed -n 's/.*other nodes: \([0-9]*\) messages.*sent, \([0-9]*\) with.*/\1 \2/p' err)
    unset OMPGPU_INFO
    echo "10: $few; 210: $many"
    [ $((${many#* } - ${few#* })) -lt 360 ]
}
check "compiles" "$CC" -O2 $ARCH all.c -o all
check "compiles" "$CC" -O2 $ARCH chain.c -o chain
slow_seen=
for mpi in $MPIS; do
    check "$mpi" ranks "$mpi" 3 ./all; [ -s err ] && sed 's/^/# /' err
    check "$mpi: all devices" has out "^4 devices"
    check "$mpi: a message and an answer for an empty region" empty_regions "$mpi"
    check "$mpi: no answer is waited for by a construct that depends on another rank's" chain "$mpi"
    # two regions that compute for a while: over one of them, which does not matter to the host's side
    [ -n "$slow_seen" ] && [ -z "${OMPGPU_LONG:-}" ] || check "$mpi: the program does not wait for it" ranks "$mpi" 3 ./chain 10 slow
    slow_seen=1
    check "$mpi: the program's other ranks are workers" sh -c "timeout -k 5 100 mpirun.$mpi -n 4 ./all >out 2>err && grep -q '^4 devices' out && [ \$(wc -l <out) = 1 ]"
    check "$mpi: off" sh -c 'OMPGPU_NODES=self; export OMPGPU_NODES; ./all 3'
    check "$mpi: no process is left" no_worker_left
done
check "a bad value is said" sh -c 'OMPGPU_NODES=all ./all 1 2>err; grep -q "warning: OMPGPU_NODES=all is ignored; valid: self, mpi" err'

programs="deferred interop openmp60 ompt print_order reverse spread_data threads_host"
# Not gnu, which needs memory that host and device share, and without_omp_h, which names device 0.
[ -z "${OMPGPU_LONG:-}" ] || programs=$(cd "$ROOT/tests/run" && ls *.c | sed 's/\.c$//' | grep -vxE 'gnu|without_omp_h')
OMP_DEFAULT_DEVICE=2 OMPGPU_EMU_DEVICES=1
export OMP_DEFAULT_DEVICE OMPGPU_EMU_DEVICES OMP_CANCELLATION
for p in $programs; do
    program "$ROOT/tests/run/$p.c"
    # shellcheck disable=SC2086
    check "$p compiles" "$CC" -O2 -w $ARCH -I"$ROOT/tests" -I"$ROOT/tests/run" $program_flags "$src" $program_parts -o prog -lm || continue
    # cancel starts itself anew without it; nothing is deferred with it
    OMP_CANCELLATION=FALSE
    case $p in cancel*) OMP_CANCELLATION=TRUE ;; esac
    # Regions that must be under way at once, which takes cores.
    # shellcheck disable=SC2034
    if [ "$p" = deferred ]; then OMPGPU_DEVICE=; else OMPGPU_DEVICE=emu; fi
    for mpi in $MPIS; do check "$p over $mpi" ranks "$mpi" 3 ./prog || sed 's/^/# /' err; done
done
finish
