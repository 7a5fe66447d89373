#!/bin/sh
# The programs of this folder at -O0 -g: every fifth, or all with OMPGPU_LONG=1.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
if [ -n "${OMPGPU_LONG:-}" ]; then run_programs 0 1 -O0 -g; else run_programs 3 5 -O0 -g; fi
finish
