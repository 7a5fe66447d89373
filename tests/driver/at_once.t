#!/bin/sh
# A program from one C file without OpenMP is made by one clang; where there is OpenMP after all, in the usual way.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
cat >counting-clang <<'C'
#!/bin/sh
case $1 in -dumpversion) ;; *) echo "$*" >>runs ;; esac
exec clang-22 "$@"
C
chmod +x counting-clang
# runs N CODE ARGS…: so many starts of clang, this exit code
runs() {
    n=$1 code=$2; shift 2; rm -f runs
    OMPGPU_CLANG=$PWD/counting-clang "$CC" $ARCH "$@" >said 2>&1; rc=$?
    [ "$rc $(wc -l <runs)" = "$code $n" ] || { echo "exit code $rc, runs:"; cat runs said; return 1; }
}
if [ -n "${OMPGPU_SANITIZE:-}" ]; then one=2; else one=1; fi # the library of a sanitized tree is in each program
printf '#include <stdio.h>\nint main(void) { return puts("OK") < 0; }\n' >ok.c
check "one clang" runs $one 0 ok.c -o ok && check "... the program" test "$(./ok)" = OK
check "... into a.out" runs $one 0 ok.c && check "... which runs" test "$(./a.out)" = OK
if [ $one = 1 ]; then
    for flags in "" "-O2 -g" "-shared -fPIC" "-flto -O1" "-pie -Wl,-z,now -lm"; do
        # shellcheck disable=SC2086
        check "the same as clang's: ${flags:-no flags}" sh -c "'$CC' $flags ok.c -o x && mv x ours && '$CLANG' $flags ok.c -o x && cmp x ours"
    done
fi
echo 'int main(void) { return missing(); }' >c99.c
check "what clang rejects" runs 1 1 c99.c -std=c99 -o c99 && check "... its message, once" test "$(grep -c 'error:' said)" = 1
printf 'int missing(void);\nint main(void) { return missing(); }\n' >undefined.c
check "what the linker rejects" runs $one 1 undefined.c -o undefined && check "... its message" has said "undefined.*missing"
check "... no output" test ! -e undefined
echo old >out; check "what was there stays" runs $one 1 undefined.c -o out && check "... " test "$(cat out)" = old
printf 'int main(void) { int unused; return 0; }\n' >warn.c
check "a warning" runs $one 0 -Wall warn.c -o warn && check "... once" test "$(grep -c 'warning:' said)" = 1
check "no such library" runs $one 1 ok.c -lnone-such -o none && check "... is said" has said none-such
check "a flag of the link is used" runs $one 0 -Wall -Werror ok.c -L. -Wl,-z,now -static-libgcc -o ok

# OpenMP comes from elsewhere.
printf '#include <omp.h>\nstatic int threads(void) { return omp_get_max_threads(); }\n' >threads.h
printf '#include "threads.h"\nint main(void) { return threads() < 1; }\n' >asks.c
check "a header that asks for threads" "$CC" asks.c -o asks && check "... runs" ./asks
printf 'extern int omp_get_max_threads(void);\nint main(void) { return omp_get_max_threads() < 1; }\n' >declares.c
check "a routine that the file declares itself" "$CC" declares.c -o declares && check "... runs" ./declares
check "... in a shared library" sh -c "'$CC' -shared -fPIC declares.c -o declares.so && readelf -d declares.so | grep -q NEEDED.*omp"
cat >region.h <<'C'
static inline int region(void)
{
    int s = 0;
#pragma omp target map(tofrom: s)
    s = 1;
    return s;
}
C
printf '#include "region.h"\nint main(void) { return region() != 1; }\n' >region.c
check "a header with targets" "$CC" $ARCH region.c -o region && check "... runs on the device" on_device ./region
printf '#include "region.h"\nint region_of(void) { return region(); }\n' >part.c
"$CC" $ARCH -c part.c && ar rcs libpart.a part.o
printf 'int region_of(void);\nint main(void) { return region_of() != 1; }\n' >uses.c
check "an object with targets" "$CC" uses.c part.o -o uses && check "... runs" on_device ./uses
check "a library with targets" "$CC" uses.c -L. -lpart -o uses && check "... runs" on_device ./uses
printf '#pragma omp declare target\nint twice(int x) { return 2 * x; }\n#pragma omp end declare target\n' >twice.c
printf 'int twice(int);\n#pragma omp declare target to(twice)\nint four(void) {\nint r = 2;\n#pragma omp target map(tofrom: r)\nr = twice(r);\nreturn r; }\n' >four.c
printf 'int four(void);\nint main(void) { return four() != 4; }\n' >calls.c
"$CC" $ARCH -c twice.c four.c && ar rcs libfour.a four.o twice.o
check "a library that needs a device link" "$CC" $ARCH calls.c -L. -lfour -o calls && check "... runs" on_device ./calls
printf 'static inline int less(int n)\n{\n    int s = 0;\n#pragma omp parallel for reduction(-: s)\n    for (int i = 0; i < n; i++)\n        s -= i;\n    return s;\n}\n' >less.h
printf '#include "less.h"\nint main(void) { return less(3) != -3; }\n' >older.c
check "a header that OpenMP 6.0 rejects" "$CC" older.c -o older && check "... runs" ./older

