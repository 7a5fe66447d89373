# programs.sh - small programs that several driver tests use; sourced after lib.sh.  Each function writes one file.
# shellcheck shell=sh
offload_program() {                   # FILE: doubles an array in a region, prints OK
    cat >"$1" <<'C'
#include <stdio.h>
int a[1000];
int main(void)
{
    for (int i = 0; i < 1000; i++) a[i] = i;
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < 1000; i++) a[i] *= 2;
    for (int i = 0; i < 1000; i++)
        if (a[i] != 2 * i) return puts("FAILED"), 1;
    return puts("OK"), 0;
}
C
}
offload_function() {                  # FILE NAME: int NAME(int *p, int n), which adds 1 to each element on the device
    cat >"$1" <<C
int $2(int *p, int n);
int $2(int *p, int n)
{
    #pragma omp target teams distribute parallel for map(tofrom: p[0:n])
    for (int i = 0; i < n; i++) p[i]++;
    return 0;
}
C
}
calling_main() {                      # FILE NAME…: calls each function once, wants that many added
    calls='' decls='' n=0
    main_file=$1; shift
    for f do decls="$decls int $f(int *, int);" calls="$calls $f(x, 100);" n=$((n + 1)); done
    cat >"$main_file" <<C
#include <stdio.h>
$decls
int main(void)
{
    int x[100] = { 0 };
    $calls
    for (int i = 0; i < 100; i++)
        if (x[i] != $n) return puts("FAILED"), 1;
    return puts("OK"), 0;
}
C
}
