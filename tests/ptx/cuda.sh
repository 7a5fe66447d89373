# cuda.sh - CUDA programs on the PTX machine; sourced after lib.sh.
# shellcheck shell=sh
#   have_nvcc                        is there a CUDA compiler?  sets $nvcc
#   cuda_program FILE.cu OUT [CC]    OUT and OUT.ptx from a CUDA program, for compute capability CC (80): nvcc's code with tests/ptx/cudart.c
#                                    in place of the CUDA runtime, linked with the machine
have_nvcc() { nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null); [ -n "$nvcc" ]; }
cuda_program() {
    cuda_src=$1 cuda_out=$2 cuda_cc=${3:-80} cuda_lib=$(dirname "$(dirname "$CC")")/lib
    cuda_keep=$cuda_out.keep cuda_link=g++
    [ -z "${OMPGPU_SANITIZE:-}" ] || cuda_link="$CLANG -fsanitize=address,undefined" # as the machine was
    mkdir -p "$cuda_keep"
    in_time "$nvcc" -O3 -std=c++17 -lineinfo -gencode "arch=compute_$cuda_cc,code=compute_$cuda_cc" -cudart none -DMAIN \
        -keep -keep-dir "$cuda_keep" -c "$cuda_src" -o "$cuda_out.o" &&
    ${CLANG:-clang-22} -O1 -w -I"$ROOT" -I"$(dirname "$(dirname "$nvcc")")/include" -DCUDART_PTX="$cuda_cc" -c "$ROOT/tests/ptx/cudart.c" -o "$cuda_keep/cudart.o" &&
    $cuda_link "$cuda_out.o" "$cuda_keep/cudart.o" -L"$cuda_lib" -lompgpu-ptx -Wl,-rpath,"$cuda_lib" -lstdc++ -lm -ldl -o "$cuda_out" &&
    mv "$cuda_keep/$(basename "$cuda_src" .cu).ptx" "$cuda_out.ptx" && rm -rf "$cuda_keep"
}
