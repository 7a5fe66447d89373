/* pipeline.h - the way of one input file: whether it has target constructs (scan.c), the plain way
 * (compile.c), the offload way (offload.c) as a table of stages (stages.h), and for which devices
 * (archs.c). */
#ifndef OMPGPU_DRIVER_PIPELINE_H
#define OMPGPU_DRIVER_PIPELINE_H
#include "driver/base/protocol.h"
#include "driver/options.h"
#include "driver/run/run.h"
#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------ devices (archs.c) */
enum { MAX_ARCHS = 24 };
struct archs {
    unsigned n;
    unsigned sm[MAX_ARCHS];
    const char *suffix[MAX_ARCHS]; /* 90, "a" */
    bool native, emu, explicit_sm, by_default;
};
/* --gpu-arch=, or what is there without it; an unknown name does not return */
void drv_parse_archs(const struct options *, struct archs *);
void drv_add_archs(const struct options *, struct archs *, const char *names); /* "sm_90,emu" */
/* exists: known to LLVM; an unknown one does not return */
void drv_check_archs(const struct options *, const struct archs *);
void drv_add_arch(struct archs *, unsigned sm, const char *suffix);
const char *drv_arch_name(const struct archs *, unsigned i);
const char *drv_arch_names(const struct archs *); /* "sm_75,sm_90,emu" */

/* ------------------------------------------------------------------ scan (scan.c) */
/* A question about a text, after which there is a nul. */
typedef bool drv_scan(const char *text, size_t size);
drv_scan drv_scan_text; /* may it hold a construct that needs the offload way?  Errs on that side */
drv_scan drv_mentions_omp;                   /* in a word `omp` or `_OPENMP` */
bool drv_scan_macro(const char *definition); /* of the command line: NAME=TEXT */
/* true of a user header that is named in it */
bool drv_scan_depfile(const char *depfile, const char *main_file, drv_scan *);

/* ------------------------------------------------------ compile (compile.c, offload.c) */
struct device_link { /* the files that may take part */
    unsigned n;
    struct proto_member *members;
    const char *regions;     /* their records `region`, lines */
    const char **bitcode[2]; /* files for the GPU and the emulated device */
};
struct side_output {
    const char *name, *written; /* final; while it is written, NULL: by the program that runs */
};
struct job {
    const struct options *opt;
    const struct device_link *device_link; /* instead of a file; NULL: compile */
    const char *level;                     /* of device code, for omp-device: "-O2" */
    bool debug;                            /* of device code */
    bool check;                            /* … of the emulated device */
    const struct arg *input;
    const char *path, *language, *stem;
    const char *input_file;    /* what is read: the path, or the copy of standard input */
    const char *base;          /* DIR/STEM of intermediate files that are kept, or NULL */
    unsigned index;            /* names its directory … */
    const char **dir;          /* … for what is not; NULL: not made yet */
    const char *output;        /* what the user gets, NULL: standard output */
    const char *write_to;      /* output's temporary name */
    struct side_output *sides; /* side_outputs.c */
    bool link;                 /* the object is an intermediate file of a link */
    bool mentions_omp;         /* its own text does: `omp` or `_OPENMP` */
    bool no_targets;           /* omp-split found nothing to do */
    const char *cache_entry;   /* file for this device code in the cache, NULL: not asked */
    bool cached;               /* … was there: the container is X.image */
    struct archs archs;
    struct proto_unit unit; /* once omp-split has ended */
    const char *regions;    /* its records `region`, lines */
};
int drv_compile(struct job *); /* exit code */
int drv_compile_offload(struct job *);
/* Who does not want speed wants mistakes found. */
bool drv_checks(const struct options *);
/* Device code of several files, from bitcode to the object j->output; j->archs, level and debug are
 * set. */
int drv_link_device_code(struct job *);
void drv_dep_args(const struct job *, struct words *);
void drv_remove_depfile(const struct job *);                       /* of a compile that failed */
void drv_clang_headers(const struct options *, struct words *);    /* where omp.h is */
void drv_common_args(const struct options *, struct words *);      /* -fopenmp and its version */
void drv_deprecation_args(const struct options *, struct words *); /* of a C file's messages */
/* the same for the host compiler, which may be gcc */
void drv_host_openmp(const struct options *, struct words *);
void drv_host_headers(const struct options *, struct words *); /* where its omp.h is */
/* … of the messages, for clang */
void drv_message_args(const struct options *, struct words *);
const char *drv_job_dir(const struct job *);  /* in the temporary directory; made when asked for */
const char *drv_job_base(const struct job *); /* DIR/STEM of intermediate files */
const char *drv_job_file(const struct job *, const char *extension);
/* For what one program writes and only we read: in memory, where the system has such files. */
const char *drv_scratch_file(const struct job *, const char *name);
void drv_preprocess(const struct job *, struct proc *); /* the command */
void drv_input(const struct job *, struct proc *);      /* its last words: the file */
bool drv_is_preprocessed(const struct job *);           /* by the user */
/* Parts of the plain way, for a link at once (link/at_once.c). */
bool drv_is_free_of_openmp(struct job *); /* a C file in whose own text there is none */
/* The flags for a list of its headers; its file in *depfile, NULL: none. */
void drv_plain_deps(const struct job *, struct words *, const char **depfile);
bool drv_header_has_targets(const struct job *, const char *depfile);
bool drv_has_openmp(const struct job *,
                    const char *depfile); /* the file or a header of the user's */

/* ------------------------------------------------------------------ cache.c */
const char *drv_cache_dir(void); /* NULL: none */
/* What one command depends on.  `base`: of names that differ in each run. */
void drv_cache_add_command(struct text *key, const struct words *command, const char *base);
const char *drv_cache_entry(const struct text *key);           /* its file */
bool drv_cache_find(const char *entry, const char *container); /* copied to that file */
void drv_cache_store(const char *entry, const char *container);

/* ------------------------------------------------------------------ side_outputs.c */
void drv_side_begin(struct job *);                      /* after write_to is known */
void drv_side_args(const struct job *, struct words *); /* of the host compile */
void drv_side_commit(const struct job *);
/* The optimisation record that clang writes, where it is YAML; NULL: none. */
const char *drv_record_file(const struct job *);
void drv_side_database(const struct job *); /* -MJ */

/* ------------------------------------------------------------------ gcc.c */
bool drv_gcc_text(const struct job *);                      /* gcc preprocesses it */
void drv_gcc_preprocess(const struct job *, struct proc *); /* the command */
void drv_gcc_accepts(struct words *);                       /* for clang as it checks */
void drv_gcc_input(const struct job *, struct words *);     /* of the host compile */

/* ------------------------------------------------------------------ sanitize.c */
void drv_warn_unwatched(const struct options *); /* flags of which one makes the other useless */

/* ------------------------------------------------------------------ clang22.c */
const char *drv_openmp_version(void);          /* "60" */
void drv_newest_openmp(void);                  /* at the start of each file */
bool drv_older_openmp(const struct options *); /* false when there is nothing older to try */
/* Runs clang.  ENDLESS: it hangs on the file, which has been reported, and was ended; REWRITTEN: it
 * was ended, but can compile what omp-split makes of the file. */
enum tool_exit drv_run_watched(const struct job *, struct proc *);
void drv_vla_target(struct words *); /* the target for device text with run-time array bounds */
/* Adds what makes clang see the text that it can check; returns the file to read as standard input,
 * if that is it. */
const char *drv_check_args(const struct job *, struct words *);
const char *drv_check_text(const struct job *, const char *text); /* … of a preprocessed one */
#endif
