#!/bin/sh
# The programs of this folder, part 4 of 4, at -O2.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
run_programs 3 4 -O2
finish
