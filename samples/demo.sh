#!/bin/sh
# demo.sh - compiles every sample with ompgpu-cc, runs it on the GPU if there is one and otherwise on the emulated device, and prints a
# table: a line a region.  Called by `make demo`.
set -u
cd "$(dirname "$0")/.." || exit 1
cc=${OMPGPU_CC:-bin/ompgpu-cc}
out=${OMPGPU_OBJ:-obj}/demo
mkdir -p "$out"
failed=0
row='%-11s %-6s %-8s %14s %6s %10s  %s\n'
echo
# shellcheck disable=SC2059
{
printf "$row" sample device mode 'teams x threads' regs time check
printf "$row" ----------- ------ -------- -------------- ------ ---------- -----
for src in samples/*.c; do
    name=$(basename "$src" .c)
    if ! "$cc" -O2 -Rompgpu "$src" -o "$out/$name" -lm 2>"$out/$name.remarks"; then
        cat "$out/$name.remarks" >&2
        printf "$row" "$name" - - - - - "does not compile"
        failed=$((failed + 1)); continue
    fi
    OMPGPU_INFO=1 "$out/$name" >"$out/$name.out" 2>"$out/$name.info"
    code=$?
    check=FAILED
    [ $code = 0 ] && grep -q 'OK$' "$out/$name.out" && check=OK
    [ $check = OK ] || failed=$((failed + 1))
    # Launch lines: "…: launch REGION on DEVICE:N: T teams x H threads, MODE, M ms"; registers from the remarks of the compile.
    awk -v sample="$name" -v check="$check" -v row="$row" '
        /remark: region/ { split($0, q, "\047"); next }
        /^ .* sm_[0-9]+ .*[0-9] registers, / { r = $0; sub(/ registers.*/, "", r); sub(/.* /, "", r); if (!(q[2] in regs)) regs[q[2]] = r; next }
        /: launch / {
            line = $0; sub(/.* launch /, "", line); n = split(line, w, " ")
            k = w[1]
            if (!(k in ms)) order[++kernels] = k
            split(w[3], d, ":"); device[k] = d[1]; shape[k] = w[4] " x " w[7]; mode[k] = w[9]; sub(/,/, "", mode[k]); ms[k] += w[10]; count[k]++
        }
        END {
            if (!kernels) printf row, sample, "host", "-", "-", "-", "-", check
            for (i = 1; i <= kernels; i++) {
                k = order[i]
                printf row, i == 1 ? sample : "", device[k], mode[k], shape[k], (k in regs) ? regs[k] : "-", \
                    sprintf("%.1f ms", ms[k]), i == 1 ? check : ""
            }
        }' "$out/$name.remarks" "$out/$name.info"
done
# Four processes, each with its GPU; where there is an MPI.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1; export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
for src in samples/mpi/*.c; do
    name=mpi/$(basename "$src" .c)
    mkdir -p "$out/mpi"
    if ! command -v mpirun >/dev/null || ! flags=$(mpicc -show 2>/dev/null); then
        printf "$row" "$name" - - - - - "no MPI"
        continue
    fi
    check=FAILED
    # shellcheck disable=SC2086
    "$cc" -O2 "$src" ${flags#* } -lm -o "$out/$name" && OMPGPU_RANK_DEVICE=auto timeout 300 mpirun -n 4 "$out/$name" >"$out/$name.out" 2>"$out/$name.err" && grep -q 'OK$' "$out/$name.out" && check=OK
    [ $check = OK ] || failed=$((failed + 1))
    printf "$row" "$name" "4 ranks" - - - - "$check"
done
}
echo
if [ "$failed" != 0 ]; then echo "$failed samples failed"; exit 1; fi
echo "All samples are right. time: of all launches of the region; regs: as ptxas says."
