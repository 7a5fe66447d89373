double sin(double), modf(double, double *), frexp(double, int *); float powf(float, float), sqrtf(float);
void sincos(double, double *, double *); long lround(double);
REGION(math)
{
    double ip, s, c; int e;
    sincos(x[2], &s, &c);
    y[0] = sin(x[0]) + modf(x[1], &ip) + ip + s + c + frexp(x[3], &e) + e + lround(x[4]);
    y[1] = powf(x[5], x[6]) + sqrtf(x[7]) + __builtin_powi(x[8], n);
}
SPMD(math, 0, "target")
