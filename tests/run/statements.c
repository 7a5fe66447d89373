/* statements in regions: switch, goto, do, nested functions' results, comma, ?:, compound literals, designators, statement expressions */
#include "check.h"

static int classify(int v)
{
    switch (v) {
    case 0: return 1;
    case 1 ... 4: v += 10; /* fall through */
    case 100: return v;
    default: break;
    }
    return -v;
}

int main(void)
{
    int out[40], on = 0, n = 40, k = 0;
    static const int primes[] = { 2, 3, 5, 7, 11 };

#pragma omp target teams distribute parallel for map(from: out) map(tofrom: on)
    for (int i = 0; i < n; i++) {
        int v = 0, j = 0;
        switch (i % 5) {
        case 0:
            v = classify(i);
            break;
        case 1: {
            int *p = (int[]){ i, i + 1, [4] = 9 };
            v = p[0] + p[1] + p[2] + p[4];
            break;
        }
        case 2:
            for (j = 0;; j++) {
                if (j * j > i)
                    break;
                if (j == 2)
                    continue;
                v += j;
            }
            break;
        case 3:
        again:
            if (++j < i)
                goto again;
            v = (j += 2, j * 2);
            break;
        default:
            do
                v += primes[j];
            while (++j < 5 && v < i);
            v = v > i ? v : ({ int t = i; t * 3; });
        }
        out[i] = v;
        if (i == 0) on = ON_DEVICE; else if (i < 0) on = 7;
    }
    CHECK(on);
    for (int i = 0; i < n; i++) {
        int v = 0, j = 0;
        if (i % 5 == 0)
            v = classify(i);
        else if (i % 5 == 1)
            v = 2 * i + 1 + 9;
        else if (i % 5 == 2)
            for (j = 0; j * j <= i; j++)
                v += j == 2 ? 0 : j;
        else if (i % 5 == 3)
            v = 2 * ((i > 1 ? i : 1) + 2);
        else {
            do
                v += primes[j];
            while (++j < 5 && v < i);
            v = v > i ? v : i * 3;
        }
        CHECK_EQ(out[i], v);
    }
#pragma omp target map(tofrom: k)
    {
        if (k)
            goto done;
        k = 1;
        while (1) {
            if (k > 100)
                goto done;
            k *= 3;
        }
    done:
        k += sizeof "#pragma omp target";
    }
    CHECK_EQ(k, 243 + 19);
    return RESULT;
}
