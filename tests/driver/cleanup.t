#!/bin/sh
# A failed, killed or hanging compile leaves no temporary files and no partial output; what was there stays.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
printf 'int main(void) { return 0; }\n' >plain.c
printf 'int main(void) { return x; }\n' >bad.c
mkdir tmp; TMPDIR=$T/tmp; export TMPDIR
cat >slow <<C
#!/bin/sh
case "\$*" in *"\$SLOW"*) : >"$T/started"; sleep 60 ;; esac
exec $CLANG "\$@"
C
cat >dies <<C
#!/bin/sh
case "\$*" in *"\$SLOW"*) kill -\$DIE \$\$ ;; esac
exec $CLANG "\$@"
C
chmod +x slow dies
clean() { [ -z "$(ls -A tmp)" ] || { echo "left in TMPDIR:"; find tmp; return 1; }; [ -z "$(find . -maxdepth 1 -name '*.tmp')" ] || { ls -A; return 1; }; }
old() { [ "$(cat out)" = old ]; }
# clang itself removes the output of a compile that fails: nothing, or what was there.
not_partial() { [ ! -e out ] || old; }
# SIGNAL STAGE COMMAND…: interrupts the compiler while a stage hangs
interrupt() {
    signal=$1 SLOW=$2; shift 2
    export SLOW; rm -f started; echo old >out
    OMPGPU_CLANG=$T/slow "$@" & pid=$!
    n=0; while [ ! -e started ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n + 1)); done
    kill -"$signal" $pid
    wait $pid; rc=$?
    [ $rc -gt 128 ] || { echo "exit code $rc"; return 1; }
    clean && old
}
for signal in INT TERM HUP; do
    [ $signal = INT ] && continue         # a background job of sh ignores it; below
    check "SIG$signal while checking" interrupt $signal -fsyntax-only "$CC" $ARCH -c app.c -o out
    check "SIG$signal in the host compile" interrupt $signal "-c -w" "$CC" $ARCH -c app.c -o out
    check "SIG$signal in the device compile" interrupt $signal device.c "$CC" $ARCH -c app.c -o out
    check "SIG$signal in a plain compile" interrupt $signal plain.c "$CC" -c plain.c -o out
    check "SIG$signal in the link" interrupt $signal libompgpu.so "$CC" -fopenmp plain.c -o out
done
# One more file beside the output, made by clang, stayed when the signal came while it was being made.
check "the host compile writes to our file" sh -c "'$CC' -v $ARCH -c app.c -o new.o 2>log && grep -q ' -c -w .* -fno-temp-file .*new[.]o[.].*tmp' log"
check "SIGINT" perl -e '$SIG{INT} = "DEFAULT"; $ENV{SLOW} = "-fsyntax-only"; $ENV{OMPGPU_CLANG} = "./slow"; unlink "started";
    my $pid = fork; exec @ARGV unless $pid; select undef, undef, undef, 0.05 until -e "started"; kill INT => $pid; waitpid $pid, 0; exit(($? & 127) != 2)' \
    "$CC" $ARCH -c app.c -o out
check "... clean" clean && check "... what was there stays" old
printf 'int main(void) { return x; }\n' >piped.c
# Small files only: a reason, exit code 1, nothing left, no dependencies of an output that there is not.
# small_files BLOCKS FILE: messages go through a pipe, since a file would be too small for them
small_files() {
    { sh -c "ulimit -f $1; exec '$CC' $ARCH -MD -c $2 -o small.o" 2>&1; echo "rc $?"; } | cat >log
    has log 'rc 1$' 'ompgpu-cc: error: .*clang.* failed while .*TMPDIR' && silent log crashed note: && [ ! -e small.o ] && [ ! -e small.d ] && clean
}
for blocks in 1 8 16; do check "ulimit -f $blocks" small_files $blocks app.c || show log; done
check "ulimit -f 1, a plain file" small_files 1 plain.c
# Where a file system can be mounted: each size ends in another stage.
full() {
    mount -t tmpfs -o size="$1" none tmp || return 1
    test_must_fail 1 "$CC" --gpu-arch=emu -c app.c -o full.o 2>log; rc=$?
    [ -z "$(ls -A tmp)" ] || rc=1
    umount tmp
    [ $rc = 0 ] && has log "^ompgpu-cc: error: .* failed while .*TMPDIR" && silent log note: crashed && [ ! -e full.o ]
}
for size in 16k 48k; do
    if mount -t tmpfs none tmp 2>/dev/null && umount tmp; then check "TMPDIR of $size" full $size; else skip "TMPDIR of $size" "no right to mount"; fi
