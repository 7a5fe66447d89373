/* kernels.c - the counters of instructions, added up by launch, by kernel and by source line. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/profile/profile.h"

static struct kernel *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *checked(void *p)
{
    if (!p)
        abort();
    return p;
}

static void add_counter(struct counter *to, const struct counter *c)
{
    to->warps += c->warps;
    to->threads += c->threads;
    to->diverged += c->diverged;
    to->requests += c->requests;
    to->sectors += c->sectors;
    to->needed += c->needed;
    to->shared += c->shared;
    to->replays += c->replays;
    to->updates += c->updates;
    to->met += c->met;
    if (to->stride == c->stride && to->strided) {
        to->strided += c->strided;
    } else if (to->strided < c->strided) {
        to->strided = c->strided;
        to->stride = c->stride;
        to->element = c->element;
    }
}

static void add_instruction(struct totals *t, const struct instruction *i, const struct counter *c)
{
    add_counter(&t->all, c);
    add_counter(&t->by_class[i->row->class], c);
    if (i->row->operation == I_BAR || i->row->operation == I_BARRIER)
        t->barriers += c->warps;
}

/* ------------------------------------------------------------------ launches */
static struct kernel *kernel_of(const struct function *entry)
{
    struct kernel **end = &kernels;
    for (struct kernel *k = kernels; k; k = k->next) {
        if (k->entry == entry)
            return k;
        end = &k->next;
    }
    struct kernel *k = *end = checked(calloc(1, sizeof *k));
    k->name = checked(strdup(entry->name));
    k->entry = entry;
    k->shared = (unsigned)entry->shared_bytes;
    k->by_instruction = checked(calloc(entry->module->ninstructions, sizeof(struct counter)));
    return k;
}

/* NULL: there are too many to keep each. */
static struct launch_totals *launch_of(struct kernel *k, const struct launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (k->nlaunches && k->launches[k->nlaunches - 1].number == l->number)
        return &k->launches[k->nlaunches - 1]; /* another worker's share */
    k->count++;
    k->teams += l->nteams;
    k->threads += l->nteams * threads;
    if (k->nlaunches == MOST_LAUNCHES)
        return NULL;
    if (!(k->nlaunches & (k->nlaunches - 1)))
        k->launches = checked(
            realloc(k->launches, (k->nlaunches ? 2 * k->nlaunches : 1) * sizeof *k->launches));
    struct launch_totals *t = &k->launches[k->nlaunches++];
    *t = (struct launch_totals){ .number = l->number, .dynamic_shared = l->dynamic_shared };
    memcpy(t->grid, l->grid, sizeof t->grid);
    memcpy(t->block, l->block, sizeof t->block);
    return t;
}

void ptx_profile_launch(struct launch *l, const struct counter *c)
{
    const struct module *m = l->entry->module;
    pthread_mutex_lock(&lock);
    struct kernel *k = kernel_of(l->entry);
    struct launch_totals *launch = launch_of(k, l);
    for (unsigned f = 0; f < m->nfunctions; f++)
        for (unsigned n = 0; n < m->functions[f]->ncode; n++) {
            const struct instruction *i = &m->functions[f]->code[n];
            if (!c[i->index].warps)
                continue;
            add_counter(&k->by_instruction[i->index], &c[i->index]);
            add_instruction(&k->sum, i, &c[i->index]);
            if (launch)
                add_instruction(&launch->sum, i, &c[i->index]);
        }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ lines */
static struct line *line_of(struct kernel *k, const struct place *p)
{
    for (unsigned n = k->nlines; n-- > 0;)
        if (k->lines[n].number == p->line && !strcmp(k->lines[n].file, p->file))
            return &k->lines[n];
    if (!(k->nlines & (k->nlines - 1)))
        k->lines = checked(realloc(k->lines, (k->nlines ? 2 * k->nlines : 1) * sizeof *k->lines));
    struct line *l = &k->lines[k->nlines++];
    *l = (struct line){ .file = checked(strdup(p->file)), .number = p->line };
    return l;
}

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void find_lines(struct kernel *k)
{
    const struct module *m = k->entry->module;
    for (unsigned f = 0; f < m->nfunctions; f++)
        for (unsigned n = 0; n < m->functions[f]->ncode; n++) {
            const struct instruction *i = &m->functions[f]->code[n];
            const struct counter *c = &k->by_instruction[i->index];
            if (c->warps && i->place.file && i->place.line)
                add_instruction(&line_of(k, &i->place)->sum, i, c);
        }
    if (k->nlines)
        qsort(k->lines, k->nlines, sizeof *k->lines, by_place);
}

void ptx_profile_module(struct module *m)
{
    bool ran = false;
    pthread_mutex_lock(&lock);
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->entry && k->entry->module == m) {
            find_lines(k);
            ran = true;
        }
    if (ran)
        ptx_find_registers(m, kernels);
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->entry && k->entry->module == m) {
            free(k->by_instruction);
            k->by_instruction = NULL;
            k->entry = NULL;
        }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ the end of the program */
static void free_kernels(void)
{
    while (kernels) {
        struct kernel *k = kernels;
        kernels = k->next;
        for (unsigned n = 0; n < k->nlines; n++)
            free(k->lines[n].file);
        free(k->lines);
        free(k->launches);
        free(k->name);
        free(k);
    }
}

void ptx_profile_end(void)
{
    FILE *f = stderr;
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->entry)
            ptx_profile_module(k->entry->module);
    if (ptx_settings.profile_file && !(f = fopen(ptx_settings.profile_file, "w"))) {
        fprintf(stderr, "ptx machine: cannot write %s\n", ptx_settings.profile_file);
    } else if (ptx_settings.profile_file) {
        ptx_write_profile(f, kernels);
        fclose(f);
    } else if (kernels) {
        ptx_print_profile(f, kernels);
    }
    free_kernels();
}
