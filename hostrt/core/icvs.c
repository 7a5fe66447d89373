/* icvs.c - nteams-var and teams-thread-limit-var of a device, which regions that run there may set.
 *
 * They begin as the environment says.  From the first image on whose kernels call the routines they
 * are in memory that the device reaches, too, and the kernels find it by a variable of the image
 * (devicertl/omp_api.c): each launch takes what kernels have set before it.  Programs without such
 * calls have none of this. */
#include "hostrt/core/core.h"

struct ompgpu_team_icvs ompgpu_team_icvs(const struct ompgpu_device *dev)
{
    const struct ompgpu_plugin *p = dev->plugin;
    int *at = __atomic_load_n(&dev->team_icvs, __ATOMIC_ACQUIRE);
    struct ompgpu_team_icvs v = { (int)dev->icvs.num_teams, (int)dev->icvs.teams_thread_limit }, w;
    if (!at)
        return v;
    if (p->alloc_shared)
        return (struct ompgpu_team_icvs){ __atomic_load_n(&at[0], __ATOMIC_RELAXED),
                                          __atomic_load_n(&at[1], __ATOMIC_RELAXED) };
    /* what goes wrong here goes wrong for the launch, too, which says so */
    return p->from_device(dev->ordinal, &w, at, sizeof w) || p->sync(dev->ordinal) ? v : w;
}

static bool uses_them(const struct ompgpu_image_header *h)
{
    const struct ompgpu_kernel_entry *k = (const void *)((const char *)h + h->kernels);
    for (uint32_t i = 0; i < h->nkernels; i++)
        if (k[i].uses & OMPGPU_USES_TEAM_ICVS)
            return true;
    return false;
}

static int alloc_them(struct ompgpu_device *dev, void **at)
{
    const struct ompgpu_plugin *p = dev->plugin;
    struct ompgpu_team_icvs v = ompgpu_team_icvs(dev);
    if (p->alloc_shared && !p->alloc_shared(dev->ordinal, sizeof v, at))
        return *(struct ompgpu_team_icvs *)*at = v, 0;
    return p->alloc_shared || p->alloc(dev->ordinal, sizeof v, at) ||
           p->to_device(dev->ordinal, *at, &v, sizeof v) || p->sync(dev->ordinal);
}

static void free_them(const struct ompgpu_device *dev, void *at)
{
    const struct ompgpu_plugin *p = dev->plugin;
    (p->free_shared ? p->free_shared : p->free)(dev->ordinal, at);
}

/* Of two threads that load images at once the second takes what the first has made. */
static int get_them(struct ompgpu_device *dev, void **at)
{
    int *first = NULL;
    if (alloc_them(dev, at))
        return -1;
    if (!__atomic_compare_exchange_n(&dev->team_icvs, &first, *at, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        free_them(dev, *at);
        *at = first;
    }
    return 0;
}

int ompgpu_team_icvs_load(struct ompgpu_device *dev, const struct ompgpu_image_header *h,
                          void *module)
{
    const struct ompgpu_plugin *p = dev->plugin;
    void *variable, *at;
    size_t size;
    if (!uses_them(h))
        return 0;
    if (!(at = __atomic_load_n(&dev->team_icvs, __ATOMIC_ACQUIRE)) && get_them(dev, &at))
        return -1;
    return p->variable(dev->ordinal, module, OMPGPU_TEAM_ICVS, &variable, &size) ||
                   p->to_device(dev->ordinal, variable, &at, sizeof at) || p->sync(dev->ordinal)
               ? -1
               : 0;
}

void ompgpu_team_icvs_close(struct ompgpu_device *dev)
{
    if (dev->team_icvs &&
        (dev->plugin->free_shared || !dev->rescue)) /* what is given up cannot be told */
        free_them(dev, dev->team_icvs);
    dev->team_icvs = NULL;
}
