/* words of OpenMP 6.0: storage, local, nogroup and depend on target_data, private by defaultmap; kept references and memory
 * for host and device by LLVM's extensions */
#include "check.h"
static int counter = 5;
#pragma omp declare_target local(counter)
void *llvm_omp_target_alloc_device(size_t, int), *llvm_omp_target_alloc_host(size_t, int), *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_device(void *, int), llvm_omp_target_free_host(void *, int), llvm_omp_target_free_shared(void *, int);

static void words(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 0 }, x = 7, seen = 0;
#pragma omp target_data map(storage: b) map(always, to: a) nogroup depend(inout: a)
    {
#pragma omp target map(from: seen) defaultmap(private: scalar) defaultmap(storage: aggregate)
        {
            x = 9;
            counter++;
            b[0] = a[1] + x;
            seen = b[0] + counter;
        }
    }
    CHECK_EQ(seen, 17);
    CHECK(x == 7 && b[0] == 0 && counter == 5);
}
static void held(void)
{
    int a[4] = { 0 }, b = 1;
#pragma omp target data map(ompx_hold, tofrom: a)
    {
#pragma omp target map(tofrom: a)
        a[0] = 1;
        CHECK_EQ(a[0], 0);
#pragma omp target exit data map(delete: a)
        CHECK(PRESENT(a));
#pragma omp target enter data map(to: b)
#pragma omp target data map(ompx_hold, alloc: b)
        {
#pragma omp target exit data map(release: b)
            CHECK(PRESENT(&b));
        }
        CHECK(!PRESENT(&b));
    }
    CHECK(a[0] == 1 && !PRESENT(a));
}
static void memory(int dev)
{
    int *h = llvm_omp_target_alloc_host(40, dev), *s = llvm_omp_target_alloc_shared(40, dev), *d = llvm_omp_target_alloc_device(40, dev);
    h[0] = s[0] = 1;
#pragma omp target is_device_ptr(h, s, d)
    d[0] = 5, h[1] = h[0] + d[0], s[1] = s[0] + 1;
    CHECK(h[1] == 6 && s[1] == 2);
    llvm_omp_target_free_host(h, dev), llvm_omp_target_free_shared(s, dev), llvm_omp_target_free_device(d, dev);
}
int main(void)
{
    words();
    held();
    memory(omp_get_default_device());
    return RESULT;
}
