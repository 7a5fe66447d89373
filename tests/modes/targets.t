#!/bin/sh
# Modes, guards and barriers are decided for each target on its own, and alike (the programs of this folder and the samples are compiled
# for several targets without a warning).  Where the targets differ, a warning says so.
# shellcheck disable=SC1091
. tests/lib.sh
# A compiler that makes something else of the text for the emulated device.
cat >differs.c <<'C'
int main(void)
{
    int a[8] = { 0 };
    #pragma omp target map(tofrom: a)
    {
        a[1] = __builtin_abs(a[2]);
        #pragma omp parallel for
        for (int i = 0; i < 8; i++) a[i]++;
    }
    return a[1] != 1;
}
C
cat >other-clang <<C
#!/bin/sh
case "\$*" in *x86_64*device.c*) exec "$CLANG" '-D__builtin_abs(i)=(int)__builtin_readcyclecounter()' "\$@" ;; esac
exec "$CLANG" "\$@"
C
chmod +x other-clang
check "compiles with it" env OMPGPU_CLANG="$PWD/other-clang" "$CC" --gpu-arch=sm_75,emu -O2 -S differs.c -o d.s
cp .log log
check "a difference is told" has log "differs.c:4:.*: warning: region 'main_4'.*SPMD .* GPU, generic .* emulated device"
finish
