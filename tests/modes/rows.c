/* row sums of a CSR matrix: one team a row, an inner reduction */
#include "check.h"
enum { ROWS = 70, MOST = 90 };
int main(void)
{
    int start[ROWS + 1] = { 0 }, on = 0;
    static double value[ROWS * MOST], sum[ROWS];
    for (int i = 0; i < ROWS; i++) start[i + 1] = start[i] + i * 37 % MOST;
    for (int k = 0; k < start[ROWS]; k++) value[k] = k % 19;
#pragma omp target teams distribute map(to: start, value) map(from: sum) map(tofrom: on)
    for (int i = 0; i < ROWS; i++) {
        double s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k];
        sum[i] = s;
        if (i == 3) on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < ROWS; i++) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; k++) s += value[k];
        CHECK_EQ(sum[i], s);
    }
    return RESULT;
}
