/* lookup.c - where something is on a device, for routines, pointers and what exchanges sections. */
#include "hostrt/core/work.h"

uintptr_t ompgpu_data_lookup(struct ompgpu_device *dev, uintptr_t host)
{
    uintptr_t device = ompgpu_present_first(dev, host);
    if (device)
        return device;
    bool locked = lock_tables(dev, NULL);
    const struct ompgpu_entry *e = ompgpu_present_find(dev, host, 1);
    device = e ? device_address(e, host) : 0;
    if (e && e->begin == host)
        ompgpu_present_note(dev, e);
    unlock_tables(dev, locked);
    return device;
}

uintptr_t ompgpu_data_translate(struct ompgpu_device *dev, uintptr_t host)
{
    bool locked = lock_tables(dev, NULL);
    const struct ompgpu_entry *e;
    while ((e = find_extended(dev, host)) && e->busy)
        pthread_cond_wait(&dev->synced, &dev->lock);
    if (e && ompgpu_under_way(e->filling))
        ompgpu_task_await(NULL, e->filling); /* a failure ends the program */
    uintptr_t device = e ? device_address(e, host) : 0;
    unlock_tables(dev, locked);
    return device;
}

bool ompgpu_data_any_present(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n)
{
    bool any = false;
    bool locked = lock_tables(dev, NULL);
    for (unsigned i = 0; i < n && !any; i++)
        any = maps[i].begin && ompgpu_present_find(dev, (uintptr_t)maps[i].begin, maps[i].size);
    unlock_tables(dev, locked);
    return any;
}

uintptr_t ompgpu_data_section(struct ompgpu_device *dev, uintptr_t host, size_t size)
{
    bool locked = lock_tables(dev, NULL);
    struct ompgpu_entry *e;
    while ((e = ompgpu_present_find(dev, host, size)) && e->busy)
        pthread_cond_wait(&dev->synced, &dev->lock);
    bool whole = e && !e->lost && host >= e->begin && e->end - host >= size &&
                 !ompgpu_attachment_before(e, ompgpu_first_attachment(e, host), host + size);
    if (whole && ompgpu_under_way(e->filling))
        ompgpu_task_await(NULL, e->filling);
    uintptr_t device = whole ? device_address(e, host) : 0;
    unlock_tables(dev, locked);
    return device;
}
