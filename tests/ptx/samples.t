#!/bin/sh
# The PTX machine, also where neither a GPU nor ptxas is installed: some samples, in the order of the text and in random orders of warps, diverged
# groups and teams; what OMPGPU_PTX_PROFILE says; what is refused.  Where ptxas is, each program of tests/run runs on the machine, too (form in lib.sh).
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=ptx; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE

prints_ok() { in_time "$@" >out 2>&1 || { cat out; return 1; }; has out ' OK$'; }
for form in "sum -O2" "rows -O2" "lud -O2" "nw_blocks -O0 -g"; do
    sample=${form%% *} flags=${form#* }
    # shellcheck disable=SC2086
    check "$form: compiles" "$CC" --gpu-arch=sm_75 $flags "$SAMPLES/$sample.c" -o prog -lm || continue
    check "$form: runs" prints_ok ./prog 100
    for seed in 1 2 3; do
        OMPGPU_PTX_SCHEDULE=$seed; export OMPGPU_PTX_SCHEDULE
        check "$form: schedule $seed" prints_ok ./prog 100
    done
    unset OMPGPU_PTX_SCHEDULE
done

# ------------------------------------------------------------------ counters
cat >columns.c <<'C'
#include <stdio.h>
enum { N = 256 };
static float a[N][N];
static int bins[2];
int main(void)
{
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i;           /* line 9: rows of their own */
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i][j] += j;          /* line 12: neighbours */
    #pragma omp target teams distribute parallel for map(tofrom: bins)
    for (int i = 0; i < N; i++) {
        int n = 1;
        if (i % 32 == 5)
            for (int k = 0; k < 1000; k++) n = n * 7 + i;  /* line 17: one lane of a warp */
        #pragma omp atomic
        bins[n == 0]++;                                    /* line 19: all at one address */
    }
    return printf("%g %d\n", a[3][4], bins[0] + bins[1]) < 0 || a[3][4] != 7 || bins[0] + bins[1] != N;
}
C
# json EXPRESSION: true of p.json, where $j is all, $k{NAME} a kernel, line(NAME, NUMBER) one of its lines
json() {
    perl -MJSON::PP -e 'local $/; our $j = decode_json(<STDIN>); our %k = map { $_->{kernel} => $_ } @{$j->{kernels}};
        sub line { my ($k, $n) = @_; (grep { $_->{line} == $n } @{$k{$k}{lines}})[0] } exit !eval($ARGV[0])' -- "$1" <p.json
}
check "a program with strided stores" "$CC" --gpu-arch=sm_75 -O2 -g columns.c -o prog
check "OMPGPU_PTX_PROFILE=1 prints a table" sh -c "OMPGPU_PTX_PROFILE=1 ./prog 2>profile"
check "... with a line for each kernel" has profile '^main_7 ' '^main_10 ' '^main_13 '
check "... what the strided line costs, and why" has profile 'columns.c:9: 32.0 sectors a request.*256 x 4 bytes'
check "... the atomic updates at one address, the idle lanes" has profile 'columns.c:19: .*atomic' 'columns.c:17: .*of 32 lanes'
check "... and nothing of the neighbours" lacks profile 'columns.c:12'
check "OMPGPU_PTX_PROFILE=FILE writes JSON" sh -c "OMPGPU_PTX_PROFILE=p.json ./prog"
if perl -MJSON::PP -e 1 2>/dev/null; then
    # shellcheck disable=SC2016
    while read -r expression; do check "JSON: $expression" json "$expression"; done <<'PERL'
@{$j->{kernels}} == 3 && $k{main_7}{launched} == 1
line("main_7", 9)->{stores}{sectors} == 256 * 256 && line("main_7", 9)->{stores}{bytes_needed} == 256 * 256 * 4
line("main_7", 9)->{stores}{stride} == 1024 && line("main_7", 9)->{stores}{requests} == 256 * 8
line("main_10", 12)->{loads}{sectors} == 256 * 256 * 4 / 32 && line("main_10", 12)->{loads}{stride} == 4
line("main_13", 19)->{atomics} == 256 && line("main_13", 19)->{atomics_that_met} >= 8 * 30
$k{main_13}{divergent_branches} >= 8 && line("main_13", 17)->{average_active_lanes} < 2
$k{main_7}{launches}[0]{grid}[0] * $k{main_7}{launches}[0]{block}[0] == $k{main_7}{threads}
$k{main_7}{launches}[0]{thread_instructions} == $k{main_7}{thread_instructions}
PERL
    if have_ptxas; then check "JSON: registers and occupancy" json '$k{main_7}{registers} >= 8 && $k{main_7}{launches}[0]{occupancy} > 0'; fi
