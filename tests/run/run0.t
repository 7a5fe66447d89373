#!/bin/sh
# The programs of this folder, part 1 of 4, at -O2.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
run_programs 0 4 -O2
finish
