#!/bin/sh
# The gpu-kit, made for the emulated device and run there with small sizes.
# shellcheck disable=SC1091
. tests/lib.sh
check "the kit is made" sh -c 'cd "$1" && OMPGPU_KIT_ARCH=emu sh tests/gpu/kit.sh "$2"' sh "$ROOT" "$T/kit"
check "it runs" env OMPGPU_DEVICE=emu OMPGPU_KIT_SMALL=1 KIT_LARGEST=12 sh kit/run.sh
cp .log log
check "every program passes" has log '^[0-9]* passed, 0 failed$'
check "the table has both modes" has log '^nw_blocks .* emu:0 .* ms$' '^  generic nw_blocks .* ms$' 'nw_called: generic mode takes .* met$'
finish
