/* threads of a team that wait for each other in loops of their own: by atomic reads, by flushes, by a lock of compare and swap; in any order */
#include "check.h"
enum { N = 40, ROUNDS = 5 };
/* The long form has the race checks, which report what programs older than OpenMP's memory model do. */
#ifdef OMPGPU_LONG
#define SET(flag) __atomic_store_n(&(flag), 1, __ATOMIC_RELAXED)
#define IS_SET(flag) __atomic_load_n(&(flag), __ATOMIC_RELAXED)
#else
#define SET(flag) (*(volatile int *)&(flag) = 1)
#define IS_SET(flag) (*(volatile int *)&(flag))
#endif
int main(void)
{
    int x = 0, y = 0, seen = 0, flag = 0, data = 0, lock = 0, sum = 0, turn = 0, on = 0;
#pragma omp target parallel num_threads(2) map(tofrom: x, y, seen, on)
    {
        if (omp_get_thread_num() == 0) {
            x = 10;
#pragma omp flush
#pragma omp atomic write
            y = 1;
            on = ON_DEVICE;
        } else {
            int tmp = 0;
            while (tmp == 0) {
#pragma omp atomic read
                tmp = y;
            }
#pragma omp flush
            seen = x;
        }
    }
    CHECK(on && seen == 10);
    seen = 0;
#pragma omp target parallel num_threads(70) map(tofrom: flag, data, seen)
    {
        if (omp_get_thread_num() == 69) {
            data = 7;
#pragma omp flush
            SET(flag);
#pragma omp flush
        } else if (omp_get_thread_num() == 3) {
            do {
#pragma omp flush
            } while (!IS_SET(flag));
#pragma omp flush
            seen = data;
        }
    }
    CHECK(seen == 7);
    /* one thread of each warp, since the lanes of a warp need not all go on */
#pragma omp target parallel num_threads(128) map(tofrom: lock, sum)
    if (omp_get_thread_num() % 32 == 0)
        for (int k = 0; k < ROUNDS; k++) {
            int got = 0;
            while (!got) {
#pragma omp atomic compare capture acquire
                { got = lock == 0; if (got) { lock = 1; } }
            }
            sum += 1;
#pragma omp atomic write release
            lock = 0;
        }
    CHECK(sum == 4 * ROUNDS);
    /* in the order of their numbers, backwards */
#pragma omp target parallel num_threads(N) map(tofrom: turn)
    {
        int me = omp_get_num_threads() - 1 - omp_get_thread_num(), now = -1;
        do {
#pragma omp atomic read acquire
            now = turn;
            if (now == me) {
#pragma omp atomic write release
                turn = me + 1;
            }
        } while (now != me);
    }
    CHECK(turn == N);
    return RESULT;
}
