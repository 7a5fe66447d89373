#!/bin/sh
# samples/spread.c on several emulated devices: right results, and no more bytes than a program by hand would move.
# shellcheck disable=SC1091
. tests/lib.sh
OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
check "compiles" "$CC" --gpu-arch=emu -O2 "$ROOT/samples/spread.c" -o prog -lm || { finish; exit; }
for devices in 2 3 5; do
    check "$devices devices" sh -c "OMPGPU_EMU_DEVICES=$devices ./prog 50 4 | grep 'OK\$'"
done
# bytes KIND: of the profile's rows whose construct updates data
bytes() { awk -F'","' -v kind="\"$1" '$1 == kind && /"target update/ { sub(/.*",/, ""); split($0, v, ","); sum += v[6] } END { print sum + 0 }' profile.csv; }
# Each of the 3 neighbourhoods of 4 devices takes a row of 52 each way and step.
exchanged() {
    OMPGPU_EMU_DEVICES=4 OMPGPU_PROFILE=profile.csv ./prog 50 4 && cat profile.csv &&
        [ "$(bytes 'copy from device')" = $((3 * 2 * 52 * 8 * 4)) ] && [ "$(bytes 'copy to device')" = $((3 * 2 * 52 * 8 * 4)) ]
}
check "halos: a row a neighbour, way and step" exchanged
finish
