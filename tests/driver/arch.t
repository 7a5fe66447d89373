#!/bin/sh
# --gpu-arch=, --cuda-path=, and what an object then holds.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
# Images as -save-temps leaves them.
holds() {
    want=$1; shift
    rm -rf kept; "$CC" "$@" -O2 -c app.c -save-temps=kept 2>log || { cat log; return 1; }
    got=$(cd kept && ls | sed -n 's/^app\.\(.*\.ptx\|.*\.cubin\|emu\.so\)$/\1/p' | tr '\n' ' ')
    [ "$got" = "$want " ] || { echo "holds: $got"; return 1; }
}
check "--gpu-arch=emu" holds "emu.so" --gpu-arch=emu
check "... runs nothing for GPUs" sh -c "'$CC' -### --gpu-arch=emu -c app.c 2>cmds && ! grep -q -e nvptx -e ptxas cmds"
check "no GPU in the list: no emulated image" sh -c "'$CC' -### --gpu-arch=sm_80 -c app.c 2>cmds && ! grep -q -e 'x86_64-pc-linux-gnu' cmds"
if have_ptxas; then
    check "--gpu-arch=sm_80" holds "sm_80.cubin sm_80.ptx" --gpu-arch=sm_80
    check "--gpu-arch=sm_80,sm_90,emu" holds "emu.so sm_80.cubin sm_80.ptx sm_90.cubin sm_90.ptx" --gpu-arch=sm_80,sm_90,emu
    check "--offload-arch=sm_90 --gpu-arch=emu" holds "emu.so sm_90.cubin sm_90.ptx" --offload-arch=sm_90 --gpu-arch=emu
    check "-Xopenmp-target -march=sm_80" holds "sm_80.cubin sm_80.ptx" -Xopenmp-target -march=sm_80
else skip "cubins" "no ptxas"; fi
# A toolkit without ptxas: PTX only, and a note when a GPU was named.
mkdir -p cuda/nvvm/libdevice
: >cuda/nvvm/libdevice/libdevice.10.bc
ptx_only() { "$CC" --cuda-path=cuda --gpu-arch=sm_90 -c app.c -save-temps=kept2 2>log && [ ! -e kept2/app.sm_90.cubin ] && [ -e kept2/app.sm_90.ptx ]; }
check "--cuda-path= without ptxas: PTX only" ptx_only
check "... says so" has log "ompgpu-cc: note: no ptxas: 'app.c' gets PTX only"
check "--cuda-path= of nothing" test_must_fail 1 "$CC" --cuda-path=/no/cuda --gpu-arch=sm_90 -c app.c
if have_gpu; then skip "no GPU" "there is one"
else
    check "--gpu-arch=native without a GPU" test_must_fail 1 "$CC" --gpu-arch=native -c app.c
    "$CC" -### -c app.c 2>cmds
    check "default: sm_75 and emu" has cmds out=sm_75: out=emu:
fi
if [ -e "$OBJ/nullcuda/libcuda.so.1" ]; then
    native() { LD_LIBRARY_PATH=$OBJ/nullcuda "$CC" "$@" -c app.c -save-temps=kept3 2>log && ls kept3/app.sm_*.ptx; }
    check "--gpu-arch=native with nullcuda" native --gpu-arch=native
    check "default with nullcuda is native" native && check "... without emu" test ! -e kept3/app.emu.so
else skip "nullcuda" "not built"; fi
"$CC" $ARCH -Rompgpu=all -O2 -c app.c 2>log
check "-Rompgpu=all" has log "^app.c:6:13: remark: region 'main_6': SPMD mode"
cat >gen.c <<'C'
int a[100];
static int one(int j) { return j; } static int two(int j) { return 2 * j; }
void f(void) {
    #pragma omp target teams distribute
    for (int j = 0; j < 10; j++) {
        int (*p)(int) = a[j] ? one : two;
        a[j * 10] = p(j);
        #pragma omp parallel for
        for (int i = 0; i < 10; i++) a[j * 10 + i] += i;
    }
}
C
"$CC" $ARCH -Wompgpu-generic -O2 -c gen.c 2>log
check "-Wompgpu-generic" has log "^gen.c:7:[0-9]*: warning: region 'f_4' .*generic mode.*function pointer" "^gen.c:4:13: note: "
cat >macro.c <<'C'
#define CALL(i) p(i)
#define PUT(a, i) do { (a)[i] = CALL(i); } while (0)
#define CALL_IT(p, i) ((p)(i))
int a[100];
static int one(int j) { return j; } static int two(int j) { return 2 * j; }
void f(void) {
    #pragma omp target teams distribute
    for (int j = 0; j < 10; j++) {
        int (*p)(int) = a[j] ? one : two;
        WHAT
        #pragma omp parallel for
        for (int i = 0; i < 10; i++) a[j * 10 + i] += i;
    }
}
C
sed 's/WHAT/a[j] = 3; PUT(a, j);/' macro.c >name.c
sed 's/WHAT/a[j] = CALL_IT(p, j);/' macro.c >sign.c
"$CC" $ARCH -Wompgpu-generic -O2 -c name.c 2>log
check "-Wompgpu-generic out of a macro: where it is used, and what it comes from" has log "^name.c:10:19: warning: region 'f_7' .*function pointer" "^ *10 |         a\[j\] = 3; PUT(a, j);" \
    "^name.c:2:33: note: expanded from macro 'PUT'" "^name.c:1:17: note: expanded from macro 'CALL'" "^name.c:7:13: note: the region"
