#!/bin/sh
# Errors of the command, by exact message and exit code: 1 for input and environment, 2 for usage.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
printf 'int main(void) { return 0; }\n' >plain.c
# says NAME CODE MESSAGE ARGS…: the one line on standard error
says() {
    name=$1 code=$2 message=$3; shift 3
    "$CC" "$@" >out 2>err; rc=$?
    if [ $rc = "$code" ] && [ "$(cat err)" = "ompgpu-cc: error: $message" ]; then ok "$name"
    else not_ok "$name"; echo "# exit code $rc, wanted $code and: $message"; show err; fi
}
says "no input" 2 "no input files"
says "no input, -c" 2 "no input files" -c
says "missing input" 1 "cannot read 'no.c': No such file or directory" -c no.c
says "missing object" 1 "cannot read 'no.o': No such file or directory" no.o -o prog
says "directory as input" 1 "cannot read '.': it is a directory" -c .
says "-o without its argument" 2 "argument to '-o' is missing" -c plain.c -o
says "-Xlinker without its argument" 2 "argument to '-Xlinker' is missing" plain.c -Xlinker
says "-o and two inputs" 2 "'-o' with several input files needs a link" -c plain.c app.c -o x.o
says "standard input without a language" 2 "standard input needs a language: -x c -" -c -
says "the output is the source" 1 "input file 'app.c' is the same as output file './app.c'" $ARCH -c app.c -o ./app.c
ln plain.c other.c
says "the program is the source" 1 "input file 'other.c' is the same as output file 'plain.c'" other.c -o plain.c
check "... the source stays" has plain.c 'return 0'
says "unwritable directory" 1 "cannot write '/no/such/dir/x.o': No such file or directory" $ARCH -c app.c -o /no/such/dir/x.o
says "unwritable directory, link" 1 "cannot write '/no/such/dir/x': No such file or directory" plain.c -o /no/such/dir/x
if [ -c /dev/full ]; then
    "$CC" $ARCH --emit=device-c app.c >/dev/full 2>err; rc=$?
    check "standard output is full" sh -c "[ $rc = 1 ] && [ \"\$(cat err)\" = 'ompgpu-cc: error: cannot write standard output: No space left on device' ]"
    check "output is full" test_must_fail 1 "$CC" $ARCH -c app.c -o /dev/full
else skip "full output" "no /dev/full"; fi
says "output is a directory" 1 "cannot write '/': it is a directory" $ARCH -c app.c -o /
says "--emit= of what is not there" 2 "unknown kind 'x' in '--emit='; known are omp-tree, device-c, host-c, ir, ptx" --emit=x app.c
says "--emit=ptx without a GPU" 2 "'--emit=ptx' needs a GPU in '--gpu-arch='" --gpu-arch=emu --emit=ptx app.c
says "--emit= of a file without targets" 1 "'plain.c' has no target constructs" --gpu-arch=emu --emit=host-c plain.c
says "--gpu-arch= of nothing" 2 "'--gpu-arch=' names no device" --gpu-arch=, -c app.c
says "--gpu-arch= without its argument" 2 "argument to '--gpu-arch=' is missing" --gpu-arch= -c app.c
says "--cuda-path= without its argument" 2 "argument to '--cuda-path=' is missing" --cuda-path= -c app.c
known=$("$(dirname "$(dirname "$CC")")/lib/ompgpu/omp-device" --print-archs | tr '\n' ' ' | sed 's/ *$//')
check "the list of GPUs" test -n "$known"
for arch in sm_x sm_1 sm_90z gfx90a 90; do
    says "--gpu-arch=$arch" 2 "unknown GPU '$arch' in '--gpu-arch='; known are $known, native and emu" --gpu-arch=emu,$arch -c app.c
done
have_gpu || says "--gpu-arch=native" 1 "'--gpu-arch=native': there is no GPU in this machine, or its driver does not start; name the GPU: --gpu-arch=sm_XX" --gpu-arch=native -c app.c
says "--cuda-path= of nothing" 1 "'/no/cuda' holds no CUDA toolkit (no bin/ptxas and no nvvm/libdevice)" --cuda-path=/no/cuda --gpu-arch=sm_90 -c app.c
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
says "no libdevice" 1 "math functions (sinf) on the device need libdevice of the CUDA Toolkit; set --cuda-path" --cuda-path=half --gpu-arch=sm_90 -c sinf.c
"$CC" --cuda-path=half2 --gpu-arch=sm_90 -c app.c -o noptxas.o 2>err; rc=$?
check "no ptxas: PTX, and a note" sh -c "[ $rc = 0 ] && [ \"\$(cat err)\" = \"ompgpu-cc: note: no ptxas: 'app.c' gets PTX only, which the NVIDIA driver compiles when the program starts\" ]"
says "--host-cc= of nothing" 1 "host compiler '/no/cc' not found" --host-cc=/no/cc -c plain.c
OMPGPU_CLANG=/no/clang; export OMPGPU_CLANG
says "OMPGPU_CLANG of nothing" 1 "OMPGPU_CLANG names '/no/clang', which is not a program" -c plain.c
printf '#!/bin/sh\nexit 1\n' >fails; chmod +x fails; OMPGPU_CLANG=./fails
says "clang that cannot compile" 1 "'./fails --version' failed" --version
unset OMPGPU_CLANG
TMPDIR=/no/tmp; export TMPDIR
says "TMPDIR of nothing" 1 "cannot make a temporary directory in '/no/tmp': No such file or directory" -c plain.c
unset TMPDIR
says "-emit-llvm" 2 "'-emit-llvm' of a file with target constructs: use --emit=ir for the device's IR" $ARCH -emit-llvm -c app.c
says "-m32" 2 "target constructs need 64-bit code: remove -m32" $ARCH -m32 -c app.c
printf 'void f() {\n#pragma omp target\n{}\n}\n' >y.cc
says "C++" 1 "'y.cc': target constructs are supported in C only; -fno-openmp compiles it without them" -c y.cc
"$CC" $ARCH -static app.c -o prog 2>err
check "-static with device code" sh -c "[ $? = 1 ] && tail -1 err | grep -q '^ompgpu-cc: error: .-static.: device code is loaded with dlopen, which a static program does not have; -static-ompgpu links libompgpu.a into a dynamic program$'"
# No clang at all: a PATH with nothing in it, and no /usr/lib/llvm-22 to fall back on would be needed; the message is in the binary.
check "message for a missing clang" sh -c "strings -a '$CC' 2>/dev/null | grep -q 'not found; install it (Debian: apt-get install clang-'"
check "an unknown flag is clang's error" test_must_fail 1 "$CC" --no-such-flag -c plain.c
check "no output after errors" test ! -e x.o -a ! -e prog
finish
