#!/bin/sh
# What comes out, and where: -c -S -E -o -x -fsyntax-only - @file -v -### -save-temps -M… --emit --time.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
printf '#include <stdio.h>\nint main(void) { return puts("OK") < 0; }\n' >plain.c
# The code itself does not matter here.
cc() { "$CC" $ARCH -O0 -fno-ompgpu-check "$@"; }
runs() { [ "$(on_device ./"$1")" = OK ]; }

check "-c: app.o" cc -c app.c
check "... is an ELF object, no other file is left" test "$(ls)" = "$(printf 'app.c\napp.o\nplain.c')"
check "-o: link of an object" cc app.o -o prog && check "... runs" runs prog
check "compile and link in one go" cc app.c -o prog && check "... runs" runs prog
rm -f prog app.o
check "a.out" cc app.c && check "... runs" runs a.out
mkdir x
check "-c -o in another directory" cc -c app.c -o x/other.o
check "-ofile" cc -c app.c -ox/joined.o && check "... is there" test -s x/joined.o
check "-S stands alone" cc -S app.c && cp app.s x/moved.s && check "... assembles" cc -c x/moved.s -o moved.o &&
    check "... links" cc moved.o -o prog && check "... runs" runs prog
for flags in -O2 "-g -O0" "-g -Rompgpu"; do
    # shellcheck disable=SC2086
    check "the same object again: $flags" sh -c "'$CC' $ARCH $flags -c app.c -o 1.o 2>err && '$CC' $ARCH $flags -c app.c -o 2.o 2>err && cmp 1.o 2.o"
done
cat >words.c <<'END'
#pragma omp begin declare target
static const char *const words[] = { "a", "bc", "def", "ghij", "klmno", "pqrstu", "vwxyzab", "cdefghij" };
const char *const *const list[] = { &words[3], &words[1] };
#pragma omp end declare target
int main(int argc, char **argv)
{
    (void)argv;
#pragma omp target map(tofrom: argc)
    argc = words[argc][0] + list[argc & 1][0][0];
    return argc;
}
END
check "the same PTX again" sh -c "for i in 1 2 3; do '$CC' --gpu-arch=sm_90 --emit=ptx words.c -o \$i.ptx || exit 1; done; cmp 1.ptx 2.ptx && cmp 2.ptx 3.ptx"
check "... with all strings" test "$(grep -c '_str[0-9]*\[.*{' 1.ptx)" = 8
rm -f words.c
check "-S -o -: standard output" sh -c "'$CC' $ARCH -S app.c -o - >out.s" && check "... is assembly" has out.s main
check "-c -o -: standard output" sh -c "'$CC' $ARCH -c app.c -o - >out.o" && check "... links" cc out.o -o prog && check "... runs" runs prog
check "--emit -o -: standard output" sh -c "'$CC' $ARCH --emit=omp-tree app.c -o - >out.tree" && check "... is the tree" has out.tree "^target"
check "... no file of that name" test ! -e ./-
check "-S of a file without targets" cc -S plain.c && check "... is assembly" has plain.s main
cc -E app.c >app.i
check "-E keeps the directive" has app.i 'pragma omp target'
check ".i as input" cc app.i -o prog && check "... runs" runs prog
echo "int g(void) { return 0; }" >plain.i
says_nothing() { "$@" >said 2>&1 && cat said && [ ! -s said ]; }
check "... without a message" says_nothing cc -c app.i -o app.i.o && check "... nor without regions" says_nothing cc -c plain.i
check "-x cpp-output" cc -x cpp-output app.i -o prog && check "... runs" runs prog
cp app.c app.txt
check "-x c" cc -x c app.txt -o prog && check "... runs" runs prog
check "-x c -x none" cc -x c app.txt -x none -c
check "- is standard input" sh -c "'$CC' $ARCH -O2 -x c - -o prog <app.c" && check "... runs" runs prog
rm -f prog
check "a pipe" sh -c "cat app.c | '$CC' $ARCH -O2 -x c /dev/stdin -o prog" && check "... runs" runs prog
rm -f prog
check "a file as /dev/stdin" sh -c "'$CC' $ARCH -O2 -x c /dev/stdin -o prog <app.c" && check "... runs" runs prog
rm -f prog
mkfifo pipe.c
check "a pipe with a name" in_time sh -c "cat app.c >pipe.c & '$CC' $ARCH -O2 pipe.c -o prog" && check "... runs" runs prog
check "... with its object" in_time sh -c "cat app.c >pipe.c & '$CC' $ARCH -c pipe.c" && check "... it is there" test -s pipe.o
check "- without targets" sh -c "'$CC' $ARCH -O2 -x c - -o prog <plain.c" && check "... runs" runs prog
check "- without a language" test_must_fail 2 sh -c "'$CC' -c - <app.c"
check "-fsyntax-only" cc -fsyntax-only app.c && check "-fsyntax-only without targets" cc -fsyntax-only plain.c
check "two inputs, -c" cc -c app.c plain.c && check "... two objects" test -s app.o -a -s plain.o
check "C and object and archive" sh -c "ar rcs libp.a app.o && '$CC' libp.a -Wl,-u,main -o prog" && check "... runs" runs prog

