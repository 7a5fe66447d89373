/* occupancy.h - usual sizes of teams, and how many of a kernel's a multiprocessor of a GPU holds,
 * from what ptxas says of the kernel: for remarks and for the PTX machine.  On a GPU the CUDA
 * driver is asked instead. */
#ifndef OMPGPU_OCCUPANCY_H
#define OMPGPU_OCCUPANCY_H

/* Threads a team that the runtime begins with where no clause says (core/geometry.c).  A GPU starts
 * teams at a limited rate: on an H100 a loop over 2^28 floats takes 1.27 times as long with 128
 * threads a team as with 256, and 2.5 times with 64. */
enum {
    OMPGPU_LEAGUE_THREADS = 256,
    OMPGPU_SINGLE_TEAM_THREADS = 256,
    OMPGPU_GENERIC_THREADS = 128,
};

/* What a multiprocessor holds (CUDA C++ Programming Guide, Compute Capabilities). */
struct ompgpu_capability {
    unsigned arch, warps, teams, shared; /* from this one on; bytes */
};
static inline const struct ompgpu_capability *ompgpu_capability(unsigned arch)
{
    static const struct ompgpu_capability all[] = {
        { 75, 32, 16, 65536 },   { 80, 64, 32, 167936 },  { 86, 48, 16, 102400 },
        { 87, 48, 16, 167936 },  { 89, 48, 24, 102400 },  { 90, 64, 32, 233472 },
        { 100, 64, 32, 233472 }, { 120, 48, 24, 102400 },
    };
    const struct ompgpu_capability *c = all;
    for (unsigned i = 1; i < sizeof all / sizeof *all; i++)
        if (all[i].arch <= arch)
            c = &all[i];
    return c;
}

/* Bytes of a team's shared memory that are the system's. */
static inline unsigned ompgpu_system_shared(unsigned arch) { return arch >= 80 ? 1024 : 0; }

/* The part of the warps that it could hold, with teams of so many threads. */
static inline double ompgpu_occupancy(unsigned arch, unsigned registers, unsigned shared,
                                      unsigned threads)
{
    enum { WARP_THREADS = 32, REGISTERS = 65536, REGISTER_UNIT = 256, SHARED_UNIT = 128 };
    const struct ompgpu_capability *c = ompgpu_capability(arch);
    unsigned warps = (threads + WARP_THREADS - 1) / WARP_THREADS;
    unsigned each = (registers * WARP_THREADS + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    unsigned teams = c->warps / warps;
    shared += ompgpu_system_shared(c->arch);
    shared = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    teams = teams < c->teams ? teams : c->teams;
    if (REGISTERS / each / warps < teams)
        teams = REGISTERS / each / warps;
    if (shared && c->shared / shared < teams)
        teams = c->shared / shared;
    return (double)(teams * warps) / c->warps;
}
#endif
