# flags.mk - how the device runtime is compiled to bitcode; included by the Makefile, run from the root of the checkout:
#   clang-22 --target=nvptx64-nvidia-cuda $(DEVICERTL_CFLAGS_COMMON) $(DEVICERTL_CFLAGS_nvptx64) -c -emit-llvm FILE.c -o FILE.bc
#   clang-22 --target=x86_64-pc-linux-gnu $(DEVICERTL_CFLAGS_COMMON) $(DEVICERTL_CFLAGS_x86_64)  -c -emit-llvm FILE.c -o FILE.bc
#   llvm-link-22 *.bc | opt-22 -passes='$(DEVICERTL_PASSES_nvptx64)'    (the last step only saves time later; it may be left out)
#
# -disable-llvm-passes at -O2: no optnone, always_inline and TBAA kept, nothing decided before the user's code is linked in.
# No -ffreestanding and no -fno-builtin: the "no-builtins" attribute they add keeps functions from being inlined into user code.
# -fconvergent-functions: a call that may hold a barrier is never duplicated or moved; LLVM drops it where it can prove.
DEVICERTL_CFLAGS_COMMON := -std=gnu11 -O2 -Xclang -disable-llvm-passes -fconvergent-functions -fno-math-errno -I. \
  -Wall -Wextra -Werror -Wmissing-prototypes -Wno-unknown-cuda-version
# --cuda-feature: without a CUDA toolkit on the machine clang assumes a PTX version that does not have sm_75.
DEVICERTL_CFLAGS_nvptx64 := -march=sm_75 --cuda-feature=+ptx73 -nogpulib -nostdlibinc
DEVICERTL_CFLAGS_x86_64 := -fPIC
# What each kernel would be given as it is written is simplified once.
DEVICERTL_PASSES_nvptx64 := always-inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)
DEVICERTL_PASSES_x86_64 := function(sroa,early-cse,simplifycfg)
