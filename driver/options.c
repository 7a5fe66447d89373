/* options.c - from the command line to struct options.  What a flag looks like is in flags.def;
 * what it does here is in actions[]. */
#include "driver/options.h"
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NULL_ARG NULL
const struct flag drv_flags[FLAG_COUNT] = {
#define FLAG(id, spelling, kind, to, group, argument, help)                                        \
    [FLAG_##id] = { spelling, sizeof spelling - 1, kind, to, group, argument, help },
#include "driver/flags.def"
};

/* ------------------------------------------------------------------ response files */
/* One word of a @file: blanks separate, quotes and backslashes protect, as in gcc. */
static char *response_word(const char **p)
{
    while (isspace((unsigned char)**p))
        ++*p;
    if (!**p)
        return NULL;
    char *word = mem_alloc(strlen(*p) + 1), *to = word, quote = 0;
    for (; **p && (quote || !isspace((unsigned char)**p)); ++*p) {
        char c = **p;
        if (c == '\\' && (*p)[1])
            *to++ = *++*p;
        else if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else
            *to++ = c;
    }
    return word;
}

static void expand(struct words *out, const char *word, int depth)
{
    char *text = word[0] == '@' && word[1] ? file_read(word + 1, NULL) : NULL;
    if (!text) { /* as gcc: a file that cannot be read leaves the word as it is */
        words_add(out, word);
        return;
    }
    if (depth == 20)
        diag_fatal(EXIT_USAGE, "'%s': response files are nested too deeply", word);
    const char *p = text;
    for (char *w; (w = response_word(&p));)
        expand(out, w, depth + 1);
}

/* ------------------------------------------------------------------ one word */
static bool fits(const struct flag *f, const char *word)
{
    size_t n = f->length;
    if (word[1] != f->spelling[1] || strncmp(word, f->spelling, n) != 0)
        return false;
    switch (f->kind) {
    case PLAIN:
    case SEP: return word[n] == 0;
    /* ours without a value are not left to clang */
    case JOINED:
    case JOINED_SEP: return word[n] != 0 || f->group == OURS;
    case EITHER:
    case OPTIONAL: return true;
    }
    return false;
}

enum flag_id drv_find_flag(const char *word)
{
    enum flag_id best = FLAG_UNKNOWN;
    size_t length = 0;
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        size_t n = drv_flags[i].length;
        if (n > length && fits(&drv_flags[i], word)) {
            best = (enum flag_id)i;
            length = n;
        }
    }
    return best;
}

static void add_arg(struct options *o, struct arg a)
{
    if (o->nargs == o->room)
        o->args = arena_grow(NULL, o->args, &o->room, sizeof *o->args);
    o->args[o->nargs++] = a;
}

static void read_flag(struct options *o, const struct words *w, unsigned *i)
{
    const char *word = w->v[*i];
    struct arg a = { .id = drv_find_flag(word), .word = word, .to = TO_UNKNOWN };
    if (a.id != FLAG_UNKNOWN) {
        const struct flag *f = &drv_flags[a.id];
        size_t n = strlen(f->spelling);
        a.to = f->to;
        if (f->kind != PLAIN)
            a.value = word + n;
        if (f->kind == JOINED && !word[n])
            diag_fatal(EXIT_USAGE, "argument to '%s' is missing", word);
        if (f->kind == SEP || f->kind == JOINED_SEP || (f->kind == EITHER && !word[n])) {
            if (*i + 1 >= w->n)
                diag_fatal(EXIT_USAGE, "argument to '%s' is missing", word);
            a.value = a.next = w->v[++*i];
        }
    }
    add_arg(o, a);
}

/* ------------------------------------------------------------------ what flags do here */
static const struct {
    enum flag_id id;
    enum goal goal;
} goals[] = {
    { FLAG_C, GOAL_OBJECT },    { FLAG_S, GOAL_ASSEMBLY },        { FLAG_SYNTAX_ONLY, GOAL_CHECK },
    { FLAG_EMIT, GOAL_EMIT },   { FLAG_E, GOAL_CLANG },           { FLAG_M, GOAL_CLANG },
    { FLAG_MM, GOAL_CLANG },    { FLAG_DUMPVERSION, GOAL_CLANG }, { FLAG_DUMPMACHINE, GOAL_CLANG },
    { FLAG_PRINT, GOAL_CLANG }, { FLAG_PRINT2, GOAL_CLANG },      { FLAG_ANALYZE, GOAL_CLANG },
};
static const char *const emit_names[] = { [EMIT_TREE] = "omp-tree",
                                          [EMIT_DEVICE_C] = "device-c",
                                          [EMIT_HOST_C] = "host-c",
                                          [EMIT_IR] = "ir",
                                          [EMIT_PTX] = "ptx" };

