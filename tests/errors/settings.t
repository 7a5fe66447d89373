#!/bin/sh
# The runtime beside ordinary programs: malformed environment variables, and many mappings.
. tests/lib.sh
cat >one.c <<'C'
int main(void)
{
    int r = 41;
    #pragma omp target map(tofrom: r)
    r++;
    return r != 42;
}
C
check "one.c compiles" "$CC" --gpu-arch=emu -O1 one.c -o one
# malformed VARIABLE VALUE: one warning that names both; the region runs as if it were not set
malformed() {
    check "$1=$2 is ignored" in_time env OMPGPU_DEVICE=emu "$1=$2" sh -c './one 2>err'
    check "... and said once" [ "$(grep -c "warning: $1=$2 is ignored; valid: " err)" = 1 ]
}
malformed OMPGPU_EMU_MEMORY 0x10
malformed OMPGPU_EMU_MEMORY 1X
malformed OMPGPU_EMU_MEMORY 1Tb
malformed OMPGPU_EMU_MEMORY 99999999T
malformed OMPGPU_EMU_STACK 1
malformed OMPGPU_EMU_THREADS abc
malformed OMPGPU_EMU_DEVICES 9
malformed OMPGPU_EMU_SCHEDULE garbage
malformed OMPGPU_EMU_SCHEDULE random:
malformed OMPGPU_STACK_SIZE -1
malformed OMP_NUM_TEAMS 111111111111111111111111111111111111111111111111111111111111111111111
for good in OMPGPU_EMU_MEMORY=1T OMPGPU_EMU_MEMORY=64m OMPGPU_EMU_STACK=20000 OMPGPU_EMU_SCHEDULE=random OMPGPU_EMU_SCHEDULE=random:7 \
    OMPGPU_EMU_THREADS= OMPGPU_TEAM_HEAP=2G; do
    check "$good is taken" in_time env OMPGPU_DEVICE=emu "$good" sh -c './one 2>err && [ ! -s err ]'
done

# 100,000 live mappings in random order of their addresses, and back in another one: well below a second.  With a search or a copy of the
# table for each it would be minutes.
cat >many.c <<'C'
#include <stdlib.h>
int main(void)
{
    enum { N = 100000 };
    char **p = malloc(N * sizeof *p);
    for (int i = 0; i < N; i++)
        p[i] = malloc(16);
    for (int i = 0; i < N; i++) {
        char *q = p[i * 7919ul % N];
        #pragma omp target enter data map(to: q[0:16])
    }
    for (int i = 0; i < N; i++) {
        char *q = p[i * 7907ul % N];
        #pragma omp target exit data map(from: q[0:16])
    }
    return 0;
}
C
check "many.c compiles" "$CC" --gpu-arch=emu -O1 many.c -o many
check "100,000 mappings" timeout $((10 * SLOWER)) env OMPGPU_DEVICE=emu ./many
finish
