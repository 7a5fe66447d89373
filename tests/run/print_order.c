/* what regions print is there when they end, in its order with what the program prints to the same file */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    int on = 0, sum = 0;
    printf("host 1\n");
#pragma omp target map(tofrom: sum, on)
    {
        on = ON_DEVICE;
        printf("region 2: %d\n", sum++);
    }
    printf("host 3: %d\n", sum);
#pragma omp target nowait map(tofrom: sum)
    fprintf(stdout, "region 4: %d\n", sum++);
#pragma omp taskwait
    printf("host 5: %d\n", sum);
    for (int i = 0; i < 3; i++) {
#pragma omp target nowait depend(inout: sum)
        puts("region 6, 7, 8");
    }
#pragma omp taskwait
    printf("host 9\n");
#pragma omp target parallel num_threads(4)
    if (omp_get_thread_num() == 3)
        putchar('r'), putchar('\n');
    printf("host 10\n");
#pragma omp target teams distribute parallel for map(tofrom: sum)
    for (int i = 0; i < 100; i++)
        if (i == 99)
            printf("region 11: %zu\n", sizeof i);
#pragma omp target nowait
    puts("region 12");
#pragma omp taskwait
    CHECK(on);
    return RESULT;
}
