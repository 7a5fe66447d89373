/* ranges.c - sets of address ranges: which host ranges have storage on a device (the present
 * table), which blocks of device memory are live.
 *
 * A treap ordered by address: ranges never overlap, so one order serves begin and end.  The
 * priority of a node is a hash of its address, which makes the shape a function of the content and
 * needs no random numbers.  A node is part of what has the range, so inserting cannot fail. */
#include "hostrt/core/core.h"

static uint64_t hash_address(uint64_t x)
{
    x ^= x >> 33, x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* The lowest range that ends after `begin` is the only candidate: all before it end too early, all
 * after it begin later. */
struct ompgpu_range *ompgpu_ranges_search(struct ompgpu_ranges *set, uintptr_t begin, size_t size)
{
    struct ompgpu_range *best = NULL;
    for (struct ompgpu_range *r = set->root; r;)
        if (r->end <= begin)
            r = r->right;
        else if (r->begin <= begin)
            return *ompgpu_ranges_recent(set, begin) = r;
        else
            best = r, r = r->left;
    /* written as a difference so that begin + size may wrap */
    return best && best->begin - begin < size ? best : NULL;
}

void ompgpu_ranges_insert(struct ompgpu_ranges *set, struct ompgpu_range *new)
{
    struct ompgpu_range **link = &set->root;
    new->priority = hash_address(new->begin);
    while (*link && (*link)->priority >= new->priority)
        link = new->begin < (*link)->begin ? &(*link)->left : &(*link)->right;

    /* split what was below here into the parts before and after the new node */
    struct ompgpu_range *rest = *link, **less = &new->left, **more = &new->right;
    *link = new;
    while (rest)
        if (rest->begin < new->begin)
            *less = rest, less = &rest->right, rest = *less;
        else
            *more = rest, more = &rest->left, rest = *more;
    *less = *more = NULL;
    set->count++;
}

void ompgpu_ranges_remove(struct ompgpu_ranges *set, struct ompgpu_range *old)
{
    struct ompgpu_range **link = &set->root;
    while (*link != old)
        link = old->begin < (*link)->begin ? &(*link)->left : &(*link)->right;

    /* merge the two subtrees: the higher priority goes up */
    struct ompgpu_range *less = old->left, *more = old->right;
    while (less && more)
        if (less->priority >= more->priority)
            *link = less, link = &less->right, less = *link;
        else
            *link = more, link = &more->left, more = *link;
    *link = less ? less : more;
    set->count--;
    for (int i = 0; i < OMPGPU_RECENT; i++)
        if (set->recent[i] == old)
            set->recent[i] = NULL;
}
