#!/bin/sh
# `requires unified_shared_memory`: nothing is mapped, `link` variables are the host's, routines say so; a device that cannot do it is not
# used, and all files of a program have the same requirements.
. tests/lib.sh
cat >app.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#pragma omp requires unified_shared_memory
static int q = 41;
int own = 5;
#pragma omp declare target link(q)
#pragma omp declare target enter(own)
struct node { struct node *next; int v; };
int main(void)
{
    int a[4] = { 1, 2, 3, 4 }, r = 0, bad = 0, d = omp_get_default_device(), *p = malloc(sizeof *p * 8);
    struct node last = { NULL, 3 }, first = { &last, 2 };
#define CHECK(c) ((c) ? 0 : (bad++, printf("line %d\n", __LINE__)))
    #pragma omp target map(from: r)
    r = ++q;
    CHECK(r == 42 && q == 42);
    /* no copies: each side sees at once what the other one writes */
    #pragma omp target enter data map(to: a)
    a[0] = 10;
    #pragma omp target map(present, alloc: a)
    { a[1] = a[0] + 1; r = omp_is_initial_device(); }
    CHECK(a[1] == 11 && r == 42);
    #pragma omp target update from(present: a)
    #pragma omp target exit data map(delete: a)
    CHECK(a[1] == 11);
    p[3] = 6;
    #pragma omp target map(from: r)
    { r = omp_is_initial_device(); p[3]++; first.next->v += p[3]; }
    CHECK(p[3] == 7 && last.v == 10 && r == 0);
    #pragma omp target data map(a) use_device_addr(a)
    CHECK(omp_target_is_accessible(p, 8 * sizeof *p, d) && omp_target_is_accessible(a, sizeof a, d));
    /* a declare target variable has storage of its own */
    #pragma omp target
    own++;
    #pragma omp target update from(own)
    CHECK(own == 6);
    r = 0;
    #pragma omp target defaultmap(storage: scalar)
    r++;
    CHECK(r == 1);
    return bad;
}
C
cat >plain.c <<'C'
int twice(int x)
{
    #pragma omp target map(tofrom: x)
    x *= 2;
    return x;
}
C
check "app.c compiles" "$CC" --gpu-arch=emu,sm_90 -O2 app.c -o app
check "it runs" in_time env OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY ./app
sed -e 's/requires unified_shared_memory/requires self_maps/' -e 's/target map(present, alloc: a)/target map(self: a)/' -e 's/defaultmap(storage/defaultmap(self/' app.c >self.c
check "self_maps, and the modifier self" "$CC" --gpu-arch=emu -O2 self.c -o self
check "... it runs" in_time env OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY ./self
sed 's/target map(/target map(self, /' plain.c >alone.c
echo 'int twice(int); int main(void) { return twice(2) != 4; }' >>alone.c
check "self without shared memory" "$CC" --gpu-arch=emu -O2 alone.c -o alone
check "... ends the program" test_must_fail 1 in_time env OMPGPU_DEVICE=emu sh -c './alone 2>err'
check "... with the variable" mentions "$(cat err)" "alone.c:3: error: |x, 4 bytes: |self_maps"
# a GPU without access to the host's pageable memory
OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 NULLCUDA_ARCH=90; export OMPGPU_CUDA_DRIVER NULLCUDA_ARCH
check "a GPU that cannot" test_must_fail 1 in_time env OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY sh -c './app 2>err'
check "... is named with the reason" mentions "$(cat err)" "app.c:15: error: |region main_15|device 0|unified_shared_memory"
cat >routines.c <<'END'
#include <omp.h>
#pragma omp requires unified_shared_memory
int main(void)
{
    int dev = omp_get_default_device(), *p = omp_target_alloc(100 * sizeof *p, dev), q[100], sum = 0;
    if (!p || !omp_target_is_accessible(p, sizeof q, dev) || omp_get_mapped_ptr(q, dev) != q)
        return 2;
#pragma omp target
    for (int i = 0; i < 100; i++)
        p[i] = i;
    if (omp_target_memcpy(q, p, sizeof q, 0, 0, omp_get_initial_device(), dev))
        return 3;
    for (int i = 0; i < 100; i++)
        sum += p[i] + q[i];
    omp_target_free(p, dev);
    return sum != 9900;
}
END
check "... and routines" "$CC" --gpu-arch=sm_90 -O2 routines.c -o routines
check "... take it for the host, which runs its regions" in_time env OMPGPU_DEVICE=cuda ./routines
check "... unless that must not" test_must_fail 1 in_time env OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY sh -c './routines 2>err'
check "... with the reason" mentions "$(cat err)" "OMP_TARGET_OFFLOAD=MANDATORY, but |device routine device 0|unified_shared_memory"
check "another file without it" test_must_fail 1 "$CC" --gpu-arch=emu -O2 plain.c app.c -o both; cp .log err
check "... is an error of the link, with both names" mentions "$(cat err)" "error: |app.c|plain.c|'requires unified_shared_memory'"
check "... leaves nothing" test ! -e both
cat >host.c <<'END'
#pragma omp requires reverse_offload
int host(int n)
{
    int t[4] = { 0 };
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgraph
    {
#pragma omp task shared(t)
        t[1] = n;
    }
    return t[1];
}
END
echo 'int host(int); int main(void) { return host(3) != 3; }' | cat - app.c | sed 's/^int main(void)$/int other(void)/' >with.c
check "a file without anything for a device" "$CC" --gpu-arch=emu -O2 host.c with.c -o with
check "... need not have it" in_time env OMPGPU_DEVICE=emu ./with
check "... nor a shared library of such files" "$CC" --gpu-arch=emu -shared -fPIC host.c -o libhost.so
check "... which links" "$CC" --gpu-arch=emu -O2 with.c ./libhost.so -o with
check "... and loads" in_time env OMPGPU_DEVICE=emu LD_LIBRARY_PATH=. ./with
check "a shared library without it" "$CC" --gpu-arch=emu -shared -fPIC plain.c -o libplain.so
check "... links" "$CC" --gpu-arch=emu -O2 app.c -Wl,--no-as-needed ./libplain.so -o both
check "... and the program does not start" test_must_fail 1 in_time sh -c './both 2>err'
check "... with both names" mentions "$(cat err)" "error: |app.c|plain.c|'requires unified_shared_memory'"
finish
