/* sine and cosine of x times pi, which AMD's omp_libmextras.h has: on the host and on the device, exact where the result is 0, 1 or -1 */
#include <omp_libmextras.h>
#include <math.h>
#include "check.h"

enum { N = 81 };
static int near(double a, double b, double by) { return fabs(a - b) <= by; }

int main(void)
{
    double s[N], c[N], large;
    float sf[N], cf[N];
    int on = 0;
#pragma omp target parallel for map(from: s, c, sf, cf)
    for (int i = 0; i < N; i++) {
        double x = (i - 40) / 8.0;
        s[i] = sinpi(x), c[i] = cospi(x);
        sf[i] = sinpif((float)x), cf[i] = cospif((float)x);
    }
#pragma omp target map(from: large) map(tofrom: on)
    {
        large = sinpi(1e9 + 0.5);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(large == 1);
    CHECK(cospi(1e9) == 1 && sinpi(-3e15) == 0);
    for (int i = 0; i < N; i++) {
        double x = (i - 40) / 8.0, pi = acos(-1);
        CHECK(near(s[i], sin(pi * x), 1e-14) && near(c[i], cos(pi * x), 1e-14));
        CHECK(near(s[i], sinpi(x), 1e-15) && near(c[i], cospi(x), 1e-15));
        CHECK(near(sf[i], s[i], 2e-7) && near(cf[i], c[i], 2e-7));
        CHECK(near(sinpif((float)x), s[i], 2e-7) && near(cospif((float)x), c[i], 2e-7));
        if (i % 8 == 0)
            CHECK(s[i] == 0 && fabs(c[i]) == 1 && sf[i] == 0);
        if (i % 8 == 4)
            CHECK(c[i] == 0 && fabs(s[i]) == 1 && cf[i] == 0);
    }
    return RESULT;
}
