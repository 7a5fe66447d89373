#!/bin/sh
# The runtime beside ordinary programs: malformed environment variables, many mappings, fork() while other threads are in regions.
. tests/lib.sh
ASAN_OPTIONS=detect_leaks=0; export ASAN_OPTIONS        # the programs leave mappings and memory behind
cat >one.c <<'C'
int main(void)
{
    int r = 41;
    #pragma omp target map(tofrom: r)
    r++;
    return r != 42;
}
C
check "one.c compiles" "$CC" --gpu-arch=emu -O1 one.c -o one
printf '#include <omp.h>\nint main(void) { return omp_get_default_device(); }\n' >rank.c
check "rank.c compiles" "$CC" --gpu-arch=emu rank.c -o rank
# rank_device WANTED SETTINGS…: of four devices
rank_device() { want=$1; shift; env OMPGPU_DEVICE=emu OMPGPU_EMU_DEVICES=4 "$@" ./rank; [ $? = "$want" ]; }
for rank in OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID MV2_COMM_WORLD_LOCAL_RANK SLURM_LOCALID; do
    check "OMPGPU_RANK_DEVICE=auto, $rank" rank_device 2 OMPGPU_RANK_DEVICE=auto $rank=6
done
check "... only where it is asked for" rank_device 0 SLURM_LOCALID=3
check "... OMP_DEFAULT_DEVICE wins" rank_device 1 OMPGPU_RANK_DEVICE=auto SLURM_LOCALID=3 OMP_DEFAULT_DEVICE=1
check "... not a number" rank_device 0 OMPGPU_RANK_DEVICE=auto SLURM_LOCALID=3x
cat >uids.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int ran = -1, good = omp_get_device_from_uid("none") == omp_invalid_device && !omp_get_uid_from_device(99);
    for (int i = 0; i < omp_get_num_devices(); i++) {
        const char *uid = omp_get_uid_from_device(i);
        printf("%s ", uid);
        #pragma omp target device(i) map(from: ran)
        ran = omp_get_device_num();
        good = good && ran == i && omp_get_device_from_uid(uid) == i;
    }
    puts("");
    return !(good && omp_get_device_from_uid(omp_get_uid_from_device(omp_get_initial_device())) == omp_get_initial_device());
}
C
check "uids.c compiles" "$CC" --gpu-arch=emu,sm_75 uids.c -o uids
# uids WANTED LIST [SETTINGS…]: of four devices
uids() { want=$1 list=$2; shift 2
         env OMPGPU_DEVICE=emu OMPGPU_EMU_DEVICES=4 OMP_AVAILABLE_DEVICES="$list" "$@" ./uids >out 2>err || { cat out err; return 1; }; cat out; [ "$(cat out)" = "$want" ]; }
check "OMP_AVAILABLE_DEVICES: in another order" uids 'EMU-2 EMU-0 EMU-1 ' 'uid(EMU-2), *[0:2]'
check "... and, not" uids 'EMU-0 EMU-2 EMU-3 ' '!uid(EMU-1) && KIND(gpu)&&vendor( nvidia )'
check "... a group, a part" uids 'EMU-3 EMU-0 EMU-2 ' '(uid(EMU-3) || uid(EMU-1))[1],!(uid(EMU-1)||uid(EMU-3)),*[3]'
check "... parts with an end or none" uids 'EMU-2 EMU-3 EMU-0 ' '*[2:],arch(nvptx64)[:1]'
for list in 'a' '2' 'uid(EMU-0) && kind(gpu) || kind(any)' '*[' 'uid(EMU-1),' 'kind()' 'uid(EMU-1) *' '(uid(EMU-1)'; do
    check "... malformed: $list" uids 'EMU-0 EMU-1 EMU-2 EMU-3 ' "$list"
    check "... says so" mentions "$(cat err)" "warning: OMP_AVAILABLE_DEVICES=|uid()"
