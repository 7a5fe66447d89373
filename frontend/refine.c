/* refine.c - corrections to data-sharing and modes that need both. */
#include "frontend/fe.h"

void fe_refine(struct fe *fe)
{
    (void)fe;
}