static void set_emit(struct options *o, const char *kind)
{
    for (unsigned i = EMIT_TREE; i <= EMIT_PTX; i++)
        if (strcmp(kind, emit_names[i]) == 0) {
            o->emit = (enum emit)i;
            return;
        }
    diag_fatal(EXIT_USAGE,
               "unknown kind '%s' in '--emit='; known are omp-tree, device-c, host-c, ir, ptx",
               kind);
}

static void set_save(struct options *o, const char *value)
{
    o->save = true;
    o->save_dir = !value || strcmp(value, "cwd") == 0 ? "."
                  : strcmp(value, "obj") == 0         ? ""
                                                      : value;
}

/* ------------------------------------------------------------------ our own warnings */
static const struct {
    enum flag_id id;
    unsigned warning;
    struct own_warning says;
} warning_flags[] = {
#define ROWS(id, name)                                                                             \
    { FLAG_W##id, WARN_##id, { .said = ON } }, { FLAG_WNO_##id, WARN_##id, { .said = OFF } },      \
        { FLAG_WERROR_##id, WARN_##id, { ON, ALWAYS } },                                           \
        { FLAG_WNO_ERROR_##id, WARN_##id, { .error = NEVER } },
    PROTO_WARNINGS(ROWS) ROWS(GENERIC, ) ROWS(FLAGS, )
#undef ROWS
};

static void set_own_warning(struct options *o, enum flag_id id)
{
    for (unsigned i = 0; i < sizeof warning_flags / sizeof *warning_flags; i++) {
        struct own_warning *w = &o->warnings[warning_flags[i].warning], n = warning_flags[i].says;
        if (warning_flags[i].id != id)
            continue;
        w->said = n.said ? n.said : w->said;
        w->error = n.error ? n.error : w->error;
    }
}

/* What says so by name counts, wherever -Wall stands. */
bool drv_warns(const struct options *o, unsigned warning)
{
    const struct own_warning *w = &o->warnings[warning];
    if (drv_has(o, FLAG_W_PLAIN))
        return false;
    return w->said ? w->said == ON : warning == WARN_FLAGS || o->wall;
}

bool drv_warning_is_error(const struct options *o, unsigned warning)
{
    const struct own_warning *w = &o->warnings[warning];
    return w->error == ALWAYS || (w->error == BY_WERROR && o->werror);
}

static void set_mode(struct options *o, const char *mode)
{
    if (strcmp(mode, "auto") != 0 && strcmp(mode, "generic") != 0 && strcmp(mode, "spmd") != 0)
        diag_fatal(EXIT_USAGE,
                   "unknown mode '%s' in '-fompgpu-mode='; known are auto, generic, spmd", mode);
    o->mode = mode;
}

static void check_long_double(const char *stands_for)
{
    if (strcmp(stands_for, "double") != 0)
        diag_fatal(EXIT_USAGE, "unknown type '%s' in '-fompgpu-long-double='; known is double",
                   stands_for);
}

static void set_remarks(struct options *o, const char *which)
{
    if (strcmp(which, "all") != 0)
        diag_fatal(EXIT_USAGE, "unknown '%s' in '-Rompgpu='; known is all", which);
    o->report = o->remarks = true;
}

static bool is_gcc(const char *command)
{
    const char *base = path_base(command);
    return !strstr(base, "clang") && (strstr(base, "gcc") || strcmp(base, "cc") == 0);
}

/* Flags that say yes or no; the last of several counts. */
static const struct {
    enum flag_id id;
    bool value;
    size_t member; /* of struct options */
} switches[] = {
#define YES(id, member) { FLAG_##id, true, offsetof(struct options, member) }
#define NO(id, member) { FLAG_##id, false, offsetof(struct options, member) }
    YES(RPASS, report),
    YES(CHECK, check),
    YES(CHECK_HOST, check),
    NO(NO_CHECK, check),
    YES(TIME, time),
    YES(V, verbose),
    YES(HASHES, verbose),
    YES(HASHES, dry),
    YES(HELP, help),
    YES(HELP2, help),
    YES(VERSION, version),
    YES(DOCTOR, doctor),
    YES(G, debug),
    NO(G0, debug),
    YES(FOPENMP, openmp),
    YES(FOPENMP_EQ, openmp),
    NO(FNO_OPENMP, openmp),
    YES(FOPENMP_VERSION, openmp_version),
    YES(MF, dep_file),
    YES(MT, dep_target),
    YES(MQ, dep_target),
    YES(FCOLOR, color),
    YES(FNO_COLOR, color),
    YES(FDIAG, color),
    YES(FNO_DIAG, color),
    YES(NOSTDLIB, no_link_libs),
    YES(NODEFAULTLIBS, no_link_libs),
    YES(RELOCATABLE, no_link_libs),
    YES(RELOCATABLE, relocatable),
    YES(STATIC, is_static),
    YES(STATIC_PIE, is_static),
    YES(STATIC_OMPGPU, static_ompgpu),
    YES(SHARED, shared),
    YES(NO_OFFLOAD_COMPRESS, uncompressed),
    NO(OFFLOAD_COMPRESS, uncompressed),
#undef YES
#undef NO
};

static void set_switches(struct options *o, enum flag_id id)
{
    for (unsigned i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].id == id)
            *(bool *)((char *)o + switches[i].member) = switches[i].value;
}

static void set_warning(struct options *o, const char *name)
{
    o->wall |= strcmp(name, "all") == 0;
    if (strcmp(name, "error") == 0 || strcmp(name, "no-error") == 0)
        o->werror = *name == 'e';
}

static void act(struct options *o, const struct arg *a)
{
    switch (a->id) {
    case FLAG_GPU_ARCH:
    case FLAG_OFFLOAD_ARCH:
        o->gpu_arch = o->gpu_arch ? mem_printf("%s,%s", o->gpu_arch, a->value) : a->value;
        break;
    case FLAG_CUDA_PATH: o->cuda_path = a->value; break;
    case FLAG_HOST_CC:
        o->host_cc = a->value;
        o->gcc = is_gcc(a->value);
        break;
    case FLAG_W_REST: set_warning(o, a->value); break;
    case FLAG_MODE: set_mode(o, a->value); break;
    case FLAG_LONG_DOUBLE: check_long_double(a->value); break;
    case FLAG_RPASS_EQ: set_remarks(o, a->value); break;
    case FLAG_EMIT: set_emit(o, a->value); break;
    case FLAG_O: o->output = a->value; break;
    case FLAG_SAVE_TEMPS:
    case FLAG_SAVE_TEMPS2: set_save(o, NULL); break;
    case FLAG_SAVE_TEMPS_EQ:
    case FLAG_SAVE_TEMPS2_EQ: set_save(o, a->value); break;
    case FLAG_OPT: o->level = *a->value ? a->value : "1"; break;
    case FLAG_WP_M: o->dep_file = strchr(a->value, ',') != NULL; break;
    default: break;
    }
    set_switches(o, a->id);
    set_own_warning(o, a->id);
    o->dep_out |= (a->to & DEP_OUT) != 0;
    o->beside |= (a->to & BESIDE) != 0;
}

static void set_goal(struct options *o, const struct arg *a)
{
    for (unsigned i = 0; i < sizeof goals / sizeof *goals; i++)
        if (goals[i].id == a->id && goals[i].goal > o->goal)
            o->goal = goals[i].goal;
}

/* ------------------------------------------------------------------ the whole */
/* Headers alone are precompiled, by clang: there are no regions in what it makes of them. */
static bool only_headers(const struct options *o)
{
    unsigned headers = 0;
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (a->id != FLAG_FILE)
            continue;
        if (a->language ? strcmp(a->language, "c-header") != 0 : !text_ends(a->value, ".h"))
            return false;
        headers++;
    }
    return headers > 0;
}

/* `-Xclang -include-pch -Xclang FILE`, as CMake writes it: what adds text is for the preprocessor,
 * not for the stages that compile preprocessed text. */
static void route_includes(struct options *o)
{
    for (unsigned i = 0; i + 1 < o->nargs; i++) {
        struct arg *a = &o->args[i];
        if (a[0].id == FLAG_XCLANG && a[1].id == FLAG_XCLANG &&
            (strcmp(a->value, "-include") == 0 || strcmp(a->value, "-include-pch") == 0))
            a[0].to = a[1].to = TO_PP;
    }
}

static void add_input(struct options *o, const char *path, const char *language)
{
    add_arg(
        o,
        (struct arg){
            .id = FLAG_FILE, .word = path, .value = path, .language = language, .to = FOR_INPUT });
    o->ninputs++;
}

struct parsing {
    struct options *o;
    const char *language;
    bool only_files;
};

static void read_word(struct parsing *, const struct words *, unsigned *i);

static void read_words(struct parsing *p, const struct words *w)
{
    for (unsigned i = 0; i < w->n; i++)
        read_word(p, w, &i);
}

static void read_known(struct parsing *p, const struct words *w, unsigned *i)
{
    struct options *o = p->o;
    struct words stands_for = { 0 };
    read_flag(o, w, i);
    const struct arg *a = &o->args[o->nargs - 1];
    if (a->id == FLAG_X)
        p->language = strcmp(a->value, "none") == 0 ? NULL : a->value;
    o->ninputs += a->to == TO_INPUT; /* clang runs the linker for these alone */
    act(o, a);
    set_goal(o, a);
    if (a->id < FLAG_COUNT && drv_flags[a->id].group == OTHERS)
        drv_take_other(a, &stands_for);
    read_words(p, &stands_for);
}

static void read_word(struct parsing *p, const struct words *w, unsigned *i)
{
    const char *word = w->v[*i];
    if (!*word)
        return; /* as clang: what an empty variable of a makefile leaves in quotes */
    if (p->only_files || word[0] != '-' || !word[1])
        add_input(p->o, word, p->language);
    else if (strcmp(word, "--") == 0)
        p->only_files = true;
    else if (strcmp(word, "--emit=man") == 0)
        p->o->man = true;
    else if (strcmp(word, "--emit=completion") == 0)
        p->o->completion = true;
    else if (strcmp(word, "--emit=clangd") == 0)
        p->o->clangd = true;
    else
        read_known(p, w, i);
}

void drv_parse(struct options *o, int argc, char **argv)
{
    struct words w = { 0 };
    struct parsing p = { .o = o };
    for (int i = 1; i < argc; i++)
        expand(&w, argv[i], 0);
    o->openmp = true;
    read_words(&p, &w);
    drv_say_others(o);
    route_includes(o);
    if (o->gcc && drv_has(o, FLAG_CHECK_HOST))
        diag_fatal(EXIT_USAGE, "'-fompgpu-check-host' needs clang as the host's compiler");
    o->headers = only_headers(o);
    if (o->goal < GOAL_EMIT && o->headers)
        o->goal = GOAL_CLANG;
}

bool drv_has(const struct options *o, enum flag_id id)
{
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == id)
            return true;
    return false;
}

