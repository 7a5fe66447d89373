/* list.c - map entries that generated code collects: those of mappers, iterators and sections with
 * gaps. */
#include <string.h>
#include "hostrt/core/core.h"

int __ompgpu_map_add(struct ompgpu_map_list *l, const struct ompgpu_map *entry)
{
    if (l->n == l->room) {
        unsigned room = l->room ? 2 * l->room : 16;
        struct ompgpu_map *more = ompgpu_xalloc(room * sizeof *more);
        if (!more)
            ompgpu_fatal(NULL, "%s: %s", entry->name, ompgpu_plugin_message());
        if (l->n)
            memcpy(more, l->at, l->n * sizeof *more);
        ompgpu_xfree(l->at);
        l->at = more, l->room = room;
    }
    l->at[l->n] = *entry;
    return (int)l->n++;
}

void __ompgpu_map_free(struct ompgpu_map_list *l)
{
    ompgpu_xfree(l->at);
    *l = (struct ompgpu_map_list){ 0 };
}
