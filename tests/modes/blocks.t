#!/bin/sh
# -Rompgpu: a block for each region, in the user's words; in YAML and SARIF; in two parts where the link decides.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh

cat >app.c <<'C'
double a[1000], b[1000];
double all(int n)
{
    double sum = 0;
    int last = 0;
#pragma omp target teams distribute parallel for reduction(+: sum) map(to: a)
    for (int i = 0; i < 1000; i++)
        sum += a[i] * b[i];
#pragma omp target map(from: last)
    {
        int tile[20];
        tile[0] = n;
#pragma omp parallel for
        for (int k = 0; k < n; k++)
            b[k] = tile[k % 20] + k;
        for (int i = 0; i < 10; i++)
            last += i;
    }
    return sum + last;
}
C
block() { sed -n "/remark: region '$1'/,/^[^ ]/p" log; }    # and the line after it
archs=emu
have_ptxas && archs=sm_80,emu
for g in "" -g; do
    check "a block a region $g" "$CC" --gpu-arch=$archs -O2 $g -Rompgpu -c app.c && cp .log log
    check "... with caret, and no number of LLVM's" has log "^app.c:6:13: remark: .*'all_6'.*SPMD mode" "^    6 | #pragma omp target teams" "^      |             ^$"
    check "... and nothing else" sh -c "! grep -q 'OMP1\|reduction of' log"
    block all_6 >all_6; block all_9 >all_9
    check "loops: who runs them $g" has all_6 "^ *loop *line 7 ('i', 1000 iterations).*threads of all teams"
    check "... in a block of code" has all_9 "^ *loop *line 14 ('k').*threads of one team" "^ *line 16.*one thread"
    check "reduction $g" has all_6 "^ *reduction *'sum' with +"
    check "maps, explicit and implicit $g" has all_6 "^ *data *copied to the device,.*'a' (8000 bytes)" "back.*'sum' (8 bytes, implicit), 'b' (8000 bytes, implicit)"
    check "... by value, from" has all_9 "back.*'last' (4 bytes)" "by value.*'n' (implicit)"
    check "launch $g" has all_9 "^ *launch *1 team" "^ *threads *128 a team"
    if [ $archs = emu ]; then
        skip "the GPU's part $g" "no ptxas"
    else
        check "the GPU's part $g" has all_9 "^ *memory .*'tile'.*80 bytes" "^ *sm_80 *[0-9]* registers, 80 bytes of shared memory, no stack, no spills; occupancy 100 % with 128 threads"
    fi
done
check "generic: why" "$CC" --gpu-arch=emu -O2 -fompgpu-mode=generic -Rompgpu -c app.c && cp .log log
check "... in the block" has log "'all_9': one thread of each team.*generic mode" "^ *mode *.*-fompgpu-mode=generic"
check "a wrong word" test_must_fail 2 "$CC" -Rompgpu=most -c app.c

check "YAML" "$CC" --gpu-arch=emu -O2 -Rompgpu -fsave-optimization-record -c app.c
check "... has both" [ "$(grep -c '^Pass: *ompgpu$' app.opt.yaml)" = 2 ]
check "... with their places and loops" has app.opt.yaml "Line: 6, Column: 13" "^  - Region: *'all_6'" "^  - String: *'; loop: line 7 (''i''"
check "SARIF" "$CC" --gpu-arch=emu -O2 -Rompgpu -fdiagnostics-format=sarif -c app.c && cp .log log
check "... has both, with their places" [ "$(grep -c '"startColumn":13,"startLine":[69].*region .all_[69].*\\u000a *loop' log)" = 2 ]
check "... and no text" silent log remark:

# Of a line in which a macro moves what follows it, the user's column is shown.
cat >macro.c <<'C'
#define TIMES(i) for (int i = 0; i < 10; i++)
void g(int *a, void (*volatile *f)(void)) {
#pragma omp target map(a[0:10]) \
                   map(f[0:1])
    {
        TIMES(i) a[i]++, f[0]();
        f[0]();
#pragma omp parallel for
        TIMES(i) a[i] = i;
    }
}
C
check "macros: compiles" "$CC" --gpu-arch=emu -O1 -Wompgpu-generic -c macro.c && cp .log log
check "macros: the user's column" has log '^macro.c:6:26: warning: region' '^    6 |         TIMES(i) a\[i\]++, f\[0\]();$' '^      |                          ^$' '^macro.c:3:13: note:' '^    3 | #pragma omp target.*\\$'
check "... what is no part of a macro" silent log 'expanded from'
sed 's/TIMES(i) a\[i\]++, //' macro.c >plain.c
check "without the macro" "$CC" --gpu-arch=emu -O1 -Wompgpu-generic -c plain.c && cp .log log
check "... both" has log '^plain.c:6:9: warning: region' '^    6 |         f\[0\]()'

cat >use.c <<'C'
int other(int);
#pragma omp declare target(other)
int main(void)
{
    int s = 0;
#pragma omp target map(tofrom: s)
    s = other(1);
    return s != 2;
}
C
printf '#pragma omp declare target\nint other(int x) { return x + 1; }\n#pragma omp end declare target\n' >other.c
check "deferred: compiles" "$CC" $ARCH -O2 -Rompgpu -c use.c && cp .log log
check "... says so" has log "^use.c:6:13: remark: .*'main_6'.*linked" "^ *data *.*'s'" "^ *link .*other files"
check "deferred: the link" "$CC" $ARCH -O2 use.o other.c -o use && cp .log log
check "... says the rest" has log "^use.c:6:13: remark: .*'main_6'.*one thread.*generic mode" "^ *data *.*'s'" "^ *launch *1 team" "^ *threads *1 a team"
check "... which runs" on_device ./use
finish
