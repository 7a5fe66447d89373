/* beside tests/run/vla_lone.c: no array of variable length */
#include "vla_lone.h"
#pragma omp begin declare target
FUNCTIONS(_there)
#pragma omp end declare target
