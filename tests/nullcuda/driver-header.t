#!/bin/sh
# Our declarations of the CUDA driver (hostrt/cuda/driver.h) against NVIDIA's own header, where that is installed: every prototype is
# declared a second time after it, every constant is compared.
. tests/lib.sh
header=
for dir in /usr/local/cuda /usr/lib/cuda /usr; do
    if [ -z "$header" ] && [ -e "$dir/include/cuda.h" ]; then header=$dir/include/cuda.h; fi
done
[ -n "$header" ] || skip_all "no cuda.h on this machine"
{
    echo "#include \"$header\""
    sed -n '/^CUresult/,/;/p' "$ROOT/hostrt/cuda/driver.h"
    sed -n 's/^ *\(CUDA_[A-Z_]*\|CU_[A-Z_]*\) = \([0-9]*\),$/_Static_assert(\1 == \2, "\1");/p' "$ROOT/hostrt/cuda/driver.h"
    grep -o 'CU_[A-Z_]* = [0-9]*[, ]' "$ROOT/hostrt/cuda/driver.h" | sed 's/\(.*\) = \([0-9]*\).*/_Static_assert(\1 == \2, "\1");/'
} > header.c
check "cuda/driver.h agrees with NVIDIA's header" "$CLANG" -std=gnu11 -w -fsyntax-only header.c
check "all of it was compared" test "$(grep -c -e '^CUresult' -e _Static_assert header.c)" -ge 65
finish
