#!/bin/sh
# The watchdog: a region in which all wait for locks ends with a message; one that only waits for long does not.
. tests/lib.sh
cat >nested.c <<'C'
static void add(int *n)
{
#pragma omp critical
    ++*n; /* line 4 */
}
int main(void)
{
    int n = 0;
#pragma omp target parallel num_threads(4) map(tofrom: n) /* line 9 */
    {
#pragma omp critical
        add(&n);
    }
    return n;
}
C
cat >long.c <<'C'
#include <omp.h>
int main(void)
{
    int n = 0, busy = 1;
#pragma omp target teams num_teams(2) thread_limit(2) map(tofrom: n, busy)
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        {
            double end = omp_get_wtime() + (busy ? 1.4 : 0);
            while (omp_get_wtime() < end)
                ;
            busy = 0;
            n++;
        }
    }
    return n != 4;
}
C
OMPGPU_HANG_SECONDS=1 OMPGPU_EMU_THREADS=2 OMPGPU_DEVICE=emu; export OMPGPU_HANG_SECONDS OMPGPU_EMU_THREADS OMPGPU_DEVICE
hangs() { "$CC" --gpu-arch=emu -w "$@" nested.c -o nested && ! timeout 60 ./nested 2>err && mentions "$(cat err)" "nested.c:9: error|region main_9|hangs|critical|team 0"; }
check "nested critical" hangs -O2
check "nested critical, -O0 -g" hangs -O0 -g && check "... says where" mentions "$(cat err)" "waits at nested.c:"
# Off: whoever waits there waits until somebody looks, with a debugger.
stays() { OMPGPU_HANG_SECONDS=0 timeout 5 ./nested 2>err; rc=$?; [ $rc = 124 ] && [ ! -s err ] || { echo "exit code $rc"; cat err; return 1; }; }
check "OMPGPU_HANG_SECONDS=0 says nothing" stays
cat >flag.c <<'C'
int main(void)
{
    int flag = 0;
#pragma omp target parallel num_threads(40) map(tofrom: flag)
    for (int seen = 0; !seen;) {
#pragma omp atomic read
        seen = flag;
    }
    return 0;
}
C
cat >looks.c <<'C'
#include <omp.h>
int main(void)
{
    int done = 0;
#pragma omp target map(tofrom: done)
    for (double begin = omp_get_wtime(), seen = 0; !seen;) {
#pragma omp atomic read
        seen = done;
        double now = omp_get_wtime();
        while (omp_get_wtime() < now + 1e-3)
            ;
        if (now > begin + 1.5) {
#pragma omp atomic write
            done = 1;
        }
    }
    return !done;
}
C
check "a flag that nobody sets: compiles" "$CC" --gpu-arch=emu -O2 flag.c -o flag
check "... hangs" test_must_fail 1 timeout 60 ./flag
cp .log err
check "... says where" mentions "$(cat err)" "flag.c:4: error|region main_4|hangs|memory|waits at flag.c:7"
# A debugger, or a shell, stops the process for longer than that: afterwards it has its second still.
stopped() {
    ./flag 2>err & pid=$!
    sleep 0.3; kill -STOP $pid; sleep 1.5; kill -CONT $pid; sleep 0.3
    kill -0 $pid || { echo "ended at once"; cat err; return 1; }
    wait $pid; [ $? = 1 ] && mentions "$(cat err)" "hangs"
}
check "the time in which the process is stopped does not count" stopped
check "work with a look at a flag in between: compiles" "$CC" --gpu-arch=emu -w -O1 looks.c -o looks
check "... is none" sh -c "timeout 60 ./looks 2>err && [ ! -s err ]"
check "a long critical construct: compiles" "$CC" --gpu-arch=emu -O1 long.c -o long
check "... is none" sh -c "timeout 60 ./long 2>err && [ ! -s err ]"
finish
