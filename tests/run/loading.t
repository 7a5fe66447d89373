#!/bin/sh
# loading.t - a library's constructor and destructor have regions, while another thread waits for
# the dynamic linker, whose lock the library's thread holds, to load an image or find a driver.
. tests/lib.sh
export CC
cat >lib.c <<'C'
#include <unistd.h>
int own(int), first(int), second(int);
void start_other(void);
extern int in_program;
int counted = 1;
#pragma omp declare target enter(counted)
int own(int n)
{
#pragma omp target map(tofrom: n)
    n += counted++;
    return n;
}
__attribute__((constructor)) static void begin(void)
{
    start_other();
    usleep(300000); /* until it waits for us */
    if (own(2) != 3 || own(2) != 4 || (in_program && first(1) != 2))
        _exit(3);
}
__attribute__((destructor)) static void end(void)
{
    start_other();
    usleep(300000);
    if (own(2) != 5 || (in_program && second(1) != 3))
        _exit(4);
}
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int first(int), second(int);
int in_program;
int first(int n)
{
#pragma omp target map(tofrom: n)
    n += 1;
    return n;
}
static pthread_t other;
static void *run(void *function)
{
    int (*f)(int);
    memcpy(&f, &function, sizeof f);
    return (void *)(long)f(10);
}
void start_other(void)
{
    static int n;
    int (*f)(int) = n++ ? second : first;
    void *p;
    memcpy(&p, &f, sizeof p);
    if (pthread_create(&other, NULL, run, p))
        exit(5);
}
int main(int argc, char **argv)
{
    void *sum, *more;
    omp_get_max_threads(); /* the OpenMP library begins: it, too, waits for the dynamic linker then */
    in_program = strstr(argv[1], "program") != NULL;
    if (strstr(argv[1], "open"))
        omp_target_free(omp_target_alloc(8, 0), 0);
    void *lib = dlopen("./lib.so", RTLD_NOW);
    if (argc != 2 || !lib || pthread_join(other, &sum))
        return 1;
    dlclose(lib);
    if (pthread_join(other, &more))
        return 2;
    printf("%d %ld %ld\n", first(20), (long)sum, (long)more);
    return 0;
}
C
cat >second.c <<'C'
int second(int);
static int two = 2;
#pragma omp declare target enter(two)
int second(int n)
{
#pragma omp target map(tofrom: n)
    n += two;
    return n;
}
C
cat >constructors.c <<'C'
static int two;
#pragma omp begin declare target
__attribute__((constructor)) static void begin(void) { two += 2; }
#pragma omp end declare target
int second(int);
int second(int n)
{
#pragma omp target map(tofrom: n)
    n += two;
    return n;
}
C
sed -i 's/^static int two;/#pragma omp begin declare target\nstatic int two;\n#pragma omp end declare target/' constructors.c
check "library" "$CC" -O1 --gpu-arch=emu,sm_75 -shared -fPIC lib.c -o lib.so
check "program" "$CC" -O1 --gpu-arch=emu,sm_75 main.c second.c -rdynamic -o main -ldl
check "with a constructor of the device" "$CC" -O1 --gpu-arch=emu,sm_75 main.c constructors.c -rdynamic -o main2 -ldl
said() { # PROGRAM DEVICE HOW
    [ "$(cat "$1.$2.$3")" = "21 11 12" ] || { echo "# $(cat "$1.$2.$3")"; return 1; }
}
for how in own open-own program open-program; do
    for device in emu ptx; do
        for program in main main2; do
            OMPGPU_DEVICE=$device timeout 30 "./$program" "$how" >"$program.$device.$how" 2>&1 &
        done
    done
done
wait
for how in own open-own program open-program; do
    for device in emu ptx; do
        for program in main main2; do
            check "$program on $device: $how" said "$program" "$device" "$how"
        done
    done
done
finish
