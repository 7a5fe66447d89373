/* device_type on target: host regions may do what only the host can, and are no device's */ /* also: -O0 -g, --host-cc=gcc */
#include <stdarg.h>
#include "check.h"
static int on_host(const char *format, ...) /* no device can */
{
    char line[40];
    FILE *f = fopen("/dev/null", "w");
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    n += f && fprintf(f, "%s\n", line) == n + 1;
    fclose(f);
    __asm__ volatile("nop");
    return n;
}

static void host(int dev)
{
    struct local { int x; } own = { 1 };
    int n = 3, seen = 0, last = 0, sum = 5, prefix = 0, a[40] = { 0 }, out[40];
#pragma omp target data map(to: a) device(dev)
    {
#pragma omp target device_type(host) map(tofrom: seen) device(dev)
        {
            n++, own.x++;
            seen = on_host("%d", 100 + n) * omp_is_initial_device() + omp_get_num_threads();
#pragma omp task /* both are firstprivate */
            n++, own.x++;
        }
#pragma omp target teams distribute parallel for device_type(host) lastprivate(last) reduction(+: sum) num_teams(2)
        for (int i = 0; i < 40; i++)
            a[i] += i, sum += on_host("%s", "x"), last = i;
#pragma omp target parallel for device_type(host), reduction(inscan, +: prefix)
        for (int i = 0; i < 40; i++) {
            prefix += i;
#pragma omp scan inclusive(prefix)
            out[i] = prefix;
        }
        CHECK(a[0] == 0 && a[39] == 39);
    }
    CHECK(seen == 5 && n == 3 && own.x == 2);
    CHECK(last == 39 && sum == 85 && out[39] == 780 && prefix == 780);
}
int main(void)
{
    host(omp_get_default_device());
    return RESULT;
}
