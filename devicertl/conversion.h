/* conversion.h - one conversion of a printf format, and whether CUDA's vprintf prints it as C does.
 *
 * CUDA documents no size but h, l and ll, and no `*` for a precision.  A GPU that meets anything
 * else takes wrong arguments from there on.  What is not CUDA's is spelled otherwise when the
 * format is known to the compiler (codegen/ir/passes/prints.c), and written by the device runtime
 * (format.c) when it is not, or cannot be spelled otherwise. */
#ifndef OMPGPU_CONVERSION_H
#define OMPGPU_CONVERSION_H
enum { OMPGPU_CUDA_ARGUMENTS = 32 }; /* of a call of vprintf; it ignores more */
struct ompgpu_conversion {
    const char *size_at, *end; /* where the size would be; behind all of it */
    unsigned stars;
    _Bool precise;  /* it has a precision */
    _Bool has_mark; /* POSIX's ', which C does not know */
    char size;      /* h, l, j, z, t, L or q; c: hh; w: ll; 0: none */
    char kind;      /* 0: the format ends in the middle of it */
};
static inline _Bool ompgpu_is_one_of(char c, const char *set)
{
    while (*set && *set != c)
        set++;
    return *set && c;
}

/* percent: where it begins */
static inline struct ompgpu_conversion ompgpu_conversion_at(const char *percent)
{
    struct ompgpu_conversion c = { 0 };
    const char *f = percent + 1;
    for (; ompgpu_is_one_of(*f, "-+ #0123456789.*'"); f++) {
        c.stars += *f == '*';
        c.precise |= *f == '.';
        c.has_mark |= *f == '\'';
    }
    c.size_at = f;
    for (; ompgpu_is_one_of(*f, "hljztLq"); f++)
        c.size = !c.size || *f != c.size ? *f : *f == 'h' ? 'c' : 'w';
    c.kind = *f;
    c.end = f + (*f != 0);
    return c;
}

/* h is left out, although CUDA has it: that the driver narrows the value is not said. */
static inline _Bool ompgpu_is_cudas(const char *percent, const struct ompgpu_conversion *c)
{
    if (c->stars || c->has_mark)
        return 0;
    if (c->kind == '%')
        return c->end == percent + 2;
    if (ompgpu_is_one_of(c->kind, "diouxX"))
        return !c->size || c->size == 'l' || c->size == 'w';
    /* nothing says that it reads no more of a string than the precision */
    if (c->kind == 's')
        return !c->size && !c->precise;
    return !c->size && ompgpu_is_one_of(c->kind, "eEfgGaAcp");
}
#endif
