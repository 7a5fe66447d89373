#!/bin/sh
# Each row of the flag table (driver/flags.def) that is clang's: the flag, with its argument, reaches the commands that the row says, and no others.
# Not here: what our own commands have in any case (-fPIC, -w), and what files with regions cannot have (-m32, -mx32).
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
cat >table.c <<'C'
#include <stdio.h>
#include "driver/options.h"
#define NULL_ARG 0
int main(void)
{
    static const char *const kinds[] = { "PLAIN", "JOINED", "SEP", "EITHER", "OPTIONAL", "JOINED_SEP" };
#define FLAG(id, spelling, kind, to, group, argument, help) \
    if ((group) != OURS && (group) != OTHERS && ((to) & (FOR_PRE | FOR_CHECK | FOR_SPLIT | FOR_EMU | FOR_HOST | FOR_AS | FOR_LINK | FOR_INPUT))) \
        printf("%s %s %s%s%s%s%s%s\n", spelling, kinds[kind], (to) & FOR_PRE ? "preprocess," : "", (to) & FOR_CHECK ? "check," : "", \
               (to) & (FOR_SPLIT | FOR_PRE) ? "split," : "", (to) & (FOR_HOST | FOR_AS) ? "host," : "", (to) & FOR_EMU ? "device," : "", (to) & (FOR_LINK | FOR_INPUT) ? "link," : "");
#include "driver/flags.def"
    return 0;
}
C
check "the table" "$CLANG" -I "$ROOT" table.c -o table && ./table >rows
check "... has rows" test "$(wc -l <rows)" -gt 130
# reached WORDS: the stages whose commands have them
reached() {
    awk -v words=" $1 " '/^ompgpu-cc: /{ next }
        { stage = / -E / ? "preprocess" : / -fsyntax-only / ? "check" : /omp-split --path/ ? "split" : /-disable-llvm-passes/ ? (/host[.]c/ ? "" : "device") : /host[.]c|versions[.]bc/ ? "host" : / -o app$/ ? "link" : "" }
        stage && index($0 " ", words) { printf "%s,", stage }' all
}
row() {
    case $2 in
    PLAIN | OPTIONAL) set -- "$1" "$3" "$1" ;;
    JOINED) set -- "$1" "$3" "${1}1" ;;
    JOINED_SEP) set -- "$1" "$3" "${1}1" 1 ;;
    *) set -- "$1" "$3" "$1" 1 ;;
    esac
    wanted=$2; shift 2
    "$CC" -### --gpu-arch=emu "$@" app.c -o app 2>all || { cat all; return 1; }
    [ "$(reached "$*")" = "$wanted" ] || { echo "reached: $(reached "$*"), not $wanted"; cat all; return 1; }
}
while read -r spelling kind stages; do
    case $spelling in -fPIC | -w | -m32 | -mx32) continue ;; esac
    check "$spelling: $stages" row "$spelling" "$kind" "$stages"
done <rows
# of the host only: clang refuses them for a GPU
for flag in -fzero-call-used-regs=used -fpatchable-function-entry=4 -fsplit-machine-functions -fveclib=libmvec -fexcess-precision=16 \
    -fprotect-parens -fmodules; do
    check "$flag with code for a GPU" "$CC" --gpu-arch=sm_90 -O2 "$flag" --emit=ptx app.c
    check "... and for the host" "$CC" --gpu-arch=emu -O2 "$flag" -c app.c -o app.o
done
finish