"$CC" $ARCH -Wompgpu-generic -O2 -c sign.c 2>log
check "... a sign of it" has log "^sign.c:10:16: warning: region 'f_7' .*function pointer" "^sign.c:3:9: note: expanded from macro 'CALL_IT'"
"$CC" $ARCH -Werror=ompgpu-generic -O2 -c name.c 2>log
check "... an error" test $? = 1
check "... is counted, and said once" sh -c "[ \$(grep -c ' error: ' log) = 1 ] && grep -q 'note: expanded from macro' log"
"$CC" $ARCH -Wall -O2 -c gen.c 2>log
check "-Wall has -Wompgpu-generic" has log "^gen.c:7:.*-Wompgpu-generic"
"$CC" $ARCH -Wompgpu-generic -Wno-ompgpu-generic -O2 -c gen.c 2>log
check "-Wno-ompgpu-generic" test ! -s log
"$CC" --gpu-arch=sm_75,emu -Wompgpu-generic -O2 -S gen.c -o gen.s 2>log
check "one warning a region, not one a target" test "$(grep -c 'warning: region' log)" = 1
# errors FLAGS…: the warning is an error, and nothing is written
errors() {
    rm -f gen.o
    test_must_fail 1 "$CC" $ARCH -O2 "$@" -c gen.c -o gen.o 2>log && [ ! -e gen.o ] &&
        has log "^gen.c:7:[0-9]*: error: region 'f_4' .*generic mode.*\[-Werror,-Wompgpu-generic\]"
}
warns() { rm -f gen.o; "$CC" $ARCH -O2 "$@" -c gen.c -o gen.o 2>log && [ -e gen.o ] && has log "^gen.c:7:[0-9]*: warning: region"; }
quiet() { rm -f gen.o; "$CC" $ARCH -O2 "$@" -c gen.c -o gen.o 2>log && [ -e gen.o ] && [ ! -s log ]; }
check "-Werror=ompgpu-generic" errors -Werror=ompgpu-generic
check "-Wall -Werror" errors -Wall -Werror
check "-Werror -Wompgpu-generic" errors -Werror -Wompgpu-generic
check "-Wno-error=ompgpu-generic" warns -Wall -Werror -Wno-error=ompgpu-generic
check "-Wno-error=ompgpu-generic takes -Werror=ompgpu-generic back" warns -Werror=ompgpu-generic -Wno-error=ompgpu-generic
check "-Wno-error" warns -Wall -Werror -Wno-error
check "-Werror alone" quiet -Werror
check "-Werror -Wno-ompgpu-generic" quiet -Wall -Werror -Wno-ompgpu-generic
check "-w" quiet -Werror=ompgpu-generic -w
check "-fompgpu-mode=spmd refuses" test_must_fail 1 "$CC" $ARCH -fompgpu-mode=spmd -O2 -c gen.c
has "$T/.log" "gen.c:7:.*: error: region 'f_4' .*SPMD mode" && ok "and says why" || not_ok "and says why"
sed 's/= a.j. ? one : two/= one/' gen.c >late.c
for m in auto spmd generic; do
    "$CC" $ARCH -fompgpu-mode=$m -Rompgpu=all -O2 -c late.c 2>$m.log
done
check "-fompgpu-mode=auto" has auto.log "region 'f_4': .*1 parallel region.* 1 guard.*\[OMP120\]"
check "-fompgpu-mode=spmd" has spmd.log "region 'f_4': .*OMP120"
check "-fompgpu-mode=generic" has generic.log "region 'f_4': generic mode by -fompgpu-mode=generic"
check "-fompgpu-mode=other" test_must_fail 2 "$CC" $ARCH -fompgpu-mode=other -c gen.c
"$CC" $ARCH -Wompgpu-generic -O2 -c app.c 2>log
check "-Wompgpu-generic of an SPMD region" test ! -s log
finish
