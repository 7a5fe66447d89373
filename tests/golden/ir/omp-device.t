#!/bin/sh
# What omp-device makes of kernels in the shape that codegen writes.  Essentials only: what must and what must not occur.
# shellcheck disable=SC1091,SC2012,SC2016
. tests/lib.sh
DIR=$ROOT/tests/golden/ir
TOOL=$ROOT/lib/ompgpu/omp-device
LIBDEVICE=$(ls -d "${OMPGPU_TEST_CUDA:-/usr/local/cuda}"*/nvvm/libdevice/libdevice.10.bc 2>/dev/null | sed 1q)
ARCHS="75 100"; [ -z "${OMPGPU_LONG:-}" ] || ARCHS="75 80 90 100"

cat "$DIR/axpy.c" "$DIR/sum.c" >two.c
sed 's/struct ctx/struct fctx/g; s/body/fbody/g' "$DIR/fork_join.c" | cat two.c - >mixed.c

# bitcode TARGET FILE.c: FILE.TARGET.bc as the driver has clang make it
bitcode() {
    case $1 in
    nvptx64) bc_flags="--target=nvptx64-nvidia-cuda -march=sm_75 --cuda-feature=+ptx73 -nogpulib" ;;
    *) bc_flags="--target=x86_64-pc-linux-gnu -fPIC" ;;
    esac
    # shellcheck disable=SC2086
    "$CLANG" $bc_flags -w -std=gnu11 -O2 -Xclang -disable-llvm-passes -I"$DIR" -include "$ROOT/devicertl/ompgpu_device.h" \
        -include "$DIR/kernel.h" -emit-llvm -c "$2" -o "$(basename "$2" .c).$1.bc"
}
# device TARGET NAME OPTIONS…: runs the tool over NAME.TARGET.bc; generic kernels stay what they are unless MODE is set
device() {
    dv_target=$1 dv_name=$2; shift 2
    "$TOOL" --target="$dv_target" --mode="${MODE:-generic}" --rtl="$ROOT/lib/ompgpu/devicertl-$dv_target.bc" "$@" "$dv_name.$dv_target.bc"
}
# ptx NAME OPTIONS…: NAME.ptx, NAME.info and dumps
ptx() {
    px_name=$1; shift
    device nvptx64 "$px_name" --info="$px_name.info" --out="sm_75:$px_name.ptx" --dump="$px_name" ${LIBDEVICE:+--libdevice="$LIBDEVICE"} "$@"
}
object() { device x86_64 "$1" --info="$1.emu.info" --out="emu:$1.o" --dump="$1.emu"; }
entry() { sed -n "/entry $2(/,/^}/p" "$1"; }
assembles() {
    for as_arch in $ARCHS; do ptxas -arch="sm_$as_arch" "$1" -o /dev/null || return 1; done
}

for f in "$DIR"/*.c two.c mixed.c; do
    n=$(basename "$f" .c)
    for t in nvptx64 x86_64; do check "$n: compiles for $t" bitcode $t "$f"; done
    case $n in unresolved) continue ;; math) [ -n "$LIBDEVICE" ] || { skip "$n" "no libdevice"; continue; } ;; esac
    check "$n: becomes PTX" ptx "$n"
    check "$n: becomes an object" object "$n"
    check "$n: links" ld -shared -o "$n.so" "$n.o" -lc -lm
    if have_ptxas; then check "$n: ptxas" assembles "$n.ptx"; else skip "$n: ptxas" "no ptxas"; fi
done

# printf: a call of the driver's where that can, the runtime's otherwise; results count
entry prints.ptx known >prints.known
check "prints: the driver's" test "$(grep -c 'call.*vprintf' prints.known)" = 5
check "prints: ... its sizes, the narrow ones narrow, and a constant result" has prints.known '[^_]vprintf,' 'cvt.s32.s8\|cvt.s32.s16\|prmt' '1082130432'
check "prints: ... nothing of the runtime" lacks prints.known __ompgpu
bytes() { printf %s "$1" | od -An -tu1 | sed 's/^ *//; s/ *$//; s/  */, /g'; }
check "prints: a format with other sizes" has prints.ptx "$(bytes '%llu %d')"
entry prints.ptx star >prints.star
check "prints: a star" has prints.star 'call.*__ompgpu_print,'
entry prints.ptx result >prints.result
check "prints: a result" has prints.result 'call.*__ompgpu_vprintf,'
check "prints: who does, the host knows" test "$(sed -n 's/.*name=\([a-z]*\) .* uses=\([0-9]*\) .*/\1 \2/p' prints.info | tr '\n' ,)" = "known 2,star 2,result 2,"

