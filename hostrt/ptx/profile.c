/* profile.c - counters by instruction, and what they say about source lines and kernels. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/machine.h"

bool ptx_counting;

/* ------------------------------------------------------------------ memory */
static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Different 32-byte sectors that the lanes touch. */
static unsigned sectors(lanes m, const uint64_t *address, unsigned size)
{
    uint64_t s[2 * WARP];
    unsigned n = 0, distinct = 0;
    bool sorted = true;
    EACH_LANE(l, m) {
        s[n++] = address[l] / 32;
        if ((address[l] + size - 1) / 32 != address[l] / 32)
            s[n++] = (address[l] + size - 1) / 32;
    }
    for (unsigned k = 1; k < n; k++)
        sorted &= s[k - 1] <= s[k];
    if (!sorted)
        qsort(s, n, sizeof *s, by_address);
    for (unsigned k = 0; k < n; k++)
        distinct += !k || s[k] != s[k - 1];
    return distinct;
}

/* Passes beyond the first: the most different words that a bank has to give. */
static unsigned bank_conflicts(lanes m, const uint64_t *address, unsigned size)
{
    uint64_t words[WARP][WARP];
    unsigned n[WARP] = { 0 }, most = 0;
    EACH_LANE(l, m)
        for (uint64_t w = address[l] / 4; w <= (address[l] + size - 1) / 4; w++) {
            unsigned bank = w % WARP, k = 0;
            while (k < n[bank] && words[bank][k] != w)
                k++;
            if (k == n[bank] && k < WARP)
                words[bank][n[bank]++] = w;
            most = n[bank] > most ? n[bank] : most;
        }
    unsigned needed = (unsigned)__builtin_popcount(m) * size > 128 ? size / 4 : 1;
    return most > needed ? most - needed : 0;
}

void ptx_count_access(struct group *g, const struct instruction *i, lanes m,
                      const uint64_t *address, unsigned size, enum space space)
{
    struct counter *c = &g->warp->team->worker->counters[i->index];
    unsigned first = (unsigned)__builtin_ctz(m);
    if (space == S_GENERIC)
        space = (address[first] & WINDOW_MASK) == SHARED_WINDOW                  ? S_SHARED
                : address[first] & WINDOW_MASK && !ptx_is_global(address[first]) ? S_LOCAL
                                                                                 : S_GLOBAL;
    if (space == S_PARAM || space == S_CONST)
        return;
    c->requests++;
    c->needed += (uint64_t)__builtin_popcount(m) * size;
    if (space == S_SHARED)
        c->conflicts += bank_conflicts(m, address, size);
    else if (space == S_GLOBAL)
        c->sectors += sectors(m, address, size);
    else /* local memory is interleaved by lane */
        c->sectors += ((unsigned)__builtin_popcount(m) * size + 31) / 32;
}

/* ------------------------------------------------------------------ kernels */
struct kernel {
    struct kernel *next;
    char *name;
    uint64_t launches, teams, threads;
    struct counter all, by_class[8];
    struct line {
        struct line *next;
        char *file;
        unsigned number;
        struct counter count;
        unsigned class;
    } *lines;
};
static struct kernel *kernels, *seen_launch;
static uint64_t last_launch;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_counter(struct counter *to, const struct counter *c)
{
    to->warps += c->warps;
    to->threads += c->threads;
    to->requests += c->requests;
    to->sectors += c->sectors;
    to->needed += c->needed;
    to->conflicts += c->conflicts;
}

static struct kernel *kernel_named(const char *name)
{
    struct kernel *k = kernels;
    while (k && strcmp(k->name, name))
        k = k->next;
    if (k)
        return k;
    if (!(k = calloc(1, sizeof *k)) || !(k->name = strdup(name)))
        abort();
    k->next = kernels;
    return kernels = k;
}

static void add_to_line(struct kernel *k, const struct instruction *i, const struct counter *c)
{
    struct line *l = k->lines;
    if (!i->place.file || !c->requests)
        return;
    while (l && (l->number != i->place.line || strcmp(l->file, i->place.file)))
        l = l->next;
    if (!l) {
        if (!(l = calloc(1, sizeof *l)) || !(l->file = strdup(i->place.file)))
            abort();
        l->number = i->place.line;
        l->next = k->lines;
        k->lines = l;
    }
    l->class = i->row->class;
    add_counter(&l->count, c);
}

