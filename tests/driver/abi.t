#!/bin/sh
# What libompgpu.so exports is what hostrt/libompgpu.symbols lists (HACKING.md says what to do where it is not), in the version that its name has.
. tests/lib.sh
[ -z "${OMPGPU_SANITIZE:-}" ] || skip_all "a sanitizer exports its own"
command -v nm >/dev/null 2>&1 || skip_all "no nm"
lib=$(dirname "$(dirname "$CC")")/lib/libompgpu.so
nm -D --defined-only --with-symbol-versions "$lib" | awk '{ print $3 }' | LC_ALL=C sort >exported || skip_all "nm knows no versions"
check "the symbols of hostrt/libompgpu.symbols, and no others" same "$ROOT/hostrt/libompgpu.symbols" exported
number=$(readelf -d "$lib" | sed -n 's/.*SONAME.*libompgpu[.]so[.]\([0-9]*\).*/\1/p')
check "versions have the number of the library's name" sh -c "grep '^_*ompgpu_' exported | grep -v '@@OMPGPU_$number\$' && exit 1; grep -q '@@OMPGPU_$number\$' exported"
# An older program has no versions in it.
cat >app.c <<'C'
#include <stdio.h>
void __ompgpu_host_begin(void *, const void *, unsigned);
int omp_get_num_devices(void);
int main(void) { return !__ompgpu_host_begin || omp_get_num_devices() < 0; }
C
cat >old.c <<'C'
void __ompgpu_host_begin(void) { }
int omp_get_num_devices(void) { return -1; }
C
check "a program that was linked without versions" sh -c "
    '$CLANG' -shared -fPIC -Wl,-soname,libompgpu.so.$number old.c -o libompgpu.so.$number && '$CLANG' app.c ./libompgpu.so.$number -o app &&
    rm libompgpu.so.$number && cp '$lib' libompgpu.so.$number && OMPGPU_DEVICE=emu LD_LIBRARY_PATH=. ./app"
finish
