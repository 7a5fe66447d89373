/* golden: scan directives */
void prefix(int n, const float *a, float *b, float *c);
void prefix(int n, const float *a, float *b, float *c)
{
    float sum = 0, max = 0;
    #pragma omp target parallel for reduction(inscan, +: sum) map(to: a[0:n]) map(from: b[0:n])
    for (int i = 0; i < n; i++) {
        float t = a[i];
        sum += t;
        #pragma omp scan inclusive(sum)
        t = sum * 0.5f;
        b[i] = t;
    }
    #pragma omp target map(to: a[0:n]) map(from: c[0:n])
    #pragma omp parallel for simd reduction(inscan, max: max)
    for (int i = 0; i < n; i++) {
        c[i] = max;
        #pragma omp scan exclusive(max)
        max = a[i] > max ? a[i] : max;
    }
}