else skip JSON "perl has no JSON::PP"
fi

if perl -MJSON::PP -e 1 2>/dev/null; then
    for pad in " + 1" ""; do
        sed "s/TILE + 1/TILE$pad/" "$SAMPLES/transpose.c" >transpose.c
        check "transpose with TILE$pad: compiles" "$CC" --gpu-arch=sm_75 -O2 transpose.c -o transpose && check "... runs" env OMPGPU_PTX_PROFILE=p.json ./transpose 64
        # shellcheck disable=SC2016
        check "... stores of the naive one: 8 sectors; by shared memory: 4; barriers; bank conflicts" json 'my %s = map { /^([a-z]+)_/ => $k{$_} } keys %k;
            $s{naive}{stores}{sectors_a_request} == 8 && $s{tiled}{stores}{sectors_a_request} == 4 && $s{naive}{barriers} == 0 &&
            $s{tiled}{barriers} > 0 && $s{tiled}{bank_conflict_replays} '"$([ -n "$pad" ] && echo '== 0' || echo '> 1000')"
    done
    check "naive: 64 x 64 threads take the tiled form" json '1 == grep { /^naive_\d+__omp_tiled$/ && $k{$_}{launched} } keys %k'
    check "... in rows: 32 sectors" env OMP_NUM_TEAMS=16 OMPGPU_PTX_PROFILE=p.json ./transpose 64 && check "... the covering one" json '
        my ($n) = grep { /^naive/ && $k{$_}{launched} } keys %k; $n =~ /^naive_\d+$/ && $k{$n}{stores}{sectors_a_request} == 32'
    check "... two teams" env OMP_NUM_TEAMS=2 OMPGPU_PTX_PROFILE=p.json ./transpose 64
    check "... the covering one, too" json '(grep { /^naive/ && $k{$_}{launched} } keys %k)[0] =~ /^naive_\d+$/'
fi
check "the tests' programs run on it where they are told so" sh -c 'cd "$1" && . tests/lib.sh && cp "$2/prog" . && OMPGPU_PROFILE=1 on_machine run_once && has out "^main_7 " "^ompgpu: profile of"' \
    sh "$ROOT" "$T"

# ------------------------------------------------------------------ what a GPU would punish
cat >wrong.c <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
    int *p = &argc, n = 0;
    (void)argv;
    #pragma omp target map(from: n) firstprivate(p)
    n = *p;                                                /* line 7: the host's address */
    return n;
}
C
check "a host pointer: compiles" "$CC" --gpu-arch=sm_75 -O2 -g -w wrong.c -o prog
check "... is refused" test_must_fail ./prog
check "... with the place" sh -c './prog 2>&1 | grep -q "wrong.c:7"'
cat >beyond.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    double a[1000] = { 0 }, s = 0;
    int n = argc > 1 ? 501 : 500, *p = omp_target_alloc(40, 0), *q = omp_target_alloc(40, 0), first = 0;
    (void)argv;
    if (argc > 2)
        omp_target_free(p, 0), n = 500;
    #pragma omp target teams distribute parallel for map(to: a[0:500]) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += a[i];                                         /* line 12: a[500] is not mapped */
    #pragma omp target is_device_ptr(p, q) map(from: first)
    {
        *p = 1;                                            /* line 15: freed */
        first = *p + (q == p);
    }
    return s != 0 || first != 1;
}
C
check "beyond what is mapped: compiles" "$CC" --gpu-arch=sm_75 -O2 -g -w beyond.c -o beyond
check "... is clean within" ./beyond
check "... an element too many is refused" test_must_fail 1 sh -c "./beyond 1 2>err"
check "... with the place" mentions "$(cat err)" "outside of any block|beyond.c:12"
check "... memory that was freed" test_must_fail 1 sh -c "./beyond 1 2 2>err"
check "... with the place" mentions "$(cat err)" "outside of any block|beyond.c:15"
check "OMPGPU_PTX_ARCH: an older device has no image" test_must_fail env OMPGPU_PTX_ARCH=sm_70 ./prog
check "a malformed OMPGPU_PTX_ARCH is named" sh -c 'OMPGPU_PTX_ARCH=x ./prog 2>&1 | grep -q OMPGPU_PTX_ARCH'
finish
