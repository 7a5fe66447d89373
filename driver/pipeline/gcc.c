/* gcc.c - gcc as the host compiler.  It preprocesses files with target constructs, so that their
 * headers and macros are gcc's; all stages read that text.
 *
 * glibc's headers use types of gcc's there that clang does not have, _Float32 and its family.  They
 * are macros while gcc preprocesses, for types of the same layout.  For gcc __float128 becomes
 * _Float128 again, since it does not know `_Complex __float128`.
 *
 * A file that the user has preprocessed may be clang's: there glibc's headers declare _Float32 and
 * the others as typedefs, which are keywords of gcc's. */
#include "driver/pipeline/pipeline.h"

static const struct gcc_type {
    const char *name, *type; /* NULL: none has this type */
} gcc_types[] = {
    { "_Float32", "float" },       { "_Float64", "double" },  { "_Float64x", "long double" },
    { "_Float128", "__float128" }, { "_Float32x", "double" }, { "_Float128x", NULL },
};
enum { N_TYPES = sizeof gcc_types / sizeof *gcc_types };

bool drv_gcc_text(const struct job *j)
{
    return j->opt->gcc && !j->device_link && !drv_is_preprocessed(j);
}

void drv_gcc_preprocess(const struct job *j, struct proc *p)
{
    WORDS_ADD(&p->argv, drv_host_cc(j->opt), "-E", "-w");
    drv_host_openmp(j->opt, &p->argv);
    drv_host_headers(j->opt, &p->argv);
    drv_add_args(&p->argv, j->opt, FOR_PRE | FOR_DEPS | BY_GCC);
    drv_dep_args(j, &p->argv);
    for (unsigned i = 0; i < N_TYPES; i++)
        if (gcc_types[i].type)
            words_add(&p->argv, mem_printf("-D%s=%s", gcc_types[i].name, gcc_types[i].type));
    /* A fortified call would be a call of glibc from the device. */
    WORDS_ADD(&p->argv, "-U_FORTIFY_SOURCE", "-o", drv_job_file(j, "i"));
    drv_input(j, p);
}

/* What gcc 12 only warns of, clang calls an error. */
void drv_gcc_accepts(struct words *w)
{
    WORDS_ADD(w, "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
              "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types",
              "-Wno-error=incompatible-pointer-types", "-Wno-error=return-mismatch");
}

/* -undef: no macro but these is left to expand. */
void drv_gcc_input(const struct job *j, struct words *w)
{
    WORDS_ADD(w, "-x", "c", "-undef");
    if (drv_gcc_text(j))
        words_add(w, "-D__float128=_Float128");
    for (unsigned i = 0; i < N_TYPES && !drv_gcc_text(j); i++)
        words_add(w, mem_printf("-D%s=__ompgpu%s", gcc_types[i].name, gcc_types[i].name));
}
