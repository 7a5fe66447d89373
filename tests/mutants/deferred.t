#!/bin/sh
# Deferred reductions (tests/reduction/deferred.t): the runtime's part with a mistake in it, in a copy of the tree's layout; a program notices each.
. tests/lib.sh
case $ARCH in *emu*) ;; *) skip_all "the device runtime is built for the emulated device only" ;; esac
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=emu; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE
cat >"$T/prog.c" <<'C'
int omp_get_num_teams(void);
int f(int teams, int used)
{
    int n = 5, a[20] = { 1 }, seen = 0, one = 0;
    #pragma omp target teams num_teams(teams) thread_limit(32) map(tofrom: n, a, seen, one)
    {
        if (used) {
            #pragma omp distribute parallel for reduction(+: n)
            for (int i = 0; i < 300; i++) n += i;
            for (int k = 0; k < 2; k++) {
                #pragma omp distribute parallel for reduction(+: n, a)
                for (int i = k; i < used; i += 2) n++, a[i % 20]++;
            }
        }
        #pragma omp distribute simd reduction(+: n)
        for (int i = 0; i < 100; i++) n++;
        if (omp_get_num_teams() == 1) seen = n, one = 1;
    }
    int bad = n != 105 + (used ? 44850 + used : 0) || (one && seen != n), sum = -1 - used;
    for (int i = 0; i < 20; i++) sum += a[i];
    return bad || sum;
}
int main(void)
{
    for (int r = 0; r < 20; r++)
        if (f(1 + r * 5 % 12, r % 3 * 70)) return 1;
    return 0;
}
C
LINK=${OMPGPU_LLVM_LINK:-llvm-link-22} LIB=$(dirname "$CC")/../lib
if ! command -v "$LINK" >/dev/null 2>&1 || [ ! -e "$OBJ/devicertl/x86_64/reduction.bc" ]; then skip_all "no bitcode of the device runtime, or no $LINK"; fi
layout() {
    mkdir -p "$T/tree/bin" "$T/tree/lib/ompgpu" && cp "$CC" "$T/tree/bin/ompgpu-cc" || return 1
    for f in "$LIB"/*ompgpu.*; do ln -s "$f" "$T/tree/lib/"; done
    for f in "$LIB"/ompgpu/*; do ln -s "$f" "$T/tree/lib/ompgpu/"; done
}
build() {
    # shellcheck disable=SC2086
    "$CLANG" --target=x86_64-pc-linux-gnu -std=gnu11 -O2 -Xclang -disable-llvm-passes -fconvergent-functions -fno-math-errno -fPIC -I"$ROOT" -emit-llvm \
        -c "$T/reduction.c" -o "$T/reduction.bc" && "$LINK" "$T/reduction.bc" $others -o "$T/rtl.bc" &&
        ln -sf "$T/rtl.bc" "$T/tree/lib/ompgpu/devicertl-x86_64.bc" &&
        timeout 120 "$T/tree/bin/ompgpu-cc" --gpu-arch=emu -O1 -w "$T/prog.c" -o "$T/prog"
}
mutant() {                            # NAME SED-COMMAND
    sed -e "$2" "$ROOT/devicertl/reduction.c" >"$T/reduction.c"
    if cmp -s "$ROOT/devicertl/reduction.c" "$T/reduction.c"; then not_ok "$1: '$2' changes nothing"; return; fi
    check "$1: compiles" build || return
    if timeout 60 "$T/prog" >"$T/.log" 2>&1; then not_ok "$1: nobody notices"; else ok "$1: noticed"; fi
}
check "a tree to change" layout || finish
others=
for f in "$OBJ"/devicertl/x86_64/*.bc; do case $f in */reduction.bc) ;; *) others="$others $f" ;; esac; done
cp "$ROOT/devicertl/reduction.c" "$T/reduction.c"
check "unchanged: compiles" build && check "unchanged: runs" "$T/prog"
mutant "entries are not cleared" '/__ompgpu_deferred_begin/,/^}/s/.used(entry) = 0;/;/'
mutant "the first result is combined with what is there" '/^__ompgpu_deferred_put/,/^}/s/if (again)/if (1)/'
mutant "later results replace the first" '/^__ompgpu_deferred_put/,/^}/s/if (again)/if (0)/'
mutant "entries that were not used count" '/^INLINE void gather_used/,/^}/s/if (is_used.i. && /if (/'
mutant "teams that are not there count" '/^INLINE void gather_used/,/^}/s/ && team + i < nteams)/)/'
mutant "the first record counts, used or not" '/_Bool __ompgpu_deferred_get/,/^}/s/first < nteams && .*/0)/'
mutant "the first record counts twice" '/_Bool __ompgpu_deferred_get/,/^}/s/first + 1);/first);/'
mutant "a single team waits, too" '/[*]__ompgpu_deferred(struct/,/^}/s/nteams() == 1/nteams() == 0/'
mutant "the first team to arrive finishes" '/ __ompgpu_deferred_last(/,/^}/s/arrive(env, .*;/arrive(env, 1);/'
finish
