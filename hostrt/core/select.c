/* select.c - OMP_AVAILABLE_DEVICES (section 4.3.8 of OpenMP 6.0): which of the devices that there
 * are the program gets, and in which order.
 *
 *      list    item, item …         devices of earlier items are not in later ones again
 *      item    * [part] | group [part]
 *      part    [i] | [first:length] of the devices so far, either may be missing
 *      group   term && term … | term || term …
 *      term    ! term | (group) | trait(name)
 *
 * A set of devices has a bit for each. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "hostrt/core/core.h"

enum { MOST = OMPGPU_MOST_DEVICES };
typedef uint64_t set;
struct reader {
    const char *at;
    const struct ompgpu_identity *devices;
    int n;
    bool bad;
};

/* ------------------------------------------------------------------ traits */
/* As for context selectors, also the emulated device is an NVIDIA GPU (frontend/context.c). */
static bool has_kind(const struct ompgpu_identity *d, const char *name)
{
    (void)d;
    return !strcmp(name, "gpu") || !strcmp(name, "nohost") || !strcmp(name, "any");
}
static bool has_arch(const struct ompgpu_identity *d, const char *name)
{
    (void)d;
    return !strcmp(name, "nvptx64") || !strcmp(name, "nvptx");
}
static bool has_vendor(const struct ompgpu_identity *d, const char *name)
{
    (void)d;
    return !strcmp(name, "nvidia");
}
static bool has_isa(const struct ompgpu_identity *d, const char *name)
{
    return d->isa[0] && !strcmp(name, d->isa);
}
static bool has_uid(const struct ompgpu_identity *d, const char *name)
{
    return !strcmp(name, d->uid);
}
static const struct {
    const char *name;
    bool (*has)(const struct ompgpu_identity *, const char *);
} traits[] = {
    { "kind", has_kind },     { "arch", has_arch }, { "isa", has_isa },
    { "vendor", has_vendor }, { "uid", has_uid },
};

/* ------------------------------------------------------------------ reading */
static bool accept(struct reader *r, const char *text)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
    bool here = !strncmp(r->at, text, strlen(text));
    if (here)
        r->at += strlen(text);
    return here;
}

static void expect(struct reader *r, const char *text) { r->bad |= !accept(r, text); }

/* Up to one of these characters, without blanks at the ends. */
static void read_word(struct reader *r, const char *ends, char *word, size_t room)
{
    accept(r, "");
    size_t n = strcspn(r->at, ends), kept = n;
    while (kept && isspace((unsigned char)r->at[kept - 1]))
        kept--;
    r->bad |= !kept || kept >= room;
    if (r->bad)
        kept = 0;
    memcpy(word, r->at, kept);
    word[kept] = '\0';
    r->at += n;
}

static set read_trait(struct reader *r)
{
    char name[16], value[OMPGPU_UID];
    set s = 0;
    size_t k = 0;
    read_word(r, "(),[]&|!*", name, sizeof name);
    expect(r, "(");
    read_word(r, "(),[]&|!*", value, sizeof value);
    expect(r, ")");
    while (k < sizeof traits / sizeof *traits && strcasecmp(traits[k].name, name))
        k++;
    r->bad |= k == sizeof traits / sizeof *traits;
    for (int i = 0; i < r->n && !r->bad; i++)
        s |= (set)traits[k].has(&r->devices[i], value) << i;
    return s;
}

static set all_of(const struct reader *r) { return r->n == MOST ? ~(set)0 : ((set)1 << r->n) - 1; }

static set read_group(struct reader *);
static set read_term(struct reader *r)
{
    if (r->bad)
        return 0;
    if (accept(r, "!"))
        return all_of(r) & ~read_term(r);
    if (!accept(r, "("))
        return read_trait(r);
    set s = read_group(r);
    expect(r, ")");
    return s;
}

static set read_group(struct reader *r)
{
    set s = read_term(r);
    if (accept(r, "&&"))
        do
            s &= read_term(r);
        while (accept(r, "&&"));
    else
        while (accept(r, "||"))
            s |= read_term(r);
    return s;
}

static int read_number(struct reader *r, int otherwise)
{
    accept(r, "");
    if (!isdigit((unsigned char)*r->at))
        return otherwise;
    char *end;
    long n = strtol(r->at, &end, 10);
    r->at = end;
    return n < MOST ? (int)n : MOST;
}

static set read_part(struct reader *r, set s)
{
    if (!accept(r, "["))
        return s;
    int first = read_number(r, -1), length = 1;
    if (accept(r, ":"))
        length = read_number(r, MOST), first = first < 0 ? 0 : first;
    r->bad |= first < 0;
    expect(r, "]");
    set part = 0;
    for (int i = 0, k = 0; i < r->n; i++)
        if (s >> i & 1) {
            if (k >= first && k - first < length)
                part |= (set)1 << i;
            k++;
        }
    return part;
}

/* ------------------------------------------------------------------ the list */
static int read_list(struct reader *r, int *ordinals)
{
    set taken = 0;
    int n = 0;
    do {
        set s = read_part(r, accept(r, "*") ? all_of(r) : read_group(r)) & ~taken;
        taken |= s;
        for (int i = 0; i < r->n; i++)
            if (s >> i & 1)
                ordinals[n++] = i;
    } while (!r->bad && accept(r, ","));
    accept(r, "");
    r->bad |= *r->at != '\0';
    return n;
}

static int take_all(int n, int *ordinals)
{
    for (int i = 0; i < n; i++)
        ordinals[i] = i;
    return n;
}

int ompgpu_select_devices(const struct ompgpu_plugin *plugin, int n, int *ordinals)
{
    static const char name[] = "OMP_AVAILABLE_DEVICES";
    struct ompgpu_identity devices[MOST] = { 0 };
    const char *value = secure_getenv(name);
    n = n < MOST ? n : MOST;
    if (!value || !*value)
        return take_all(n, ordinals);
    for (int i = 0; i < n; i++)
        if (plugin->identify && plugin->identify(i, &devices[i]))
            ompgpu_say(NULL, "warning", "device %d: %s", i, ompgpu_plugin_message());
    struct reader r = { value, devices, n, false };
    int taken = read_list(&r, ordinals);
    if (!r.bad)
        return taken;
    ompgpu_warn_variable(name, "a list of * and of kind(), isa(), arch(), vendor(), uid() with "
                               "!, && or ||, each with [i] or [first:length]");
    return take_all(n, ordinals);
}
