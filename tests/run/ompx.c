/* LLVM's extensions: the functions of ompx.h, ompx_bare */ /* also: -O0 -fompgpu-mode=generic */
#include "check.h"
#include <ompx.h>

enum { TEAMS = 5, THREADS = 64, WARP = 32 };

/* of a league of loops */
static void geometry(void)
{
    int threads = 0, team = -1, teams = 0;
#pragma omp target teams distribute parallel for map(from: threads, team, teams) thread_limit(2) num_teams(TEAMS)
    for (int i = 0; i < 1000; i++)
        if (i == 3) {
            threads = ompx_block_dim_x();
            team = ompx_block_id_x();
            teams = ompx_grid_dim_x();
        }
    CHECK(threads == 2 && teams == TEAMS && team == 1);
}

/* a reduction by hand: shuffles in a warp, barriers between warps */
static void lanes(void)
{
    long sums[TEAMS];
    unsigned long votes[TEAMS];
    double d[THREADS];
    int other = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) map(from: sums, votes, d) map(tofrom: other)
    {
        long part[THREADS / WARP];
#pragma omp parallel num_threads(THREADS)
        {
            int t = ompx_thread_id_x(), b = ompx_block_id_x();
            long v = t + b;
            for (unsigned k = WARP / 2; k; k /= 2)
                v += ompx_shfl_down_sync_l(~0ul, v, k, WARP);
            if (t % WARP == 0)
                part[t / WARP] = v;
            ompx_sync_block_acq_rel();
            if (t == 0)
                sums[b] = part[0] + part[1];
            ompx_sync_block_divergent(ompx_acq_rel);
            unsigned long vote = ompx_ballot_sync(~0ul, t % 3 == 0);
            if (t == 0)
                votes[b] = vote;
            double x = ompx_shfl_down_sync_d(~0ul, t * 0.5, 3, 8);
            int n = ompx_shfl_down_sync_i(~0ul, t, 1, WARP);
            float f = ompx_shfl_down_sync_f(~0ul, (float)t, 1, WARP);
            if (b == 0)
                d[t] = x + (n != (int)f);
            if (ompx_thread_id_y() || ompx_block_dim_z() != 1 || ompx_block_id_y() || ompx_grid_dim_z() != 1)
                other = 1;
        }
    }
    for (int b = 0; b < TEAMS; b++)
        CHECK(sums[b] == THREADS * (THREADS - 1) / 2 + THREADS * b && votes[b] == 0x49249249ul);
    for (int t = 0; t < THREADS; t++)
        CHECK(d[t] == (t % 8 + 3 < 8 ? t + 3 : t) * 0.5);
    CHECK(!other);
}

/* the two branches of each warp come to one barrier */
static void diverged(int threads)
{
    int x = 0, seen[THREADS] = { 0 }, got[THREADS];
#pragma omp target teams num_teams(1) thread_limit(threads) map(tofrom: x, seen) map(from: got)
#pragma omp parallel num_threads(threads)
    {
        int t = ompx_thread_id_x();
        if (t % 2) {
            if (t == 1)
                x = 42;
            ompx_sync_block_divergent(ompx_seq_cst);
        } else {
            seen[t] = 1;
            ompx_sync_block_divergent(ompx_acq_rel);
        }
        got[t] = x + seen[(t + 2) % threads / 2 * 2];
    }
    for (int t = 0; t < threads; t++)
        CHECK_EQ(got[t], 43);
}

/* each thread has its own k, as in a CUDA kernel */
static void bare(int teams, int threads)
{
    static int data[TEAMS * THREADS];
    int k = 3, last = 0;
#pragma omp target teams ompx_bare num_teams(teams) thread_limit(threads) map(from: data) map(tofrom: last)
    {
        int i = ompx_block_id_x() * ompx_block_dim_x() + ompx_thread_id_x();
        k += i;
        data[i] = k;
        ompx_sync_block(ompx_acq_rel);
        if (i == 7)
            last = k;
    }
    for (int i = 0; i < TEAMS * THREADS; i++)
        CHECK(data[i] == i + 3);
    CHECK(k == 3 && last == 10);
}

/* launch_bounds limits a team's threads, others and those of constructs inside say nothing on this device */
static void attributes(void)
{
    int threads[4] = { 0 }, sum = 0, size = 48;
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom: threads) ompx_attribute(__attribute__((launch_bounds(64, 2))))
    for (int i = 0; i < 1000; i++)
        if (i == 0) threads[0] = ompx_block_dim_x();
#pragma omp target map(from: threads[1:1]) ompx_attribute(__attribute__((amdgpu_waves_per_eu(2, 4)))) \
    ompx_attribute(__attribute__((__launch_bounds__(32)), amdgpu_flat_work_group_size(1, 256)))
#pragma omp parallel num_threads(500) ompx_attribute(__attribute__((launch_bounds(16))))
    if (omp_get_thread_num() == 0) threads[1] = omp_get_num_threads();
#pragma omp target teams num_teams(1) thread_limit(size) map(from: threads[2:1]) ompx_attribute(__attribute__((launch_bounds(128))))
#pragma omp parallel num_threads(100)
    if (omp_get_thread_num() == 0) threads[2] = omp_get_num_threads();
#pragma omp target parallel for reduction(+: sum) ompx_attribute(__attribute__((launch_bounds(96))))
    for (int i = 0; i < 100; i++) sum += i;
    CHECK(threads[0] > 0 && threads[0] <= 64 && threads[1] > 0 && threads[1] <= 32);
    CHECK(threads[2] > 0 && threads[2] <= size && sum == 4950);
}

/* AMD's names of where a thread is, and of a hint */
static void amd_names(void)
{
    enum { N = 2 * WARP };
    int lane[N], warp[N], multiprocessor[N];
    float sum = 0;
#pragma omp target parallel num_threads(N) map(from: lane, warp, multiprocessor) map(tofrom: sum)
    {
        int t = omp_get_thread_num();
        lane[t] = omp_ext_get_lane_id(), warp[t] = omp_ext_get_warp_id(), multiprocessor[t] = omp_ext_get_smid();
#pragma omp atomic hint(AMD_fast_fp_atomics)
        sum += 1;
    }
    for (int t = 0; t < N; t++)
        CHECK(lane[t] == t % WARP && warp[t] == t / WARP && multiprocessor[t] >= 0 && multiprocessor[t] == multiprocessor[0]);
    CHECK(sum == N && omp_ext_get_lane_id() == 0 && omp_ext_get_warp_id() == 0 && omp_ext_get_smid() == 0);
}

int main(void)
{
    amd_names();
    geometry();
    attributes();
    lanes();
    diverged(THREADS);
    diverged(2);
    diverged(40);
    bare(TEAMS, THREADS);
    return RESULT;
}
