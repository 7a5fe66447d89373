/* options.h - the command line: the flag table (flags.def), what it asks for, and its help. */
#ifndef OMPGPU_DRIVER_OPTIONS_H
#define OMPGPU_DRIVER_OPTIONS_H
#include "driver/base/protocol.h"
#include "driver/base/text.h"
#include <stdbool.h>

/* Exit codes of the command. */
enum { EXIT_COMPILE = 1, EXIT_USAGE = 2 };

/* ---------------------------------------------------------------- flags and options (options.c) */
enum flag_kind { PLAIN, JOINED, SEP, EITHER, OPTIONAL, JOINED_SEP };
enum flag_group { OURS, OUTPUT, PREPROCESSOR, CODE, WARNING, LINKING, OTHERS };
enum {
    FOR_PRE = 1,
    FOR_CHECK = 2,
    FOR_SPLIT = 4,
    FOR_NVPTX = 8,
    FOR_EMU = 16,
    FOR_HOST = 32,
    FOR_AS = 64,
    FOR_LINK = 128,
    FOR_INPUT = 256, /* link, and its place among the inputs matters */
    TO_PLAIN = 512,  /* plain way only */
    DEP_OUT = 1024,  /* asks for a dependency file */
    BESIDE = 2048,   /* clang writes more files beside the object */
    FOR_DEPS = 4096, /* about the dependency file */
    BY_GCC = 8192,   /* where the host compiler may be gcc: its preprocessor reads them */
    TO_NONE = 0,
    TO_PP = FOR_PRE | FOR_CHECK,
    TO_CHECK = FOR_CHECK,
    TO_DEPS = FOR_CHECK | FOR_DEPS,
    TO_GEN = FOR_HOST,
    TO_AS = FOR_AS,
    TO_LINK = FOR_LINK,
    TO_INPUT = FOR_INPUT,
    TO_LANG = FOR_PRE | FOR_CHECK | FOR_SPLIT | FOR_NVPTX | FOR_EMU | FOR_HOST,
    TO_HOST = FOR_PRE | FOR_CHECK | FOR_HOST | FOR_LINK,
    TO_MACHINE = FOR_PRE | FOR_CHECK | FOR_SPLIT | FOR_EMU | FOR_HOST | FOR_AS | FOR_LINK,
    TO_OPT = FOR_PRE | FOR_CHECK | FOR_HOST | FOR_LINK,
    TO_DEBUG = FOR_CHECK | FOR_EMU | FOR_HOST | FOR_LINK,
    TO_UNKNOWN = FOR_CHECK | FOR_HOST | FOR_LINK,
};
enum flag_id {
#define FLAG(id, ...) FLAG_##id,
#include "driver/flags.def"
    FLAG_COUNT,
    FLAG_UNKNOWN = FLAG_COUNT,
    FLAG_FILE
};
struct flag {
    const char *spelling;
    size_t length; /* of the spelling */
    enum flag_kind kind;
    unsigned to;
    enum flag_group group;
    const char *argument, *help;
};
extern const struct flag drv_flags[FLAG_COUNT];

struct arg { /* one flag or input of the command line, in order */
    enum flag_id id;
    const char *word, *next; /* as given; next: the separate argument, or NULL */
    const char *value;       /* the argument, joined or separate; of a FLAG_FILE the path */
    const char *language;    /* FLAG_FILE: what -x says, NULL: by extension */
    unsigned to;
};
enum goal {
    GOAL_LINK,
    GOAL_OBJECT,
    GOAL_ASSEMBLY,
    GOAL_CHECK,
    GOAL_EMIT,
    GOAL_CLANG /* preprocess, dependencies, print: clang alone */
};
enum emit { EMIT_NONE, EMIT_TREE, EMIT_DEVICE_C, EMIT_HOST_C, EMIT_IR, EMIT_PTX };
#define WARNING(id, name) WARN_##id,
enum { PROTO_WARNINGS(WARNING) WARN_GENERIC, WARN_FLAGS, OWN_WARNINGS }; /* -Wompgpu-… */
#undef WARNING
struct own_warning { /* what the command line says of one */
    enum { UNSAID, ON, OFF } said;
    enum { BY_WERROR, ALWAYS, NEVER } error;
};
struct options { /* report: -Rompgpu; remarks: -Rompgpu=all */
    struct arg *args;
    unsigned nargs, room, ninputs;
    enum goal goal;
    enum emit emit;
    /* save_dir: "" beside the output */
    const char *output, *gpu_arch, *cuda_path, *host_cc, *save_dir;
    const char *level; /* the last -O: "0" … */
    const char *mode;  /* -fompgpu-mode=; NULL: auto */
    bool gcc;          /* host_cc is gcc */
    struct own_warning warnings[OWN_WARNINGS];
    bool werror, wall, openmp, report, remarks, time, verbose, dry, debug, help, man, completion,
        clangd, version, doctor, save, check;
    /* headers: they are the only inputs */
    bool dep_out, dep_file, dep_target, color, openmp_version, no_link_libs, relocatable, is_static,
        static_ompgpu, headers, shared, beside, uncompressed;
};
bool drv_warns(const struct options *, unsigned warning);
bool drv_warning_is_error(const struct options *, unsigned warning);
void drv_parse(struct options *, int argc, char **argv); /* usage errors do not return */
bool drv_has(const struct options *, enum flag_id);
const char *drv_value(const struct options *, enum flag_id); /* of the last one; NULL: none */
/* The row that fits the word best; FLAG_UNKNOWN. */
enum flag_id drv_find_flag(const char *word);
/* All words but those that are ours or of OpenMP, in the order given; -o where it is wanted. */
void drv_add_users_words(struct words *, const struct options *, bool output);
/* All words of the arguments that go to `to` (any bit), as given. */
void drv_add_args(struct words *, const struct options *, unsigned to);

/* ---------------------------------------------------------------- others' flags (others.c) */
/* What stands for one that is honoured, as words; what there is to say waits for drv_say_others. */
void drv_take_other(const struct arg *, struct words *stands_for);
void drv_say_others(const struct options *); /* refused: does not return */
/* An unknown flag that is nearly one of ours is an error; needs drv_signals(). */
void drv_check_spelling(const struct options *);
/* Flags as rows of a man page's table. */
void drv_print_others(void (*text)(const char *));

/* ------------------------------------------------------------------ help (help.c) */
void drv_print_help(void);
/* --emit=man FILE: the manual page whose text, with marks for the tables, is FILE. */
void drv_print_man(const char *file);
void drv_print_completion(void); /* --emit=completion, for bash */
void drv_print_clangd(void);     /* --emit=clangd: its configuration file */
int drv_print_version(const struct options *);
/* ------------------------------------------------------------------ --doctor (doctor.c) */
int drv_doctor(const struct options *); /* exit code */
#endif
