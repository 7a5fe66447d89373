#!/bin/sh
# Files without target constructs go to clang as they are; those that may have some do not.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
way() { "$CC" $ARCH --time -c "$1" -o way.o 2>log || { cat log; return 1; }; case $(cat log) in *pack*) echo offload ;; *) echo plain ;; esac >way; [ "$(cat way)" = "$2" ] || { cat log; return 1; }; }
row() { check "$1: $2" way "$1.c" "$2"; }
body='for (int i = 0; i < 10; i++) a[i]++;'
echo 'int a[10]; void f(void) { a[0]++; }' >plain.c; row plain plain
echo "int a[10]; void f(void) {
#pragma omp parallel for
$body }" >parallel.c; row parallel plain
echo "int a[10]; /* omp target */ void f(void) { $body }" >comment.c; row comment plain
echo "int a[10]; void f(void) {
#pragma omp target
$body }" >target.c; row target offload
echo "int a[10]; void f(void) {
# pragma  omp	target teams distribute parallel for
$body }" >blanks.c; row blanks offload
printf 'int a[10]; void f(void) {\n#pragma omp \\\n    target\n%s }\n' "$body" >continued.c; row continued offload
printf 'int a[10]; void f(void) {\n#pragma \\\r\n omp \\\r\n    target\r\n%s }\n' "$body" >crlf.c; row crlf offload
printf 'int a[10]; /* \0 */ void f(void) {\n#pragma omp target\n%s }\n' "$body" >nul.c; row nul offload
echo "int a[10]; void f(void) { _Pragma(\"omp target\") $body }" >operator.c; row operator offload
echo "#define DO(x) _Pragma(#x)
#define ON target
int a[10]; void f(void) { DO(omp ON) $body }" >stringized.c; row stringized offload
echo "#define ON target
int a[10]; void f(void) {
#pragma omp ON
$body }" >macro.c; row macro offload
echo "#if 0
#pragma omp target
#endif
int a[10]; void f(void) { $body }" >unused.c; row unused plain
echo 'int a[10];
#pragma omp declare target
int b;
#pragma omp end declare target
void f(void) {
#pragma omp target update to(b)
}' >update.c; row update offload

mkdir inc
cat >inc/kernel.h <<'C'
static inline void k(int *p, int n) {
    #pragma omp target teams distribute parallel for map(tofrom: p[0:n])
    for (int i = 0; i < n; i++) p[i]++;
}
C
printf '#include "inc/kernel.h"\nvoid f(int *p) { k(p, 10); }\n' >header.c; row header offload
header_flags() { "$CC" $ARCH --time "$@" -c h.c 2>log && has log pack; }
printf '#include <kernel.h>\nvoid f(int *p) { k(p, 10); }\n' >h.c
check "header by -I" header_flags -Iinc
check "header by -isystem" header_flags -isystem inc
check "header with -MD" header_flags -Iinc -MD && check "... dependencies" has h.d kernel.h
check "header with -MF" header_flags -Iinc -MMD -MF deps && check "... dependencies" has deps kernel.h
printf 'void f(int *p) { k(p, 10); }\n' >h.c
check "header by -include" header_flags -include inc/kernel.h
printf 'int a[10]; void f(void) { DO_IT %s }\n' "$body" >h.c
check "-D macro" header_flags '-DDO_IT=_Pragma("omp target")'
stays_plain() { "$CC" $ARCH --time "$@" -c plain.c 2>log && has log "no targets" && lacks log preprocess; }
mere_link() { echo 'int main(void) { return 0; }' >mere.c && "$CC" -c mere.c && "$1" -nostdlib -r -static-libgcc mere.o -o mere 2>&1 | sed 's/^[^:]*: //'; }
mere_link "$CLANG" >w1; mere_link "$CC" >w2
check "warnings of a mere link" sh -c "grep -q static-libgcc w1 && cmp w1 w2"
check "-D macro with omp in a longer word" stays_plain '-DHEADER="compat.h"'
cat >warn.h <<'C'
static inline void k2(int *p, int n) { int unused_here;
    #pragma omp target map(tofrom: p[0:n])
    p[0]++;
}
C
printf '#include "warn.h"\nvoid f(int *p) { k2(p, 10); }\n' >h.c
"$CC" $ARCH -Wall -c h.c 2>log
check "a warning in a header shows once" test "$(grep -c 'unused variable' log)" = 1
check "-Werror and a target in a header" test_must_fail 1 "$CC" $ARCH -Wall -Werror -c h.c

