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
# The declarations of system headers come first and are not ours to compare: from the first line that names the sample on.
for src in samples/*.c; do
    name=$(basename "$src" .c)
    check "$name.c: compiles" "$CC" --emit=device-c "$src" -o "$T/all.c" || continue
    awk -v src="$src" 'index($0, "// " src ":") == 1 || index($0, "\"" src "\"") { seen = 1 } seen' "$T/all.c" >"$T/device.c"
    compare "sample-$name.device-c" "$T/device.c"
done
finish