printf -- '-O2 -c "app.c" -o "from file.o" %s\n' "$ARCH" >args
check "@file" "$CC" @args && check "... was obeyed" test -s "from file.o"
check "@file inside @file" sh -c "echo @args >args2; '$CC' @args2"

cc -v -c app.c 2>v
check "-v prints the commands" has v '-fsyntax-only' 'omp-split' 'omp-device' 'host.c'
rm -f app.o
cc -### -c app.c 2>v
check "-### prints the commands" has v '-fsyntax-only' 'omp-split' 'omp-device' 'host.c'
check "... and runs none" test ! -e app.o

rm -rf keep obj; mkdir obj
check "-save-temps=DIR" cc -c app.c -save-temps=keep
check "... keeps readable files" test -s keep/app.i -a -s keep/app.device.c -a -s keep/app.host.c -a -s keep/app.s
check "-save-temps=obj" cc -c app.c -o obj/app.o -save-temps=obj && check "... beside the object" test -s obj/app.device.c
check "-save-temps=cwd" cc -c app.c -o obj/app.o --save-temps=cwd && check "... here" test -s app.device.c
(mkdir here && cd here && cc -c ../app.c -save-temps)
check "-save-temps" test -s here/app.host.c
for where in -save-temps -save-temps=keep -save-temps=obj; do check "-g $where" cc -g -c app.c $where -o ./saved.o; done
cp app.c "a \"b\" 'c' \\t.c"
check "a name with quotes" cc -g "a \"b\" 'c' \\t.c" -o "p \"q\"" && check "... runs" "./p \"q\""
check "--save-temps" cc -c app.c --save-temps

cc --time -O2 -c app.c 2>v
check "--time" has v '^check  *[0-9.]* ms  app.c' '^split ' '^pack ' '^total '
for kind in omp-tree device-c host-c ir ptx; do
    check "--emit=$kind" sh -c "'$CC' --gpu-arch=sm_75,emu --emit=$kind app.c >emitted && test -s emitted"
done
check "... PTX is PTX" has emitted '^.version' '.entry'
check "--emit=… -o" "$CC" --gpu-arch=sm_75 --emit=ptx app.c -o app.ptx && check "... the same" same emitted app.ptx
"$CC" --gpu-arch=emu --emit=ir app.c >emitted
check "--emit=ir of the emulated device" has emitted 'x86_64'
check "--emit= of something else" test_must_fail 2 "$CC" --emit=pictures app.c

