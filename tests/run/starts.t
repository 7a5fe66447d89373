#!/bin/sh
# starts.t - constructors and destructors of devices: in a library that comes and goes, on several devices, and where no device is used.
. tests/lib.sh
export CC
cat >lib.c <<'C'
#include <omp.h>
#include <stdio.h>
#pragma omp begin declare target
static int state;
__attribute__((constructor)) static void begin(void)
{
    state += 4;
    if (!omp_is_initial_device()) printf("library begins on %d\n", omp_get_device_num());
}
__attribute__((destructor)) static void end(void)
{
    if (!omp_is_initial_device()) printf("library ends on %d with %d\n", omp_get_device_num(), state);
}
#pragma omp end declare target
int ask(void)
{
    int s;
#pragma omp target map(from: s)
    s = state++;
    return s;
}
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
#pragma omp begin declare target
__attribute__((constructor)) static void begin(void)
{
    if (!omp_is_initial_device()) printf("program begins on %d\n", omp_get_device_num());
}
__attribute__((destructor)) static void end(void)
{
    if (!omp_is_initial_device()) printf("program ends on %d\n", omp_get_device_num());
}
#pragma omp end declare target
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return 0;
    for (int d = 0; d < omp_get_num_devices(); d++) {
#pragma omp target device(d)
        if (!omp_is_initial_device()) printf("region on %d\n", omp_get_device_num());
    }
    fflush(stdout);
    if (fork() == 0)
        return 0;
    void *lib = dlopen("./lib.so", RTLD_NOW);
    int (*ask)(void) = lib ? (int (*)(void))dlsym(lib, "ask") : 0;
    printf("it has %d\n", ask ? ask() : -1);
    if (lib)
        dlclose(lib);
    puts("it is gone");
    return 0;
}
C
cat >wanted <<'C'
program begins on 0
region on 0
program begins on 1
region on 1
library begins on 0
it has 4
library ends on 0 with 5
it is gone
program ends on 0
program ends on 1
C
check "library" "$CC" -O1 --gpu-arch=emu -shared -fPIC lib.c -o lib.so
check "program" "$CC" -O1 --gpu-arch=emu main.c -o main -ldl
check "in their order, once a device" sh -c 'OMPGPU_EMU_DEVICES=2 OMPGPU_DEVICE=emu ./main >said 2>&1; diff said wanted'
check "no device is used: nothing" sh -c '[ -z "$(OMPGPU_DEVICE=emu ./main x 2>&1)" ]'
check "no device is wanted: nothing" sh -c '[ "$(OMP_TARGET_OFFLOAD=DISABLED ./main 2>/dev/null)" = "it has 4
it is gone" ]'
cat >parameters.c <<'C'
#pragma omp begin declare target
int n;
__attribute__((constructor)) void begin(int argc) { n = argc; }
#pragma omp end declare target
C
check "one with parameters is refused" test_must_fail 1 sh -c '"$CC" --gpu-arch=emu -c parameters.c 2>err'
check "what is said" error_at err parameters.c:3:35 "'begin'"
cat >hosts.c <<'C'
int n;
__attribute__((constructor)) void begin(int argc) { n = argc; }
#pragma omp declare target enter(begin) device_type(host)
C
check "of the host alone: it may have them" "$CC" --gpu-arch=emu -c hosts.c
finish
