#!/bin/sh
# The scan's algorithm with one mistake in it: a program notices each.  The mistakes are made in a copy of devicertl/scan.c, of which a device
# runtime is built for the emulated device, in a copy of the tree's layout.
. tests/lib.sh
. "$ROOT/tests/mutants/mutants.sh"

cat >"$T/prog.c" <<'C'
#include <stdio.h>
enum { N = 3000 };
struct map { unsigned a, b; } in[N], out[N], before[N];
struct wide { int part[24]; } sums[N];
int data[N], result[N];
static void compose(struct map *f, const struct map *g) { *f = (struct map){ f->a * g->a, f->b * g->a + g->b }; }
#pragma omp declare reduction(own : struct map : compose(&omp_out, &omp_in)) initializer(omp_priv = { 1, 0 })
static int inclusive(int threads, int n)
{
    struct map m = { 3, 4 }, h = m;
    int bad = 0, w[24] = { 0 };
    #pragma omp target parallel for num_threads(threads) map(to: in) map(from: out, sums) reduction(inscan, own: m) reduction(inscan, +: w)
    for (int i = 0; i < n; i++) {
        compose(&m, &in[i]);
        w[i % 24] += i;
        #pragma omp scan inclusive(m, w)
        out[i] = m;
        for (int k = 0; k < 24; k++) sums[i].part[k] = w[k];
    }
    int v[24] = { 0 };
    for (int i = 0; i < n; i++) {
        compose(&h, &in[i]);
        v[i % 24] += i;
        bad += out[i].a != h.a || out[i].b != h.b;
        for (int k = 0; k < 24; k++) bad += sums[i].part[k] != v[k];
    }
    return bad + (m.a != h.a || m.b != h.b);
}
static int exclusive(int threads, int n)
{
    struct map m = { 3, 4 }, h = m;
    int bad = 0;
    #pragma omp target parallel for num_threads(threads) map(to: in) map(from: before) reduction(inscan, own: m)
    for (int i = 0; i < n; i++) {
        before[i] = m;
        #pragma omp scan exclusive(m)
        compose(&m, &in[i]);
    }
    for (int i = 0; i < n; i++) {
        bad += before[i].a != h.a || before[i].b != h.b;
        compose(&h, &in[i]);
    }
    return bad + (m.a != h.a || m.b != h.b);
}
static int rows(int threads, int n)   /* a simple body: several iterations a round */
{
    int x = 2, h = 2, bad = 0;
    #pragma omp target parallel for num_threads(threads) map(to: data) map(from: result) reduction(inscan, +: x)
    for (int i = 0; i < n; i++) {
        x += data[i];
        #pragma omp scan inclusive(x)
        result[i] = x;
    }
    for (int i = 0; i < n; i++) {
        h += data[i];
        bad += result[i] != h;
    }
    return bad + (x != h);
}
int main(void)
{
    int bad = 0, sizes[] = { 1, 32, 70, 256, 1024 };
    for (unsigned i = 0; i < N; i++) in[i] = (struct map){ i * 2654435761u | 1, i * 7 + 1 }, data[i] = i % 11 * 3;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) bad += inclusive(sizes[i], k ? N : 33) + exclusive(sizes[i], k ? N : 33) + rows(sizes[i], k ? N : 33);
    if (bad) printf("%d wrong\n", bad);
    return bad != 0;
}
C

build() { build_runtime && in_time "$T/tree/bin/ompgpu-cc" --gpu-arch=emu -O2 -w "$T/prog.c" -o "$T/prog"; }
runs() {                              # a mistake may make it hang
    for s in '' random:1 random:2 random:3; do OMPGPU_EMU_SCHEDULE=$s on_device timeout 100 "$T/prog" || return 1; done
}
check "a tree to change" mutated_tree scan.c || finish
cp "$ROOT/devicertl/scan.c" "$T/scan.c"
check "unchanged: compiles" build && check "unchanged: runs" runs
mutant "the wrong warp's prefix" '/cells_down.*r\.aux/s/p\.warp - 1/p.warp/'
mutant "the wrong total" 's/p\.warps - 1)/0)/'
mutant "a lane too few in a step" 's/lane >= d \&\&/lane > d \&\&/'
mutant "lanes without an iteration take part" 's/lane >= d \&\& lane < holders/lane >= d/;s/p.lane == p.holders - 1/p.lane == 31/'
mutant "operands exchanged" 's/^    r.combine(r.tmp, rec);/    r.combine(rec, r.tmp); return;/'
mutant "no barrier A" "$(in_function part_up '/\/\* A \*\//d')"
mutant "no barrier B" "$(in_function part_down '/\/\* B \*\//d')"
mutant "several rows: no barrier A" "$(in_function scan_any_rows '/\/\* A \*\//d')"
mutant "several rows: no barrier B" "$(in_function scan_any_rows '/\/\* B \*\//d')"
mutant "several rows: the wrong lane's total" '/broadcast(r.carry/s/p.warps - 1/0/'
mutant "several rows: slots of another row" 's/rows \* ROW_BYTES(r.size)), row,/rows * ROW_BYTES(r.size)), row \/ 2,/'
mutant "several rows: slots for one" 's/cells_down(rows \* ROW_BYTES(r.size))/cells_down(ROW_BYTES(r.size))/;s/word = ((CELL_SPACE u32 \*)cells)\[row \* WARP/word = ((CELL_SPACE u32 *)cells)[row % 2 * WARP/'
mutant "several rows: the wrong carry" '/row, r.carry/s/p.warps - 1/0/'
mutant "full rows: no barrier A" "$(in_function scan_full_rows '/\/\* A \*\//d')"
mutant "full rows: no barrier B" "$(in_function scan_full_rows '/\/\* B \*\//d')"
mutant "full rows: the total of another warp" "$(in_function scan_full_rows 's/row \* p.warps + p.warp)/row + rows * p.warp)/')"
mutant "full rows: the prefix of the warp's own" "$(in_function scan_full_rows 's/at - 1)/at)/')"
mutant "full rows: a total too few" "$(in_function scan_full_rows 's/p.lane, lanes)/p.lane, lanes - 1)/')"
mutant "full rows: the wrong carry" "$(in_function scan_full_rows 's/lanes - 1)/0)/')"
mutant "full rows: the carry is forgotten" "$(in_function scan_full_rows '/memcpy(r.tmp, carry, r.size);/,+1d')"
mutant "no barrier between parts of a record" '/if (at)/,+1d'
mutant "the first lane of exclusive scans" 's/if (p.lane \&\& p.lane < p.holders)/if (p.lane < p.holders)/'
mutant "the carry is forgotten" '/memcpy(tmp, carry, size);/,+1d'
finish
