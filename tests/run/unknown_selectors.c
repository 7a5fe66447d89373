/* properties of context selectors that nobody here knows do not hold */ /* flags: -Wno-openmp-clauses */
#include "check.h"
#pragma omp declare target
static int other(void) { return 1; }
#pragma omp declare variant(other) match(device = {arch(sparc)})
static int of_arch(void) { return 0; }
#pragma omp declare variant(other) match(implementation = {vendor(acme)})
static int of_vendor(void) { return 0; }
#pragma omp declare variant(other) match(implementation = {extension(acme_fast)})
static int of_extension(void) { return 0; }
#pragma omp declare variant(other) match(implementation = {extension(match_none), vendor(gnu)})
static int of_none(void) { return 0; }
#pragma omp end declare target

static int chosen(int from_host)
{
    int n = from_host;
#pragma omp metadirective when(device = {kind(any), arch(sparc, nvptx64, x86_64)}: parallel num_threads(3)) otherwise(nothing)
    {
#pragma omp atomic
        n++;
    }
#pragma omp metadirective when(implementation = {vendor(score(4): acme), extension(match_none)}: parallel num_threads(3)) otherwise(nothing)
    {
#pragma omp atomic
        n += 10;
    }
#pragma omp metadirective when(implementation = {extension(acme_fast)}: parallel num_threads(3)) otherwise(parallel num_threads(2))
    {
#pragma omp atomic
        n += 100;
    }
#pragma omp begin metadirective when(device = {arch("riscv64")}: parallel num_threads(3)) otherwise(parallel num_threads(2))
#pragma omp atomic
    n += 1000;
#pragma omp end metadirective
    return n;
}

int main(void)
{
    int n = 0, variants = -1, on = 0;
#pragma omp target map(tofrom: n, on) map(from: variants)
    {
        on = ON_DEVICE;
        n = chosen(0);
        variants = of_arch() + of_vendor() + of_extension() + 100 * of_none();
    }
    CHECK(on);
    CHECK_EQ(n, 2231);
    CHECK_EQ(variants, 100);
    CHECK_EQ(chosen(0), 2231);
    CHECK_EQ(of_arch() + of_vendor() + of_extension() + 100 * of_none(), 100);
    return RESULT;
}
