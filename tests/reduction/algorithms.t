#!/bin/sh
# Which algorithm a reduction gets: what is in the PTX.
. tests/lib.sh

# kernel FILE NAME: the text of one kernel
kernel() { sed -n "/entry $2(/,/^}/p" "$1"; }
count() { grep -c "$2" "$1"; }        # FILE PATTERN
counts() {                            # FILE PATTERN N
    [ "$(count "$1" "$2")" = "$3" ] || { echo "$(count "$1" "$2") times '$2', not $3:"; cat "$1"; false; }
}

cat >"$T/words.c" <<'C'
int n; unsigned u; unsigned char b = 255; short m; _Bool t = 1; double d; long l;
void words(int *a, int k)
{
    #pragma omp target teams distribute parallel for reduction(+:n) reduction(max:u) reduction(&:b) reduction(min:m) reduction(&&:t)
    for (int i = 0; i < k; i++) { n += a[i]; u = a[i] > u ? a[i] : u; b &= a[i]; m = a[i] < m ? a[i] : m; t = t && a[i]; }
}
void product(int *a, int k)
{
    #pragma omp target teams distribute parallel for reduction(*:n)
    for (int i = 0; i < k; i++) n *= a[i];
}
void mixed(int *a, int k)
{
    #pragma omp target teams distribute parallel for reduction(+:n) reduction(+:l)
    for (int i = 0; i < k; i++) { n += a[i]; l += a[i]; }
}
C
cat >"$T/team.c" <<'C'
double d;
#define LOOP for (int i = 0; i < k; i++) d += a[i];
void any(double *a, int k, int n)
{
    #pragma omp target parallel for reduction(+:d) num_threads(n)
    LOOP
}
void odd(double *a, int k)
{
    #pragma omp target parallel for reduction(+:d) num_threads(100)
    LOOP
}
void maybe(double *a, int k)
{
    #pragma omp target parallel for reduction(+:d) num_threads(128) if(parallel: k > 10)
    LOOP
}
void whole(double *a, int k)
{
    #pragma omp target parallel for reduction(+:d) num_threads(128)
    LOOP
}
C
if have_ptxas; then
    check "teams of several sizes compile" "$CC" -O2 --gpu-arch=sm_90 --emit=ptx "$T/team.c" -o team.ptx
    for k in any odd maybe whole; do kernel team.ptx "$(sed -n "s/.*entry \(${k}_[0-9]*\)(.*/\1/p" team.ptx)" >team.$k; done
    for k in any odd maybe; do check "$k: a partial warp is thought of" has team.$k 'shfl.*31, %r[0-9]*;$'; done
    check "whole warps: only the full algorithm" lacks team.whole 'shfl.*31, %r[0-9]*;$'
    check "whole warps: no lane is asked for before it" sh -c '! sed "/shfl/q" team.whole | grep -E "and.b32.*, (31|992)|laneid"'

    for level in -O0 -O2; do
        check "$level: compiles for four generations" "$CC" $level --gpu-arch=sm_75,sm_80,sm_90,sm_100 -save-temps -c "$T/words.c" -o "$T/words.o" || continue
        check "$level: no redux.sync for sm_75" lacks words.sm_75.ptx 'redux\.sync'
    done
    for arch in sm_75 sm_80 sm_90 sm_100; do
        for k in words product mixed; do kernel words.$arch.ptx "$(sed -n "s/.*entry \(${k}_[0-9]*\)(.*/\1/p" words.$arch.ptx)" >$k.$arch; done
    done
    check "sm_75 shuffles" has words.sm_75 'shfl\.sync\.down'
    for arch in sm_80 sm_90 sm_100; do
        check "$arch: one redux.sync a variable, in the warp and once more in the team" counts words.$arch 'redux\.sync' 10
        for op in add.s32 max.u32 and.b32 min.s32; do check "$arch: $op" has words.$arch "redux\.sync\.$op"; done
        check "$arch: and no shuffle" lacks words.$arch shfl
        check "$arch: there is none for products" lacks product.$arch 'redux\.sync'
        check "$arch: nor for a record with a long" lacks mixed.$arch 'redux\.sync'
    done
else
    skip "redux.sync" "no ptxas"
fi
finish
