/* module.c - the module's directives, and what is known only at its end. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ memory of a module */
struct chunk {
    struct chunk *next;
    size_t used, room;
    max_align_t data[];
};

void *ptx_module_alloc(struct module *m, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!m->memory || m->memory->used + size > m->memory->room) {
        size_t room = size > (1 << 18) ? size : 1 << 18;
        struct chunk *c = calloc(1, sizeof *c + room);
        if (!c)
            abort();
        c->next = m->memory;
        c->room = room;
        m->memory = c;
    }
    void *p = (char *)m->memory->data + m->memory->used;
    m->memory->used += size;
    return p;
}

void ptx_module_free(struct module *m)
{
    for (unsigned i = 0; i < m->nvariables; i++)
        if (m->variables[i]->space == S_GLOBAL || m->variables[i]->space == S_CONST)
            ptx_global_free(m->variables[i]->address);
    while (m->memory) {
        struct chunk *next = m->memory->next;
        free(m->memory);
        m->memory = next;
    }
    free(m);
}

/* ------------------------------------------------------------------ the module */
static void read_file_name(struct parser *p)
{
    unsigned n = (unsigned)strtoul(parse_word(p), NULL, 10);
    parse_skip_space(p);
    if (*p->at != '"')
        parse_fail(p, "a file name expected");
    const char *end = strchr(p->at + 1, '"');
    if (!end)
        parse_fail(p, "a file name without end");
    char *name = ptx_module_alloc(p->m, (size_t)(end - p->at));
    memcpy(name, p->at + 1, (size_t)(end - p->at - 1));
    while (p->m->nfiles <= n)
        *PUSH(p, p->m->files, p->m->nfiles) = NULL;
    p->m->files[n] = name;
    p->at = end + 1;
    if (parse_accept(p, ',')) { /* time, size */
        parse_word(p);
        parse_expect(p, ',');
        parse_word(p);
    }
}

static void read_module_directive(struct parser *p, bool external)
{
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = { { ".global", S_GLOBAL }, { ".const", S_CONST }, { ".shared", S_SHARED } };
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (parse_word_is(p, spaces[i].word)) {
            parse_variable(p, spaces[i].space, external);
            return;
        }
    if (parse_word_is(p, ".func") || parse_word_is(p, ".entry"))
        parse_function(p, parse_word_is(p, ".entry"));
    else if (parse_word_is(p, ".version") || parse_word_is(p, ".address_size"))
        parse_word(p);
    else if (parse_word_is(p, ".target"))
        do {
            parse_word(p);
            if (!strncmp(p->word, "sm_", 3))
                p->m->target = (unsigned)strtoul(p->word + 3, NULL, 10);
        } while (parse_accept(p, ','));
    else if (parse_word_is(p, ".file"))
        read_file_name(p);
    else if (parse_word_is(p, ".section")) {
        parse_word(p);
        parse_expect(p, '{');
        parse_skip_to(p, '}');
    } else if (parse_word_is(p, ".pragma") || parse_word_is(p, ".alias"))
        parse_skip_to(p, ';');
    else
        parse_fail(p, "unknown directive '%s'", p->word);
}

static void read_module(struct parser *p)
{
    for (parse_skip_space(p); *p->at; parse_skip_space(p)) {
        bool external = false;
        parse_word(p);
        while (parse_word_is(p, ".visible") || parse_word_is(p, ".extern") ||
               parse_word_is(p, ".weak") || parse_word_is(p, ".common")) {
            external |= parse_word_is(p, ".extern");
            parse_word(p);
        }
        if (!*p->word)
            parse_fail(p, "a directive expected before '%.20s'", p->at);
        read_module_directive(p, external);
    }
}

static uint64_t symbol_address(struct parser *p, const struct relocation *r)
{
    struct variable *v = parse_find_variable(p->m, r->symbol);
    struct function *f = v ? NULL : parse_function_named(p, r->symbol, false);
    if (f) {
        f->address_taken = true;
        return FUNCTION_WINDOW + f->number;
    }
    if (!v)
        parse_fail(p, "'%s' in an initial value is not declared", r->symbol);
    return (v->space == S_SHARED ? SHARED_WINDOW : 0) + v->address + (uint64_t)r->addend;
}

static void initialise_globals(struct parser *p)
{
    for (unsigned i = 0; i < p->m->nvariables; i++) {
        struct variable *v = p->m->variables[i];
        if (v->space == S_SHARED || v->space == S_LOCAL)
            continue;
        unsigned char *data = (unsigned char *)(uintptr_t)v->address; /* the arena is host memory */
        if (v->init)
            memcpy(data, v->init, v->size);
        else
            memset(data, 0, v->size);
        for (unsigned k = 0; k < v->nrelocations; k++) {
            const struct relocation *r = &v->relocations[k];
            uint64_t address = symbol_address(p, r);
            if (r->shift == 64)
                memcpy(data + r->at, &address, sizeof address);
            else
                data[r->at] = (unsigned char)(address >> r->shift);
        }
        ptx_global_define(v->address, v->size);
    }
}

static void name_files(const struct module *m)
{
    for (unsigned f = 0; f < m->nfunctions; f++)
        for (unsigned k = 0; k < m->functions[f]->ncode; k++) {
            struct place *at = &m->functions[f]->code[k].place;
            at->file = at->number < m->nfiles ? m->files[at->number] : NULL;
        }
}

/* Shared memory of an entry: the variables of all functions that it can reach. */
static void add_reached(struct parser *p, struct function *entry, struct variable *v)
{
    uint64_t end = v->address + v->room;
    for (unsigned i = 0; i < entry->nreached; i++)
        if (entry->reached[i] == v)
            return;
    *PUSH(p, entry->reached, entry->nreached) = v;
    entry->shared_bytes = parse_round_up(entry->shared_bytes, v->align) + v->size;
    entry->shared_end = end > entry->shared_end ? end : entry->shared_end;
}

static void reach(struct parser *p, struct function *entry, struct function *f, bool *seen)
{
    if (seen[f->number])
        return;
    seen[f->number] = true;
    for (unsigned i = 0; i < f->nshared; i++)
        if (!f->shared[i]->external)
            add_reached(p, entry, f->shared[i]);
    for (unsigned i = 0; i < f->ncallees; i++)
        reach(p, entry, f->callees[i], seen);
    for (unsigned i = 0; f->calls_pointers && i < p->m->nfunctions; i++)
        if (p->m->functions[i]->address_taken)
            reach(p, entry, p->m->functions[i], seen);
}

static void find_shared(struct parser *p)
{
    struct module *m = p->m;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_entry)
            reach(p, m->functions[i], m->functions[i], ptx_module_alloc(m, m->nfunctions + 1));
}

struct module *ptx_parse(struct device *device, const char *text, char *log, size_t log_size)
{
    struct module *m = calloc(1, sizeof *m);
    struct parser *p = calloc(1, sizeof *p);
    if (!m || !p)
        abort();
    m->device = device;
    p->m = m;
    p->at = text;
    p->line = 1;
    p->log = log;
    p->log_size = log_size;
    if (setjmp(p->failed)) {
        free(p->code);
        free(p);
        ptx_module_free(m);
        return NULL;
    }
    read_module(p);
    initialise_globals(p);
    find_shared(p);
    name_files(m);
    free(p->code);
    free(p);
    return m;
}
