/* slow threads still read what thread 0 is about to overwrite; thread 0's stores are seen by those who read them next */
#include "check.h"
int main(void)
{
    int v[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, w[40] = { 0 }, on = 0, r = 0, h = 0;
#pragma omp target map(tofrom: v, w, on, r)
    {
        for (int k = 0; k < 6; k++) {
            int x = v[k];
            if (v[k + 1] > 2)
                v[k + 1] = x + k;                 /* the condition was read by all */
            else
                v[k + 2] += x;
            int y = v[k + 1];
#pragma omp parallel for
            for (int i = 0; i < 40; i++)
                w[i] += x * y + i;
            v[0] = w[5];
            r += v[0] + w[39];
        }
        on = ON_DEVICE;
    }
    int u[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, z[40] = { 0 };
    for (int k = 0; k < 6; k++) {
        int x = u[k];
        if (u[k + 1] > 2) u[k + 1] = x + k;
        else u[k + 2] += x;
        for (int i = 0; i < 40; i++) z[i] += x * u[k + 1] + i;
        u[0] = z[5];
        h += u[0] + z[39];
    }
    CHECK(on);
    CHECK_EQ(r, h);
    CHECK(!memcmp(u, v, sizeof u) && !memcmp(w, z, sizeof w));
    return RESULT;
}
