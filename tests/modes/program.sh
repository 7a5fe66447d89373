#!/bin/sh
# program.sh FILE.c - one program of this folder as a test: in each execution mode, with what -Rompgpu=all says about its regions, all of which
# the late pass can convert: so spmd mode's program at -O2 is that of auto mode (tests/modes/fuzz.t), and is left to the long form.  -O2 -g is
# compiled for GPUs, too: ptxas takes the line table, and no warning says that the targets differ.
. tests/lib.sh
program "$1" -I"$ROOT/tests/run"

converted() { has remarks 'OMP120' && lacks remarks 'remark: .*generic mode'; }

form "$GPUS" -O2 -g -Rompgpu=all -fompgpu-mode=auto
check "auto: every region is converted" converted
form "" -O2 -Rompgpu=all -fompgpu-mode=generic
check "generic: every region is generic" lacks remarks 'OMP120' 'SPMD mode by the late pass'
check "generic: the remark says who chose it" has remarks 'generic mode by -fompgpu-mode=generic'
form "" -O0 -g -fompgpu-mode=spmd
form "" -O0 -g -fompgpu-mode=generic
if [ -n "${OMPGPU_LONG:-}" ]; then
    form "" -O2 -Rompgpu=all -fompgpu-mode=spmd
    check "spmd: every region is converted" converted
    form "" -O2 -fompgpu-mode=auto
    form "" -O2 -g -fompgpu-mode=spmd
    form "" -O2 -g -fompgpu-mode=generic
fi
finish
