#!/bin/sh
# samples/spread.c on several emulated devices: right results, and no more bytes than a program by hand would move. Mistakes in spread constructs.
# shellcheck disable=SC1091
. tests/lib.sh
OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
check "compiles" "$CC" --gpu-arch=emu -O2 "$ROOT/samples/spread.c" -o prog -lm || { finish; exit; }
for devices in 2 3 5; do
    check "$devices devices" sh -c "OMPGPU_EMU_DEVICES=$devices ./prog 50 4 | grep 'OK\$'"
done
# bytes KIND: of the profile's rows whose construct updates data
bytes() { awk -F'","' -v kind="\"$1" '$1 == kind && /"ompx target update/ { sub(/.*",/, ""); split($0, v, ","); sum += v[6] } END { print sum + 0 }' profile.csv; }
# Each of the 3 neighbourhoods of 4 devices takes a row of 52 each way and step, which goes from device to device: as with omp_target_memcpy by hand.
exchanged() {
    OMPGPU_EMU_DEVICES=4 OMPGPU_PROFILE=profile.csv ./prog 50 4 && cat profile.csv &&
        [ "$(bytes 'copy between devices')" = $((3 * 2 * 52 * 8 * 4)) ] && [ "$(bytes 'copy to device')$(bytes 'copy from device')" = 00 ]
}
# Device, chunk and bytes of each; the times differ.
chunks() {
    OMPGPU_EMU_DEVICES=2 OMPGPU_PROFILE=1 ./prog 50 4 >table 2>&1 && cat table &&
        sed -n '/device  chunk/,$p' table | awk '{ print $3, $6, $7, $8, $9, $NF }' | grep -c -e '4 0 0 0 bytes spread$' -e '0 1 1 1.6 KiB spread$' -e '1 1 1 29.3 KiB spread$' >n
    [ "$(cat n)" = 3 ]
}
check "the table of chunks" chunks
check "halos: a row a neighbour, way and step" exchanged
cat >wrong.c <<'C'
#include <stdlib.h>
static int a[40];
int main(int argc, char **argv)
{
    int which = atoi(argv[1]), n = 40, more = which == 2;
#pragma ompx target spread devices(0, which == 1 ? 9 : 1) map(from: a[omp_spread_start : omp_spread_size + more * (omp_spread_start < 20)])
    for (int i = 0; i < n; i++) a[i] = i;
#pragma ompx target data spread devices(0, 1) range(0 : n) map(tofrom: a[omp_spread_start : omp_spread_size])
    {
        if (which == 3)
#pragma ompx target update spread devices(0, 1) range(0 : n) from(a[n - omp_spread_start - 1 : 1])
            ;
#pragma ompx target spread devices(0, 1) map(tofrom: a[omp_spread_start : omp_spread_size + (which == 4)])
        for (int i = 0; i < n; i++) a[i] += a[i + (which == 5)];
    }
    return a[n - 1] != 2 * (n - 1);
}
C
# wrong NUMBER LINE WORDS
wrong() { OMPGPU_EMU_DEVICES=2 test_must_fail 1 ./wrong "$1" 2>err; cat err; grep "wrong.c:$2:" err >first && mentions "$(cat first)" "$3"; }
check "mistakes compile" "$CC" --gpu-arch=emu -O0 -Wno-unused wrong.c -o wrong
check "none" env OMPGPU_EMU_DEVICES=2 ./wrong 0
one='chunk 0 (omp_spread_start 0, omp_spread_size 20, device 0)' two='chunk 1 (omp_spread_start 20, omp_spread_size 20, device 1)'
check "no such device" wrong 1 6 "ompx target spread|item 2|9|devices 0 to 1"
check "two chunks bring back the same bytes" wrong 2 6 "$one|$two|4 bytes"
check "an update outside of the chunk's map" wrong 3 11 "ompx target update spread|$one|a[n - omp_spread_start - 1 : 1]|a[omp_spread_start : omp_spread_size], 80 bytes, mapped at wrong.c:8"
check "a map outside of the chunk's map" wrong 4 13 "$one|84 bytes|80 bytes, mapped at wrong.c:8"
if [ "${OMPGPU_SANITIZE:-}" = thread ]; then skip "an access outside of the chunk's map" "TSan has the addresses that fault"
else check "an access outside of the chunk's map" wrong 5 14 "nearest mapping|a[omp_spread_start : omp_spread_size]|wrong.c:8|80 bytes"; fi

cat >weighted.c <<'C'
#include <omp.h>
#include <stdio.h>
static double a[3000];
static int who[3000];
static double run(int n)
{
    double sum = 0;
#pragma ompx target spread devices(all) spread_schedule(weighted) teams distribute parallel for reduction(+: sum) \
    map(to: a[omp_spread_start : omp_spread_size]) map(from: who[omp_spread_start : omp_spread_size])
    for (int i = 0; i < n; i++) sum += a[i], who[i] = omp_get_device_num();
    return sum;
}
int main(void)
{
    int size[3] = { 0 }, order = 1;
    double first = 0;
    for (int i = 0; i < 3000; i++) a[i] = 1.0 / (i + 1);
#pragma ompx target data spread devices(all) spread_schedule(weighted) range(0 : 3000) map(to: a[omp_spread_start : omp_spread_size])
    first = run(3000);
    for (int i = 0; i < 3000; i++) size[who[i]]++, order &= !i || who[i] >= who[i - 1];
    printf("%d %d %d\n", size[0], size[1], size[2]);
    return !order || size[1] < 1 || size[1] >= size[2] || size[2] >= size[0] || run(3000) != first || run(1) != 1 || run(0) != 0;
}
C
check "weighted: compiles" "$CC" --gpu-arch=emu -O2 weighted.c -o weighted
check "weighted: the faster has more, loops and data agree" env OMPGPU_EMU_THREADS=1 OMPGPU_EMU_DEVICES=3 OMPGPU_EMU_SPEED=100,10,33 ./weighted

cat >quiet.c <<'C'
int main(void)
{
    double only = 0;
#pragma ompx target spread devices(0) teams distribute parallel for reduction(+: only) \
    map(to: only)
    for (int i = 0; i < 9; i++) only += i;
}
C
quiet() { "$CC" --gpu-arch=emu -Wall -c quiet.c >log 2>&1 && [ ! -s log ]; }
check "no warning of a variable that only the reduction uses" quiet
finish
