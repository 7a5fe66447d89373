/* driver.h - the parts of the command.  The command links neither LLVM nor libclang: it reads
 * flags, decides the way of each file, runs other programs and packs what they wrote.
 *
 * Sections: memory and words | messages | flags and options | processes | temporary files | tools
 * and devices | scan | device images | compile | device link | link | help */
#ifndef OMPGPU_DRIVER_H
#define OMPGPU_DRIVER_H
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/protocol.h"
#include "driver/base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ------------------------------------------------------------------ the way out */
enum { EXIT_COMPILE = 1, EXIT_USAGE = 2 };
/* the only way out: ends the children and removes temporary files */
void drv_exit(int code) __attribute__((noreturn));
double drv_now(void); /* seconds */

/* ---------------------------------------------------------------- flags and options (options.c) */
enum flag_kind { PLAIN, JOINED, SEP, EITHER, OPTIONAL, JOINED_SEP };
enum flag_group { OURS, OUTPUT, PREPROCESSOR, CODE, WARNING, LINKING };
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
    TO_NONE = 0,
    TO_PP = FOR_PRE | FOR_CHECK,
    TO_CHECK = FOR_CHECK,
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
struct options {
    struct arg *args;
    unsigned nargs, room, ninputs;
    enum goal goal;
    enum emit emit;
    /* save_dir: "" beside the output */
    const char *output, *gpu_arch, *cuda_path, *host_cc, *save_dir;
    const char *level; /* the last -O: "0" … */
    const char *mode;  /* -fompgpu-mode=; NULL: auto */
    bool gcc;          /* host_cc is gcc */
    /* whether -Wompgpu-generic is one */
    enum { BY_WERROR, ALWAYS, NEVER } generic_error;
    bool werror, openmp, remarks, warn_generic, time, verbose, dry, debug, help, man, version, save;
    bool dep_out, dep_file, dep_target, color, openmp_version, no_link_libs, relocatable, is_static,
        static_ompgpu, shared, beside;
};
bool drv_generic_is_error(const struct options *);
void drv_parse(struct options *, int argc, char **argv); /* usage errors do not return */
bool drv_has(const struct options *, enum flag_id);
/* All words of the arguments that go to `to` (any bit), as given. */
void drv_add_args(struct words *, const struct options *, unsigned to);

/* ------------------------------------------------------------------ processes (process.c) */
struct proc {
    struct words argv;
    const char *in, *out, *err; /* files for 0, 1, 2; in NULL: /dev/null; out, err NULL: ours */
    bool inherit_in;
    const char *doing; /* for messages: "compiling app.c" */
    void *tag;
    unsigned index;
    pid_t pid;
    double start, seconds;
    int code; /* exit code; -1: ended by `signal` */
    int signal;
    bool timed_out, ended;
    struct proc *next;
};
/* from here on signals wait until drv_proc_wait or drv_exit looks for them */
void drv_signals(void);
void drv_proc_start(struct proc *);
struct proc *drv_proc_wait(void); /* any one that has ended; NULL when none runs */
void drv_proc_kill_all(void);
int drv_proc_run(struct proc *); /* start and wait for this one */
/* from its start on; true: it has ended */
bool drv_proc_wait_for(struct proc *, double seconds);
void drv_proc_kill(struct proc *);
void drv_print_command(const struct words *);
/* "clang crashed (signal 11) while …" and the like; false when the process ended in an orderly way.
 */
bool drv_proc_report(const struct proc *, const char *errors);
/* Prints what a child wrote to its standard error; of a crash without -v, only what comes before
 * the stack. */
void drv_show(const struct options *, const char *file);

/* ------------------------------------------------------------------ temporary files (temp.c) */
const char *drv_temp_dir(void); /* created on first use */
/* A name beside `path` to write to; drv_commit() renames it.  Fails when the directory cannot be
 * written. */
const char *drv_output_begin(const char *path);
void drv_output_commit(const char *path, const char *written);
/* an intermediate file outside the temporary directory */
void drv_output_remove_later(const char *path);
void drv_temp_remove_all(void);

/* ------------------------------------------------------------------ tools and devices (tools.c) */
const char *drv_clang(void); /* full path; an error when there is none */
const char *drv_host_cc(const struct options *);
const char *drv_lib_dir(void); /* …/lib of this tree */
/* …/lib/ompgpu/name; an error when it is missing */
const char *drv_tool(const char *name);
const char *drv_cuda_dir(const struct options *);     /* NULL: none */
const char *drv_ptxas(const struct options *);        /* NULL: none */
const char *drv_libdevice(const struct options *);    /* NULL: none */
const char *drv_cuda_version(const struct options *); /* "13.0" or NULL */
/* the internal option --print-native-arch: "sm_90\n", exit 0; or exit 1 */
int drv_print_native(void);
enum { MAX_ARCHS = 24 };
struct archs {
    unsigned n;
    unsigned sm[MAX_ARCHS];
    const char *suffix[MAX_ARCHS]; /* 90, "a" */
    bool native, emu, explicit_sm, by_default;
};
void drv_parse_archs(const struct options *, struct archs *);
void drv_check_archs(const struct archs *);
void drv_add_arch(struct archs *, unsigned sm, const char *suffix);
bool drv_has_gpu(void); /* a cheap look: is there a driver at all */

