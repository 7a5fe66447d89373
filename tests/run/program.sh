#!/bin/sh
# program.sh FILE.c - one program of this folder as a test: `prove tests/run/scan.c` says all there is about scan.c.
#
# It is compiled in several forms, each without a message, and each form runs (run_ways in lib.sh).  The form -O2 is compiled for GPUs, too, so
# that ptxas sees every kernel.  OMPGPU_LONG=1: all forms for all programs, which are compiled with -DOMPGPU_LONG.
#
# In its first three lines, in comments of their own, a program may say
#   flags: FLAGS         for the compiler, in each form
#   with: FILE…          its other files
#   also: FLAGS, …       forms beside -O2
#   says: PATTERN        the messages that the compiler gives
#   gpus: all            -O2 for each GPU of $GPUS, not for one of them
# FILE.out, where it exists, is the output wanted.
. tests/lib.sh
program "$1" ${OMPGPU_LONG:+-DOMPGPU_LONG}

form "$GPUS" -O2
if [ -n "${OMPGPU_LONG:-}" ]; then set -- "-O0 -g" -O0 "-O0 -g -fompgpu-mode=generic" "-O2 -g" "-O2 -fompgpu-mode=generic"
else also=$(program_says also) IFS=,; set -f; set -- $also; set +f; unset IFS
fi
for flags do
    # shellcheck disable=SC2086
    case $flags in
    -O0 | "-O2 -g") MACHINE='' form "" $flags ;; # no new code for the PTX machine
    *--host-cc=gcc*) [ -n "${OMPGPU_SANITIZE:-}" ] || form "" $flags ;; # gcc has not the sanitized library's sanitizer
    *) form "" $flags ;;
    esac
done
finish
