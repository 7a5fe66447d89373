/* archs.c - which devices to compile for: --gpu-arch=, and the GPU of this machine. */
#include "driver/pipeline/pipeline.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the machine's own GPU */
/* A cheap look: is there a driver at all? */
static bool has_gpu(void)
{
    static enum { UNKNOWN, NO, YES } answer;
    struct proc p = { .err = "/dev/null", .doing = "looking for a GPU" };
    if (answer == UNKNOWN) {
        WORDS_ADD(&p.argv, drv_tool("omp-machine"), "--library", "libcuda.so.1");
        answer = drv_proc_run(&p) == 0 ? YES : NO;
    }
    return answer == YES;
}

/* ------------------------------------------------------------------ --gpu-arch= */
void drv_add_arch(struct archs *a, unsigned sm, const char *suffix)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->sm[i] == sm && strcmp(a->suffix[i], suffix) == 0)
            return;
    if (a->n == MAX_ARCHS)
        diag_fatal(EXIT_USAGE, "more than %d GPUs in '--gpu-arch='", MAX_ARCHS);
    a->sm[a->n] = sm;
    a->suffix[a->n++] = suffix;
}

const char *drv_arch_name(const struct archs *a, unsigned i)
{
    return mem_printf("sm_%u%s", a->sm[i], a->suffix[i]);
}

const char *drv_arch_names(const struct archs *a)
{
    struct text t = { 0 };
    for (unsigned i = 0; i < a->n; i++)
        text_printf(&t, "%s%s", i ? "," : "", drv_arch_name(a, i));
    if (a->emu)
        text_printf(&t, "%semu", a->n ? "," : "");
    return t.s ? t.s : "";
}

/* The names that omp-device prints. */
static struct words known_archs(void)
{
    const char *out = drv_answer_file("archs");
    struct proc p = { .out = out, .doing = "listing the GPUs it knows" };
    WORDS_ADD(&p.argv, drv_tool("omp-device"), "--print-archs");
    if (drv_proc_run(&p) != 0)
        diag_fatal(EXIT_COMPILE, "omp-device --print-archs failed");
    char *text = file_read(out, NULL);
    if (!text)
        diag_fatal(EXIT_COMPILE, "cannot read '%s': %s", out, strerror(errno));
    struct words names = { 0 };
    for (char *name = strtok_r(text, " \n", &text); name; name = strtok_r(NULL, " \n", &text))
        words_add(&names, name);
    return names;
}

static bool is_one_of(const char *const *list, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* It assembles a text without code; without a ptxas, nothing is known against a name. */
static bool ptxas_knows(const struct options *o, const char *name)
{
    const char *ptxas = drv_ptxas(o), *text = mem_printf("%s/empty.ptx", drv_temp_dir());
    static const char empty[] = ".version 7.3\n.target sm_70\n.address_size 64\n";
    if (!ptxas || !file_write(text, empty, sizeof empty - 1))
        return true;
    struct proc p = { .out = "/dev/null", .err = "/dev/null", .doing = "asking for a GPU" };
    WORDS_ADD(&p.argv, ptxas, mem_printf("-arch=%s", name), text, "-o",
              mem_printf("%s/empty.cubin", drv_temp_dir()));
    return drv_proc_run(&p) == 0;
}

static _Noreturn void unknown_arch(const struct options *o, const char *name)
{
    struct words known = known_archs();
    struct text list = { 0 };
    for (unsigned i = 0; i < known.n; i++)
        if (ptxas_knows(o, known.v[i]))
            text_printf(&list, "%s%s", list.n ? " " : "", known.v[i]);
    diag_fatal(EXIT_USAGE, "unknown GPU '%s' in '--gpu-arch='; known are %s, native and emu", name,
               list.s ? list.s : "");
}

static void add_device(const struct options *o, struct archs *a, const char *name)
{
    char *end;
    if (strcmp(name, "emu") == 0)
        a->emu = true;
    else if (strcmp(name, "native") == 0)
        a->native = true;
    else {
        unsigned long sm = text_starts(name, "sm_") ? strtoul(name + 3, &end, 10) : 0;
        if (!sm || sm > 999 || (*end && strcmp(end, "a") != 0 && strcmp(end, "f") != 0))
            unknown_arch(o, name);
        drv_add_arch(a, (unsigned)sm, mem_strndup(end, strlen(end)));
        a->explicit_sm = true;
    }
}

void drv_add_archs(const struct options *o, struct archs *a, const char *names)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        if (n)
            add_device(o, a, mem_strndup(p, n));
        p += n + (p[n] == ',');
    }
}

/* Only what is not even a number is refused here; drv_check_archs looks at the others. */
void drv_parse_archs(const struct options *o, struct archs *a)
{
    if (o->gpu_arch) {
        drv_add_archs(o, a, o->gpu_arch);
        if (!a->n && !a->native && !a->emu)
            diag_fatal(EXIT_USAGE, "'--gpu-arch=' names no device");
        return;
    }
    a->by_default = true;
    a->native = has_gpu();
    if (!a->native) {
        drv_add_arch(a, 75, "");
        a->emu = true;
    }
}

/* What LLVM and ptxas both know is known here; anything else is looked up. */
void drv_check_archs(const struct options *o, const struct archs *a)
{
    static const char *const usual[] = { "sm_75", "sm_80", "sm_86",  "sm_87",
                                         "sm_89", "sm_90", "sm_100", "sm_120" };
    struct words known = { 0 };
    for (unsigned i = 0; i < a->n; i++) {
        const char *name = drv_arch_name(a, i);
        if (is_one_of(usual, sizeof usual / sizeof *usual, name))
            continue;
        if (!known.n)
            known = known_archs();
        if (!is_one_of(known.v, known.n, name))
            unknown_arch(o, name);
    }
}
