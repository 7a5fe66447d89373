/* main.c - ompgpu-worker: gives the devices of its node to rank 0 of the MPI job. */
int __ompgpu_worker(void);
int main(void) { return __ompgpu_worker(); }