check "-fno-openmp" "$CC" -fno-openmp --time -c target.c && check "... is plain C" sh -c "'$CC' -fno-openmp --time -c target.c 2>&1 | grep -q 'no targets'"
for flags in -O2 "-O2 -g" "-O1 -fPIC -ffunction-sections" "-std=c11 -O3 -march=native"; do
    # shellcheck disable=SC2086
    check "same object as clang's: $flags" sh -c "'$CC' $flags -c parallel.c -o ours.o && '$CLANG' -fopenmp -fopenmp-version=60 -fno-crash-diagnostics $flags -c parallel.c -o clangs.o && cmp ours.o clangs.o"
done
check "-emit-llvm of a plain file" "$CC" -emit-llvm -S plain.c -o plain.ll
check "-emit-llvm with targets" test_must_fail 2 "$CC" $ARCH -emit-llvm -S target.c
# Nothing of ours in plain programs and libraries; the path where the linker takes our library all the same.
printf '#include <stdio.h>\nint main(void) { return puts("OK") < 0; }\n' >bare.c
bare() { "$CC" "$@" bare.c -o bare && readelf -d bare >dynamic && has dynamic 'libc[.]so' && silent dynamic omp RUNPATH RPATH; }
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "a plain program is clang's" "the sanitizers' run-time comes with our library"
else check "a plain program is clang's" bare && check "... with -fopenmp" bare -fopenmp && check "a plain library is clang's" bare -shared -fPIC
fi
unused() { "$1" -c -static-libgcc -L. -lm -Wl,-z,now bare.c -o bare.o 2>&1 | grep -o 'warning: .*' | sort; }
check "flags of the link are unused with -c in clang" test -n "$(unused "$CLANG")" && check "... the same warnings" test "$(unused "$CC")" = "$(unused "$CLANG")"
printf '#include <omp.h>\nint main(void) { return omp_get_num_devices() < 0; }\n' >asks.c
check "a program that only asks for devices" "$CC" asks.c -o asks && check "... starts" ./asks
cat >tool.c <<'C'
#include <omp.h>
#include <omp-tools.h>
#include <stdio.h>
static int start(ompt_function_lookup_t find, int device, ompt_data_t *data) { return puts("starts"); }
static void end(ompt_data_t *data) { puts("ends"); }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = { start, end, { 0 } };
    return &tool;
}
C
printf '#include <omp.h>\nint main(void) { int d = omp_get_default_device(); void *p = omp_target_alloc(8, d); omp_target_free(p, d); return !p; }\n' >allocates.c
starts() { "$CC" "$@" -o tooled && on_device ./tooled >out && has out starts && has out ends; }
check "a tool in a program with routines alone starts" starts tool.c allocates.c
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "... from bitcode" "libompgpu.so needs the run-time of the sanitizers"
else check "... from bitcode" starts -flto tool.c allocates.c
fi
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "without a tool there is no libomp in it" "what a sanitized library is linked with differs"
else check "without a tool there is no libomp in it" sh -c "'$CC' allocates.c -o allocates && readelf -d allocates | grep -q ompgpu && ! readelf -d allocates | grep -q 'libomp[.]'"
fi
check "-m32 links nothing of ours" sh -c "'$CC' -m32 -### bare.c -o bare 2>&1 | grep -c ompgpu.so | grep -q '^0'"
printf '#pragma omp declare target\nint twice(int x) { return 2 * x; }\n#pragma omp end declare target\n' >old.c
printf 'int old(void) __attribute__((deprecated));\nint main(void) { int r = 1;\n#pragma omp target map(tofrom: r)\nr = twice(r);\nreturn old(); }\n' >>old.c
deprecated() { "$CC" $ARCH "$@" -c old.c 2>err; grep -o 'Wdeprecated[a-z-]*' err | sort -u | tr '\n' ' ' >groups; cat groups; }
check "declare target is not said to be deprecated" test "$(deprecated)" = "Wdeprecated-declarations " && check "... unless asked" test "$(deprecated -Wdeprecated)" = "Wdeprecated Wdeprecated-declarations "
sed -n 1,3p old.c >old.h; printf '#include "old.h"\nint main(void) { return twice(0); }\n' >uses.c
check "... nor in a header" sh -c "'$CC' $ARCH -Wall -c uses.c 2>err" && check "... no message" test ! -s err
printf '#include "old.h"\nint main(void) { return twice(none); }\n' >uses2.c
check "... nor beside an error" test_must_fail 1 sh -c "'$CC' $ARCH -Wall -c uses2.c 2>err" && check "... one message" sh -c "grep -q 'none' err && ! grep -q deprecated err"
check "-m32 with targets" test_must_fail 2 "$CC" $ARCH -m32 -c target.c
echo 'namespace n { int f() { return 1; } }' >x.cc
check "C++ without targets" "$CC" -c x.cc
printf 'void f() {\n#pragma omp target\n{}\n}\n' >y.cc
check "C++ with targets" test_must_fail 1 "$CC" -c y.cc
printf '.globl asm_f\nasm_f: ret\n' >s.s; cp s.s S.S
check ".s and .S" "$CC" -c s.s S.S
printf 'int main(void) { return 0; }\n' >m.c
check "-ftest-coverage leaves its file beside the program" sh -c "'$CC' -ftest-coverage -O0 m.c -o m && ls | grep -q gcno && ./m"
check "-gsplit-dwarf" sh -c "'$CC' -g -gsplit-dwarf m.c -o m && ls | grep -q dwo"
check "-flto" "$CC" -flto -c m.c

