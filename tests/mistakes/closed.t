#!/bin/sh
# With checks, the host cannot use memory of the emulated device that it has an address of (closed.c): a message with the line of the access, once, and
# the program goes on; whoever copies, or runs regions, sees nothing of it.  Not by -fompgpu-check-host: the pages have no access rights.
. tests/lib.sh
src=$ROOT/tests/mistakes/closed.c
OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
for flags in "-O0 -g" "-O2 -g -fompgpu-check"; do
    # shellcheck disable=SC2086
    check "$flags: compiles" "$CC" $flags --gpu-arch=emu -w "$src" -o closed -lpthread || { finish; exit 1; }
    for what in reads writes copies prints uses pointer threads; do
        line=$(grep -n "/\* $what \*/" "$src" | cut -d: -f1)
        case $what in writes) does=writes ;; *) does=reads ;; esac
        check "$flags: $what: an error" test_must_fail 1 ./closed $what
        cp .log err
        check "$flags: $what: is said, once" has err "closed.c:$line:.* error: the host $does 0x[0-9a-f]*, memory of device 0: only regions can use it" &&
            check "... of memory that is known" has err 'the address lies in it' &&
            check "... once" [ "$(grep -c 'error: ' err)" = 1 ]
    done
    line=$(grep -n "/\* made \*/" "$src" | cut -d: -f1)
    check "$flags: made: an error" test_must_fail 1 ./closed made
    cp .log err
    check "$flags: what a region got from malloc" has err "closed.c:$line:.* error: the host reads 0x[0-9a-f]*, memory of device 0"
    check "$flags: right" ./closed right
    for seed in 1 2 3; do OMPGPU_EMU_SCHEDULE=random:$seed check "$flags: right, $seed" ./closed right; done
done
check "without checks" "$CC" -O2 --gpu-arch=emu -w "$src" -o closed -lpthread && check "... the host may" ./closed reads
finish
