#!/bin/sh
# Deferred reductions (tests/reduction/deferred.t): the runtime's part with a mistake in it, in a copy of the tree's layout; a program notices each.
. tests/lib.sh
. "$ROOT/tests/mutants/mutants.sh"
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
build() { build_runtime && in_time "$T/tree/bin/ompgpu-cc" --gpu-arch=emu -O1 -w "$T/prog.c" -o "$T/prog"; }
runs() { on_device timeout 100 "$T/prog"; }       # a mistake may make it hang
check "a tree to change" mutated_tree reduction.c || finish
cp "$ROOT/devicertl/reduction.c" "$T/reduction.c"
check "unchanged: compiles" build && check "unchanged: runs" runs
mutant "entries are not cleared" "$(in_function __ompgpu_deferred_begin 's/.used(entry) = 0;/;/')"
mutant "the first result is combined with what is there" "$(in_function combine_or_store 's/if (combines)/if (1)/')"
mutant "later results replace the first" "$(in_function combine_or_store 's/if (combines)/if (0)/')"
mutant "entries that were not used count" "$(in_function gather_used 's/if (is_used.i. && /if (/')"
mutant "teams that are not there count" "$(in_function gather_used 's/ && team + i < nteams)/)/')"
mutant "the first record counts, used or not" "$(in_function __ompgpu_deferred_get 's/first < nteams && .*/0)/')"
mutant "the first record counts twice" "$(in_function __ompgpu_deferred_get 's/first + 1);/first);/')"
mutant "a single team waits, too" "$(in_function __ompgpu_deferred 's/nteams() == 1/nteams() == 0/')"
mutant "the first team to arrive finishes" "$(in_function __ompgpu_deferred_last 's/arrive(env, .*;/arrive(env, 1);/')"
finish
