/* offload.c - a file with target constructs, or a device link, from its flags to its output. */
#include "driver/pipeline/stages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ the output */
static void print_file(const char *text, size_t n)
{
    fwrite(text, 1, n, stdout);
    drv_check_stdout();
}

/* `-o -`, as for clang. */
static bool to_stdout(const struct job *j)
{
    return j->output && !j->link && strcmp(j->output, "-") == 0;
}

/* /dev/null, a pipe: an object cannot grow there. */
static bool to_special_file(const struct job *j)
{
    struct stat st;
    return stat(j->output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static const char *begin_output(const struct job *j)
{
    if (j->opt->dry)
        return j->output;
    return to_stdout(j) || to_special_file(j) ? mem_printf("%s/output", drv_job_dir(j))
                                              : drv_output_begin(j->output);
}

static void finish_output(const struct job *j)
{
    size_t n;
    if (!to_stdout(j) && !to_special_file(j)) {
        drv_output_commit(j->output, j->write_to);
        return;
    }
    const char *text = file_read(j->write_to, &n);
    if (!text)
        diag_fatal(EXIT_COMPILE, "cannot read '%s': %s", j->write_to, strerror(errno));
    if (to_stdout(j))
        print_file(text, n);
    else if (!file_write(j->output, text, n))
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", j->output, strerror(errno));
}

static void copy_result(const struct job *j)
{
    static const char *const extensions[] = { [EMIT_TREE] = "tree",
                                              [EMIT_DEVICE_C] = "device.c",
                                              [EMIT_HOST_C] = "host.c",
                                              [EMIT_IR] = "ll" };
    const char *file = j->opt->emit == EMIT_PTX        ? drv_highest_ptx(j)
                       : j->opt->goal == GOAL_ASSEMBLY ? drv_job_file(j, "s")
                                                       : drv_job_file(j, extensions[j->opt->emit]);
    size_t n;
    const char *text = file_read(file, &n);
    if (!text && j->no_targets)
        diag_fatal(EXIT_COMPILE, "'%s' has no target constructs", j->path);
    if (!text)
        diag_fatal(EXIT_COMPILE, "cannot read '%s': %s", file, strerror(errno));
    if (j->write_to) {
        if (!file_write(j->write_to, text, n))
            diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", j->output, strerror(errno));
    } else {
        print_file(text, n);
    }
}

/* ------------------------------------------------------------------ the file */
/* Flags that cannot be honoured with target constructs; they are not dropped quietly. */
static void refuse(const struct job *j)
{
    const struct options *o = j->opt;
    if (drv_has(o, FLAG_EMIT_LLVM))
        diag_fatal(
            EXIT_USAGE,
            "'-emit-llvm' of a file with target constructs: use --emit=ir for the device's IR");
    if (drv_has(o, FLAG_M32) || drv_has(o, FLAG_MX32))
        diag_fatal(EXIT_USAGE, "target constructs need 64-bit code: remove -m32");
    if (o->emit == EMIT_PTX && !drv_has_gpu(j))
        diag_fatal(EXIT_USAGE, "'--emit=ptx' needs a GPU in '--gpu-arch='");
}

static void notes(const struct job *j)
{
    if (j->archs.explicit_sm && !drv_ptxas(j->opt) && j->opt->emit == EMIT_NONE &&
        drv_makes_gpu_image(j))
        diag_note("no ptxas: '%s' gets PTX only, which the NVIDIA driver compiles when the program "
                  "starts",
                  j->path);
}

/* As drv_run_stages. */
static int run(struct job *j)
{
    if (j->output)
        j->write_to = begin_output(j);
    drv_side_begin(j);
    return drv_run_stages(j);
}

int drv_link_device_code(struct job *j)
{
    int code = run(j);
    if (code == 0)
        drv_output_commit(j->output, j->write_to);
    return code;
}

bool drv_checks(const struct options *o)
{
    bool debugging = o->level ? strcmp(o->level, "0") == 0 || strcmp(o->level, "g") == 0 : o->debug;
    bool asked = debugging || drv_sanitizes_addresses(o);
    return o->check || (asked && !drv_has(o, FLAG_NO_CHECK));
}

int drv_compile_offload(struct job *j)
{
    drv_parse_archs(j->opt, &j->archs);
    drv_check_archs(j->opt, &j->archs);
    refuse(j);
    notes(j);
    j->level = drv_device_level(j->opt);
    j->debug = j->opt->debug;
    j->check = drv_checks(j->opt);
    j->cache_entry = NULL;
    j->cached = false;
    int code = run(j);
    if (code < 0) {
        j->archs = (struct archs){ 0 };
        return drv_compile_offload(j);
    }
    if (code || j->opt->dry)
        return code;
    if (j->no_targets && j->opt->emit == EMIT_NONE)
        return 0;
    if (j->opt->emit || j->opt->goal == GOAL_ASSEMBLY)
        copy_result(j);
    if (j->output && j->opt->goal != GOAL_CHECK)
        finish_output(j);
    if (!j->opt->dry)
        drv_side_commit(j);
    return 0;
}
