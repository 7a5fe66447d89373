#!/bin/sh
# Directives of the tests and samples with tokens, clauses and arguments changed at random (mutate.c): each ends in time with an error that has a
# place, or with texts that compile.  60 mutants of a few files; of all 2500 with OMPGPU_LONG=1, N times as many with OMPGPU_LONG=N.
#   OMPGPU_FUZZ_SEED=N OMPGPU_FUZZ_COUNT=M sh tests/fuzz/mutations.t     M of them, from N on
# shellcheck disable=SC1091,SC2086,SC2046
. tests/lib.sh
seed=${OMPGPU_FUZZ_SEED:-1} count=60 every=20
files="for tasks atomic target_data sections reduction_user declare_target collapse implicit"
if [ -n "${OMPGPU_LONG:-}${OMPGPU_FUZZ_COUNT:-}" ]; then
    count=$((2500 * ${OMPGPU_LONG:-1})) files=$(cd "$ROOT/tests/run" && ls *.c | sed 's/\.c$//')
fi
count=${OMPGPU_FUZZ_COUNT:-$count}
CLANG_PATH=$(command -v "$CLANG"); export CLANG_PATH

check "the generator" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -O1 -I"$ROOT" "$ROOT/tests/fuzz/mutate.c" -o mutate || { finish; exit; }
mkdir sources work
for f in $files; do
    [ ! -e "$ROOT/tests/run/$f.c" ] || "$CLANG" -E -w -fopenmp -fopenmp-version=60 -isystem "$ROOT/lib/ompgpu/include" "$ROOT/tests/run/$f.c" -o "sources/$f.i"
