/* complex numbers: products, quotients and their infinities */
#include <complex.h>
#include "check.h"

static const double parts[] = { 0, -0.0, 1, -2.5, 1e300, 1e-300, __builtin_inf(), -__builtin_inf(), __builtin_nan("") };
#define P COUNT(parts)

static int finite_parts(double complex z) { return __builtin_isfinite(creal(z)) && __builtin_isfinite(cimag(z)); }
static int infinite(double complex z) { return __builtin_isinf(creal(z)) || __builtin_isinf(cimag(z)); }
static int has_nan(double complex z) { return __builtin_isnan(creal(z)) || __builtin_isnan(cimag(z)); }

/* An infinity by any of its names, else equal parts.  With a NaN in an operand only "not a number" is certain. */
static int same(double complex a, double complex b, int nan)
{
    if (!finite_parts(a) || !finite_parts(b)) return finite_parts(a) == finite_parts(b) && (nan || infinite(a) == infinite(b));
    return cabs(a - b) <= 1e-12 * (cabs(a) + 1e-280);
}

int main(void)
{
    static double complex product[P * P][P * P], quotient[P * P][P * P];
    float complex f = 2 - 3 * I, g = 1 + 1 * I, fp, fq;
    int on = 0;

    #pragma omp target teams distribute parallel for collapse(2) map(from: product, quotient)
    for (int i = 0; i < P * P; i++)
        for (int j = 0; j < P * P; j++) {
            double complex a = __builtin_complex(parts[i / P], parts[i % P]), b = __builtin_complex(parts[j / P], parts[j % P]);
            product[i][j] = a * b;
            quotient[i][j] = a / b;
        }
    for (int i = 0; i < P * P; i++)
        for (int j = 0; j < P * P; j++) {
            double complex a = __builtin_complex(parts[i / P], parts[i % P]), b = __builtin_complex(parts[j / P], parts[j % P]);
            if (!same(product[i][j], a * b, has_nan(a) || has_nan(b)) && check_failures++ < 20)
                printf("(%g,%g)*(%g,%g) is (%g,%g), not (%g,%g)\n", creal(a), cimag(a), creal(b), cimag(b), creal(product[i][j]),
                       cimag(product[i][j]), creal(a * b), cimag(a * b));
            if (!same(quotient[i][j], a / b, has_nan(a) || has_nan(b)) && check_failures++ < 20)
                printf("(%g,%g)/(%g,%g) is (%g,%g), not (%g,%g)\n", creal(a), cimag(a), creal(b), cimag(b), creal(quotient[i][j]),
                       cimag(quotient[i][j]), creal(a / b), cimag(a / b));
        }
    #pragma omp target map(from: fp, fq) map(tofrom: on)
    {
        fp = f * g;
        fq = f / g;
        on = ON_DEVICE;
    }
    CHECK_EQ(crealf(fp), 5);
    CHECK_EQ(cimagf(fp), -1);
    CHECK_NEAR(crealf(fq), -0.5, 1e-6);
    CHECK_NEAR(cimagf(fq), -2.5, 1e-6);
    CHECK(on);
    double re = 0;
    float im = 0;
    #pragma omp target teams distribute parallel for reduction(+: re, im)
    for (int i = 0; i < 10; i++) {
        double complex z = i + 2 * I;
        re += creal(z * conj(z)) + cimag(z);
        im += crealf(conjf(f)) - cimagf(conjf(f));
    }
    CHECK_EQ(re, 285 + 10 * (4 + 2));
    CHECK_EQ(im, -10);
    return RESULT;
}
