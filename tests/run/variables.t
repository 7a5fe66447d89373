#!/bin/sh
# Environment variables of devices, with their endings, and what OMP_DISPLAY_ENV shows of them.
. tests/lib.sh
cat >app.c <<'C'
#include <omp.h>
#include <stdio.h>
static void launch(int device)
{
    int teams = 0, threads = 0, limited = 0;
    #pragma omp target teams distribute parallel for device(device) map(tofrom: teams, threads)
    for (int i = 0; i < 100000; i++)
        if (i == 0)
            teams = omp_get_num_teams(), threads = omp_get_num_threads();
    #pragma omp target parallel num_threads(64) device(device) map(tofrom: limited)
    if (omp_get_thread_num() == 0)
        limited = omp_get_num_threads();
    printf("%d,%d,%d ", teams, threads, limited);
}
int main(int argc, char **argv)
{
    launch(0);
    launch(1);
    (void)argv;
    if (argc > 1)
        omp_display_env(0);
    return 0;
}
C
"$CC" --gpu-arch=emu -O2 app.c -o app || exit 1
OMPGPU_DEVICE=emu OMPGPU_EMU_DEVICES=2; export OMPGPU_DEVICE OMPGPU_EMU_DEVICES
shows() {
    name=$1 expected=$2; shift 2
    got=$(env "$@" ./app 2>err)
    check "$name" test "$got" = "$expected "
}
shows "no ending" "3,256,64 3,256,64" OMP_NUM_TEAMS=3
shows "all devices" "4,96,64 4,96,64" OMP_NUM_TEAMS=3 OMP_NUM_TEAMS_ALL=5 OMP_NUM_TEAMS_DEV=4 OMP_TEAMS_THREAD_LIMIT_ALL=96
shows "one device" "5,32,64 7,256,64" OMP_NUM_TEAMS_DEV_1=7 OMP_NUM_TEAMS_ALL=5 OMP_NUM_THREADS_DEV_0=32
shows "a limit" "2,40,40 2,256,64" OMP_THREAD_LIMIT_DEV_0=40 OMP_NUM_TEAMS=2
shows "a limit of the host" "2,256,64 2,256,64" OMP_THREAD_LIMIT=40 OMP_NUM_TEAMS=2
shows "nonsense" "2,256,64 2,256,64" OMP_NUM_TEAMS_DEV=0 OMP_NUM_TEAMS=2
check "... is said" mentions "$(cat err)" "OMP_NUM_TEAMS_DEV=0 is ignored"
"$CC" --gpu-arch=sm_80 -O2 app.c -o gpu || exit 1
shows_gpu() { test "$(OMPGPU_DEVICE=ptx OMPGPU_PTX_DEVICES=2 OMP_NUM_TEAMS=2 OMP_THREAD_LIMIT_DEV=40 ./gpu 2>err)" = "2,40,64 2,40,64 "; }
check "a limit, and a GPU's code for an exact number of threads" shows_gpu
check "... is said" mentions "$(cat err)" "OMP_THREAD_LIMIT|64"
env OMP_DISPLAY_ENV=true OMP_NUM_TEAMS_DEV_1=7 ./app >out 2>err
check "what was read" mentions "$(cat err)" "2 devices of kind emu|[all] OMP_TARGET_OFFLOAD='DEFAULT'|[1] OMP_NUM_TEAMS='7'|[0] OMP_NUM_TEAMS: value is not defined"
check "... but for variables of ours" test_must_fail 1 grep -q OMPGPU_EMU_DEVICES err
env OMP_DISPLAY_ENV=verbose ./app >out 2>err
check "those, too" mentions "$(cat err)" "[all] OMPGPU_EMU_DEVICES='2'|[all] OMPGPU_TEAM_HEAP: value is not defined"
./app show >out 2>err
check "by the routine" mentions "$(cat err)" "2 devices of kind emu|OMP_DEFAULT_DEVICE='0'"
# The host has those of all devices, where it has none of its own: also its new threads, and before main().
cat >host.c <<'C'
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int early;
__attribute__((constructor)) static void begin(void) { early = omp_get_max_threads(); }
static void *ask(void *threads) { return *(int *)threads = omp_get_max_threads(), threads; }
int main(void)
{
    omp_sched_t kind;
    int chunk, threads, region = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, ask, &threads);
    pthread_join(thread, NULL);
    omp_get_schedule(&kind, &chunk);
    #pragma omp target device(omp_initial_device) map(from: region)
    region = omp_get_max_threads();
    printf("%d,%d,%d %d,%d %d,%d,%d %s", early, threads, region, kind == omp_sched_guided, chunk, omp_get_max_teams(),
           omp_get_teams_thread_limit(), omp_get_max_active_levels(), getenv("OMP_NUM_THREADS") ? "set" : "not set");
    return 0;
}
C
"$CC" --gpu-arch=emu -O2 host.c -o host || exit 1
host_has() {
    name=$1 expected=$2; shift 2
    got=$(env "$@" ./host 2>err)
    check "$name" test "$got" = "$expected"
}
host_has "host: all devices" "3,3,3 1,5 2,4,6 not set" OMP_NUM_THREADS_ALL=3 OMP_SCHEDULE_ALL=guided,5 OMP_NUM_TEAMS_ALL=2 \
    OMP_TEAMS_THREAD_LIMIT_ALL=4 OMP_MAX_ACTIVE_LEVELS_ALL=6
