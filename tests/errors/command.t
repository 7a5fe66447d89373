#!/bin/sh
# Errors of the command, by exit code and by what the message mentions: 1 for input and environment, 2 for usage.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
printf 'int main(void) { return 0; }\n' >plain.c
# says NAME CODE WORDS ARGS…: fails with that exit code; the one line on standard error mentions the words, separated by |
one_error() {
    [ "$(wc -l <err)" = 1 ] || { echo "not one line:"; cat err; return 1; }
    mentions "$(cat err)" "ompgpu-cc: error: |$1"
}
says() {
    name=$1 code=$2 words=$3; shift 3
    check "$name" test_must_fail "$code" "$CC" "$@" || return
    cp .log err
    check "$name: what is said" one_error "$words"
}
says "no input" 2 "no input"
says "no input, -c" 2 "no input" -c
says "missing input" 1 "'no.c'|No such file" -c no.c
says "missing object" 1 "'no.o'|No such file" no.o -o prog
says "directory as input" 1 "'.'|directory" -c .
says "-o without its argument" 2 "'-o'|missing" -c plain.c -o
says "-Xlinker without its argument" 2 "'-Xlinker'|missing" plain.c -Xlinker
says "-o and two inputs" 2 "'-o'" -c plain.c app.c -o x.o
says "standard input without a language" 2 "standard input|-x c" -c -
says "the output is the source" 1 "'app.c'|'./app.c'" $ARCH -c app.c -o ./app.c
ln plain.c other.c
says "the program is the source" 1 "'other.c'|'plain.c'" other.c -o plain.c
check "... the source stays" has plain.c 'return 0'
says "unwritable directory" 1 "'/no/such/dir/x.o'|No such file" $ARCH -c app.c -o /no/such/dir/x.o
says "unwritable directory, link" 1 "'/no/such/dir/x'|No such file" plain.c -o /no/such/dir/x
if [ -c /dev/full ]; then
    for asked in "$ARCH --emit=device-c app.c" --help --version --doctor --emit=clangd; do
        "$CC" $asked >/dev/full 2>err; rc=$?
        check "standard output is full, $asked" [ $rc = 1 ] && check "... what is said" one_error "standard output|No space left"
    done
    check "output is full" test_must_fail 1 "$CC" $ARCH -c app.c -o /dev/full
else skip "full output" "no /dev/full"; fi
says "output is a directory" 1 "'/'|directory" $ARCH -c app.c -o /
says "--emit= of what is not there" 2 "'x'|'--emit='|omp-tree, device-c, host-c, ir, ptx" --emit=x app.c
says "--emit=ptx without a GPU" 2 "'--emit=ptx'|'--gpu-arch='" --gpu-arch=emu --emit=ptx app.c
says "--emit= of a file without targets" 1 "'plain.c'" --gpu-arch=emu --emit=host-c plain.c
says "--gpu-arch= of nothing" 2 "'--gpu-arch='" --gpu-arch=, -c app.c
says "--gpu-arch= without its argument" 2 "'--gpu-arch='|missing" --gpu-arch= -c app.c
says "--cuda-path= without its argument" 2 "'--cuda-path='|missing" --cuda-path= -c app.c
# Those that omp-device and ptxas both know.
printf '.version 7.3\n.target sm_70\n.address_size 64\n' >empty.ptx
ptxas=$(PATH=$PATH:/usr/local/cuda/bin:/usr/lib/nvidia-cuda-toolkit/bin command -v ptxas)
known=$("$(dirname "$(dirname "$CC")")/lib/ompgpu/omp-device" --print-archs | while read -r name; do
    [ -z "$ptxas" ] || "$ptxas" "-arch=$name" empty.ptx -o empty.cubin 2>/dev/null || continue
    printf '%s ' "$name"
done | sed 's/ *$//')
check "the list of GPUs" test -n "$known"
for arch in sm_x sm_1 sm_90z gfx90a 90; do
    says "--gpu-arch=$arch" 2 "'$arch'|'--gpu-arch='|known are $known, native|emu" --gpu-arch=emu,$arch -c app.c
