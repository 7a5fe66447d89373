/* gate.c - pointers of device code that lie outside of the window (emu/window.c).
 *
 * Device code lets each pointer of unknown origin through a gate before it uses it
 * (codegen/ir/passes/gates.c).  What lies in the window passes there.  The rest comes here: the
 * variables of images are where the dynamic linker has put them, parameters where the
 * core has them.  Whatever else it is, it is no memory of the device.  A GPU faults when such an
 * address is used, not when it is computed; so the pointer becomes one that faults when it is used,
 * and from which the address can still be told. */
#include "hostrt/emu/emu.h"

static bool is_within(const void *p, const void *base, size_t size)
{
    return (uintptr_t)p - (uintptr_t)base < size;
}

static bool is_parameter(void **params, const void *p)
{
    if (p == params)
        return true;
    for (; *params; params++)
        if (p == *params)
            return true;
    return false;
}

/* What the plugin itself shows to device code (hostrt/plugin.h). */
static bool is_plugins(const struct emu_worker *w, const void *p)
{
    return is_within(p, &w->current->pub, sizeof w->current->pub) || p == &ompgpu_emu_ops;
}

void *ompgpu_emu_outside(void *p)
{
#ifdef EMU_TSAN /* there is no window */
    return p;
#endif
    const struct emu_worker *w = ompgpu_emu_worker;
    const struct emu_launch *l = w->launch;
    if (ompgpu_emu_image_has(l->module, p) || is_plugins(w, p) || is_parameter(l->params, p) ||
        ompgpu_emu_memory_owns(l->memory, p))
        return p;
    return (uintptr_t)p >> 47 ? p : (void *)((uintptr_t)p | OMPGPU_EMU_REFUSED);
}
