#!/bin/sh
# What the frontend makes of three programs (--emit=omp-tree), and the regions of the samples in device C.  An intended change:
#   OMPGPU_GOLDEN=update sh tests/golden/golden.t     and read the diff.
. tests/lib.sh
cd "$ROOT" || exit 1

# compare GOLDEN FILE
compare() {
    if [ "${OMPGPU_GOLDEN:-}" = update ]; then cp "$2" "tests/golden/$1"; fi
    check "$1" diff -u "tests/golden/$1" "$2"
}
for src in tests/golden/*.c; do
    name=$(basename "$src" .c)
    check "$name.c: compiles" "$CC" --emit=omp-tree "$src" -o "$T/tree" && compare "$name.tree" "$T/tree"
done
# Types of system headers come first and differ from machine to machine: compared from the first line that names the sample on.
for src in samples/*.c; do
    name=$(basename "$src" .c)
    check "$name.c: compiles" "$CC" --emit=device-c "$src" -o "$T/all.c" || continue
    awk -v src="$src" 'index($0, "// " src ":") == 1 || index($0, "\"" src "\"") { seen = 1 } seen' "$T/all.c" >"$T/device.c"
    compare "sample-$name.device-c" "$T/device.c"
done
# Of the types of system headers the text has those that it names, and what these need.
cat >"$T/types.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
    struct timespec t = { 1, 2 };
    long r = 0;
#pragma omp target map(from: r)
    r = t.tv_nsec + (long)sizeof(div_t);
    return r != 2 + sizeof(div_t);
}
EOF
"$CC" --emit=device-c "$T/types.c" -o "$T/all.c"
check 'the types of headers that a region names' grep -q '^struct timespec' "$T/all.c"
check '... and what they are made of' grep -q '__time_t;' "$T/all.c"
check '... a type in a sizeof' grep -q '} div_t;' "$T/all.c"
check '... but no others' sh -c '! grep -qE "FILE|lldiv_t|clock_t;" "$1"' sh "$T/all.c"
finish
