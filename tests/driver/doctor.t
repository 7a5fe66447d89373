#!/bin/sh
# --doctor: a line for each thing that is looked at; exit status 1 when one of them is bad.
. tests/lib.sh
doctor() { in_time "$CC" --doctor >log 2>&1; }
check "this machine is healthy" doctor
check "... each line says ok, or what to note" sh -c "! sed 1d log | grep -v -e '^ok    ' -e '^note  .*'"
check "... kernels ran" has log '^ok .*emulated device' '^ok .*PTX machine'
bad() { ! OMPGPU_CLANG=$1 doctor && has log '^BAD .*clang' '^BAD .*emulated device' '^note .*GPU: none\|^ok .*GPU '; }
check "no clang, and the rest is looked at" bad /no/clang
printf '#!/bin/sh\necho 12.0.0\n' >old; chmod +x old
check "an old clang" bad "$T/old"
mkdir -p cuda/bin
printf '#!/bin/sh\nexit 1\n' >cuda/bin/ptxas; chmod +x cuda/bin/ptxas
check "a broken ptxas, no libdevice" sh -c "! '$CC' --doctor --cuda-path=cuda >log 2>&1"
check "... each has its line" has log '^BAD .*ptxas' '^note .*libdevice' '^BAD .*PTX machine' '^ok .*emulated device'
if [ -e "$OBJ/nullcuda/libcuda.so.1" ]; then
    null() { ! LD_LIBRARY_PATH=$OBJ/nullcuda doctor && has log '^ok .*GPU (sm_' '^BAD .*the GPU'; }
    check "a GPU that computes nothing" null
    fails() { ! NULLCUDA_FAIL=cuInit LD_LIBRARY_PATH=$OBJ/nullcuda doctor && has log "^BAD .*driver" '^note .*GPU: none'; }
    check "a driver that does not start" fails
else skip "nullcuda" "not built"; fi
finish
