/* run.h - running other programs: their processes, where they are, temporary files, and the way
 * out.  Everything here is for one run of the command, which has one thread. */
#ifndef OMPGPU_DRIVER_RUN_H
#define OMPGPU_DRIVER_RUN_H
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/text.h"
#include "driver/options.h"
#include <stdbool.h>
#include <sys/types.h>

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
    bool silent; /* it has failed without a message */
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
double drv_proc_cpu(const struct proc *); /* seconds; 0 when it has ended */
void drv_proc_kill(struct proc *);
void drv_print_command(const struct words *);
/* "clang crashed (signal 11) while …" and the like, also where it is `silent`; false when the
 * process ended in an orderly way, or has said itself why not. */
bool drv_proc_report(const struct proc *, const char *errors);
/* Prints what a child wrote to its standard error; of a crash, unless all of it is wanted, only
 * what comes before the stack. */
/* whether there was something to show */
bool drv_show(const char *file, bool all);
double drv_now(void); /* seconds */
/* The only way out: ends the children and removes temporary files.  diag_fatal comes here. */
void drv_exit(int code) __attribute__((noreturn));
/* An error, and the way out, where it does not take what was printed. */
void drv_check_stdout(void);

/* ------------------------------------------------------------------ temporary files (temp.c) */
const char *drv_temp_dir(void);      /* created on first use */
void drv_make_dir(const char *path); /* unless it is there */
/* For what one program writes and only we read; NULL: the system has no files in memory. */
const char *drv_memory_file(const char *name);
/* … or in the temporary directory then. */
const char *drv_answer_file(const char *name);
/* After a failure that the process has said nothing of, or whose message may mislead: says so where
 * files of some size cannot be written there. */
bool drv_temp_report(const struct proc *);
/* A name beside `path` to write to; drv_commit() renames it.  Fails when the directory cannot be
 * written. */
const char *drv_output_begin(const char *path);
void drv_output_commit(const char *path, const char *written);
/* an intermediate file outside the temporary directory */
void drv_output_remove_later(const char *path);
void drv_temp_remove_all(void);

/* ------------------------------------------------------------------ tools (tools.c) */
const char *drv_clang(void);
const char *drv_find_clang(void); /* NULL: none */
void drv_check_clang(void);       /* that OMPGPU_CLANG names one of our version */
/* full path; an error when there is none */
const char *drv_host_cc(const struct options *);
/* A file of the host compiler's, as its -print-file-name= says; NULL: it has none. */
const char *drv_host_file(const struct options *, const char *name);
const char *drv_command(void); /* …/bin/ompgpu-cc, the file itself */
const char *drv_lib_dir(void); /* …/lib of this tree */
/* …/lib/ompgpu/name; an error when it is missing */
const char *drv_tool(const char *name);
const char *drv_ptxas(const struct options *);        /* NULL: none */
const char *drv_libdevice(const struct options *);    /* NULL: none */
const char *drv_cuda_version(const struct options *); /* "13.0" or NULL */
#endif
