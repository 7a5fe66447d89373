/* context selectors: requires, as the file has it; conditions that name constant variables, with a score beside other selectors */ /* also: -O0 */
#include "check.h"
#pragma omp requires dynamic_allocators atomic_default_mem_order(acq_rel)
static const int level = 3;
static int with(void) { return 1; }
static int without(void) { return 2; }
static int plain(void) { return 3; }
#pragma omp declare variant(without) match(implementation = {requires(unified_shared_memory)})
#pragma omp declare variant(with) match(implementation = {requires(dynamic_allocators, atomic_default_mem_order(acq_rel))}, device = {kind(nohost)})
static int of_file(void) { return 0; }
#pragma omp declare variant(plain) match(implementation = {dynamic_allocators}, user = {condition(score(2): level > 2)})
#pragma omp declare variant(with) match(implementation = {vendor(llvm)}, user = {condition(level > 3)})
static int of_level(void) { return 0; }
#pragma omp declare variant(with) match(user = {condition(level == 3)})
#pragma omp declare variant(plain) match(implementation = {vendor(llvm)}, user = {condition(score(9): level == 3)})
static int of_score(void) { return 0; }

int main(void)
{
    int r[4] = { 0 }, on = 0;
#pragma omp target map(tofrom: r, on)
    {
        on = ON_DEVICE;
        r[0] = of_file();
        r[1] = of_level();
        r[2] = of_score();
#pragma omp metadirective when(implementation = {requires(reverse_offload)}: parallel num_threads(2)) \
    when(user = {condition(level == 3)}: parallel num_threads(3)) otherwise(parallel num_threads(4))
#pragma omp masked
        r[3] = omp_get_num_threads();
    }
    CHECK(on && r[0] == 1 && r[1] == 3 && r[2] == 3 && r[3] == 3);
    CHECK(of_file() == 0 && of_level() == 3 && of_score() == 3);
    return RESULT;
}