printf '#include "h.h"\n#include <stdio.h>\n' | cat - app.c >dep.c
echo 'int unused;' >h.h
for src in dep.c plain2.c; do
    [ -e $src ] || printf '#include "h.h"\n#include <stdio.h>\nint main(void) { return 0; }\n' >$src
    stem=${src%.c}
    rm -f ./*.d
    cc -MD -c $src && check "-MD ($src)" has $stem.d "^$stem.o: *$src" h.h stdio.h
    cc -MMD -MP -c $src -o x/$stem.o && check "-MMD -MP ($src)" has x/$stem.d "^x/$stem.o: *$src" '^h.h:' && check "... no system header" lacks x/$stem.d stdio.h
    cc -MMD -MF deps -MT tgt -c $src && check "-MF -MT ($src)" has deps "^tgt: *$src h.h"
    # shellcheck disable=SC2016
    cc -MMD -MF deps -MQ 'a$b' -c $src && check "-MQ ($src)" has deps '^a\$\$b:'
    cc -MMD $src -o prog && check "-MMD with a link ($src)" has prog.d "^prog: *$src"
    cc -M $src >deps && check "-M ($src)" has deps "^$stem.o: *$src" stdio.h
    cc -MM $src >deps && check "-MM ($src)" has deps "^$stem.o: *$src" && check "... no system header" lacks deps stdio.h
    cc -Wp,-MMD,wp.d -c $src && check "-Wp,-MMD ($src)" has wp.d h.h
done
# -MJ: the command of each file, as it was given
rm -f db
"$CC" $ARCH -MJ db -O1 '-DNAME="a b"' -c app.c -o x/app.o && "$CC" $ARCH -MJ db -lm plain.c -o plain
check "-MJ" same db - <<END
{ "directory": "$(pwd -P)", "file": "app.c", "output": "x/app.o", "arguments": ["$(realpath "$CC")", "$ARCH", "-O1", "-DNAME=\\"a b\\"", "-c", "-o", "x/app.o", "app.c"]},
{ "directory": "$(pwd -P)", "file": "plain.c", "arguments": ["$(realpath "$CC")", "$ARCH", "-c", "plain.c"]},
END
# names of files are data: a line end, a quote, what a shell would expand
odd=$(printf 'a"b\nc $(d).c')
cp app.c "$odd"
check "an odd name: compiles" "$CC" -O1 --gpu-arch=sm_75,emu "$odd" -o odd
check "an odd name: runs" sh -c './odd >odd.out'
check "an odd name: -c, -save-temps" "$CC" -O1 --gpu-arch=emu -save-temps -c "$odd" -o odd.o
check "-dumpmachine" sh -c "'$CC' -dumpmachine | grep -q linux"
check "-dumpversion" sh -c "'$CC' -dumpversion | grep -q '^[0-9.]*$'"
check "-print-search-dirs" sh -c "'$CC' -print-search-dirs | grep -q libraries"
check "-print-file-name=" sh -c "'$CC' -print-file-name=libc.so | grep -q libc.so"

# What clang writes beside the object, also for a file with regions.
mkdir side && cd side || exit 1
offload_program app.c
silent_for() { "$CC" -fprofile-instr-generate -fcoverage-mapping -c "../$1" -o o.o >said 2>&1 && [ ! -s said ]; rc=$?; rm -f said; return $rc; }
beside() { # FLAG… -> the files that come with o.o
    rm -f o.*; "$CC" $ARCH -O1 "$@" -c app.c -o o.o && find . -name 'o.*' ! -name o.o -printf '%f '
}
for pair in --coverage:o.gcno "-ftest-coverage -fprofile-arcs:o.gcno" "-g -gsplit-dwarf:o.dwo" -ftime-trace:o.json -fstack-usage:o.su -fsave-optimization-record=bitstream:o.opt.bitstream "-fsave-optimization-record -foptimization-record-file=o.y:o.y" -fsave-optimization-record:o.opt.yaml; do
    # shellcheck disable=SC2086
    check "${pair%:*}" test "$(beside ${pair%:*})" = "${pair#*:} "
done
check "no other files" test "$(ls)" = "app.c
o.o
o.opt.yaml"
check "the name in the skeleton of the debug information" sh -c "'$CC' $ARCH -g -gsplit-dwarf -c app.c -o o.o && readelf --debug-dump=info o.o | grep -q 'dwo_name.*side/o.dwo'"
rm -f o.*
check "-fcoverage-mapping" "$CC" $ARCH -fprofile-instr-generate -fcoverage-mapping -c app.c -o o.o && cp ../.log ../err && check "... is said to be without effect" has ../err 'warning: .*-fcoverage-mapping.*app.c' && check "... unless there are no regions" silent_for plain.c
rm -f o.*
check "--coverage in one step" "$CC" $ARCH --coverage app.c -o prog && check "... runs" test "$(./prog)" = OK
check "... counts beside the program" test -s prog-app.gcda && check "... and notes, of the program's functions" sh -c "grep -q main prog-app.gcno && ! grep -q '<ompgpu>' prog-app.gcno"
printf 'int main(void) { int x;\n#pragma omp target map(x)\n{ x = undeclared; } }\n' >bad.c
check "an error" test_must_fail 1 "$CC" $ARCH --coverage -fstack-usage -c bad.c && check "... leaves nothing" test "$(find . -name '*bad*')" = ./bad.c
cd ..
finish