# SPMD kernels
check "axpy: no barrier, shared or local memory, call" lacks axpy.ptx barrier '\.shared' '\.local' call
cat >want <<'E'
kernel name=axpy function=main file=app.c directive=target\steams\sdistribute\sparallel\sfor line=14 column=9 mode=1 max_threads=0 reduce_bytes=0 flags=0 heap_bytes=0 block_bytes=0 copy_bytes=0 frame_bytes=0 uses=0 shape= how=SPMD
E
check "axpy: info" same want axpy.info
check "axpy: info of the emulated device" same want axpy.emu.info
check "sum: no call, no stack" lacks sum.ptx call '\.local'
check "sum: needs fibers" has sum.emu.info ' mode=1 .* reduce_bytes=16 flags=2 heap_bytes=0 .* how=SPMD$'
entry mixed.ptx axpy >mixed.axpy
check "axpy beside a generic kernel: the same" lacks mixed.axpy barrier '\.shared' '\.local' call

# generic kernels
check "fork_join: flags" has fork_join.emu.info ' mode=0 .* flags=3 heap_bytes=0 .* how=generic$'
check "fork_join: no indirect call" lacks fork_join.ptx callprototype
check "fork_join: regions stand in the cascade only" lacks fork_join.ptx 'func .*__parallel'
check "fork_join: no register-hungry launch" has fork_join.ptx '\.maxntid 1024'
grep "^@__ompgpu_slot.*addrspace(3)" fork_join.[0-9]-globalise.ll >slots; printf "2\n" >want; grep -c . slots >count
check "fork_join: two locals become slots" same want count
check "fork_join: the third stays" has fork_join.[0-9]-globalise.ll 'alloca \[4 x float\]'
check "fork_join: thread-local slots on the emulated device" has fork_join.emu.[0-9]-globalise.ll '^@__ompgpu_slot.*thread_local'

device nvptx64 fork_join -O0 --out=sm_75:fork0.ptx
check "fork_join at -O0: no state that no code reads" lacks fork0.ptx __ompgpu_state_schedule __ompgpu_state_allocator __ompgpu_state_task

# the same by the late pass
MODE=auto ptx fork_join >late.log 2>&1; cp fork_join.ptx late.ptx; cp fork_join.info late.info
check "late: becomes SPMD" has late.info ' mode=1 .* flags=3 heap_bytes=0 .* how=SPMD.*guards.*broadcast.*barriers$'
check "late: no state machine, no call" lacks late.ptx call callprototype
check "late: no runtime state" lacks late.ptx __ompgpu_state_nest __ompgpu_state_fn __ompgpu_state_region_threads
if have_ptxas; then check "late: ptxas" assembles late.ptx; else skip "late: ptxas" "no ptxas"; fi

# globalisation
fn() { sed -n "/^define.*@$2(/,/^}/p" "$1"; }
for n in stays moves runtime_size generic__region spmd__region; do cat globalise.[0-9]-globalise*.ll | sed 's/@__ompgpu_once_[0-9]*_/@/g' >all.ll; fn all.ll $n >fn.$n; done
check "local that does not escape stays" lacks fn.stays __ompgpu_
check "array of a device function has a slot" has fn.moves '__ompgpu_slot_moves'
check "array of a device function: nothing at run time" lacks fn.moves __ompgpu_heap alloca
check "alloca becomes a block" has fn.runtime_size '__ompgpu_heap_mark' '__ompgpu_heap_alloc(.*i64 16' '__ompgpu_heap_release(.*%2)'
check "large array of a region has a place" has fn.generic__region '__ompgpu_heap_slot(i1 zeroext true, i64 0)' __ompgpu_slot
check "the kernel says what it needs" has globalise.emu.info 'name=generic .* flags=7 heap_bytes=4000 block_bytes=0 .* how=generic$' 'name=spmd .* flags=0 heap_bytes=0 .* how=SPMD$'
check "no device malloc" lacks globalise.ptx malloc
check "SPMD region keeps its locals" lacks fn.spmd__region __ompgpu_alloc __ompgpu_slot

# escape analysis: an array of 8 moves or stays
for n in $(sed -n 's/^NO static int \(yes_[a-z_]*\|no_[a-z_]*\)(int.*/\1/p' "$DIR/escape.c"); do
    fn escape.[0-9]-globalise.ll "$n" >fn.$n
    case $n in
    yes_*) check "escape: $n moves" lacks fn.$n 'alloca \[8 x i32\]' ;;
    *) check "escape: $n stays" has fn.$n 'alloca \[8 x i32\]' ;;
    esac
done

# atomics
check "relaxed add" has atomics.ptx 'atom\.global\.add'
entry atomics.ptx atomics | grep -o -E '(fence|atom|ld\.acquire)\.[.a-z0-9_]*' >order
cat >want <<'EOF'
atom.global.add.u32
fence.sc.gpu
atom.global.add.u32
fence.acq_rel.gpu
fence.acq_rel.cta
atom.shared.or.b32
ld.acquire.cta.shared.b32
EOF
check "fences stand where the orders ask for them, with the scope of the storage" same want order
check "no atomic on locals" lacks atomics.ptx 'atom.*local' 'relaxed.*local' 'cas'
check "no system scope" lacks atomics.ptx '\.sys'

