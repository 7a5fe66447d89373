#!/bin/sh
# What keeps a region generic: the reason, its place, and that the region still computes what it should.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
OMPGPU_EMU_SCHEDULE=random:5; export OMPGPU_EMU_SCHEDULE

# stays NAME LINE REASON REMEDY: the region's sequential code is on standard input (from line 9 on); it must leave a[i] = i + 1.
stays() {
    st_name=$1 st_line=$2 st_reason=$3 st_remedy=$4
    { cat <<'C'
#include <omp.h>
static int a[40], n = 40, zero = 0;
static void add(int *p, int m) { for (int i = 0; i < m; i++) p[i]++; }
static void half(int *p, int m) { if (m > 10) { half(p, m / 2); half(p + m / 2, m - m / 2); return; }
_Pragma("omp parallel for") for (int i = 0; i < m; i++) p[i]++; }
static __attribute__((noinline)) void either(int which, int *p, int m) { void (*f)(int *, int) = which ? half : add; zero++; f(p, m); }
static __attribute__((noinline)) int most(int *p) { *p = omp_get_max_threads(); return *p > 0; }
int main(void) { for (int i = 0; i < 40; i++) a[i] = i;
C
      cat
      echo 'for (int i = 0; i < 40; i++) if (a[i] != i + 1) return 1; return 0; }'; } >s.c
    check "$st_name: compiles" "$CC" $ARCH -O2 -Wall s.c -o s || return
    cp .log log
    check "$st_name: reason" has log "^s.c:$st_line:[0-9]*: warning: region 'main_[0-9]*' .*generic mode.*$st_reason"
    check "$st_name: remedy" has log "^s.c:$st_line:[0-9]*: note: .*$st_remedy"
    check "$st_name: runs" on_device ./s
    set -- "-O0 -g"
    [ -z "${OMPGPU_LONG:-}" ] || set -- -O0 "-O0 -g" -O1 -O2 "-O3 -g"
    for st_level do
        check "$st_name: spmd is refused at $st_level" test_must_fail 1 "$CC" $ARCH $st_level -fompgpu-mode=spmd s.c -o refused
        cp .log log
        check "... with the reason and its place" has log "^s.c:$st_line:[0-9]*: error: region 'main_[0-9]*' .*SPMD mode.*$st_reason"
        check "... and no output" test ! -e refused
    done
}
stays "recursion" 10 "'half'.*parallel region" "inline.*assume no_parallelism" <<'C'
#pragma omp target map(tofrom: a)
half(a, 40);
C
stays "function pointer" 11 "function pointer" "assume no_parallelism" <<'C'
#pragma omp target map(tofrom: a) map(to: n)
{ void (*f)(int *, int) = n > 50 ? half : add; zero = 0;
  f(a, 20);
  _Pragma("omp parallel for") for (int i = 20; i < 40; i++) a[i]++; }
C
stays "an operation that is not understood" 10 "'llvm.readcyclecounter" "__attribute__((noinline))" <<'C'
#pragma omp target map(tofrom: a) map(to: n)
{ if (n > 50) a[0] = (int)__builtin_readcyclecounter();
  _Pragma("omp parallel for") for (int i = 0; i < 40; i++) a[i]++; }
C
stays "a function pointer in a function" 10 "'either'.*function pointer" "inline.*assume no_parallelism" <<'C'
#pragma omp target map(tofrom: a) map(to: n)
{ zero = 0; either(n > 50, a, 20);
  _Pragma("omp parallel for") for (int i = 20; i < 40; i++) a[i]++; }
C
stays "omp_get_max_threads in a function" 10 "'most'.*'omp_get_max_threads'" "inline.*assume no_parallelism" <<'C'
#pragma omp target map(tofrom: a) map(to: n)
{ a[0] += most(&zero);
  _Pragma("omp parallel for") for (int i = 1; i < 40; i++) a[i]++; }
C
stays "arrays of run-time size that one pointer may point to" 10 "array of variable length" "constant size" <<'C'
#pragma omp target map(tofrom: a) map(to: n)
{ int v[n], w[n + 1], *p = a[3] > 2 ? v : w; v[0] = 5; *p = 1; a[0] += v[0];
  _Pragma("omp parallel for") for (int i = 1; i < 40; i++) a[i]++; }
C
# What one thread can do alone, or needs not be done at all, keeps nothing generic.
cat >plain.c <<'C'
#include <omp.h>
static __attribute__((noinline)) unsigned long long now(void) { return __builtin_readcyclecounter(); }
int main(void) {
    int a[40] = { 0 }, n = 0;
#pragma omp target map(tofrom: a, n)
    { omp_sched_t kind; int chunk;
      omp_set_schedule(omp_sched_dynamic, 3), omp_set_dynamic(1), omp_set_nested(1);
      omp_get_schedule(&kind, &chunk);
      n += (now() > 0) + omp_get_cancellation() + omp_get_nested() + (kind == omp_sched_dynamic) + (chunk == 3);
#pragma omp parallel for
      for (int i = 0; i < 40; i++) a[i] += n; }
    for (int i = 0; i < 40; i++) if (a[i] != 3) return 1;
    return n != 3; }
C
check "what keeps nothing generic: compiles" "$CC" $ARCH -O2 -Rompgpu=all plain.c -o plain
cp .log log
check "what keeps nothing generic" has log 'OMP120'
check "what keeps nothing generic: runs" on_device ./plain
# The cost rule: a loop that would need a barrier in each of its iterations is run by thread 0 alone; generic where that cannot be.
# judge NAME PATTERN: the sequential code on standard input, around a parallel loop
judge() {
    jd_name=$1 jd_pattern=$2
    { cat <<'C'
int main(void)
{
    int a[40], b[40] = { 3, 1, 2 }, sum = 0;
    for (int i = 0; i < 40; i++) a[i] = i;
    #pragma omp target map(tofrom: a, b, sum)
    {
C
      cat
      cat <<'C'
        #pragma omp parallel for
        for (int i = 0; i < 40; i++) a[i] += b[i % 3];
    }
    for (int i = 0; i < 40; i++)
        if (a[i] != i + b[i % 3]) return 1;
    return sum != 6;
}
C
    } >judge.c
    check "$jd_name: compiles" "$CC" $ARCH -O2 -Rompgpu=all judge.c -o judge || return
    cp .log log
    check "$jd_name: decision" has log "$jd_pattern"
    check "$jd_name: runs" on_device ./judge
}
heavy='generic mode.* loop .*barrier in each.*OMP121'      # fuzz.t looks for these words
late=OMP120
judge "a loop that only reads" "$late" <<'C'
        int s = 0;
        for (int i = 0; i < 40; i++) s += b[i];
        sum = s;
C
judge "a computed goto, which is a switch by then" "$late" <<'C'
        { void *to[] = { &&one, &&two }; goto *to[b[0] > 50];
        two: b[1] = 9;
        one: sum = 6; }
C
judge "a loop that only writes" "$late" <<'C'
        for (int i = 3; i < 40; i++) b[i] = 7 * i;
        sum = 6;
C
judge "a loop that thread 0 can run alone" "$late" <<'C'
        for (int i = 3; i < 40; i++) b[i] = b[i] + 1;
        sum = 6;
C
judge "a loop whose iterations depend on what it wrote: thread 0 runs it alone" "$late" <<'C'
        for (int i = 3; i < 40; i++) if (b[i - 1] < 50) b[i] = b[i - 1] + 1;
        sum = 6;
C
check "... with a barrier for all of it" has log '[^0-9]1 barrier;'
judge "a nest: all of it" "$late" <<'C'
        for (int k = 0; k < 3; k++)
            while (b[30 + k] < 3) b[30 + k]++;
        sum = 6;
C
check "... with one barrier" has log '[^0-9]1 barrier;'
judge "a loop that writes what each thread has for itself, too" "$heavy" <<'C'
        int own[40] = { 0 };
        for (int i = 3; i < 40; i++) if (b[i - 1] < 50) own[i % 7] += b[i] = b[i - 1] + 1;
        sum = own[b[39] % 7] > 0 ? 6 : 7;
C
judge "a loop with two ways out" "$heavy" <<'C'
        for (int i = 3; i < 40; i++) {
            if (b[i - 1] > 50) { sum = 6; goto out; }
            b[i] = b[i - 1] + 1;
        }
        sum += 6;
    out:
        b[39]++;
C
judge "a parallel region in the loop: its barriers are there anyway" "$late" <<'C'
        for (int k = 0; k < 3; k++) {
            if (b[k] > 0) sum += b[k];
            #pragma omp parallel for
            for (int i = 3; i < 40; i++) b[i]++;
        }
C
judge "a loop after a region: one barrier before it" "$late" <<'C'
        #pragma omp parallel for
        for (int i = 3; i < 40; i++) b[i] = i;
        for (int i = 3; i < 40; i++) b[i] = b[i] * 2 + b[39 - i];
        sum = 6;
C
check "... and no more" has log '[^0-9][23] barriers'
judge "a region in some iterations of the loop" "$late" <<'C'
        for (int k = 3; k < 9; k++) {
            if (b[k - 1] < 9) b[k] = b[k - 1] + 1;
            if (b[k] == 4) {
                #pragma omp parallel for
                for (int i = 20; i < 40; i++) b[i]++;
            }
        }
        sum = 6;
C
# judged, not impossible: spmd mode does it
cat >loop.c <<'C'
int main(void)
{
    int a[40] = { 1 };
    #pragma omp target map(tofrom: a)
    {
        int own[40] = { 0 };
        for (int i = 1; i < 40; i++)
            if (a[i - 1] < 50 && own[a[i - 1] % 40] == 0) { a[i] = a[i - 1] + 1; own[i] = a[i] < 0; }
        #pragma omp parallel for
        for (int i = 0; i < 40; i++) a[i]++;
    }
    for (int i = 0; i < 40; i++)
        if (a[i] != i + 2) return 1;
    return 0;
}
C
check "sequential loop: compiles" "$CC" $ARCH -O2 -Wompgpu-generic loop.c -o loop
cp .log log
check "sequential loop: reason" has log "loop.c:.*warning: region 'main_4' .*generic mode.* loop "
check "sequential loop: runs" on_device ./loop
check "sequential loop: compiles in spmd mode" "$CC" $ARCH -O2 -fompgpu-mode=spmd -Rompgpu=all loop.c -o loop
cp .log log
check "sequential loop: is SPMD there" has log OMP120
check "sequential loop: runs in spmd mode" on_device ./loop
finish
