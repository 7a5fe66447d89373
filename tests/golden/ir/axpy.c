REGION(axpy) { EACH(i, n) y[i] = 2 * x[i] + y[i]; }
SPMD(axpy, 0, "target teams distribute parallel for")
