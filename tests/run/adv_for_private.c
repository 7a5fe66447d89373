/* a worksharing loop's private variable is not the enclosing parallel region's business, wherever it was declared */
#include "check.h"

int main(void)
{
    int t = 0, a[60] = { 0 }, on = 0;
    double w[3] = { 0 };

    #pragma omp target teams distribute map(tofrom: on)
    for (int i = 0; i < 3; i++) {
        #pragma omp parallel num_threads(5)
        {
            #pragma omp for private(t, w) schedule(dynamic, 2)
            for (int j = 0; j < 20; j++) {
                t = i * 100 + j;
                w[j % 3] = t;
                a[i * 20 + j] += (int)w[j % 3] + t;
            }
        }
        on = ON_DEVICE;
    }
    for (int i = 0; i < 60; i++) CHECK_EQ(a[i], 2 * (i / 20 * 100 + i % 20));
    CHECK_EQ(t, 0);
    CHECK(on);
    return RESULT;
}
