#!/bin/sh
# Scans against a serial loop: random types, operators (some do not commute), lists, forms, loops, team sizes and trip counts (gen_scan.c), on
# the device under several schedules, with the same bits each time, and on the host.  120 cases each; 10,000 with OMPGPU_LONG=1.
. tests/lib.sh
programs=2 cases=10 kernels=6
if [ -n "${OMPGPU_LONG:-}" ]; then programs=25 cases=40 kernels=10; fi

same_again() {                        # SCHEDULE: the same output as $T/first
    OMPGPU_EMU_SCHEDULE=$1 in_time "$T/prop" 7 3 >"$T/again" 2>&1 && cmp -s "$T/first" "$T/again" || { diff "$T/first" "$T/again" | sed 20q; false; }
}
right() { in_time "$@" >"$T/out" 2>&1 || { grep wrong "$T/out" || tail -3 "$T/out"; false; }; }

check "the generator compiles" "$CLANG" -std=gnu11 -O1 "$ROOT/tests/reduction/gen_scan.c" -o "$T/gen" || finish
p=0
while [ $p -lt $programs ]; do
    p=$((p + 1))
    level=-O2
    [ $p = 2 ] && level=-O0
    "$T/gen" $p $kernels >"$T/prop.c"
    # shellcheck disable=SC2086
    check "program $p compiles, $level" in_time "$CC" $ARCH $level -w "$T/prop.c" -o "$T/prop" || continue
    OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
    check "program $p: $((kernels * cases)) cases" right "$T/prop" 1 "$cases"
    case $ARCH in *emu*)
        "$T/prop" 7 3 >"$T/first" 2>&1
        for s in random:1 random:2 random:3; do check "program $p: the same with schedule $s" same_again $s; done ;;
    esac
    OMP_TARGET_OFFLOAD=DISABLED; export OMP_TARGET_OFFLOAD
    check "program $p: $((kernels * cases)) cases on the host" right env ASAN_OPTIONS=detect_leaks=0 "$T/prop" 1 "$cases" host   # libomp leaks in large teams
done

# Execution modes, remarks, and what the GPU gets.
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
# shellcheck disable=SC2086
check "generic mode: compiles" in_time "$CC" $ARCH -O2 -w -fompgpu-mode=generic "$ROOT/tests/run/scan.c" -o "$T/prog" && check "generic mode: runs" right "$T/prog"
# Tiles of small teams: more than the 1024 for which they wait in one step.
# shellcheck disable=SC2086
if check "tiles of 32 threads: compiles" in_time "$CC" $ARCH${MACHINE:+,$MACHINE} -O2 -w "$ROOT/tests/run/scan_league.c" -o "$T/prog"; then
    check "tiles of 32 threads: run" right env OMP_TEAMS_THREAD_LIMIT=32 OMPGPU_EMU_SCHEDULE=random:5 "$T/prog"
    [ -z "$MACHINE" ] || check "tiles of 32 threads: on the PTX machine" on_machine env OMP_TEAMS_THREAD_LIMIT=32 "$T/prog"
fi
cat >"$T/one.c" <<'C'
void in(int n, const float *a, float *b, float s)
{
    #pragma omp target parallel for reduction(inscan, +: s) map(to: a[0:n]) map(from: b[0:n])
    for (int i = 0; i < n; i++) {
        s += a[i];
        #pragma omp scan inclusive(s)
        b[i] = s;
    }
}
struct wide { double v[20]; };
#pragma omp declare reduction(add : struct wide : ({ for (int k = 0; k < 20; k++) omp_out.v[k] += omp_in.v[k]; }))
void ex(int n, const float *a, float *b, int k, struct wide w)
{
    #pragma omp target parallel map(to: a[0:n]) map(from: b[0:n]) map(tofrom: k, w)
    {
        #pragma omp for reduction(inscan, max: k) reduction(inscan, add: w)
        for (int i = 0; i < n; i++) {
            b[i] = (float)k;
            #pragma omp scan exclusive(k, w)
            k = a[i] > k ? (int)a[i] : k;
            w.v[i % 20] += a[i];
        }
    }
}
C
"$CC" --gpu-arch=sm_90 -O2 -Rompgpu=all --emit=ptx "$T/one.c" -o "$T/one.ptx" 2>"$T/remarks"
kernel() { sed -n "/entry $1(/,/^}/p" "$T/one.ptx"; }
counts() { [ "$(kernel "$1" | grep -c "$2")" = "$3" ] || { echo "$1: $(kernel "$1" | grep -c "$2") times '$2', not $3"; kernel "$1"; false; }; }
check "remark" has "$T/remarks" "one.c:3:13: remark: inclusive scan of 's': 1 variable in a record of 4 bytes; .*8 iterations a thread.*1 word a.*3 barriers a step; league: teams take steps in turn"
check "remark of a large record" has "$T/remarks" "one.c:16:13: remark: exclusive scan of 'k', 'w': 2 variables in a record of 168 bytes; .*1 iteration a thread.*42 words a.*10 barriers"
check "registers: as many as leave room for four teams" grep -q maxnreg.*64 "$T/one.ptx"
check "two barriers in each of two forms, and one for the number of the step" counts in_3 'bar\.sync' 5
check "in both, five shuffles for each of eight rows and thirteen to look back; six and seven for the totals" counts in_3 'shfl\.sync' 119
check "no call, no local memory" sh -c "! sed -n '/entry in_3(/,/^}/p' '$T/one.ptx' | grep -e 'call' -e '__local_depot'"
check "the loads and stores of eight iterations, those of the original, the mark in both, and the counter of steps" counts in_3 '[dt]\.\(relaxed\.gpu\.\)\{0,1\}global\.b32' 21
# Shared memory: what the record needs, for the totals and for the prefixes of 32 warps.
shared() {                            # TYPE BODY BYTES: of each
    printf 'void f(int n, const %s *a, %s *b, %s s)\n{\n#pragma omp target parallel for reduction(inscan, +: s) map(to: a[0:n]) map(from: b[0:n])
for (int i = 0; i < n; i++) {\n%s;\n#pragma omp scan inclusive(s)\nb[i] = s;\n}\n}\n' "$1" "$1" "$1" "$2" >"$T/shared.c"
    "$CC" --gpu-arch=sm_90 -O2 --emit=ptx "$T/shared.c" -o "$T/shared.ptx" || return 1
    [ "$(sed -n 's/.*\.shared.*\[\([0-9]*\)\];/\1/p' "$T/shared.ptx" | tr '\n' ' ')" = "$3 $3 " ] || { grep '\.shared.*\[.*\];' "$T/shared.ptx"; false; }
}
check "shared memory of one double" shared double 'for (int k = 0; k < 2; k++) s += a[i]' 256
check "… of eight floats a step" shared float 's += a[i]' 1024
check "… of eight doubles a step" shared double 's += a[i]' 2048
check "… of complex numbers" shared 'double _Complex' 'for (int k = 0; k < 2; k++) s += a[i]' 512
finish