done
have_gpu || says "--gpu-arch=native" 1 "'--gpu-arch=native'|GPU" --gpu-arch=native -c app.c
says "--cuda-path= of nothing" 1 "'/no/cuda'|bin/ptxas|libdevice" --cuda-path=/no/cuda --gpu-arch=sm_90 -c app.c
# A toolkit that is not whole: the other half is not taken from elsewhere.
mkdir -p half/bin half2/nvvm/libdevice
printf '#!/bin/sh\nexit 1\n' >half/bin/ptxas; chmod +x half/bin/ptxas; : >half2/nvvm/libdevice/libdevice.10.bc
cat >sinf.c <<'C'
#include <math.h>
float a[10];
void f(void) {
#pragma omp target teams distribute parallel for
for (int i = 0; i < 10; i++) a[i] = sinf(i); }
C
printf 'struct l { struct l *next; };\nextern struct l b;\nstruct l a = { &b }, b = { &a };\n#pragma omp declare target enter(a, b)\nint main(void) {\n#pragma omp target\n  a.next = 0; }\n' >circle.c
says "a circle of initial values" 1 "variable|address|PTX" -w --gpu-arch=sm_75,sm_90 -c circle.c
check "... is said once" [ "$(grep -c 'initial value' err)" = 1 ]
check "... and is none for the emulated device" "$CC" -w --gpu-arch=emu -c circle.c
printf '#include <stddef.h>\nstruct m { char c; _Alignas(max_align_t) char d; int z; };\nint main(void) { struct m s[2] = { { 0 } };\n#pragma omp target map(tofrom: s)\n  s[1].z = 1; }\n' >layout.c
check "a type that GPUs lay out in another way" test_must_fail 1 "$CC" -w --gpu-arch=sm_75 -c layout.c
cp .log err
check "... is named" error_at err layout.c:4:20 "'s'|size|device"
check "... the emulated device as the host" "$CC" -w --gpu-arch=emu -c layout.c
says "no libdevice" 1 "sinf|libdevice|--cuda-path" --cuda-path=half --gpu-arch=sm_90 -c sinf.c
"$CC" --cuda-path=half2 --gpu-arch=sm_90 -c app.c -o noptxas.o 2>err; rc=$?
check "no ptxas: PTX" [ $rc = 0 ] && check "no ptxas: a note" has err "^ompgpu-cc: note: no ptxas: 'app.c' .*PTX"
says "--host-cc= of nothing" 1 "'/no/cc'|not found" --host-cc=/no/cc -c plain.c
printf '#!/bin/sh\necho 19.1.7\n' >old-clang; chmod +x old-clang
echo 'int main(void) { return 0; }' >none.c
refuses_old() { OMPGPU_CLANG=./old-clang test_must_fail 1 "$CC" -c none.c 2>err; }
check "a clang of another version" refuses_old && check "... is named" mentions "$(cat err)" "OMPGPU_CLANG|./old-clang|19.1.7|clang 22"
check "an unknown GPU, file without regions" sh -c "! '$CC' --gpu-arch=sm_999 -c none.c 2>err" && check "... is named" mentions "$(cat err)" "sm_999|sm_90"
OMPGPU_CLANG=/no/clang; export OMPGPU_CLANG
says "OMPGPU_CLANG of nothing" 1 "OMPGPU_CLANG|'/no/clang'" -c plain.c
printf '#!/bin/sh\nexit 1\n' >fails; chmod +x fails; OMPGPU_CLANG=./fails
says "clang that cannot compile" 1 "'./fails --version'" --version
unset OMPGPU_CLANG
TMPDIR=/no/tmp; export TMPDIR
says "TMPDIR of nothing" 1 "'/no/tmp'|No such file" $ARCH -c app.c
check "... which a plain file does without" "$CC" -c plain.c
unset TMPDIR
says "-emit-llvm" 2 "'-emit-llvm'|--emit=ir" $ARCH -emit-llvm -c app.c
says "-m32" 2 "-m32|64-bit" $ARCH -m32 -c app.c
printf 'void f() {\n#pragma omp target\n{}\n}\n' >y.cc
says "C++" 1 "'y.cc'|-fno-openmp" -c y.cc
"$CC" $ARCH -static app.c -o prog 2>err
check "-static with device code" [ $? = 1 ] && check "-static: what helps" mentions "$(tail -n 1 err)" "ompgpu-cc: error: |'-static'|dlopen|-static-ompgpu"
# No clang at all: a PATH with nothing in it, and no /usr/lib/llvm-22 to fall back on would be needed; the message is in the binary.
check "message for a missing clang" sh -c "strings -a '$CC' 2>/dev/null | grep -q 'apt-get install clang-'"
check "an unknown flag is clang's error" test_must_fail 1 "$CC" --no-such-flag -c plain.c
check "no output after errors" test ! -e x.o -a ! -e prog
finish