void ptx_profile_launch(struct launch *l, struct counter *c)
{
    struct module *m = l->entry->module;
    pthread_mutex_lock(&lock);
    struct kernel *k = kernel_named(l->entry->name);
    if (l->number != last_launch || k != seen_launch) {
        k->launches++;
        k->teams += l->nteams;
        k->threads += (uint64_t)l->nteams * l->block[0] * l->block[1] * l->block[2];
        last_launch = l->number;
        seen_launch = k;
    }
    for (unsigned f = 0; f < m->nfunctions; f++)
        for (unsigned n = 0; n < m->functions[f]->ncode; n++) {
            const struct instruction *i = &m->functions[f]->code[n];
            if (!c[i->index].warps)
                continue;
            add_counter(&k->all, &c[i->index]);
            add_counter(&k->by_class[i->row->class], &c[i->index]);
            add_to_line(k, i, &c[i->index]);
        }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ the report at exit */
static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void print_kernel(FILE *f, const struct kernel *k)
{
    fprintf(f, "%-24s %8llu %10llu %14llu %12.1f %7.2f %9.2f %10llu %9llu %9llu\n", k->name,
            (unsigned long long)k->launches, (unsigned long long)k->threads,
            (unsigned long long)k->all.threads, ratio(k->all.threads, k->threads),
            ratio(k->all.threads, k->all.warps), ratio(k->all.sectors, k->all.requests),
            (unsigned long long)k->all.conflicts, (unsigned long long)k->by_class[C_SYNC].warps,
            (unsigned long long)k->by_class[C_ATOMIC].threads);
}

/* The lines that move most bytes in vain. */
static void print_lines(FILE *f, const struct kernel *k)
{
    for (const struct line *l = k->lines; l; l = l->next) {
        uint64_t moved = l->count.sectors * 32;
        if (moved > 2 * l->count.needed && l->count.requests > 1)
            fprintf(f,
                    "  %s:%u: %.1f sectors a request, %.0f %% of the bytes that move are used: let "
                    "neighbouring threads access neighbouring elements\n",
                    l->file, l->number, ratio(l->count.sectors, l->count.requests),
                    100 * ratio(l->count.needed, moved));
        if (l->count.conflicts > l->count.requests)
            fprintf(f, "  %s:%u: %.1f bank conflicts a request in shared memory: pad the rows\n",
                    l->file, l->number, ratio(l->count.conflicts, l->count.requests));
    }
}

static void write_json(FILE *f)
{
    fprintf(f, "[\n");
    for (const struct kernel *k = kernels; k; k = k->next) {
        fprintf(f,
                "  {\"kernel\": \"%s\", \"launches\": %llu, \"threads\": %llu, "
                "\"thread_instructions\": %llu, \"warp_instructions\": %llu, \"requests\": %llu, "
                "\"sectors\": %llu, \"bytes_needed\": %llu, \"bank_conflicts\": %llu, "
                "\"synchronisations\": %llu, \"atomics\": %llu}%s\n",
                k->name, (unsigned long long)k->launches, (unsigned long long)k->threads,
                (unsigned long long)k->all.threads, (unsigned long long)k->all.warps,
                (unsigned long long)k->all.requests, (unsigned long long)k->all.sectors,
                (unsigned long long)k->all.needed, (unsigned long long)k->all.conflicts,
                (unsigned long long)k->by_class[C_SYNC].warps,
                (unsigned long long)k->by_class[C_ATOMIC].threads, k->next ? "," : "");
    }
    fprintf(f, "]\n");
}

void ptx_profile_end(void)
{
    if (!ptx_counting || !kernels)
        return;
    if (ptx_settings.profile_file) {
        FILE *f = fopen(ptx_settings.profile_file, "w");
        if (!f) {
            fprintf(stderr, "ptx machine: cannot write %s\n", ptx_settings.profile_file);
            return;
        }
        write_json(f);
        fclose(f);
        return;
    }
    fprintf(stderr, "%-24s %8s %10s %14s %12s %7s %9s %10s %9s %9s\n", "kernel", "launches",
            "threads", "instructions", "a thread", "active", "sectors", "conflicts", "syncs",
            "atomics");
    for (const struct kernel *k = kernels; k; k = k->next) {
        print_kernel(stderr, k);
        print_lines(stderr, k);
    }
}
