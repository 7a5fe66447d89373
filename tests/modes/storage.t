#!/bin/sh
# A team's storage in global memory (devicertl/storage.c): no device malloc, what the kernel asks of the host, and its overflow.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
unset OMPGPU_TEAM_HEAP LIBOMPTARGET_SHARED_MEMORY_SIZE

cat >vla.c <<'C'
int main(int argc, char **argv)
{
    int r = 0, n = 200 * argc;
    #pragma omp target teams distribute num_teams(3) map(tofrom: r)
    for (int k = 0; k < 3; k++) {
        int a[n];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] = i;
        #pragma omp atomic
        r += a[n - 1] - n;
    }
    return r != -3;
}
C
cat >large.c <<'C'
int main(void)
{
    int r = 0;
    #pragma omp target teams distribute num_teams(3) map(tofrom: r)
    for (int k = 0; k < 3; k++) {
        int a[5000], small = 3;
        #pragma omp parallel for
        for (int i = 0; i < 5000; i++) a[i] = i + small;
        #pragma omp atomic
        r += a[4999];
    }
    return r != 3 * 5002;
}
C
cat >none.c <<'C'
int main(void)
{
    int r = 0;
    #pragma omp target teams distribute num_teams(3) map(tofrom: r)
    for (int k = 0; k < 3; k++) {
        int a[5000], small = 3;                        /* both are the thread's own */
        for (int i = 0; i < 5000; i++) a[i] = i + small;
        #pragma omp atomic
        r += a[4999];
    }
    return r != 3 * 5002;
}
C
emu() { OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY "$@"; }
for p in vla large none; do
    for m in generic auto; do
        check "$p, $m: compiles" "$CC" --gpu-arch=emu,sm_75 -g -O2 -fompgpu-mode=$m $p.c -o $p.$m
        check "$p, $m: runs" emu ./$p.$m
        check "$p, $m: PTX" "$CC" --gpu-arch=sm_75 -O2 -fompgpu-mode=$m --emit=ptx $p.c -o $p.$m.ptx
        check "$p, $m: no device malloc" lacks $p.$m.ptx malloc
    done
    check "$p -O0: PTX" "$CC" --gpu-arch=sm_75 -O0 -fompgpu-mode=generic --emit=ptx $p.c -o $p.O0.ptx
    check "$p -O0: no device malloc" lacks $p.O0.ptx malloc
done
check "without such variables there is no trace of the storage" lacks none.generic.ptx heap

# what is allocated: nothing that is not needed, nothing twice
driver=$OBJ/nullcuda/libcuda.so.1
bytes() {                             # PROGRAM: bytes of the allocation that is no buffer of the mapped scalar
    OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_COUNTS=counts "$@" || :
    grep cuMemAlloc counts
}
if [ -e "$driver" ]; then
    for p in vla.generic large.generic none.generic; do bytes ./$p >$p.bytes; done
    printf 'cuMemAlloc_v2 1\n' >one; printf 'cuMemAlloc_v2 2\n' >two
    check "run-time sizes: one allocation more" same two vla.generic.bytes
    check "large arrays: one allocation more" same two large.generic.bytes
    check "neither: no allocation more" same one none.generic.bytes
else
    skip "allocations" "no nullcuda"
fi

# overflow
message="no room for an array of run-time size of sequential code, shared with parallel regions: set OMPGPU_TEAM_HEAP to more bytes a team at line 6"
check "too little storage: fails" test_must_fail 1 sh -c 'OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=700 ./vla.generic 2>got'
check "too little storage: says which variable and what to set" has got "vla.c:4: error: region main_4: $message (team"
check "just enough" env OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=1024 ./vla.generic
check "the default is not enough for this" test_must_fail 1 env OMPGPU_DEVICE=emu ./vla.generic $(seq 100)
check "more, with a unit" env OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=1M ./vla.generic $(seq 100)
check "a bad value is ignored" sh -c 'OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=1X ./vla.generic 2>got'
check "… with a warning" has got 'warning: OMPGPU_TEAM_HEAP=1X is ignored; valid: bytes'
check "large arrays need no setting" env OMPGPU_DEVICE=emu OMPGPU_TEAM_HEAP=1 ./large.generic

# LLVM's variable for team-shared memory of regions that ask for none
cat >shared.c <<'EOF'
void *llvm_omp_target_dynamic_shared_alloc(void);
int main(int argc, char **argv)
{
    int sum = 0, got;
    (void)argv;
#pragma omp target teams num_teams(3) map(tofrom: sum) map(from: got) reduction(+: sum)
    {
        int *own = llvm_omp_target_dynamic_shared_alloc();
        if (argc > 1) {
            for (int i = 0; i < 2048; i++)
                own[i] = i;
            sum += own[2047];
        }
        got = own != 0;
    }
    return argc > 1 ? sum != 3 * 2047 || !got : got;
}
EOF
check "team-shared memory: compiles" "$CC" --gpu-arch=emu,sm_80 shared.c -o shared
for device in emu $([ "${OMPGPU_SANITIZE:-}" = thread ] || echo ptx); do
    check "$device: 8K of team-shared memory, as LLVM's variable says" env OMPGPU_DEVICE=$device LIBOMPTARGET_SHARED_MEMORY_SIZE=8192 ./shared 1
    check "$device: none without it" env OMPGPU_DEVICE=$device ./shared
done
check "a bad number of bytes is ignored, with a warning" sh -c 'OMPGPU_DEVICE=emu LIBOMPTARGET_SHARED_MEMORY_SIZE=many ./shared 2>got; grep -q "LIBOMPTARGET_SHARED_MEMORY_SIZE=many is ignored" got'
finish
