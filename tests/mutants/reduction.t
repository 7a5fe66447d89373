#!/bin/sh
# Each algorithm of devicertl/reduction.c, broken in one place, is caught by the property test (tests/unit/rt_reduction.c): a test that
# passes whatever the code does would not.  A mutant is a sed command on a copy of the file, and must have changed it.
. tests/lib.sh
. "$ROOT/tests/mutants/mutants.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the emulated device is x86-64"
cd "$ROOT" || exit 1

# caught NAME SED-COMMAND
caught() {
    changed reduction.c "$1" "$2" || return
    TMPDIR=$T RT_REDUCTION_SOURCE=$T/reduction.c RT_REDUCTION_QUICK=1 timeout 100 "$OBJ/tests/unit/rt_reduction" >"$T/out" 2>&1
    rc=$?
    if grep -q '^not ok' "$T/out" && [ $rc = 1 ]; then ok "$1: caught"; else not_ok "$1: not caught"; echo "# exit code $rc"; show "$T/out"; fi
}

check "the code as it is passes" env RT_REDUCTION_QUICK=1 "$OBJ/tests/unit/rt_reduction"
full=reduce_full_warp partial=reduce_partial_warp dispersed=reduce_dispersed_warp
caught "full warp: starts with the wrong offset" "$(in_function "$full" 's/d = WARP . 2; d;/d = WARP \/ 4; d;/')"
caught "full warp: one step too few" "$(in_function "$full" 's/; d; d/; d > 1; d/')"
caught "contiguous: takes from lanes that have nothing" "$(in_function "$partial" 's/lane + d < m/lane + d <= m/')"
caught "contiguous: forgets the last lane" "$(in_function "$partial" 's/lane + d < m/lane + d + 1 < m/')"
caught "dispersed: takes from the next lane, active or not" "$(in_function "$dispersed" 's/(unsigned)__builtin_ctz(above)/lane + 1/')"
caught "dispersed: the wrong rank" "$(in_function "$dispersed" 's/left & ((1u << lane) - 1)/left \& ((2u << lane) - 1)/')"
caught "dispersed: a lane takes its own record" "$(in_function "$dispersed" 's/if (stays && above)/if (stays)/')"
caught "selection: dispersed lanes are taken for contiguous" 's/else if (!(lanes & (lanes + 1)))/else if (lanes \& 1)/'
caught "selection: the costly algorithm for full warps" 's/lanes == FULL_WARP/lanes == 0/'
caught "the first active lane: the second thinks it is" "$(in_function __ompgpu_reduce_lanes 's/1u << lane) - 1/1u << lane) - 2/')"
caught "redux: lanes that have nothing take part" 's/redux(rec, FULL_WARP >> (WARP - m))/redux(rec, FULL_WARP)/'
caught "redux: a lane is left out" "$(in_function reduce_warp 's/redux(rec, lanes)/redux(rec, lanes \& (lanes - 1) ? lanes \& (lanes - 1) : lanes)/')"
caught "team: the last warp is forgotten" 's/warps = (n + WARP - 1) . WARP/warps = n > WARP ? n \/ WARP : 1/'
caught "team: slots are read before they are filled" "$(in_function exchange_round '/__ompgpu_team_barrier/d')"
caught "team: a set of cells is written while the one before is read" "$(in_function cells_of_exchange 's/exchange % 2/exchange > 100/')"
caught "team: every warp into the same slot" "$(in_function exchange_round 's/put_cell(rows, rec, from, to, .*);/put_cell(rows, rec, from, to, 0);/')"
caught "team: the wrong thread has it" "$(in_function reduce_region 's/return tid == 0;/return tid == n - 1;/')"
caught "atomic: every thread updates the original" "$(in_function reduce_region 's/return tid == 0;/return 1;/')"
caught "league: the counter does not wrap" 's/fetch_uinc(counter, nteams - 1,/fetch_add(counter, 1,/'
caught "league: the last but one finishes" "$(in_function arrive 's/before == nteams - 1/before == nteams - 2/')"
caught "league: the flag is read before it is written" "$(in_function __ompgpu_reduce_league '/__ompgpu_arch_barrier(0);/d')"
caught "league: slots overlap" "$(in_function slot_of 's/team \* s.stride/team * (s.stride - 8)/')"
caught "league: slots are skipped" "$(in_function gather 's/tid + k;/tid + k + 1;/')"
caught "league: a slot is taken twice" "$(in_function gather 's/tid + k;/tid;/')"
caught "league: a slot that is not there is taken" "$(in_function gather 's/if (team + i . k < nteams)//')"
caught "league: loaded ahead, all from one slot" "$(in_function gather 's/? team + i . k : tid/? team : tid/')"
finish
