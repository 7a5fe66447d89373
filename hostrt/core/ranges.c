/* ranges.c - sets of address ranges: which host ranges have storage on a device (the present
 * table), which blocks of device memory are live.
 *
 * A treap ordered by address: ranges never overlap, so one order serves begin and end.  The
 * priority of a node is a hash of its address, which makes the shape a function of the content and
 * needs no random numbers.  A node is part of what has the range, so inserting cannot fail.
 *
 * A range may have a base address outside of it (that of A[64:128] is A); these extended ranges may
 * overlap.  Each node has the lowest and the highest address of those below it. */
#include "hostrt/core/core.h"

static uint64_t hash_address(uint64_t x)
{
    x ^= x >> 33, x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* The lowest range that ends after `begin` is the only candidate: all before it end too early, all
 * after it begin later. */
struct ompgpu_range *ompgpu_ranges_find(const struct ompgpu_ranges *set, uintptr_t begin,
                                        size_t size)
{
    struct ompgpu_range *best = NULL;
    for (struct ompgpu_range *r = set->root; r;)
        if (r->end <= begin)
            r = r->right;
        else if (r->begin <= begin)
            return r;
        else
            best = r, r = r->left;
    /* written as a difference so that begin + size may wrap */
    return best && best->begin - begin < size ? best : NULL;
}

/* ------------------------------------------------------------------ extended ranges */
static uintptr_t low_of(const struct ompgpu_range *r)
{
    return r->base && r->base < r->begin ? r->base : r->begin;
}
static uintptr_t high_of(const struct ompgpu_range *r)
{
    return r->base >= r->end ? r->base : r->end - 1;
}

static struct ompgpu_range *reach(struct ompgpu_range *r, uintptr_t address)
{
    if (!r || address < r->lowest || address > r->highest)
        return NULL;
    struct ompgpu_range *before = reach(r->left, address);
    if (before)
        return before;
    return address >= low_of(r) && address <= high_of(r) ? r : reach(r->right, address);
}

struct ompgpu_range *ompgpu_ranges_reach(struct ompgpu_ranges *set, uintptr_t address)
{
    return reach(set->root, address);
}

/* ------------------------------------------------------------------ the tree */
/* After a change below the node. */
static struct ompgpu_range *sum_up(struct ompgpu_range *r)
{
    r->lowest = low_of(r), r->highest = high_of(r);
    for (int side = 0; side < 2; side++) {
        const struct ompgpu_range *below = side ? r->right : r->left;
        if (below && below->lowest < r->lowest)
            r->lowest = below->lowest;
        if (below && below->highest > r->highest)
            r->highest = below->highest;
    }
    return r;
}

/* The parts before and after an address. */
static void split(struct ompgpu_range *r, uintptr_t at, struct ompgpu_range **less,
                  struct ompgpu_range **more)
{
    if (!r) {
        *less = *more = NULL;
    } else if (r->begin < at) {
        split(r->right, at, &r->right, more);
        *less = sum_up(r);
    } else {
        split(r->left, at, less, &r->left);
        *more = sum_up(r);
    }
}

/* The higher priority goes up. */
static struct ompgpu_range *merge(struct ompgpu_range *less, struct ompgpu_range *more)
{
    if (!less || !more)
        return less ? less : more;
    if (less->priority >= more->priority) {
        less->right = merge(less->right, more);
        return sum_up(less);
    }
    more->left = merge(less, more->left);
    return sum_up(more);
}

static struct ompgpu_range *insert(struct ompgpu_range *r, struct ompgpu_range *new)
{
    if (!r || r->priority < new->priority) {
        split(r, new->begin, &new->left, &new->right);
        return sum_up(new);
    }
    if (new->begin < r->begin)
        r->left = insert(r->left, new);
    else
        r->right = insert(r->right, new);
    return sum_up(r);
}

static struct ompgpu_range *take_out(struct ompgpu_range *r, const struct ompgpu_range *old)
{
    if (r == old)
        return merge(r->left, r->right);
    if (old->begin < r->begin)
        r->left = take_out(r->left, old);
    else
        r->right = take_out(r->right, old);
    return sum_up(r);
}

void ompgpu_ranges_insert(struct ompgpu_ranges *set, struct ompgpu_range *new)
{
    new->priority = hash_address(new->begin);
    set->root = insert(set->root, new);
    set->count++;
}

void ompgpu_ranges_remove(struct ompgpu_ranges *set, struct ompgpu_range *old)
{
    set->root = take_out(set->root, old);
    set->count--;
}
