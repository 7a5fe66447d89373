/* symbols.c - names: of the function that is read, and of the module. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ symbols of a function */
static unsigned hash_name(const char *s, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h % BUCKETS;
}

struct symbol *parse_find_symbol(struct parser *p, const char *name, size_t n)
{
    for (struct symbol *s = p->symbols[hash_name(name, n)]; s; s = s->next)
        if (!strncmp(s->name, name, n) && !s->name[n])
            return s;
    return NULL;
}

struct symbol *parse_add_symbol(struct parser *p, const char *name, enum symbol_kind kind)
{
    struct symbol *s = ptx_module_alloc(p->m, sizeof *s);
    unsigned h = hash_name(name, strlen(name));
    s->name = parse_keep(p, name);
    s->kind = kind;
    s->next = p->symbols[h];
    return p->symbols[h] = s;
}

struct symbol *parse_find_register(struct parser *p, const char *name, unsigned *number)
{
    struct symbol *s = parse_find_symbol(p, name, strlen(name));
    *number = 0;
    if (s)
        return s;
    size_t n = strlen(name), digits = 0;
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
        digits++;
    if (!digits || !(s = parse_find_symbol(p, name, n - digits)))
        return NULL;
    *number = (unsigned)strtoul(name + n - digits, NULL, 10);
    return *number < s->count ? s : NULL;
}

struct variable *parse_find_variable(struct module *m, const char *name)
{
    for (unsigned i = m->nvariables; i-- > 0;)
        if (!strcmp(m->variables[i]->name, name))
            return m->variables[i];
    return NULL;
}

struct function *parse_function_named(struct parser *p, const char *name, bool make)
{
    struct module *m = p->m;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (!strcmp(m->functions[i]->name, name))
            return m->functions[i];
    if (!make)
        return NULL;
    struct function *f = ptx_module_alloc(m, sizeof *f);
    f->name = parse_keep(p, name);
    f->module = m;
    f->number = m->nfunctions;
    *PUSH(p, m->functions, m->nfunctions) = f;
    return f;
}
