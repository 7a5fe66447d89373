/* present.c - the present table: which host ranges have storage on a device.
 *
 * A treap ordered by address: ranges never overlap, so one order serves begin and end.  The
 * priority of a node is a hash of its address, which makes the shape a function of the content and
 * needs no random numbers.  A node is its own allocation, so inserting cannot fail.  All functions
 * need the lock of the table's device.                                                           */
#include <stdlib.h>
#include "hostrt/core/core.h"

static uint64_t hash_address(uint64_t x)
{
    x ^= x >> 33, x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* The lowest range that ends after `begin` is the only candidate: all before it end too early, all
 * after it begin later. */
struct ompgpu_entry *ompgpu_present_search(struct ompgpu_table *table, uintptr_t begin, size_t size)
{
    struct ompgpu_entry *best = NULL;
    for (struct ompgpu_entry *e = table->root; e;)
        if (e->end > begin)
            best = e, e = e->left;
        else
            e = e->right;
    if (best && best->begin <= begin)
        return *ompgpu_present_recent(table, begin) = best;
    /* written as a difference so that begin + size may wrap */
    return best && best->begin - begin < size ? best : NULL;
}

void ompgpu_present_insert(struct ompgpu_table *table, struct ompgpu_entry *new)
{
    struct ompgpu_entry **link = &table->root;
    new->priority = hash_address(new->begin);
    while (*link && (*link)->priority >= new->priority)
        link = new->begin < (*link)->begin ? &(*link)->left : &(*link)->right;

    /* split what was below here into the parts before and after the new node */
    struct ompgpu_entry *rest = *link, **less = &new->left, **more = &new->right;
    *link = new;
    while (rest)
        if (rest->begin < new->begin)
            *less = rest, less = &rest->right, rest = *less;
        else
            *more = rest, more = &rest->left, rest = *more;
    *less = *more = NULL;
    table->count++;
}

void ompgpu_present_remove(struct ompgpu_table *table, struct ompgpu_entry *old)
{
    struct ompgpu_entry **link = &table->root;
    while (*link != old)
        link = old->begin < (*link)->begin ? &(*link)->left : &(*link)->right;

    /* merge the two subtrees: the higher priority goes up */
    struct ompgpu_entry *less = old->left, *more = old->right;
    while (less && more)
        if (less->priority >= more->priority)
            *link = less, link = &less->right, less = *link;
        else
            *link = more, link = &more->left, more = *link;
    *link = less ? less : more;
    table->count--;
    for (int i = 0; i < OMPGPU_RECENT; i++)
        if (table->recent[i] == old)
            table->recent[i] = NULL;
}

void ompgpu_present_free(struct ompgpu_entry *e)
{
    ompgpu_xfree(e->attachments);
    ompgpu_xfree(e);
}
