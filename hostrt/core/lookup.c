/* lookup.c - where something is on a device, for routines, pointers and what exchanges sections. */
#include "hostrt/core/deferred.h"
#include "hostrt/core/work.h"

uintptr_t ompgpu_data_lookup(struct ompgpu_device *dev, uintptr_t host)
{
    uintptr_t device = ompgpu_first_find(dev, host);
    if (device)
        return device;
    unsigned held = ompgpu_tables_lock_at(dev, host);
    struct ompgpu_entry *e = ompgpu_present_find(dev, host, 1);
    device = e ? device_address(e, host) : 0;
    if (e && e->begin == host)
        ompgpu_first_note(dev, e);
    unlock_tables(dev, held);
    return device;
}

static void wait_for_round(struct ompgpu_device *dev, unsigned *held, uint64_t *round)
{
    ompgpu_tables_wait(dev, *held, *round);
    *held = ompgpu_tables_lock(dev);
    *round = ompgpu_tables_round(dev);
}

uintptr_t ompgpu_data_translate(struct ompgpu_device *dev, uintptr_t host)
{
    unsigned held = lock_tables(dev);
    uint64_t round = ompgpu_tables_round(dev);
    const struct ompgpu_entry *e;
    while ((e = find_extended(dev, host, held)) && e->busy)
        wait_for_round(dev, &held, &round);
    if (e && ompgpu_under_way(e->filling))
        ompgpu_task_await(NULL, e->filling); /* a failure ends the program */
    uintptr_t device = e ? device_address(e, host) : 0;
    unlock_tables(dev, held);
    return device;
}

bool ompgpu_data_any_present(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n)
{
    bool any = false;
    unsigned held = lock_tables(dev);
    for (unsigned i = 0; i < n && !any; i++)
        any = maps[i].begin && ompgpu_present_find(dev, (uintptr_t)maps[i].begin, maps[i].size);
    unlock_tables(dev, held);
    return any;
}

uintptr_t ompgpu_data_section(struct ompgpu_device *dev, uintptr_t host, size_t size)
{
    unsigned held = lock_tables(dev);
    uint64_t round = ompgpu_tables_round(dev);
    struct ompgpu_entry *e;
    while ((e = ompgpu_present_find(dev, host, size)) && e->busy)
        wait_for_round(dev, &held, &round);
    bool whole = e && !e->lost && host >= e->begin && e->end - host >= size &&
                 !ompgpu_attachment_in(e, host, host + size);
    if (whole && ompgpu_under_way(e->filling))
        ompgpu_task_await(NULL, e->filling);
    uintptr_t device = whole ? device_address(e, host) : 0;
    unlock_tables(dev, held);
    return device;
}