# arrays of run-time size, and barriers: what ptxas has wrong code for is not written
check "arrays: in frames of the runtime" has arrays.ptx 'call.uni.*' '__ompgpu_frame'
check "arrays: no alloca" lacks arrays.ptx alloca stacksave stackrestore
entry arrays.ptx meets >meets
check "arrays: the aligned barrier in an SPMD kernel" has meets 'bar\.sync'
entry arrays.ptx forks >forks
check "arrays: no barrier in the entry of a generic kernel" lacks forks 'bar\.sync' 'barrier\.sync'
check "arrays: its warps gather first" sh -c "sed -n '/__ompgpu_gathered_barrier()/,/^}/p' arrays.ptx | grep -o 'bar[.a-z]*sync' | tr '\n' ' ' | grep -x 'bar.warp.sync barrier.sync '"

# exported variables
ptx variables 2>variables.log
check "variables: exported under their names" has variables.ptx '\.visible .*plain' '\.visible .*app_c_hidden'
check "variables: others are not" lacks variables.ptx '\.visible .*not_exported'
check "variables: info is gone" lacks variables.ptx __ompgpu_varinfo __ompgpu_info
nm -D variables.so >variables.nm
check "variables: no more alignment than the driver gives" has variables.ptx '\.align 256 .*page'
check "variables: which is said" has variables.log "'page' is aligned to 256 bytes on the GPU, not to 1024"
check "variables: in the emulated image" has variables.nm ' plain$' ' app_c_hidden$' ' __ompgpu_emu_ops$' ' __ompgpu_emu_self_at$'

# how threads run on the emulated device: all in one call, as coroutines, at -O0 on fibers
bitcode x86_64 two.c
device x86_64 two --out=emu:two.o && device x86_64 two -O0 --out=emu:two0.o
nm two.o >two.nm; nm two0.o >two0.nm
check "emulated: a loop over threads that do not wait" has two.nm ' T __ompgpu_span_axpy$'
check "emulated: a coroutine of those that do" has two.nm ' T __ompgpu_start_sum$' ' t __ompgpu_start_sum.resume$'
check "emulated: nothing is left of the other forms" lacks two.nm ' axpy$' ' sum$' __ompgpu_emu_threads __ompgpu_emu_is __ompgpu_emu_barrier
check "emulated: a stack for each at -O0" has two0.nm ' T sum$' ' t __ompgpu_emu_barrier$'

# several outputs
check "several architectures" device nvptx64 sum --out=sm_75:a.ptx --out=sm_90:b.ptx --out=sm_100:c.ptx
check "each with its target" sh -c 'grep -q "target sm_75" a.ptx && grep -q "target sm_90" b.ptx && grep -q "target sm_100" c.ptx'
check "remarks" sh -c '"$@" 2>&1 | grep -q "^app.c:14:9: remark: region .axpy.: SPMD mode by its form: .*; no barrier; no shared memory \[-Rompgpu=all\]"' sh \
    "$TOOL" --target=nvptx64 --rtl="$ROOT/lib/ompgpu/devicertl-nvptx64.bc" --remarks --out=sm_75:a.ptx axpy.nvptx64.bc

# errors
cat >want <<'EOF'
app.c:14:9: error: function 'ext' has no definition in this file, but region 'unresolved' (app.c:14) uses it through 'helper' on the device
app.c:14:9: error: variable 'missing' has no definition in this file, but region 'unresolved' (app.c:14) uses it on the device
EOF
for t in nvptx64 x86_64; do
    check "unresolved ($t): fails" test_must_fail 1 sh -c '"$@" 2>got' sh "$TOOL" --target=$t \
        --rtl="$ROOT/lib/ompgpu/devicertl-$t.bc" --info=u.info --out=sm_75:u.out unresolved.$t.bc
    check "unresolved ($t): message" same want got
    check "unresolved ($t): no output" sh -c '! test -e u.out && ! test -e u.info'
done
check "no libdevice: fails" test_must_fail 1 sh -c '"$@" 2>got' sh "$TOOL" --target=nvptx64 \
    --rtl="$ROOT/lib/ompgpu/devicertl-nvptx64.bc" --out=sm_75:u.out math.nvptx64.bc
check "no libdevice: message" has got '^ompgpu-cc: error: math functions (.*sin.*) on the device need libdevice of the CUDA Toolkit; set --cuda-path$'
check "unknown architecture" test_must_fail 2 device nvptx64 axpy --out=sm_42:u.out
check "no input" test_must_fail 1 device nvptx64 nothing --out=sm_75:u.out
check "other target's bitcode" test_must_fail 1 "$TOOL" --target=nvptx64 --rtl="$ROOT/lib/ompgpu/devicertl-nvptx64.bc" --out=sm_75:u.out axpy.x86_64.bc
head -c 1000 axpy.nvptx64.bc >cut.nvptx64.bc
check "truncated bitcode" test_must_fail 1 device nvptx64 cut --out=sm_75:u.out
check "unwritable output" test_must_fail 1 device nvptx64 axpy --out=sm_75:no/such/dir/u.out
check "usage" test_must_fail 2 "$TOOL" --target=vax axpy.nvptx64.bc
finish
