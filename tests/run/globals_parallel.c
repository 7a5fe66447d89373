/* variables of the file in a parallel region inside of a target region: read, behind a pointer, mapped and written */
#include "check.h"
const double step = 1.0 / 8;
static const int five = 5;
double scale = 2;
static int counter;
static int table[4] = { 3, 1, 4, 1 };
static float *data;
static struct { int a, b; } both = { 7, 8 };
int main(void)
{
    double out[16] = { 0 };
    int on = 0;
    data = malloc(16 * sizeof *data);
    for (int i = 0; i < 16; i++) data[i] = (float)i;
#pragma omp target teams num_teams(1) thread_limit(8) map(tofrom: out, on, counter) map(to: data[0:16])
    {
        double cache[8] = { 0 };
        on = ON_DEVICE;
#pragma omp parallel
        {
            int i = omp_get_thread_num(), n = omp_get_num_threads();
            for (int k = i; k < 8; k += n) cache[k] = k * step + scale + five + table[k % 4] + both.b;
#pragma omp barrier
            for (int k = i; k < 8; k += n) out[k] = cache[7 - k] + data[k];
#pragma omp for
            for (int k = 0; k < 30; k++)
#pragma omp atomic
                counter += five;
        }
    }
    CHECK(on);
    CHECK_EQ(counter, 150);
    for (int k = 0; k < 8; k++) CHECK_EQ(out[k], (7 - k) * step + 15 + table[(7 - k) % 4] + k);
    free(data);
    return RESULT;
}
