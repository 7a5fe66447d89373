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
    [FLAG_##id] = { spelling, kind, to, group, argument, help },
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
    size_t n = strlen(f->spelling);
    if (strncmp(word, f->spelling, n) != 0)
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

static enum flag_id find_flag(const char *word)
{
    enum flag_id best = FLAG_UNKNOWN;
    size_t length = 0;
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        size_t n = strlen(drv_flags[i].spelling);
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
    struct arg a = { .id = find_flag(word), .word = word, .to = TO_UNKNOWN };
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
    { FLAG_PRINT, GOAL_CLANG }, { FLAG_PRINT2, GOAL_CLANG },
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

bool drv_generic_is_error(const struct options *o)
{
    return o->generic_error == ALWAYS || (o->generic_error == BY_WERROR && o->werror);
}

static void set_mode(struct options *o, const char *mode)
{
    if (strcmp(mode, "auto") != 0 && strcmp(mode, "generic") != 0 && strcmp(mode, "spmd") != 0)
        diag_fatal(EXIT_USAGE,
                   "unknown mode '%s' in '-fompgpu-mode='; known are auto, generic, spmd", mode);
    o->mode = mode;
}

static bool is_gcc(const char *command)
{
    const char *base = path_base(command);
    return !strstr(base, "clang") && (strstr(base, "gcc") || strcmp(base, "cc") == 0);
}

/* -Xopenmp-target -march=sm_80, as programs for clang's own offloading say it. */
static void set_clang_arch(struct options *o, const char *value)
{
    if (text_starts(value, "-march=sm_"))
        o->gpu_arch = value + 7;
}

/* Flags that say yes or no; the last of several counts. */
static const struct {
    enum flag_id id;
    bool value;
    size_t member; /* of struct options */
} switches[] = {
#define ON(id, member) { FLAG_##id, true, offsetof(struct options, member) }
#define OFF(id, member) { FLAG_##id, false, offsetof(struct options, member) }
    ON(RPASS, remarks),
    ON(WGENERIC, warn_generic),
    ON(WERROR_GENERIC, warn_generic),
    OFF(WNO_GENERIC, warn_generic),
    OFF(W_PLAIN, warn_generic),
    ON(TIME, time),
    ON(V, verbose),
    ON(HASHES, verbose),
    ON(HASHES, dry),
    ON(HELP, help),
    ON(VERSION, version),
    ON(G, debug),
    OFF(G0, debug),
    ON(FOPENMP, openmp),
    ON(FOPENMP_EQ, openmp),
    OFF(FNO_OPENMP, openmp),
    ON(FOPENMP_VERSION, openmp_version),
    ON(MF, dep_file),
    ON(MT, dep_target),
    ON(MQ, dep_target),
    ON(FCOLOR, color),
    ON(FNO_COLOR, color),
    ON(FDIAG, color),
    ON(FNO_DIAG, color),
    ON(NOSTDLIB, no_link_libs),
    ON(NODEFAULTLIBS, no_link_libs),
    ON(RELOCATABLE, no_link_libs),
    ON(RELOCATABLE, relocatable),
    ON(STATIC, is_static),
    ON(STATIC_PIE, is_static),
    ON(STATIC_OMPGPU, static_ompgpu),
    ON(SHARED, shared),
#undef ON
#undef OFF
};

static void set_switches(struct options *o, enum flag_id id)
{
    for (unsigned i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].id == id)
            *(bool *)((char *)o + switches[i].member) = switches[i].value;
}

static void set_warning(struct options *o, const char *name)
{
    o->warn_generic |= strcmp(name, "all") == 0;
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
    case FLAG_XOPENMP_TARGET:
    case FLAG_XOPENMP_TARGET_EQ: set_clang_arch(o, a->value); break;
    case FLAG_CUDA_PATH: o->cuda_path = a->value; break;
    case FLAG_HOST_CC:
        o->host_cc = a->value;
        o->gcc = is_gcc(a->value);
        break;
    case FLAG_WERROR_GENERIC: o->generic_error = ALWAYS; break;
    case FLAG_WNO_ERROR_GENERIC: o->generic_error = NEVER; break;
    case FLAG_W_REST: set_warning(o, a->value); break;
    case FLAG_MODE: set_mode(o, a->value); break;
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

void drv_parse(struct options *o, int argc, char **argv)
{
    struct words w = { 0 };
    for (int i = 1; i < argc; i++)
        expand(&w, argv[i], 0);
    const char *language = NULL;
    bool only_files = false;
    o->openmp = true;
    for (unsigned i = 0; i < w.n; i++) {
        const char *word = w.v[i];
        if (only_files || word[0] != '-' || !word[1]) {
            add_input(o, word, language);
        } else if (strcmp(word, "--") == 0) {
            only_files = true;
        } else if (strcmp(word, "--emit=man") == 0) {
            o->man = true;
        } else {
            read_flag(o, &w, &i);
            const struct arg *a = &o->args[o->nargs - 1];
            if (a->id == FLAG_X)
                language = strcmp(a->value, "none") == 0 ? NULL : a->value;
            o->ninputs += a->to == TO_INPUT; /* clang runs the linker for these alone */
            act(o, a);
            set_goal(o, a);
        }
    }
    route_includes(o);
    if (o->goal < GOAL_EMIT && only_headers(o))
        o->goal = GOAL_CLANG;
}

bool drv_has(const struct options *o, enum flag_id id)
{
    for (unsigned i = 0; i < o->nargs; i++)
        if (o->args[i].id == id)
            return true;
    return false;
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

void drv_add_args(struct words *w, const struct options *o, unsigned to)
{
    bool to_gcc = o->gcc && !(to & (FOR_PRE | FOR_CHECK | FOR_SPLIT | FOR_NVPTX | FOR_EMU));
    for (unsigned i = 0; i < o->nargs; i++) {
        const struct arg *a = &o->args[i];
        if (is_fast_level(o, a, to))
            words_add(w, "-ffast-math");
        if (!(a->to & to) || a->id == FLAG_FILE || (to_gcc && only_clang(a->id)))
            continue;
        words_add(w, a->word);
        if (a->next)
            words_add(w, a->next);
    }
}