host_has "host: its own" "7,7,7 1,5 3,2,6 set" OMP_NUM_THREADS_ALL=3 OMP_NUM_THREADS=7 OMP_SCHEDULE=guided,5 OMP_NUM_TEAMS=3 OMP_NUM_TEAMS_ALL=2 \
    OMP_TEAMS_THREAD_LIMIT=2 OMP_MAX_ACTIVE_LEVELS_ALL=6 OMP_TEAMS_THREAD_LIMIT_DEV=9
# What the routines say on the device; what one file's region sets, another file's, in an image of its own, finds.
cat >icvs.c <<'C'
#include <omp.h>
#include <stdio.h>
void set(int device, int teams, int threads);
static void show(int device)
{
    int teams = -1, threads = -1, league = 0;
    #pragma omp target device(device) map(from: teams, threads)
    teams = omp_get_max_teams(), threads = omp_get_teams_thread_limit();
    #pragma omp target teams device(device) map(tofrom: league)
    if (omp_get_team_num() == 0)
        league = omp_get_num_teams();
    printf("%d,%d,%d ", teams, threads, teams ? league : 0);
}
int main(void)
{
    show(0), show(1);
    set(1, 9, 0), set(0, 8, 33);
    show(0), show(1);
    return 0;
}
C
cat >set.c <<'C'
#include <omp.h>
void set(int device, int teams, int threads)
{
    #pragma omp target device(device)
    {
        omp_set_num_teams(teams);
        omp_set_teams_thread_limit(threads);
    }
}
C
"$CC" --gpu-arch=emu,sm_80 -O2 icvs.c set.c -o icvs || exit 1
says() {
    name=$1 expected=$2; shift 2
    for device in emu ptx; do
        got=$(env OMPGPU_DEVICE=$device OMPGPU_PTX_DEVICES=2 "$@" ./icvs 2>err)
        check "$name on $device" test "$got" = "$expected "
    done
}
says "routines, nothing set" "0,0,0 0,0,0 8,33,8 9,0,9" OMPGPU_INFO=0
says "routines, all devices" "4,96,4 4,96,4 8,33,8 9,96,9" OMP_NUM_TEAMS_ALL=5 OMP_NUM_TEAMS_DEV=4 OMP_TEAMS_THREAD_LIMIT_ALL=96
says "routines, one device" "5,0,5 7,16,7 8,33,8 9,16,9" OMP_NUM_TEAMS_DEV_1=7 OMP_NUM_TEAMS_ALL=5 OMP_TEAMS_THREAD_LIMIT_DEV_1=16
finish
