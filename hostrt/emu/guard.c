/* guard.c - variables of checked images with room after them that is nobody's, so that an access
 * past the end of one does not hit the next: those of the team heap and of threads' stacks, blocks
 * of omp_alloc, private copies of reduced arrays.
 *
 *     | object | nobody's, OMPGPU_EMU_GUARD bytes or less |
 *                   ^ a record of what lies before it, RECORD_AT bytes after the end
 *
 * The shadow says where an object ends, and the record how large it is.  Who writes past the end
 * may have overwritten the record, so there is a mark by which it is known. */
#include "hostrt/emu/emu.h"

enum { RECORD_AT = 32, NEAR = 64, FAR = 1 << 20, LARGE = 1 << 28 };
struct record {
    const char *what;
    uint64_t size, mark;
};
_Static_assert(RECORD_AT + 7 + sizeof(struct record) <= OMPGPU_EMU_GUARD, "it lies in the room");

static struct record *record_after(uintptr_t end)
{
    return (struct record *)(((end + 7) & ~(uintptr_t)7) + RECORD_AT);
}

static uint64_t mark_of(uintptr_t begin, uint64_t size, const char *what)
{
    return (begin ^ size << 32 ^ (uintptr_t)what) * 0x9E3779B97F4A7C15u;
}

void ompgpu_emu_object(void *p, size_t size, const void *end, const char *what, bool fresh)
{
    uintptr_t begin = (uintptr_t)p;
    struct record *r = record_after(begin + size);
    if (!p || !ompgpu_emu_shadowed() || !ompgpu_emu_keeps_shadow(p))
        return;
    if (fresh)
        ompgpu_emu_shadow_set(p, size, EMU_UNDEFINED);
    ompgpu_emu_shadow_set((char *)p + size, (uintptr_t)end - begin - size,
                          size ? EMU_GUARD : EMU_FREED);
    if (size && (const void *)(r + 1) <= end)
        *r = (struct record){ what, size, mark_of(begin, size, what) };
}

void ompgpu_emu_forget(void *from, const void *end)
{
    ompgpu_emu_shadow_set(from, (size_t)((const char *)end - (char *)from), EMU_DEFINED);
}

static bool is_guard(uintptr_t p) { return *ompgpu_emu_shadow_of((void *)p) == EMU_GUARD; }

/* The one that ends there. */
static bool find_before(uintptr_t end, struct emu_object *o)
{
    const struct record *r = record_after(end);
    if (!is_guard((uintptr_t)r) || !is_guard((uintptr_t)(r + 1) - 1) ||
        r->mark != mark_of(end - r->size, r->size, r->what))
        return false;
    *o = (struct emu_object){ end - r->size, r->size, r->what };
    return true;
}

/* From p on to the next byte that is a guard, or is none; 0: there is none near. */
static uintptr_t next(uintptr_t p, bool guard, size_t most)
{
    for (size_t i = 0; i < most && ompgpu_emu_keeps_shadow((void *)(p + i)); i++)
        if (is_guard(p + i) == guard)
            return p + i;
    return 0;
}

bool ompgpu_emu_object_near(const void *at, size_t size, struct emu_object *o)
{
    uintptr_t p = (uintptr_t)at, end = p;
    if (!is_guard(p)) /* it begins in the object */
        return (end = next(p, true, size)) && find_before(end, o);
    for (size_t i = 0; i < FAR && is_guard(end - 1); i++)
        end--;
    uintptr_t begin = next(p, false, FAR), after = 0;
    if (begin && p - end > begin - p)
        after = next(begin, true, LARGE);
    if (after && find_before(after, o) && o->begin >= begin && o->begin - begin < NEAR)
        return true; /* what lies between is no object */
    return find_before(end, o);
}
