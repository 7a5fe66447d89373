/* sanitize.c - -fsanitize in code of the emulated device.
 *
 * `address` stands for -fompgpu-check, which knows device memory.  What belongs to `undefined` is
 * clang's, as instructions that trap, since the run-time library of clang is the host's; the plugin
 * says what they mean (hostrt/emu/fault.c).  Others are for the host part only, and so is all of it
 * on a GPU. */
#include "driver/pipeline/stages.h"
#include <string.h>

/* Without what takes each call of a function for one of C++. */
static const char *const undefined[] = { "undefined",
                                         "alignment",
                                         "array-bounds",
                                         "bool",
                                         "bounds",
                                         "builtin",
                                         "enum",
                                         "float-cast-overflow",
                                         "float-divide-by-zero",
                                         "integer-divide-by-zero",
                                         "nonnull-attribute",
                                         "null",
                                         "pointer-overflow",
                                         "return",
                                         "returns-nonnull-attribute",
                                         "shift",
                                         "shift-base",
                                         "shift-exponent",
                                         "signed-integer-overflow",
                                         "unreachable",
                                         "vla-bound" };

static bool is_undefined(const char *name, size_t n)
{
    for (unsigned i = 0; i < sizeof undefined / sizeof *undefined; i++)
        if (strlen(undefined[i]) == n && !memcmp(undefined[i], name, n))
            return true;
    return false;
}

/* What follows `=` in -fsanitize= or -fno-sanitize=; NULL: it is another argument. */
static const char *list_of(const struct arg *a, const char *prefix)
{
    return text_starts(a->word, prefix) ? a->word + strlen(prefix) : NULL;
}
static const char on[] = "-fsanitize=", off[] = "-fno-sanitize=";

static bool names(const char *list, const char *name)
{
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if ((strlen(name) == n && !memcmp(list, name, n)) || (n == 3 && !memcmp(list, "all", n)))
            return true;
    }
    return false;
}

bool drv_sanitizes_addresses(const struct options *o)
{
    bool is = false;
    for (unsigned i = 0; i < o->nargs; i++) {
        is |= names(list_of(&o->args[i], on), "address");
        is &= !names(list_of(&o->args[i], off), "address");
    }
    return is;
}

static bool add_list(struct words *w, const char *prefix, const char *list)
{
    bool any = false;
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (!is_undefined(list, n))
            continue;
        words_add(w, mem_printf("%s%.*s", prefix, (int)n, list));
        any = true;
    }
    return any;
}

void drv_add_sanitizers(struct words *w, const struct options *o)
{
    bool any = false;
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (names(list_of(a, off), "all"))
            words_add(w, a->word);
        any |= add_list(w, on, list_of(a, on));
        add_list(w, off, list_of(a, off));
    }
    if (any)
        WORDS_ADD(w, "-fno-sanitize=function", "-fsanitize-trap=all", "-fno-sanitize-merge");
}

/* The libraries of sanitizers have functions of these names, too. */
void drv_warn_unwatched(const struct options *o)
{
    const char *list = NULL;
    bool traps = false;
    for (unsigned i = 0; i < o->nargs && drv_has(o, FLAG_CHECK_HOST); i++) {
        const char *one = list_of(&o->args[i], on);
        list = one && *one ? one : list;
        traps |= text_starts(o->args[i].word, "-fsanitize-trap");
    }
    if (list && !traps)
        diag_warning("'-fompgpu-check-host' does not see what the host reads with '-fsanitize=%s': "
                     "use one at a time",
                     list);
}

/* Calls of functions of ours (hostrt/core/reads.c), and nothing else of coverage. */
void drv_watch_loads(struct words *w, const struct options *o)
{
    if (drv_has(o, FLAG_CHECK_HOST))
        words_add(w, "-fsanitize-coverage=func,trace-loads,trace-stores");
}
