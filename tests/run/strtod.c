/* strtod and strtof, also of hexadecimal numbers: value and end as on the host, by their bits */ /* also: -O0 -g */
#include <string.h>
#include "check.h"

static const char texts[][40] = {
    "0x1.8p3", "0X1P-2rest", "0x", "0x.", "0xg", "0x.8", "0x1.", "-0x1.fffffffffffffp1023", "0x1p1024", "0x1p-1074", "0x1p-1075", "0x1.8p-1074",
    "0x1.0000000000001p-1075", "0x0.0000000000000000001p0", "0x1.fffffffffffff8p0", "0x1.fffffffffffff7ffffp0", "0x1.00000000000008p0",
    "0x1.000000000000080001p0", "0x123456789abcdef0123p-10", "0x1p99999999999", "0x1p-99999999999", "0x0p99999", "0x1p", "0x1p+", "0xAbC.dEfP+4",
    "1.00000017881393432617187499", "1.000000178813934326171875", "1.00000017881393432617187501", "1e-45", "7.0064923216240853e-46",
    "7.0064923216240854e-46", "3.4028235677973366e38", "3.4028235677973365e38", "0.1", "  -12.5e+2x", "1e400", "-1e-400", "nan(12)z", "nan(1", "NaN",
    "-inf", "infinityx", "infin", "", "e5", ".e1", ".5", "5.", "-.", "16777217", "16777219", "0x1000001", "0x1000003", "0x1.0000010000000000001p0" };
enum { N = sizeof texts / sizeof *texts };

int main(void)
{
    double d[N];
    float f[N];
    int ends[N][2], on = 0;
#pragma omp target map(to: texts) map(from: d, f, ends) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        char *end;
        d[i] = strtod(texts[i], &end), ends[i][0] = (int)(end - texts[i]);
        f[i] = strtof(texts[i], &end), ends[i][1] = (int)(end - texts[i]);
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < N; i++) {
        char *end;
        double wd = strtod(texts[i], &end);
        int we = (int)(end - texts[i]);
        float wf = strtof(texts[i], &end);
        _Bool good = (wd != wd ? d[i] != d[i] : memcmp(&d[i], &wd, sizeof wd) == 0) && (wf != wf ? f[i] != f[i] : memcmp(&f[i], &wf, sizeof wf) == 0) &&
                    ends[i][0] == we && ends[i][1] == end - texts[i];
        if (!good)
            printf("%s: %a, %a, %d, %d, not %a, %a, %d\n", texts[i], d[i], (double)f[i], ends[i][0], ends[i][1], wd, (double)wf, we);
        CHECK(good);
    }
    return RESULT;
}