/* ------------------------------------------------------------------ scan (scan.c) */
/* True when the text may hold a construct that needs the offload way.  Errs on the side of true. */
bool drv_scan_text(const char *text, size_t size);
/* user headers named in it */
bool drv_scan_depfile(const char *depfile, const char *main_file);

/* ---------------------------------------------------------- what clang does not know (inscan.c) */
struct job;
const char *drv_check_args(const struct job *, struct words *);

/* ------------------------------------------------------------------ device images (container.c) */
struct image_file {
    unsigned kind, arch;
    const char *path;
};
/* from ptxas -v; frames: of all functions */
struct kernel_stats {
    const char *name;
    unsigned registers, shared, stack, frames;
};
struct container { /* what drv_write_container packs */
    const struct image_file *files;
    unsigned nfiles;
    const char *info, *emu_info; /* of omp-device; NULL: none */
    const struct kernel_stats *stats;
    unsigned nstats;
    unsigned flags;             /* OMPGPU_CONTAINER_* */
    const char *options, *file; /* how it was compiled, and the source */
};
struct kernel_stats *drv_read_ptxas(const char *path, unsigned *n);
bool drv_write_container(const char *path, const struct container *);
/* which of n inputs the device link took */
bool *drv_read_members(const char *info, unsigned n);
/* global: the name of a hidden symbol for it; NULL: __ompgpu_image, local. */
bool drv_append_image(const char *assembly, const char *container, bool as_bytes,
                      const char *global);
void drv_remark_ptxas(const char *info, const struct kernel_stats *, unsigned n, const char *arch);

/* ---------------------------------------------------------------- compile (compile.c, stages.c) */
struct device_link { /* the files that may take part */
    unsigned n;
    struct proto_member *members;
    const char **bitcode[2]; /* files for the GPU and the emulated device */
};
struct job {
    const struct options *opt;
    const struct device_link *device_link; /* instead of a file; NULL: compile */
    const char *level;                     /* of device code, for omp-device: "-O2" */
    bool debug;                            /* of device code */
    const struct arg *input;
    const char *path, *language, *stem;
    const char *input_file; /* what is read: the path, or the copy of standard input */
    const char *base;       /* DIR/STEM of intermediate files */
    const char *err_base;   /* DIR/ of captured messages */
    const char *output;     /* what the user gets, NULL: standard output */
    const char *write_to;   /* output's temporary name */
    bool link;              /* the object is an intermediate file of a link */
    bool checked;           /* a plain compile has shown the diagnostics already */
    bool no_targets;        /* omp-split found nothing to do */
    struct archs archs;
    struct proto_unit unit; /* once omp-split has ended */
};
int drv_compile(struct job *); /* exit code */
int drv_compile_offload(struct job *);
/* Device code of several files, from bitcode to the object j->output; j->archs, level and debug are
 * set. */
int drv_link_device_code(struct job *);
const char *drv_arch_names(const struct archs *); /* "sm_75,sm_90,emu" */
void drv_dep_args(const struct job *, struct words *);
void drv_newest_openmp(void);                  /* at the start of each file */
bool drv_older_openmp(const struct options *); /* false when there is nothing older to try */
void drv_common_args(const struct options *, struct words *); /* -fopenmp and its version */
/* the same for the host compiler, which may be gcc */
void drv_host_openmp(const struct options *, struct words *);
const char *drv_job_file(const struct job *, const char *extension);
void drv_preprocess(const struct job *, struct proc *); /* the command */

/* ------------------------------------------------------------------ device link (device_link.c) */
/* After a host link: *object is one more object to link with, when files of the program need device
 * code of each other, else NULL. */
int drv_device_link(const struct options *, const char *linked, const char **object);
int drv_device_link_finish(const char *linked); /* after the second host link */
#define DRV_LINKED_IMAGE "__ompgpu_linked_image"

/* ------------------------------------------------------------------ link (link.c) */
/* objects[i]: the object of the i-th input of the command line, or its own path. */
int drv_link(const struct options *, const char *const *objects);

/* ------------------------------------------------------------------ help (help.c) */
void drv_print_help(void);
void drv_print_man(void);
int drv_print_version(const struct options *);
#endif
