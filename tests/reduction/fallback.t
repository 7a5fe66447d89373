#!/bin/sh
# The host's version of reductions of every type: it links with our command and with clang alone, needs no libatomic, and is right.
. tests/lib.sh
lib=$(dirname "$(dirname "$CC")")/lib
cat >types.c <<'C'
struct big { double v[5]; };
#pragma omp declare reduction(sum : struct big : omp_out.v[0] += omp_in.v[0])
typedef _Complex double cd;
static int same(int n)
{
    __int128 i = 1, least = 0, ia[3] = { 0 };
    unsigned __int128 u = ~(unsigned __int128)0, all = 1, most = 3;
    _Complex int k = 0;
    _Complex _Float16 hc = 0;
    cd c = 1, ca[4] = { 0 };
    _Complex float f = 1;
    _Bool b[3] = { 0 }, ba[n], bs[4] = { 1, 1, 1, 1 };
    struct big g = { { 0 } };
    _Float16 h = 0;
    char ch = 0;
    for (int j = 0; j < n; j++) ba[j] = 0;
#pragma omp target teams distribute parallel for reduction(+: i, c, ca, ia[1:2], k, hc) reduction(*: f) reduction(&: u) reduction(min: least) \
    reduction(&&: all, bs) reduction(||: b) reduction(max: ba[1:n-1], most) reduction(sum: g) reduction(+: h, ch) num_teams(1)
    for (int j = 0; j < 100; j++) {
        i += j, c += j, ca[j % 4] += 1, ia[1 + j % 2]++, k += j, hc += j % 2;
        if (j == 50) f *= 3;
        u &= ~(unsigned __int128)j;
        least = -j < least ? -j : least;
        all = all && j < 99, bs[j % 3] = bs[j % 3] && j != 4;
        b[1] = b[1] || j == 3;
        ba[2] = j > ba[2] ? j > 0 : ba[2];
        most = (unsigned)j > most ? (unsigned)j : most;
        g.v[0] += j, h += 1, ch++;
    }
#pragma omp target map(tofrom: i, bs)
#pragma omp parallel for reduction(^: i) reduction(&: bs)
    for (int j = 0; j < 4; j++) i ^= (__int128)j << 100, bs[3] &= j != 2;
    return i == 4951 && c == 4951 && ca[1] == 25 && ia[1] == 50 && k == 4950 && hc == 50 && f == 3 && u == ~(unsigned __int128)127 && least == -99 &&
           !all && bs[0] && !bs[1] && bs[2] && !bs[3] && b[1] && !b[0] && ba[2] && !ba[1] && most == 99 && g.v[0] == 4950 && h == 100 && ch == 100;
}
int main(void) { return !same(5); }
C
host_right() { OMP_NUM_THREADS=3 OMP_TARGET_OFFLOAD=DISABLED "$1"; }
device_right() { OMP_TARGET_OFFLOAD=MANDATORY "$1"; }
libatomic_free() { ! nm -u "$1" | grep __atomic_; }
for level in -O0 -O2; do
    # shellcheck disable=SC2086
    check "compiles, $level" "$CC" $ARCH $level -c types.c -o types.o || continue
    check "calls no libatomic, $level" libatomic_free types.o
    if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "links with clang alone, $level" "libompgpu.so needs the run-time of the sanitizers"
    else
        check "links with clang alone, $level" "$CLANG" -fopenmp types.o -L"$lib" -Wl,-rpath,"$lib" -lompgpu -o plain
        check "device, linked with clang, $level" device_right ./plain
    fi
    check "links, $level" "$CC" types.o -o prog
    check "host, $level" host_right ./prog
    check "device, $level" device_right ./prog
done
check "static libompgpu: links" "$CC" -static-ompgpu types.o -o static && check "static libompgpu: host" host_right ./static
finish
