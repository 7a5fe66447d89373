/* item_faults.c - what is said of a map item that cannot be mapped or copied. */
#include <stdio.h>
#include "hostrt/core/work.h"

int ompgpu_item_failed(struct work *w, const struct ompgpu_map *m)
{
    if (m->line)
        w->where->line = m->line;
    if (m->flags & OMPGPU_MAP_LOOKUP)
        ompgpu_plugin_error("*%s: %s", m->name, ompgpu_plugin_message());
    else
        ompgpu_plugin_error("%s, %zu bytes: %s", m->name ? m->name : "?", m->size,
                            ompgpu_plugin_message());
    return -1;
}

int ompgpu_item_wrong(struct work *w, const struct ompgpu_map *m, const char *what)
{
    w->wrong = true;
    ompgpu_plugin_error("%s", what);
    return ompgpu_item_failed(w, m);
}

const char *ompgpu_entry_place(const struct ompgpu_entry *e, char *text, size_t size)
{
    *text = 0;
    if (e->line)
        snprintf(text, size, " at %s:%u", e->file, e->line);
    else if (e->file)
        snprintf(text, size, " in %s", e->file);
    return text;
}

int ompgpu_item_partly_mapped(struct work *w, const struct ompgpu_map *m,
                              const struct ompgpu_entry *e)
{
    char place[256];
    w->wrong = true;
    if (m->size > PTRDIFF_MAX)
        return ompgpu_item_wrong(w, m, IMPOSSIBLE_SIZE);
    ompgpu_plugin_error(
        "only a part of it is mapped already: %s, %zu bytes, mapped%s; map the larger range first",
        e->name ? e->name : "?", e->end - e->begin, ompgpu_entry_place(e, place, sizeof place));
    return ompgpu_item_failed(w, m);
}

int ompgpu_item_lies_apart(struct work *w, const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    char place[256];
    w->wrong = true;
    ompgpu_plugin_error("its parts do not lie together on the device: %s, %zu bytes, was mapped "
                        "apart%s; map them by one construct",
                        e->name ? e->name : "?", e->end - e->begin,
                        ompgpu_entry_place(e, place, sizeof place));
    return ompgpu_item_failed(w, m);
}

int ompgpu_item_outside(struct work *w, const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    char place[256];
    w->wrong = true;
    ompgpu_plugin_error("it lies outside of what is mapped on the chunk's device: %s, %zu bytes, "
                        "mapped%s",
                        e->name ? e->name : "?", e->end - e->begin,
                        ompgpu_entry_place(e, place, sizeof place));
    return ompgpu_item_failed(w, m);
}
