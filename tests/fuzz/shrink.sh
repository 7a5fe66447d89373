#!/bin/sh
# shrink.sh SEED [FLAGS…] - the smallest case of this seed that still fails as it does with these flags of ompgpu-cc: leaves out parts
# (gen.h), many at once and then one by one, for as long as the program without OpenMP compiles and runs and the one with OpenMP does not
# agree with it.  From the root of the tree.  Writes main.c and other.c to $OMPGPU_FUZZ_DIR (default: fuzz-SEED in the current directory).
# OMPGPU_EMU_SCHEDULE and OMPGPU_DEVICE are kept.
# shellcheck disable=SC2086
[ $# -ge 1 ] || { echo "usage: tests/fuzz/shrink.sh SEED [FLAGS…]" >&2; exit 2; }
root=$(pwd) seed=$1; shift
CC=${OMPGPU_CC:-$root/bin/ompgpu-cc} dir=${OMPGPU_FUZZ_DIR:-fuzz-$seed}
mkdir -p "$dir" && cd "$dir" || exit 1
export OMPGPU_DEVICE="${OMPGPU_DEVICE:-emu}" OMP_TARGET_OFFLOAD=MANDATORY
[ $# -gt 0 ] || set -- --gpu-arch=emu -O2
"${OMPGPU_CLANG:-clang-22}" -O1 -D_GNU_SOURCE "$root"/tests/fuzz/programs/*.c -o gen || exit 1

write() { ./gen main "--without=$1" "$seed" >"$2main.c" && ./gen other "--without=$1" "$seed" >"$2other.c"; }
# how PARTS FLAGS…: how the case without these parts fails; empty if it does not, or is no program
how() {
    write "$1" try_ || exit 1
    shift
    gcc -w -O0 try_main.c try_other.c -o plain 2>/dev/null || return
    timeout 10 ./plain >want 2>/dev/null || return
    rm -f prog
    timeout 120 "$CC" -w "$@" try_main.c try_other.c -o prog >log 2>&1 || { sed -n 's/^.*\(fatal error\|error\): \([^'"'"']*\).*/compiler: \2/p' log | sed 1q; return; }
    timeout 60 ./prog >got 2>log || { echo "ends with $?"; return; }
    cmp -s want got || echo "other results"
}
first=$(how "" "$@")
[ -n "$first" ] || { echo "seed $seed does not fail with $*"; exit 1; }
echo "seed $seed $*: $first"
n=$(./gen parts "$seed") out=""
size=$(((n + 1) / 2))
while [ $size -ge 1 ]; do
    from=1
    while [ $from -le "$n" ]; do
        last=$((from + size - 1))
        [ $last -le "$n" ] || last=$n
        try="$out,$(seq -s, $from $last)"
        [ "$(how "$try" "$@")" != "$first" ] || out=$try
        from=$((from + size))
    done
    size=$((size / 2))
done
write "$out" "" && rm -f try_* plain prog want got gen log
echo "$dir/main.c, $dir/other.c: $first"
