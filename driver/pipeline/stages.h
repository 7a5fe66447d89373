/* stages.h - the table of stages (stages.c) and what runs it (schedule.c, offload.c). */
#ifndef OMPGPU_DRIVER_STAGES_H
#define OMPGPU_DRIVER_STAGES_H
#include "driver/pipeline/pipeline.h"

enum stage_id {
    NATIVE,
    PREPROCESS,
    CHECK,
    SPLIT,
    LOOK_UP,
    DEVICE_GPU,
    HOST_IR,
    HOST_VERSIONS,
    HOST,
    DEVICE_EMU,
    LOWER_GPU,
    LOWER_EMU,
    PTXAS,
    LINK_EMU,
    PACK,
    ASSEMBLE,
    STAGES
};
#define AFTER(s) (1u << (s))
struct stage {
    const char *name, *doing; /* "preprocessing" …, for messages */
    unsigned after;
    bool (*wanted)(const struct job *); /* asked when the stages before have ended */
    /* processes of this stage; NULL: one */
    unsigned (*count)(const struct job *);
    void (*command)(const struct job *, unsigned, struct proc *);
    int (*inside)(struct job *);         /* instead of a command */
    int (*done)(struct job *, int code); /* what an exit code means; NULL: not 0 is a failure */
};

/* ------------------------------------------------------------------ stages.c */
extern const struct stage drv_stages[STAGES];
/* captured messages of process number `index` of the stage */
const char *drv_stage_err(const struct job *, enum stage_id, unsigned index);
bool drv_has_gpu(const struct job *); /* --gpu-arch= names one */
bool drv_makes_gpu_image(const struct job *);
bool drv_runs_ptxas(const struct job *);
const char *drv_device_level(const struct options *); /* "-O2" */
/* DIR/STEM.sm_90.ptx of the GPU number i, and of the highest one */
const char *drv_arch_file(const struct job *, unsigned i, const char *extension);
const char *drv_highest_ptx(const struct job *);
const char *drv_preprocessed(const struct job *); /* the file; NULL: a device link has none */
void drv_check_command(const struct job *, struct proc *);
void drv_check_text_command(const struct job *, const char *text, struct proc *); /* preprocessed */

/* Device code that ends with its bitcode: the device link goes on with it. */
bool drv_ends_with_bitcode(const struct job *);

/* ------------------------------------------------------------------ regions.c */
/* The records `region` of a device text, lines. */
const char *drv_region_records(const char *device_text);
void drv_report_regions(const struct job *); /* -Rompgpu */

/* ------------------------------------------------------------------ sanitize.c */
bool drv_sanitizes_addresses(const struct options *);
/* For the emulated device. */
void drv_add_sanitizers(struct words *, const struct options *);
void drv_watch_loads(struct words *, const struct options *); /* for the host's clang */

/* ------------------------------------------------------------------ schedule.c */
/* Runs them, with their messages.  An exit code; -1: again, with an older version of OpenMP. */
int drv_run_stages(struct job *);
#endif