done
check "... none" uids '' 'isa(sm_90)'
check "... the host says why" env OMPGPU_DEVICE=emu OMP_AVAILABLE_DEVICES='isa(sm_90)' ./one
none() { OMPGPU_DEVICE=emu OMP_AVAILABLE_DEVICES='isa(sm_90)' ./one 2>&1; }
check "... with the list" mentions "$(none)" "one.c:4|OMP_AVAILABLE_DEVICES=isa(sm_90)"
nulls() { env OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$OBJ/nullcuda/libcuda.so.1" NULLCUDA_DEVICES=2 OMP_AVAILABLE_DEVICES='isa(sm_90)[1]' ./uids; }
check "a GPU's is NVIDIA's" mentions "$(nulls)" "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1"
check "the last of several devices" env OMPGPU_DEVICE=emu OMPGPU_EMU_DEVICES=4 OMP_DEFAULT_DEVICE=3 OMP_TARGET_OFFLOAD=MANDATORY ./one
if command -v valgrind >/dev/null && [ -z "${OMPGPU_SANITIZE:-}" ]; then
    check "valgrind reads the library's debug information, and finds nothing" in_time env OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY valgrind -q --error-exitcode=9 ./one
else
    skip "valgrind" "not installed"
fi
# A setuid program does not do what its user's environment says: no report, no file, no other library, no other device.
not_obeyed() {
    chmod 711 . && mkdir open && chmod 777 open && cp one.set su && chmod 4755 su || return
    set -- setpriv --reuid=65534 --clear-groups env OMPGPU_DEVICE=ptx OMPGPU_INFO=1 OMPGPU_INFO_FILE="$PWD/open/info" OMPGPU_PROFILE="$PWD/open/profile" OMPGPU_PTX_PROFILE="$PWD/open/counters" \
        OMPGPU_CUDA_DRIVER="$PWD/e.so" OMPGPU_EMU_SCHEDULE=garbage OMP_TARGET_OFFLOAD=DISABLED
    "$@" ./su >out 2>&1 && lacks out loaded && lacks out garbage && lacks out PROFILE && [ -z "$(ls open)" ]
}
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    echo '#include <stdio.h>
    __attribute__((constructor)) static void x(void) { puts("loaded"); }' >e.c
    cc -shared -fPIC e.c -o e.so && "$CC" --gpu-arch=emu,sm_75 -static-ompgpu one.c -o one.set
    check "setuid: the environment is ignored" not_obeyed
else
    skip "setuid: the environment is ignored" "not root, or no setpriv"
fi
# Variables that were meant for us: one hint.
hinted() {
    in_time env OMPGPU_DEVICE=emu "$@" ./one 2>err && [ "$(wc -l <err)" = 1 ]
}
for pair in OMPGPU_INF0=1/OMPGPU_INFO OMPGPU_DEVISE=cuda/OMPGPU_DEVICE LIBOMPTARGET_INFO=-1/OMPGPU_INFO=1 GOMP_DEBUG=1/OMPGPU_INFO=1 NVCOMPILER_ACC_NOTIFY=3/OMPGPU_INFO=1; do
    check "${pair%%/*}" hinted "${pair%%/*}" && check "... hint" mentions "$(cat err)" "ompgpu: |${pair%%=*} is |${pair##*/}"
done
check "a device's schedule" hinted OMP_SCHEDULE_DEV_0=static && check "... hint" mentions "$(cat err)" "ompgpu: |OMP_SCHEDULE_DEV_0 |OMP_NUM_TEAMS"
check "two of them" hinted OMPGPU_INF0=1 GOMP_DEBUG=1
check "names that are not ours" in_time env OMPGPU_DEVICE=emu OMPGPU_LONG= OMPGPU_HOME=x sh -c './one 2>err && [ ! -s err ]'
# Every variable that libompgpu and its devices read is known to the hint.
variables() {
    (cd "$ROOT" && cat hostrt/*/*.c | grep -o '"OMPGPU_[A-Z_]*"' | sort -u) >variables.read
    (cd "$ROOT" && sed -n '/ompgpu_variable_names\[\]/,/^}/p' hostrt/core/hint.c | grep -o '"OMPGPU_[A-Z_]*"' | sort -u) >variables.known
    diff variables.read variables.known
}
check "the list of variables" variables
# malformed VARIABLE VALUE: one warning that names both; the region runs as if it were not set
malformed() {
    check "$1=$2 is ignored" in_time env OMPGPU_DEVICE=emu "$1=$2" sh -c './one 2>err'
    check "... and said once" [ "$(grep -c "warning: $1=$2 is ignored; valid: " err)" = 1 ]
}
malformed OMPGPU_EMU_MEMORY 0x10
malformed OMPGPU_EMU_MEMORY 1X
malformed OMPGPU_EMU_MEMORY 1Tb
malformed OMPGPU_EMU_MEMORY 99999999T
malformed OMPGPU_EMU_STACK 1
malformed OMPGPU_EMU_THREADS abc
malformed OMPGPU_EMU_DEVICES 9
malformed OMPGPU_EMU_SPEED 100,0
malformed OMPGPU_EMU_SCHEDULE garbage
malformed OMPGPU_EMU_SCHEDULE random:
malformed OMPGPU_STACK_SIZE -1
malformed OMPGPU_POOL -1
malformed OMPGPU_WAIT never
malformed OMPGPU_COPY_THREADS 0
malformed OMPGPU_ON_FAILURE never
malformed OMP_NUM_TEAMS 111111111111111111111111111111111111111111111111111111111111111111111
for good in OMPGPU_EMU_MEMORY=1T OMPGPU_EMU_MEMORY=64m OMPGPU_EMU_STACK=20000 OMPGPU_EMU_SCHEDULE=random OMPGPU_EMU_SCHEDULE=random:7 \
    OMPGPU_EMU_THREADS= OMPGPU_TEAM_HEAP=2G; do
    check "$good is taken" in_time env OMPGPU_DEVICE=emu "$good" sh -c './one 2>err && [ ! -s err ]'
done

# The emulated device stands in for a GPU that is not there: one line says so, on standard error; MANDATORY forbids it.
have_gpu || {
    unset OMPGPU_DEVICE
    check "nobody asked for the emulated device" in_time sh -c './one >out 2>err'
    check "... one line" [ "$(wc -l <err)" = 1 ]
    check "... and why" mentions "$(cat err)" "emulated device|no CUDA device|libcuda.so.1|OMPGPU_DEVICE=emu"
    check "MANDATORY" test_must_fail 1 in_time env OMP_TARGET_OFFLOAD=MANDATORY sh -c './one 2>err'
    check "... and why" mentions "$(cat err)" "one.c:4: error: |region main_4|OMP_TARGET_OFFLOAD=MANDATORY|no CUDA device|OMPGPU_DEVICE=emu"
    check "-fopenmp-offload-mandatory compiles" "$CC" --gpu-arch=emu -fopenmp-offload-mandatory one.c -o must
    check "... is MANDATORY" test_must_fail 1 in_time sh -c './must 2>err'
    check "... by its name" mentions "$(cat err)" "one.c:4: error: |region main_4|-fopenmp-offload-mandatory|no CUDA device|OMPGPU_DEVICE=emu"
    check "... where the emulated device is asked for" in_time env OMPGPU_DEVICE=emu sh -c './must 2>err && [ ! -s err ]'
    check "... DISABLED is an error" test_must_fail 1 in_time env OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=DISABLED sh -c './must 2>err'
}

# Memory that is used again while it is mapped: OMPGPU_INFO shows that nothing is copied, and why.
cat >stale.c <<'C'
static int memory[100];
static int first(int *p, int n)
{
    int r = 0;
    #pragma omp target map(to: p[0:n]) map(from: r)
    r = p[0];
    return r;
}
int main(void)
{
    int *p = memory;
    p[0] = 1;
    #pragma omp target enter data map(to: p[0:100])
    int *q = memory;
    q[0] = 2;
    return first(q, 100) != 1;
}
C
check "stale.c compiles" "$CC" --gpu-arch=emu -O1 stale.c -o stale
check "a stale mapping" in_time env OMPGPU_DEVICE=emu OMPGPU_INFO=1 sh -c './stale 2>err'
check "... is shown" has err 'stale.c:5: no copy to device: p\[0:n\], 400 bytes: mapped as p\[0:100\] at stale.c:13'

# 100,000 live mappings in random order of their addresses, and back in another one: well below a second.  With a search or a copy of the
# table for each it would be minutes.
cat >many.c <<'C'
#include <stdlib.h>
int main(void)
{
    enum { N = 100000 };
    char **p = malloc(N * sizeof *p);
    for (int i = 0; i < N; i++)
        p[i] = malloc(16);
    for (int i = 0; i < N; i++) {
        char *q = p[i * 7919ul % N];
        #pragma omp target enter data map(to: q[0:16])
    }
    for (int i = 0; i < N; i++) {
        char *q = p[i * 7907ul % N];
        #pragma omp target exit data map(from: q[0:16])
    }
    return 0;
}
C
check "many.c compiles" "$CC" --gpu-arch=emu -O1 many.c -o many
check "100,000 mappings" timeout $((10 * SLOWER)) env OMPGPU_DEVICE=emu ./many

# A thread is in regions all the time, on data of its own and on data of all, while the other one forks.  The children run regions on that data;
# what the thread's region has mapped must not be taken for theirs.
cat >forks.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int stop, runs;
static int x[100], shared[100];
static void *background(void *unused)
{
    int y[50] = { 0 };
    while (!stop) {
        #pragma omp target parallel for map(tofrom: y) map(to: shared) num_threads(4)
        for (int i = 0; i < 50; i++)
            y[i] += shared[i];
        runs++;
    }
    return unused;
}
static int region(int first)
{
    int s = 0;
    shared[0] = first;
    #pragma omp target teams distribute parallel for map(tofrom: x, shared) reduction(+: s)
    for (int i = 0; i < 100; i++) {
        x[i]++, shared[i]++;
        s += x[i];
    }
    return s == 100 && shared[0] == first + 1;
}
int main(void)
{
    pthread_t thread;
    int bad = 0, status;
    pthread_create(&thread, NULL, background, NULL);
    while (runs < 3)
        usleep(100);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(100);
            return !region(i);
        }
        waitpid(child, &status, 0);
        bad += status != 0;
        usleep(37 * i);
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("%d\n", bad);
    return bad || !region(7);
}
C
check "forks.c compiles" "$CC" --gpu-arch=emu,sm_90 -O1 forks.c -o forks
check "a child of fork runs regions" in_time env OMPGPU_DEVICE=emu ./forks
# A GPU cannot be used in the child; that is said, and nothing hangs.
check "... but not on a GPU that the parent has used" \
    test_must_fail in_time env OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$OBJ/nullcuda/libcuda.so.1" NULLCUDA_ARCH=90 sh -c './forks 2>err'
check "... and it is said" has err "region region_.*: a child of fork() cannot use the GPU"
finish
