/* safesync and device_safesync: threads of a team wait for each other with atomics alone */ /* also: -O0 */
#include "check.h"
#pragma omp requires device_safesync
int main(void)
{
    int sum = 0, tickets = 0, turn = 1, n = 0, on = 0;
#pragma omp target map(tofrom: sum, tickets, turn, n, on)
#pragma omp parallel num_threads(16) safesync(1)
    {
        int mine, now;
        if (omp_get_thread_num() == 0)
            n = omp_get_num_threads(), on = ON_DEVICE;
#pragma omp atomic capture
        mine = ++tickets;
        do {
#pragma omp atomic read acquire
            now = turn;
        } while (now < mine);
        sum += mine;
#pragma omp atomic update release
        turn++;
    }
    CHECK(on && sum == n * (n + 1) / 2 && turn == n + 1);
    return RESULT;
}
