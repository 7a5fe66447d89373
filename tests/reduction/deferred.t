#!/bin/sh
# Reductions on constructs that the teams of a region share: the same bits under all schedules (deferred.c), what is deferred and what is under a
# lock.  tests/run/reduction_deferred.c has the values.
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
case $ARCH in *emu*) ;; *) skip_all "schedules are the emulated device's" ;; esac
SRC=$ROOT/tests/reduction

same_bits() {                         # PROGRAM FIRST LAST: the seeds
    i=$2
    "$1" >"$T/first" || return 1
    while [ "$i" -le "$3" ]; do
        OMPGPU_EMU_THREADS=$((i % 4 + 1)) OMPGPU_EMU_SCHEDULE=random:$i in_time "$1" >"$T/again" 2>&1 && cmp -s "$T/first" "$T/again" ||
            { echo "with OMPGPU_EMU_SCHEDULE=random:$i"; diff "$T/first" "$T/again" | sed 10q; return 1; }
        i=$((i + 1))
    done
}
at=0
for flags in -O2 '-O2 -fompgpu-mode=generic' '-O0 -g' ${OMPGPU_LONG:+-O0}; do
    # shellcheck disable=SC2086
    check "$flags: compiles" "$CC" $ARCH -w $flags "$SRC/deferred.c" -o "$T/bits" || continue
    check "$flags: the same bits" same_bits "$T/bits" $((at + 1)) $((at + 25))
    at=$((at + 25))
    [ "$flags" != -O2 ] || cp "$T/first" "$T/o2"
    case $flags in *generic*) check "$flags: the bits of the late pass" cmp "$T/o2" "$T/first" ;; esac
done

# shellcheck disable=SC2086
check "atomic: compiles" "$CC" $ARCH -w -O2 -fompgpu-atomic-reduction "$SRC/deferred.c" -o "$T/bits" &&
    check "atomic: the bits change, so that this program would tell" test_must_fail same_bits "$T/bits" 1 25

compile_run "atomic: the values" "$ROOT/tests/run/reduction_deferred.c" -fompgpu-atomic-reduction

# ------------------------------------------------------------------ what is said
cat >"$T/kinds.c" <<'C'
int omp_get_team_num(void);
#pragma omp begin declare target
double of_file;
void orphan(const double *v, int n);
void orphan(const double *v, int n)
{
    double own = 0;
    #pragma omp distribute parallel for reduction(+: own)
    for (int i = 0; i < n; i++) own += v[i];
    #pragma omp distribute parallel for reduction(+: of_file)
    for (int i = 0; i < n; i++) of_file += v[i];
}
#pragma omp end declare target
void kinds(double *a, double *v, int n, int m);
void kinds(double *a, double *v, int n, int m)
{
    double d = 0;
    #pragma omp target teams map(tofrom: d, a[0:n]) map(to: v[0:n])
    {
        double own = 0, *p = a;
        int l = m;
        #pragma omp distribute parallel for reduction(+: own)
        for (int i = 0; i < n; i++) own += v[i];
        #pragma omp distribute parallel for reduction(+: d)
        for (int i = 0; i < n; i++) d += v[i];
        #pragma omp distribute parallel for reduction(+: a[2:m - 1])
        for (int i = 0; i < n; i++) a[2 + i % (m - 1)] += v[i];
        #pragma omp distribute parallel for reduction(+: a[0:l])
        for (int i = 0; i < n; i++) a[i % m] += v[i];
        #pragma omp distribute simd reduction(+: p[0:4])
        for (int i = 0; i < n; i++) p[i % 4] += v[i];
        #pragma omp distribute simd reduction(+: d, own)
        for (int i = 0; i < n; i++) d += v[i], own += 1;
        #pragma omp distribute parallel for reduction(+: a[0:omp_get_team_num()])
        for (int i = 0; i < n; i++) a[0] += v[i];
        orphan(v, n);
    }
}
C
check "kinds: compiles" "$CC" --gpu-arch=emu -O2 -Rompgpu=all -c "$T/kinds.c" -o kinds.o && cp "$T/.log" remarks
deferred='league by the last team at the end of the kernel' locked="each team's result under a lock, in the order in which teams finish"
check "a team's own: by the team alone" has remarks "kinds.c:8:.* team through shared memory \[-Rompgpu=all\]" "kinds.c:22:.* team through shared memory \[-Rompgpu=all\]"
check "the league's: at the end" has remarks "kinds.c:24:.*$deferred, 32 bytes of scratchpad a team \[" "kinds.c:26:.*$deferred, 16 bytes and the arrays of scratchpad" \
    "kinds.c:32:.*one thread a team, $deferred"
check "unknown: under a lock" has remarks "kinds.c:10:.*$locked" "kinds.c:28:.*$locked" "kinds.c:30:.*one thread a team, $locked" "kinds.c:34:.*$locked"
check "OMPGPU_INFO: compiles" "$CC" $ARCH -O2 "$ROOT/tests/run/reduction_deferred.c" -o "$T/prog" && OMPGPU_INFO=1 "$T/prog" >info 2>&1
check "OMPGPU_INFO: what the last team combines" has info 'reduction in again_[0-9]*: 10 variables, 1 array; .*the last team combines 40 slots' \
    'reduction in of_the_team_[0-9]*: 1 variable; .*the last team combines 5 slots'
check "and no others" sh -c '[ "$(grep -c "under a lock" remarks)" = 4 ] && [ "$(grep -c "at the end of the kernel" remarks)" = 3 ]'
check "the kernel's slot" has remarks "kinds.c:18:.*league reduction of 80 bytes"
cat >"$T/none.c" <<'C'
void none(double *out, const double *v, int n)
{
    #pragma omp target teams map(tofrom: out[0:100]) map(to: v[0:n])
    {
        double own = 0;
        #pragma omp distribute parallel for reduction(+: own)
        for (int i = 0; i < n; i++) own += v[i];
        out[0] = own;
    }
}
C
check "own alone: compiles" "$CC" --gpu-arch=sm_80 --emit=ptx -O2 "$T/none.c" -o none.ptx
check "neither a lock nor an arrival" lacks none.ptx 'atom\.' 'red\.global'
finish