# Objects, messages and exit codes are those of clang.
printf '#include <stdio.h>\nint main(void) { int unused; return undeclared; }\n' >wrong.c
ways() {
    rm -rf out out1 out2
    mkdir out && (cd out && "$CLANG" "$@" >log 2>&1; echo "exit $?" >>log) && mv out out1
    mkdir out && (cd out && "$CC" "$@" >log 2>&1; echo "exit $?" >>log) && mv out out2
    sed -i 's,/tmp/[^:]*[.]o:,OBJECT:,' out1/log out2/log
    [ $one = 1 ] || rm -f out1/a.out out2/a.out
    diff -r out1 out2
}
for flags in "-c" "-S -O2" "-fsyntax-only -Wall" "-O2 -g -Wall" "-shared -fPIC" "-c -o x.o" "-std=c99 -pedantic -DX=1 -UY -fno-common -march=native -c"; do
    for file in ok wrong undefined; do
        # shellcheck disable=SC2086
        check "as clang: $flags $file.c" ways $flags "$T/$file.c"
    done
done

# Messages are written for the terminal that they go to.
printf 'int main(void) { int a_long_name_of_a_variable = 3; return a_long_name_of_a_variable + nowhere_declared + a_long_name_of_a_variable; }\n' >wide.c
if command -v script >/dev/null 2>&1; then
    on_terminal() { TERM=xterm; export TERM; unset COLUMNS NO_COLOR; script -qec "stty cols 60; '$1' -c wide.c" /dev/null </dev/null >"$2"; }
    on_terminal "$CLANG" seen1; on_terminal "$CC" seen2
    check "messages are written for the terminal" same seen1 seen2 && check "... and coloured" sh -c "grep -q '\[0;1;31m' seen2"
else skip "messages are written for the terminal" "no script"; fi

# Nothing is written but the output.
check "no temporary directory for a compile" env TMPDIR=/nonexistent "$CC" -c ok.c
check "... nor for a link" env TMPDIR=/nonexistent "$CC" ok.o -o ok
check "no file is left in that of clang" sh -c "mkdir tmp && TMPDIR=$T/tmp '$CC' ok.c -o ok && TMPDIR=$T/tmp '$CC' undefined.c -o u 2>err; [ -z \"\$(ls -A tmp)\" ]"

# A file that takes a while: clang makes the object at its start.
repeat() { i=0; while [ $i -lt 4096 ]; do echo 'v = v * 3 + 1; if (v & 8) v ^= v >> 3;'; i=$((i + 1)); done; }
{ echo 'int f(int v) {'; repeat; echo 'return v; } int main(void) { return f(3); }'; } >long.c
killed() {
    TMPDIR=$T/tmp "$CC" -O2 long.c -o long & pid=$!
    while kill -0 $pid 2>/dev/null && [ -z "$(find tmp -name '*.o')" ]; do sleep 0.02; done
    kill -TERM $pid; wait $pid; rc=$?
    [ $rc = 143 ] && [ ! -e long ] && [ -z "$(ls -A tmp)" ] || { echo "exit code $rc, in tmp:"; find tmp; return 1; }
}
check "a link at once that is killed leaves nothing" killed

# The driver itself starts without a dynamic linker where it could be built so.
if [ -n "${OMPGPU_SANITIZE:-}" ] || [ ! -e /usr/lib/x86_64-linux-musl/crt1.o ] || [ ! -d "$OBJ/musl" ]; then skip "no dynamic linker" "built without musl"
else check "no dynamic linker" sh -c "readelf -lW '$CC' >headers && ! grep INTERP headers"; fi
finish