const char *drv_value(const struct options *o, enum flag_id id)
{
    const char *value = NULL;
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == id)
            value = o->args[i].value;
    return value;
}

/* gcc as the host compiler does not know clang's own flags. */
static bool only_clang(enum flag_id id)
{
    return id == FLAG_XCLANG || id == FLAG_MLLVM || id == FLAG_FOPENMP_VERSION ||
           id == FLAG_FOPENMP_EQ || id == FLAG_FOPENMP_REST || id == FLAG_FNO_OPENMP_REST;
}

/* Device code is compiled at a level of its own (pipeline/stages.c), but what -Ofast says of
 * floating-point numbers holds there, too. */
static bool is_fast_level(const struct options *o, const struct arg *a, unsigned to)
{
    return (to & (FOR_NVPTX | FOR_EMU)) && a->id == FLAG_OPT && strcmp(a->value, "fast") == 0 &&
           strcmp(o->level, "fast") == 0;
}

static void add_words(struct words *w, const struct arg *a)
{
    words_add(w, a->word);
    if (a->next)
        words_add(w, a->next);
}

void drv_add_users_words(struct words *w, const struct options *o, bool output)
{
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        enum flag_group group = a->id < FLAG_COUNT ? drv_flags[a->id].group : OUTPUT;
        bool ours = group == OURS || group == OTHERS || a->id == FLAG_FOPENMP;
        if (!ours && (output || a->id != FLAG_O))
            add_words(w, a);
    }
}

void drv_add_args(struct words *w, const struct options *o, unsigned to)
{
    const unsigned clangs = FOR_PRE | FOR_CHECK | FOR_SPLIT | FOR_NVPTX | FOR_EMU;
    bool to_gcc = o->gcc && ((to & BY_GCC) || !(to & clangs));
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (is_fast_level(o, a, to))
            words_add(w, "-ffast-math");
        if (!(a->to & to) || a->id == FLAG_FILE || (to_gcc && only_clang(a->id)))
            continue;
        add_words(w, a);
    }
}
