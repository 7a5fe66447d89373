/* several host threads launch regions and map data at the same time, on one device and on several */
#include <stdlib.h>
#include "check.h"

enum { T = 8, N = 200, ROUNDS = 10 };
static int shared[N], counter;
#pragma omp declare target enter(counter)

/* Data of the thread's own, and data that all have: mapped by others at any time, or by none. */
static int rounds(int t, int device, int *on)
{
    int sum = 0;
    for (int k = 0; k < ROUNDS; k++) {
        int own[N], s = 0;
        for (int i = 0; i < N; i++)
            own[i] = t;
#pragma omp target teams distribute parallel for map(to: shared, own) map(tofrom: on[0:1]) \
    reduction(+: s) device(device)
        for (int i = 0; i < N; i++) {
            s += shared[i] + own[i];
            *on = ON_DEVICE;
        }
        sum += s;
    }
    return sum;
}

/* Mappings come and go, updates and routines between them, and constructs that do not wait. */
static int mixed(int t, int device)
{
    int a[N], b[N], host = omp_get_initial_device();
    int *p = omp_target_alloc(sizeof a, device);
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = t;
    omp_target_memcpy(p, b, sizeof b, 0, 0, device, host);
    for (int k = 0; k < ROUNDS; k++) {
#pragma omp target enter data map(to: a, shared) device(device) nowait depend(out: a)
#pragma omp target nowait depend(inout: a) is_device_ptr(p) device(device)
        for (int i = 0; i < N; i++)
            a[i] += p[i] + shared[i] - i;
#pragma omp target update from(a[0:N / 2]) device(device) nowait depend(inout: a)
#pragma omp target exit data map(from: a) map(release: shared) device(device) nowait depend(inout: a)
#pragma omp target map(tofrom: b) device(device)
        {
            b[t]++;
#pragma omp atomic update
            counter++;
        }
#pragma omp taskwait
    }
    omp_target_free(p, device);
    int good = b[t] == t + ROUNDS;
    for (int i = 0; i < N; i++)
        good &= a[i] == i + ROUNDS * t;
    return good;
}

static void all_threads(int ndevices)
{
    int sums[T], on[T] = { 0 }, good[T];
#pragma omp parallel for num_threads(T) schedule(static, 1)
    for (int t = 0; t < T; t++) {
        sums[t] = rounds(t, t % ndevices, &on[t]);
        good[t] = mixed(t, t % ndevices);
    }
    for (int t = 0; t < T; t++) {
        CHECK_EQ(sums[t], ROUNDS * (N * (N - 1) / 2 + N * t));
        CHECK(on[t]);
        CHECK(good[t]);
    }
}

int main(void)
{
    int total = 0;
    setenv("OMPGPU_EMU_DEVICES", "3", 0);
    for (int i = 0; i < N; i++)
        shared[i] = i;
    all_threads(1);
    all_threads(omp_get_num_devices());
    for (int d = 0; d < omp_get_num_devices(); d++) {
        int n = 0;
#pragma omp target map(from: n) device(d)
        n = counter;
        total += n;
    }
    CHECK_EQ(total, 2 * T * ROUNDS);
    return RESULT;
}