done
check "SIGPIPE: nobody reads the messages" sh -c "'$CC' $ARCH -c piped.c -o out 2>&1 | exec true; '$CC' $ARCH --emit=device-c app.c | exec true"
check "... clean" clean
limit() { echo old >out; SLOW=$1 OMPGPU_CLANG=$T/slow OMPGPU_CC_TIMEOUT=5 "$CC" $ARCH -c app.c -o out 2>log; [ $? = 1 ]; }
check "time limit" limit -fsyntax-only
check "... message" has log "^ompgpu-cc: error: .*slow .* 5 seconds .*'app.c'.*OMPGPU_CC_TIMEOUT"
check "... clean" clean && check "... what was there stays" old
crash() { echo old >out; SLOW=$1 DIE=$2 OMPGPU_CLANG=$T/dies "$CC" $ARCH -c "$3" -o out 2>log; [ $? = 1 ]; }
check "a compiler that dies" crash -fsyntax-only SEGV app.c
check "... message" has log "^ompgpu-cc: error: .*dies crashed.*signal 11.*'app.c'"
check "... clean" clean && check "... what was there stays" old
check "a compiler that is killed" crash plain.c KILL plain.c
check "... message" has log "^ompgpu-cc: error: .*dies was killed.*'plain.c'.*memory"
check "... clean" clean && check "... what was there stays" old
printf '#pragma clang __debug crash\nint x;\n' >crash.c
check "clang's own crash" test_must_fail 1 sh -c "'$CC' -c crash.c -o out 2>log"
check "... message, no stack" sh -c "grep -q '^ompgpu-cc: error: .*clang-22 crashed.*signal [0-9]*.*crash.c' log && ! grep -q 'Stack dump' log"
check "... clean" clean && check "... what was there stays" not_partial
check "error in a plain file" test_must_fail 1 "$CC" -c bad.c -o out && check "... clean" clean && check "... what was there stays" not_partial
sed 's/a\[i\] \*= 2/a[i] *= nothing/' app.c >bad2.c
echo old >out
check "error in a region" test_must_fail 1 "$CC" $ARCH -c bad2.c -o out && check "... clean" clean && check "... what was there stays" old
check "one of two inputs is bad" test_must_fail 1 "$CC" $ARCH plain.c bad2.c -o out && check "... clean" clean && check "... what was there stays" old
printf 'int missing(void);\nint main(void) { return missing(); }\n' >undef.c
check "failed link" test_must_fail 1 "$CC" undef.c -o out && check "... clean" clean && check "... what was there stays" old
check "success" "$CC" $ARCH app.c -o out && check "... clean" clean
check "output through a symbolic link" sh -c "echo >real && ln -s real link && '$CC' $ARCH -c app.c -o link && test -L link -a -s real"
# In a directory that others can write to, nobody knows the name of what becomes the output.
foreign() { echo victim >victim; sh -c "for name in out out.o out.device; do ln -s victim .\$name.\$\$.tmp; done; exec '$CC' $*"; [ "$(cat victim)" = victim ]; }
for file in app.c plain.c; do
    check "a link in the way of the output, $file" foreign $ARCH -c $file -o out && check "... of a program" foreign $ARCH $file -o out
    rm -f .*.tmp
done
if command -v strace >/dev/null; then
    check "its name" sh -c "strace -f -e trace=open,openat -o trace '$CC' $ARCH -c app.c -o out && grep -q '[.]out[.].*tmp.*O_CREAT.*O_EXCL' trace"
else skip "its name" "no strace"; fi
# A header that cannot be read: by whom, and nothing is left.
ln -s loop.h loop.h
{ echo '#include "loop.h"'; cat app.c; } >reads.c
check "unreadable header" test_must_fail 1 sh -c "'$CC' $ARCH -MD -c reads.c -o reads.o 2>log"
check "... message" has log 'reads.c:1:10: fatal error: .*loop.h' && check "... nothing left" test ! -e reads.o -a ! -e reads.d && check "... clean" clean
check "output to /dev/null" "$CC" $ARCH -c app.c -o /dev/null
check "... stays a device" test -c /dev/null
finish
