#!/bin/sh
# geometry.sh - threads a team that the runtime chooses by a kernel's registers and shared memory, and how many threads that leaves on a
# multiprocessor, beside the best of all numbers of warps.  Bar: a ratio of 0.97.
obj/tests/unit/rt_geometry table | awk '{ print } $NF ~ /^[0-9.]+$/ { n++; bad += $NF < 0.97; if (!least || $NF < least) least = $NF }
    END { printf "  %d points, least ratio %.3f: %s\n", n, least, bad ? "NOT MET" : "met" }'
