/* rt_agreed.c - what both sides of a mapping last had, told from sums (hostrt/core/agreed.c): beside a copy of it, under random changes of
 * either side and random copies in either direction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"

static int number, bad;
static void check(const char *what, bool ok)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
    bad |= !ok;
}

enum { MOST = 200 };
static char memory[MOST + 16] __attribute__((aligned(16))), *host, device[MOST], had[MOST]; /* had: the copy */
static struct ompgpu_entry e;

static void fill(char *p, size_t size, size_t unit)
{
    for (size_t i = 0; i < size; i += unit)
        memset(p + i, rand(), size - i < unit ? size - i : unit);
}

static void begin(size_t size, size_t unit)
{
    host = memory + (size_t)rand() % 16 / unit * unit;
    fill(host, size, unit);
    memcpy(device, host, size);
    memcpy(had, host, size);
    e = (struct ompgpu_entry){ .range = { .begin = (uintptr_t)host, .end = (uintptr_t)host + size }, .device = (uintptr_t)device };
    if (!ompgpu_agreed_start(&e, host))
        exit(1);
}

/* A unit of either side, or a copy of some units, after which both have the same.  The sums hear of it before. */
static void step(size_t size, size_t unit)
{
    size_t units = size / unit, first = (size_t)rand() % units * unit, some = unit * (1 + (size_t)rand() % 9);
    size_t n = some < size - first ? some : size - first;
    bool to_device = rand() % 2;
    switch (rand() % 5) {
    case 0:
    case 1: fill(host + first, unit, unit); break;
    case 2:
    case 3: fill(device + first, unit, unit); break;
    default:
        ompgpu_agreed_set(&e, (uintptr_t)host + first, n, (to_device ? host : device) + first);
        memcpy(had + first, (to_device ? host : device) + first, n);
        memcpy((to_device ? device : host) + first, had + first, n);
    }
}

/* What both sides have changed to the same may pass for what they had. */
static bool is_right(size_t at, const char *bytes, size_t size)
{
    size_t i = 0;
    while (i < size && (bytes[i] == had[at + i] || host[at + i] == device[at + i]))
        i++;
    return i == size;
}

/* All that is said to be known is right. */
static bool agrees(size_t size, size_t *known)
{
    struct ompgpu_agreed a;
    for (size_t at = 0; at < size; at += a.size) {
        a = ompgpu_agreed_at(&e, (uintptr_t)host + at);
        if (!a.size || a.size > size - at || (a.known && !is_right(at, a.bytes, a.size)))
            return false;
        *known += a.known ? a.size : 0;
    }
    return true;
}

static bool sides_agree(size_t size)
{
    size_t from = (size_t)rand() % size, to = from + (size_t)rand() % (size - from) + 1, at = from;
    size_t said = ompgpu_agreed_same(&e, host, (uintptr_t)host + from, (uintptr_t)host + to) - (uintptr_t)host;
    while (at < said && (is_right(at, host + at, 1) || !ompgpu_agreed_at(&e, (uintptr_t)host + at).known))
        at++;
    return at == said && said <= to;
}

static void random_changes(size_t unit, unsigned least)
{
    char what[100];
    bool right = true;
    size_t known = 0, all = 0;
    for (unsigned run = 0; run < 400 && right; run++) {
        size_t size = unit * (1 + (size_t)rand() % (MOST / unit));
        begin(size, unit);
        for (unsigned i = 0; i < 12 && right; i++) {
            step(size, unit);
            right = agrees(size, &known) && sides_agree(size);
            all += size;
        }
        ompgpu_xfree(e.agreed);
    }
    snprintf(what, sizeof what, "units of %zu bytes: what is known is right", unit);
    check(what, right);
    snprintf(what, sizeof what, "... and that is %u %% at least", least);
    check(what, known * 100 >= all * least);
    printf("# %.1f %%\n", 100.0 * (double)known / (double)all);
}

/* Neighbours that each side has changed. */
static void copy_of_part(void)
{
    begin(37, 1);
    memset(host, 7, 37);
    ompgpu_agreed_set(&e, (uintptr_t)host, 36, host);
    check("a copy of all but a byte: the rest is known", ompgpu_agreed_at(&e, (uintptr_t)host + 36).known);
    ompgpu_xfree(e.agreed);
}

static void neighbours(void)
{
    struct ompgpu_agreed a;
    begin(64, 16);
    memset(host + 20, 1, 4), memset(device + 24, 2, 4);
    a = ompgpu_agreed_at(&e, (uintptr_t)host + 20);
    check("an int of the host beside one of the device", a.known && a.size == 12 && memcmp(a.bytes, had + 20, 12) == 0);
    memset(device + 20, 3, 4);
    check("the same of both: not known", !ompgpu_agreed_at(&e, (uintptr_t)host + 24).known);
    ompgpu_agreed_set(&e, (uintptr_t)host + 20, 4, device + 20);
    check("... nor after a copy of a part", !ompgpu_agreed_at(&e, (uintptr_t)host + 28).known);
    ompgpu_agreed_set(&e, (uintptr_t)host + 16, 16, device + 16);
    memcpy(host + 16, device + 16, 16);
    check("... but after one of all", ompgpu_agreed_at(&e, (uintptr_t)host + 28).known);
    ompgpu_xfree(e.agreed);
}

int main(void)
{
    srand(7);
    random_changes(8, 90);
    random_changes(4, 90);
    random_changes(2, 90);
    random_changes(1, 90);
    neighbours();
    copy_of_part();
    printf("1..%d\n", number);
    return bad;
}
