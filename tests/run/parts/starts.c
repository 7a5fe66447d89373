#pragma omp begin declare target
int other_state = 3;
__attribute__((constructor)) static void begin(void) { other_state += 4; }
#pragma omp end declare target
