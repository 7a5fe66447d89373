#!/bin/sh
# Every kernel of tests/run and samples goes through ptxas for four generations of GPUs: part 4 of 4.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
ptxas_programs 3 4
finish