# What clang rejects is tried with an older version of OpenMP where that can matter: configure scripts compile what must fail.
cat >counting-clang <<'C'
#!/bin/sh
case $1 in -dumpversion) ;; *) echo >>runs ;; esac
exec clang-22 "$@"
C
chmod +x counting-clang
runs() { n=$1; shift; rm -f runs; OMPGPU_CLANG=$PWD/counting-clang "$CC" -c "$@" 2>/dev/null; echo "exit $?: $(wc -l <runs)"; [ "$(wc -l <runs)" = "$n" ]; }
echo 'int n = sizeof(struct unknown);' >wrong.c
check "a file that is wrong and has no OpenMP is compiled once" runs 1 wrong.c
printf 'static int less(int n)\n{\n    int s = 0;\n#pragma omp parallel for reduction(-: s)\n    for (int i = 0; i < n; i++)\n        s -= i;\n    return s;\n}\n' >less.h
printf '#include "less.h"\nint main(void) { return less(3) != -3; }\n' >older.c
check "one whose header has what OpenMP 6.0 removed, twice" runs 2 older.c && check "... and it is accepted" "$CC" -Werror older.c -o older && check "... and runs" ./older
echo 'int right;' >right.c
check "-Werror=… is no misspelled flag of ours: clang is not asked for it" runs 1 right.c -Werror=vla -Wno-error=vla -Werror

# The plain compile ends while the file is screened for clauses on which clang hangs, and a header has targets.
cat >slow-clang <<'C'
#!/bin/sh
case " $* " in *" -fsyntax-only "*) ;; *" -E "*) sleep 1 ;; *" -MD "*) sleep 0.8 ;; esac
exec clang-22 "$@"
C
chmod +x slow-clang
printf 'static int region(void)\n{\n    int s = 0;\n#pragma omp target map(tofrom: s)\n    s = 1;\n    return s;\n}\n' >region.h
printf '#include "region.h"\nint main(void) { return region() != 1; }\n' >late.c
check "targets in a header of a file that takes long" env OMPGPU_CLANG="$PWD/slow-clang" "$CC" $ARCH late.c -o late && check "... runs" on_device ./late
finish
