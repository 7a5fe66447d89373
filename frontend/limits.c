/* limits.c - what is not supported, by reasons that no table holds.  support.c checks tables, reductions and marks. */
#include "frontend/fe.h"
#include <string.h>

void fe_early_support(struct fe *fe)
{
    (void)fe;
}
