#!/bin/sh
# The stack that a thread needs: silent up to 64 KB, a warning up to 512 KB, then an error; the variable is named, once.
# shellcheck disable=SC1091
. tests/lib.sh
cat >frame.c <<'C'
static __attribute__((noinline)) int sum(int n)
{
    int array[N], s = 0;
    for (int i = 0; i < N; i++) array[i] = n * i;
    for (int i = 0; i < N; i++) s += array[(i * 7 + n) % N];
    return s;
}
int main(void)
{
    int r[10];
#pragma omp target teams distribute parallel for map(from: r)
    for (int i = 0; i < 10; i++) r[i] = sum(i) + sum(i + 1);
    return r[3];
}
C
compile() { "$CC" "--gpu-arch=$1" -O2 -DN="$2" -c frame.c -o frame.o 2>err; }
for archs in emu sm_75,emu; do
    check "$archs: 40 KB" compile $archs 10000 && check "... nothing is said" silent err warning error
    check "$archs: 400 KB" compile $archs 100000 && check "... a warning" mentions "$(cat err)" "frame.c:11:|warning|'main_11'|'array'|400000"
    check "... once" [ "$(grep -c warning err)" = 1 ]
    check "$archs: 800 KB" test_must_fail 1 compile $archs 200000 && check "... an error" mentions "$(cat err)" "frame.c:11:|error|'main_11'|'array'|800000"
done
if have_ptxas; then
    check "-Rompgpu: stack and spills" sh -c "'$CC' --gpu-arch=sm_75 -DN=10000 -O2 -Rompgpu -c frame.c -o frame.o 2>err"
    check "... are shown" has err "frame.c:11:.*remark: .*'main_11'" "^ *sm_75 *[1-9][0-9]* registers, .* [1-9][0-9]* bytes of stack, no spills; occupancy [0-9]* %"
else
    skip "-Rompgpu: stack and spills" "no ptxas"
fi
finish