done
mutants() ( cd work && ../mutate $seed $count $every "$ROOT" "$T"/sources/*.i )
check "$count mutants from seed $seed on" mutants
tail -1 "$T/.log" | sed 's/^/# /'

# What mutants have found.
cat >junk.c <<'C'
int main(void)
{
    int x = 1;
#pragma omp target map(tofrom: x) " ( variant
    x = 0;
#pragma omp target parallel for num_threads(2) ) schedule(static)
    for (int i = 0; i < 9; i++) x = i;
#pragma omp parallel for ) num_threads( : )
    for (int i = 0; i < 9; i++) x += 0;
#pragma omp target map(tofrom: x)
#pragma omp parallel parallel reduction(+: x) num_threads([)
    x++;
    return x;
}
C
check "the rest of a line that clang ignores is an error" test_must_fail 1 "$CC" -w -c junk.c
cp .log err
check "of a second name" has err "junk.c:11:22: error: .*'parallel'"
check "of the first token" error_at err junk.c:4:35 '"'
check "each" [ "$(grep -c error: err)" = 3 ]
# refused NAME PLACE PATTERN <SOURCE
refused() {
    cat >r.c
    # shellcheck disable=SC2086
    check "$1" test_must_fail 1 timeout 100 "$CC" $ARCH -w -c r.c
    cp .log err
    check "$1: where" error_at err "$2" "$3"
}
refused "a private item that is none" r.c:6:36 expected <<'C'
int x;
void f(int *a)
{
#pragma omp target map(a[0:4])
    a[0] = 1;
#pragma omp parallel private(x [ 0 ) num_threads(1)
#pragma omp parallel private(, x)
    x = 1;
}
C
refused "an expression beside an item that clang does not see" r.c:5:62 expected <<'C'
static int a[40];
#pragma omp declare target enter(a)
void f(int x)
{
#pragma omp target update to ( a [ 20 : : 40 - 20 ] ) if ( x = = 5 )
}
C
refused "an allocator of no variable" r.c:5:17 parallel <<'C'
void f(int c, int bad)
{
    int s = 0;
#pragma omp target parallel
#pragma omp for parallel num_threads(33) reduction(+: bad) firstprivate(c) allocate(allocator(1), align(256): c)
    for (int i = 0; i < 9; i++)
        s++;
}
C
refused "a scan of no variable" r.c:3:54 reduction <<'C'
void f(int *a, int s, int n)
{
#pragma omp target parallel for reduction(inscan, +: s) map((to: a[:) n])
    for (int i = 0; i < n; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        a[i] = s;
    }
}
C
refused "a reduction without a colon" r.c:5:31 expected <<'C'
void f(int t)
{
#pragma omp target
#pragma omp parallel
#pragma omp task in_reduction(+ t)
    t++;
}
C
refused "an event of no variable" r.c:4:26 "expected" <<'C'
void f(void)
{
#pragma omp target parallel
#pragma omp task detach( )
    { }
}
C
refused "an induction of what clang has left out" r.c:6:99 "nothing" <<'C'
#pragma omp declare induction(next: int) inductor(omp_var = omp_var + omp_step) collector(omp_step * omp_idx)
void f(int n, int *a)
{
    int s = 1;
#pragma omp target map(a[:n])
#pragma omp parallel for induction(step(1), next: s) target parallel for induction(step(n), next: nothing)
    for (int i = 0; i < n; i++)
        a[i] = s;
}
C
refused "an argument of what has none" r.c:4:22 "unexpected" <<'C'
void f(int a)
{
#pragma omp target
#pragma omp parallel (a) num_threads()
    { }
}
C
refused "parentheses after a comma" r.c:4:24 "unexpected" <<'C'
void f(int a)
{
#pragma omp target
#pragma omp parallel , (50) num_threads
    { }
}
C
refused "names that do not combine" r.c:3:20 for <<'C'
void f(int *a)
{
#pragma omp target for map(a[0:4])
    for (int i = 0; i < 4; i++) a[i] = i;
}
C
refused "an argument without an end" r.c:3:40 "expected" <<'C'
void f(int *p)
{
#pragma omp target parallel for linear ( p : 2 if ( target : no )
    for (int i = 0; i < 4; i++) p[i] = i;
}
C
# clang crashes on find()->b in the region; what it says of the text that is checked instead counts.
refused "a directive without a name, beside what clang crashes on" r.c:8:12 "directive" <<'C'
struct s { int b; } *find(void);
#pragma omp declare target enter(find)
void f(int *got)
{
#pragma omp target map(got[0:20])
    { got[0] = find()->b; got[1] = find()->b; got[2] = find()->b; got[3] = find()->b; got[4] = find()->b; got[5] = find()->b; got[6] = find()->b; got[7] = find()->b; got[8] = find()->b; got[9] = find()->b;
      got[0] = find()->b; got[1] = find()->b; got[2] = find()->b; got[3] = find()->b; got[4] = find()->b; got[5] = find()->b; got[6] = find()->b; got[7] = find()->b; got[8] = find()->b; got[9] = find()->b; }
#pragma omp
#pragma omp target
    { }
}
C
refused "an argument that begins with ::" r.c:3:36 "expected" <<'C'
void f(int a, int d)
{
#pragma omp target map(tofrom: a, (:: d))
    a = d;
}
C
refused "a variant without a directive" r.c:3:43 "expected" <<'C'
void f(int a)
{
#pragma omp metadirective when ( device { ) kind ( nohost = }
#pragma omp target map(a)
    a = 1;
}
C
# Where clang would choose otherwise, it is given our choice to check.
refused "a variant where it may not stand" r.c:5:1 "nested inside 'single'" <<'C'
void f(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp metadirective when(construct={target, parallel}: masked) when(construct={parallel}: single)
    { }
#pragma omp target
    { }
}
C
check "with the line" has err '^    5 .*single'
# clang does not see `inscan`, which it refuses in collapsed loops.
refused "a scan of a region that is no loop, beside one that clang does not see" r.c:8:22 "'inscan' is not allowed on 'parallel'" <<'C'
void f(int (*a)[9], int s)
{
#pragma omp parallel for collapse(2) reduction(inscan, +: s)
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++) { s += a[i][k];
#pragma omp scan inclusive(s)
            a[i][k] = s; }
#pragma omp parallel reduction(inscan, +: s)
    { s++;
#pragma omp scan inclusive(s)
      a[0][0] = s; }
#pragma omp target map(a[:9])
    { }
}
C
cat >preprocessed.i <<'C'
void f(int *a, int s, int n)
{
    int sum = 0;
#pragma omp parallel for reduction(inscan, +: s) reduction(+: sum)
    for (int i = 0; i < n; i++) { s += a[i]; sum++;
#pragma omp scan inclusive(s)
        a[i] = s; }
#pragma omp target map(a[:n])
    a[0] = b;
}
C
check "nor in preprocessed files" test_must_fail 1 "$CC" $ARCH -c preprocessed.i
cp .log err
check "there only the user's fault is said" error_at err preprocessed.i:9:12 "undeclared"
check "that only" [ "$(grep -c -e error: -e warning: err)" = 1 ]
# What clang does not know is not what is wrong.
refused "junk after a clause that only OpenMP 6.0 has, of a region for the host" r.c:5:45 "unexpected OpenMP clause 'hots'" <<'C'
void f(int x)
{
#pragma omp target device_type(any) map(x)
    x++;
#pragma omp target device_type(host) nowait hots
    x = 1;
}
C
check "that is all" [ "$(grep -c error: err)" = 1 ]
refused "no map type before the colon, on a directive that clang does not see" r.c:3:61 "before ':'" <<'C'
void f(int *a, int s, int n)
{
#pragma omp target parallel for reduction(inscan, +: s) map(: a[:n])
    for (int i = 0; i < n; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        a[i] = s;
    }
}
C
refused "a parenthesis that nothing closes, in a modifier" r.c:4:30 "expected" <<'C'
struct s { int *p; } s;
void f(void)
{
#pragma omp target ) data map(attach(never exit: s.p[0:4])
}
C
refused "a context that is none, of which we would choose" r.c:5:52 "missing" <<'C'
void f(void)
{
#pragma omp parallel
    {
#pragma omp metadirective when(construct={parallel = : critical) otherwise(nothing)
    { }
    }
#pragma omp target
    { }
}
C
refused "a parenthesis that nothing closes, where none may stand" r.c:5:18 "expected ')'" <<'C'
void f(int x)
{
#pragma omp target
    { }
#pragma omp task ( transparent ( omp_impex end declare target shared ( x , )
    { }
}
C
# What is changed in a target construct is changed twice in two.
refused "the same directive twice, with junk" r.c:6:1 "nested" <<'C'
struct s { int b; };
struct s make(int);
void f(int got)
{
#pragma omp target map(tofrom: got) +
#pragma omp target map(tofrom: got) +
    got = make(3).b;
}
C
cat >loop.c <<'C'
int main(void)
{
    int a[9] = { 0 }, on = 0;
#pragma omp target data map(tofrom: a)
    {
#pragma omp loop
        for (int i = 0; i < 9; i++) a[i] = i;
#pragma omp target map(from: on)
        on = 1;
    }
    return on != 1;
}
C
check "loop in target data is no orphan" "$CC" $ARCH loop.c -o loop
cat >endless.c <<'C'
struct best { int v; };
#pragma omp declare reduction(most : best : omp_out = omp_in)
void f(void)
{
#pragma omp target
    { }
}
C
check "a reduction of what is no type" timeout 100 "$ROOT/lib/ompgpu/omp-split" --path endless.c --device d.c --host h.c endless.c --
finish
