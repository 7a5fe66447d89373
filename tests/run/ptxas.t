#!/bin/sh
# Every kernel of tests/run and samples goes through ptxas for four generations of GPUs.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
have_ptxas || skip_all "no ptxas"
for src in "$SAMPLES"/*.c "$ROOT"/tests/run/*.c; do
    # shellcheck disable=SC2046
    check "$(basename "$src")" timeout 300 "$CC" --gpu-arch=sm_75,sm_80,sm_90,sm_100 -O2 $(program_flags "$src") -c "$src" -o "$T/a.o"
done
finish
