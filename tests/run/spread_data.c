/* ompx target data spread, enter data, exit data and update: Jacobi over rows with halos, whose data stays on four devices */
#include "check.h"
#include <stdlib.h>
enum { N = 66, STEPS = 6, ROWS = 16 };
static double a[N][N], b[N][N], c[N][N], d[N][N];

static void start(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = b[i][j] = c[i][j] = d[i][j] = (i * 31 + j * 17) % 100;
}

static void step_on_host(void)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) d[i][j] = 0.25 * (c[i - 1][j] + c[i + 1][j] + c[i][j - 1] + c[i][j + 1]);
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) c[i][j] = d[i][j];
}

static void step(int exchange)
{
#pragma ompx target spread devices(0, 1, 2, 3) spread_schedule(static, ROWS) teams distribute parallel for collapse(2) \
    map(to: a[omp_spread_start - 1 : omp_spread_size + 2]) map(from: b[omp_spread_start - 1 : omp_spread_size + 2])
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma ompx target spread devices(0, 1, 2, 3) spread_schedule(static, ROWS) teams distribute parallel for collapse(2) \
    map(to: b[omp_spread_start - 1 : omp_spread_size + 2]) map(from: a[omp_spread_start - 1 : omp_spread_size + 2])
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];
    if (exchange) {
#pragma ompx target update spread devices(0, 1, 2, 3) range(1 : N - 2) chunk_size(ROWS) \
    from(a[omp_spread_start : omp_spread_size]) to(a[omp_spread_start - 1 : 1], a[omp_spread_start + omp_spread_size : 1])
        return;
    }
#pragma ompx target update spread devices(0, 1, 2, 3) range(1 : N - 2) chunk_size(ROWS) \
    from(a[omp_spread_start : 1], a[omp_spread_start + omp_spread_size - 1 : 1])
#pragma ompx target update spread devices(0, 1, 2, 3) range(1 : N - 2) chunk_size(ROWS) \
    to(a[omp_spread_start - 1 : 1], a[omp_spread_start + omp_spread_size : 1])
}

static void compare(void)
{
    int wrong = 0;
    for (int s = 0; s < STEPS; s++) step_on_host();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) wrong += a[i][j] != c[i][j];
    CHECK_EQ(wrong, 0);
}

/* Sections that one chunk gives and another gets go between devices, also two chunks of one device; the others, to and from the host. */
static void mixed(void)
{
    int v[20], w[20], out[20], wrong = 0;
#define LEFT (omp_spread_start > 0)
#define RIGHT (omp_spread_start < 18)
    for (int i = 0; i < 20; i++) v[i] = w[i] = i;
#pragma ompx target enter data spread devices(0, 1) range(0 : 20) chunk_size(2) \
    map(to: v[omp_spread_start - LEFT : omp_spread_size + LEFT + RIGHT], w[omp_spread_start : omp_spread_size])
#pragma ompx target spread devices(0, 1) spread_schedule(static, 2) map(to: v[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 20; i++) v[i] = 1000 + i;
    for (int i = 0; i < 20; i++) w[i] = 7;
#pragma ompx target update spread devices(0, 1) range(0 : 20) chunk_size(2) from(v[omp_spread_start : omp_spread_size]) \
    to(v[omp_spread_start - LEFT : LEFT], v[omp_spread_start + omp_spread_size : RIGHT], w[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 20; i++) wrong += v[i] != (i % 19 ? i : 1000 + i);
#pragma ompx target spread devices(0, 1) spread_schedule(static, 2) map(from: out[omp_spread_start : omp_spread_size]) \
    map(to: v[omp_spread_start - LEFT : omp_spread_size + LEFT + RIGHT], w[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 20; i++) out[i] = (i > 0 ? v[i - 1] : 0) + (i < 19 ? v[i + 1] : 0) + w[i];
    for (int i = 0; i < 20; i++) wrong += out[i] != (i > 0 ? 999 + i : 0) + (i < 19 ? 1001 + i : 0) + 7;
    CHECK_EQ(wrong, 0);
#pragma ompx target exit data spread devices(0, 1) range(0 : 20) chunk_size(2) \
    map(release: v[omp_spread_start - LEFT : omp_spread_size + LEFT + RIGHT], w[omp_spread_start : omp_spread_size])
}

/* before main, at whose begin the OpenMP library may start, and with a tool ask for devices */
__attribute__((constructor)) static void set_devices(void) { setenv("OMPGPU_EMU_DEVICES", "4", 0); }

int main(void)
{
    setenv("OMPGPU_PTX_DEVICES", "4", 1);
    start();
#pragma ompx target data spread devices(0, 1, 2, 3) range(1 : N - 2) chunk_size(ROWS) \
    map(to: a[omp_spread_start - 1 : omp_spread_size + 2]) map(from: a[omp_spread_start : omp_spread_size]) map(always, to: b[omp_spread_start - 1 : omp_spread_size + 2])
    for (int s = 0; s < STEPS; s++) {
        CHECK(!omp_target_is_present(a[40], 0) && omp_target_is_present(a[40], 2) && omp_target_is_present(b[63], 3));
        step(s & 1);
    }
    CHECK(!omp_target_is_present(a[40], 2));
    compare();
    start();
#pragma ompx target enter data spread devices(all) range(1 : N - 2) \
    map(to: a[omp_spread_start - 1 : omp_spread_size + 2], b[omp_spread_start - 1 : omp_spread_size + 2])
    for (int s = 0; s < STEPS; s++) step(s % 3);
    if (a[0][0] >= 0)
#pragma ompx target exit data spread devices(all) range(1 : N - 2) \
    map(from: a[omp_spread_start : omp_spread_size]) map(release: b[omp_spread_start - 1 : omp_spread_size + 2])
    compare();
    mixed();
    return RESULT;
}
