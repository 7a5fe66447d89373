/* ptx_values.c [--texts] - each instruction that our compiler writes, on many values, against the same in C: the rows of
 * ptx_values.def, and the families below, where one text differs from the next in a word.  With --texts it prints the texts;
 * tests/ptx/coverage.t wants every instruction that occurs in programs to be among them. */
#include <math.h>
#include "tests/unit/ptx.h"

enum result { H, R, D, P, HF, RF, DF, RA, DA, PF };
enum { THREADS = 192 };
static uint64_t in[3 * THREADS], out[THREADS];

/* ------------------------------------------------------------------ for the expressions */
static inline float as_float(uint64_t v)
{
    uint32_t bits = (uint32_t)v;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint64_t of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static inline double as_double(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static inline uint64_t of_double(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}
static inline float as_half(uint64_t v)
{
    uint16_t bits = (uint16_t)v;
    _Float16 h;
    memcpy(&h, &bits, sizeof h);
    return (float)h;
}
static inline uint64_t of_half(_Float16 h)
{
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}
#define U(x) ((uint64_t)(uint32_t)(x))
#define UL(x) ((uint64_t)(x))
#define S(x) ((int64_t)(int32_t)(x))
#define F(x) as_float(x)
#define G(x) as_double(x)
#define HF(x) as_half(x)
#define BF(x) of_float(x)
#define BG(x) of_double(x)
#define BH(x) of_half((_Float16)(x))
/* Two floats, two halves: the expression, of x, y and z, for the low and for the high ones. */
#define TWICE(width, from, to, expression)                                                                                       \
    ({                                                                                                                           \
        uint64_t both = 0;                                                                                                       \
        for (int at = 0; at < 2 * (width); at += (width)) {                                                                      \
            float x = from(a >> at), y = from(b >> at), z = from(c >> at);                                                       \
            (void)z;                                                                                                             \
            both |= to(expression) << at;                                                                                        \
        }                                                                                                                        \
        both;                                                                                                                    \
    })
#define FLOATS(expression) TWICE(32, F, BF, expression)
#define HALVES(expression) TWICE(16, HF, BH, expression)
static inline float flush(float f) { return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f; }
static inline float between0and1(float f) { return f > 0 ? f < 1 ? f : 1 : 0; }
static inline double flush64(double d) { return fabs(d) < 0x1p-1022 ? copysign(0, d) : d; }
static inline double least(double x, double y)
{
    if (x != x || y != y)
        return x != x ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static inline double most(double x, double y)
{
    if (x != x || y != y)
        return x != x ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
/* The sum rounded towards zero.  What is left of a sum after rounding is exact (Knuth): of the other sign, the sum was too
 * large. */
#define TOWARD_ZERO(name, T, next)                                                                                               \
    static inline T name(T x, T y)                                                                                               \
    {                                                                                                                            \
        T sum = x + y, part = sum - x, left = (x - (sum - part)) + (y - part);                                                   \
        if (sum != sum || isinf(x) || isinf(y))                                                                                  \
            return sum;                                                                                                          \
        return isinf(sum) || (left != 0 && signbit(left) != signbit(sum)) ? next(sum, 0) : sum;                                  \
    }
TOWARD_ZERO(toward_zero32, float, nextafterf)
TOWARD_ZERO(toward_zero64, double, nextafter)
/* Bytes of {b, a} by number, the highest first. */
static inline uint64_t bytes_of(uint64_t a, uint64_t b, const char *which)
{
    uint64_t both = U(a) | b << 32, r = 0;
    for (; *which; which++)
        r = r << 8 | (both >> 8 * (*which - '0') & 0xff);
    return r;
}
static inline uint64_t limit(double x, double low, double high, uint64_t nan)
{
    if (x != x)
        return nan;
    if (x <= low)
        return (uint64_t)(int64_t)low;
    if (x >= high)
        return high == 0x1p64 ? ~0ull : high == 0x1p63 ? INT64_MAX : (uint64_t)high;
    return low < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* ------------------------------------------------------------------ a text on all values */
typedef uint64_t expression(uint64_t a, uint64_t b, uint64_t c);
static const char globals[] =
    ".shared .align 32 .b8 s[6144];\n.global .align 32 .b8 scratch[6144];\n.const .align 8 .b64 fixed[2] = {0x1122334455667788, 0x99};\n"
    ".func (.param .b64 r) total(.param .align 16 .b8 x[16])\n{ .reg .b64 %a<3>; ld.param.v2.b64 {%a1, %a2}, [x]; add.s64 %a1, %a1, %a2; "
    "st.param.b64 [r], %a1; ret; }\n";
static char *text_of(const char *body, enum result kind)
{
    static char text[16384];
    static const char *const results[] = { [H] = "mov.b32 %r9, {%h9, %h0}; mov.b64 %rd9, {%r9, %r0};",
                                           [R] = "mov.b64 %rd9, {%r9, %r0};",
                                           [D] = "",
                                           [P] = "selp.b64 %rd9, 1, 0, %p9;" };
    const char *result = results[kind == HF ? H : kind == RF || kind == RA ? R : kind == DF || kind == DA || kind == PF ? D : kind];
    snprintf(text, sizeof text,
             "%s%s.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .align 16 .b8 k_param_2[32])\n"
             "{\n.reg .pred %%p<10>; .reg .b16 %%h<10>; .reg .b32 %%r<30>; .reg .b64 %%rd<30>;\n"
             ".local .align 32 .b8 array[32]; .local .align 32 .b8 around[32];\n"
             "ld.param.u64 %%rd20, [k_param_0]; ld.param.u64 %%rd21, [k_param_1];\n"
             "mov.u32 %%r20, %%tid.x; mul.wide.u32 %%rd22, %%r20, 24; add.s64 %%rd21, %%rd21, %%rd22;\n"
             "ld.global.b64 %%rd1, [%%rd21]; ld.global.b64 %%rd2, [%%rd21+8]; ld.global.b64 %%rd3, [%%rd21+16];\n"
             "mul.wide.u32 %%rd22, %%r20, 8; add.s64 %%rd22, %%rd22, %%rd20; mul.wide.u32 %%rd19, %%r20, 32;\n"
             "mov.u64 %%rd18, scratch; add.s64 %%rd18, %%rd18, %%rd19; mov.u64 %%rd17, s; add.s64 %%rd17, %%rd17, %%rd19;\n"
             "cvta.shared.u64 %%rd16, %%rd17; cvta.global.u64 %%rd15, %%rd18; mov.u64 %%rd14, array; cvta.local.u64 %%rd13, %%rd14;\n"
             "mov.b64 {%%r1, %%r4}, %%rd1; mov.b64 {%%r2, %%r4}, %%rd2; mov.b64 {%%r3, %%r4}, %%rd3; mov.b16 %%h0, 0; mov.b32 %%r0, 0;\n"
             "mov.b32 {%%h1, %%h4}, %%r1; mov.b32 {%%h2, %%h4}, %%r2; mov.b32 {%%h3, %%h4}, %%r3;\n"
             "and.b64 %%rd4, %%rd1, 1; setp.ne.b64 %%p1, %%rd4, 0; and.b64 %%rd4, %%rd2, 1; setp.ne.b64 %%p2, %%rd4, 0;\n"
             "and.b64 %%rd4, %%rd3, 1; setp.ne.b64 %%p3, %%rd4, 0;\n\t%s\n%s\nst.global.b64 [%%rd22], %%rd9;\nret;\n}\n",
             head, globals, body, result);
    return text;
}

static int run_text(const char *text)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr dout = 0, din = 0;
    uint64_t third[4] = { 0x0123456789abcdef, 0x1122334455667788 };
    if (load(&m, text)) {
        printf("# %s\n", log_text);
        return 0;
    }
    int good = !cuModuleGetFunction(&f, m, "k") && !cuMemAlloc_v2(&dout, sizeof out) && !cuMemAlloc_v2(&din, sizeof in) &&
               !cuMemcpyHtoDAsync_v2(din, in, sizeof in, stream);
    void *params[] = { &dout, &din, third };
    good = good && !cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, stream, params, NULL) && !cuStreamSynchronize(stream) &&
           !cuMemcpyDtoHAsync_v2(out, dout, sizeof out, stream) && !cuStreamSynchronize(stream);
    cuMemFree_v2(dout);
    cuMemFree_v2(din);
    cuModuleUnload(m);
    return good;
}

static int is_near(double x, double y) { return x == y || fabs(x - y) <= 3e-6 * fabs(y); }
static int is_float(uint64_t got, uint64_t want) { return U(got) == U(want) || (F(got) != F(got) && F(want) != F(want)); }
static int is_result(enum result kind, uint64_t got, uint64_t want)
{
    switch (kind) {
    case H: return got == (want & 0xffff);
    case R: return got == (want & 0xffffffff);
    case P: return got == (want & 1);
    case D: return got == want;
    case HF: return got == (want & 0xffff) || (HF(got) != HF(got) && HF(want) != HF(want));
    case RF: return got <= UINT32_MAX && is_float(got, want);
    case PF: return is_float(got, want) && is_float(got >> 32, want >> 32);
    case DF: return got == want || (G(got) != G(got) && G(want) != G(want));
    case RA: return is_near((double)F(got), (double)F(want)) || (F(got) != F(got) && F(want) != F(want));
    default: return is_near(G(got), G(want)) || (G(got) != G(got) && G(want) != G(want));
    }
}

static void test_text(const char *body, enum result kind, expression *want)
{
    const char *text = text_of(body, kind);
    if (only_texts) {
        puts(text);
        return;
    }
    int good = run_text(text);
    if (!good)
        printf("# it does not run\n");
    for (unsigned t = 0; t < THREADS && good; t++) {
        const uint64_t *v = &in[3 * t], w = want(v[0], v[1], v[2]);
        good = is_result(kind, out[t], w);
        if (!good)
            printf("# 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64 " instead of 0x%" PRIx64 "\n", v[0], v[1], v[2], out[t], w);
    }
    check(good, "%s", body);
}

/* Numbers, floats in the low half, doubles: 64 threads each. */
static void choose_values(void)
{
    static const uint64_t integers[] = { 0, 1, 2, 3, 7, 31, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff,
                                         1ull << 63, ~0ull, 0xffffffff00000001, 0x123456789abcdef0 };
    static const double floats[] = { 0,   -0.0, 1,      -1,      1.5,    -2.5,    0.5, 3.25e9, -3.25e9, 1e-40, -1e-40, INFINITY, -INFINITY, NAN, 1e30, -1e30,
                                     2.5, 7,    65504.0, 40000.0, 1e-5, 123.456, 9.3e18, -9.3e18, 0x1p-130 };
    enum { I = sizeof integers / sizeof *integers, N = sizeof floats / sizeof *floats };
    uint64_t random = 12345;
    for (unsigned k = 0; k < 3 * THREADS; k++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        unsigned pick = (unsigned)(random >> 40);
        in[k] = k < THREADS       ? pick % 3 ? integers[pick % I] : random ^ random >> 29
                : k < 2 * THREADS ? BF((float)(pick % 3 ? floats[pick % N] : (double)pick / 1000)) | (random & 0xffffffff00000000)
                                  : BG(pick % 3 ? floats[pick % N] : (double)pick * 1e6);
    }
}

/* ------------------------------------------------------------------ the rows */
#define NAME_(line) value_##line
#define NAME(line) NAME_(line)
#define VALUE(text, result, ...)                                                                                                 \
    static uint64_t NAME(__LINE__)(uint64_t a, uint64_t b, uint64_t c)                                                           \
    {                                                                                                                            \
        (void)a, (void)b, (void)c;                                                                                               \
        return (uint64_t)(__VA_ARGS__);                                                                                          \
    }
#include "tests/unit/ptx_values.def"
#undef VALUE
static const struct {
    const char *text;
    enum result kind;
    expression *want;
} rows[] = {
#define VALUE(text, result, ...) { text, result, NAME(__LINE__) },
#include "tests/unit/ptx_values.def"
#undef VALUE
};

/* ------------------------------------------------------------------ comparisons */
enum { EQ, NE, LT, LE, GT, GE, UNORDERED, NUM = 2 * UNORDERED, NOT_NUM };
static const char *const comparisons[] = { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };
static int compare_op;
static int compared(int less, int equal, int greater)
{
    int nan = !less && !equal && !greater;
    switch (compare_op % UNORDERED + (compare_op >= NUM ? 100 : 0)) {
    case EQ: return equal || (compare_op >= UNORDERED && nan);
    case NE: return less || greater || (compare_op >= UNORDERED && nan);
    case LT: return less || (compare_op >= UNORDERED && nan);
    case LE: return less || equal || (compare_op >= UNORDERED && nan);
    case GT: return greater || (compare_op >= UNORDERED && nan);
    case GE: return greater || equal || (compare_op >= UNORDERED && nan);
    default: return compare_op == NUM ? !nan : nan;
    }
}
#define COMPARED(name, T, as)                                                                                                    \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                                                     \
    {                                                                                                                            \
        T x = (T)as(a), y = (T)as(b);                                                                                            \
        (void)c;                                                                                                                 \
        return (uint64_t)compared(x < y, x == y, x > y);                                                                         \
    }
COMPARED(compare_u16, uint16_t, )
COMPARED(compare_u32, uint32_t, )
COMPARED(compare_u64, uint64_t, )
COMPARED(compare_s16, int16_t, )
COMPARED(compare_s32, int32_t, )
COMPARED(compare_s64, int64_t, )
COMPARED(compare_f16, float, HF)
COMPARED(compare_f32, float, F)
COMPARED(compare_f64, double, G)
static uint64_t compare_and(uint64_t a, uint64_t b, uint64_t c) { return compare_s32(a, b, c) & c; }
static uint64_t compare_or(uint64_t a, uint64_t b, uint64_t c) { return compare_s32(a, b, c) | c; }
static uint64_t compare_halves(uint64_t a, uint64_t b, uint64_t c) { return compare_f16(a, b, c) & compare_f16(a >> 16, b >> 16, c); }

static void test_comparisons(void)
{
    static const struct {
        const char *type, *registers;
        expression *want;
        int most;
    } types[] = {
        { "b16", "h", compare_u16, NE },     { "b32", "r", compare_u32, NE },     { "b64", "rd", compare_u64, NE },
        { "u16", "h", compare_u16, GE },     { "u32", "r", compare_u32, GE },     { "u64", "rd", compare_u64, GE },
        { "s16", "h", compare_s16, GE },     { "s32", "r", compare_s32, GE },     { "s64", "rd", compare_s64, GE },
        { "f16", "h", compare_f16, NOT_NUM }, { "f32", "r", compare_f32, NOT_NUM }, { "f64", "rd", compare_f64, NOT_NUM },
    };
    char body[256];
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (compare_op = 0; compare_op <= types[t].most; compare_op++) {
            snprintf(body, sizeof body, "setp.%s.%s %%p9, %%%s1, %%%s2;", comparisons[compare_op], types[t].type, types[t].registers, types[t].registers);
            test_text(body, P, types[t].want);
        }
    for (compare_op = LT; compare_op <= GT; compare_op++) {
        snprintf(body, sizeof body, "setp.%s.and.s32 %%p9, %%r1, %%r2, %%p3;", comparisons[compare_op]);
        test_text(body, P, compare_and);
        snprintf(body, sizeof body, "setp.%s.or.s32 %%p9, %%r1, %%r2, %%p3;", comparisons[compare_op]);
        test_text(body, P, compare_or);
        snprintf(body, sizeof body, "setp.%s.f16x2 %%p9|%%p8, %%r1, %%r2; and.pred %%p9, %%p9, %%p8;", comparisons[compare_op]);
        test_text(body, P, compare_halves);
    }
}

/* ------------------------------------------------------------------ loads and stores */
static uint64_t first(uint64_t a, uint64_t b, uint64_t c) { return (void)b, (void)c, a; }
static uint64_t first_byte(uint64_t a, uint64_t b, uint64_t c) { return (void)b, (void)c, a & 0xff; }
static uint64_t signed_byte(uint64_t a, uint64_t b, uint64_t c) { return (void)b, (void)c, (uint64_t)(int8_t)a; }
static uint64_t signed_half(uint64_t a, uint64_t b, uint64_t c) { return (void)b, (void)c, (uint64_t)(int16_t)a; }
static uint64_t all_of_vector(uint64_t a, uint64_t b, uint64_t c) { return (void)c, a + 2 * b; }
static uint64_t parameter(uint64_t a, uint64_t b, uint64_t c) { return (void)a, (void)b, (void)c, 0x0123456789abcdef; }
static uint64_t parameter_byte(uint64_t a, uint64_t b, uint64_t c) { return (void)a, (void)b, (void)c, 0xef; }
static uint64_t signed_parameter_byte(uint64_t a, uint64_t b, uint64_t c) { return (void)a, (void)b, (void)c, (uint64_t)-0x11; }
static uint64_t fixed_memory(uint64_t a, uint64_t b, uint64_t c) { return (void)a, (void)b, (void)c, 0x1122334455667788; }
static uint64_t fixed_upper_half(uint64_t a, uint64_t b, uint64_t c) { return fixed_memory(a, b, c) >> 32; }

static const struct width {
    const char *name, *registers;
    enum result kind;
    unsigned bytes;
} widths[] = { { "16", "h", H, 2 }, { "32", "r", R, 4 }, { "64", "rd", D, 8 } };

/* `before` and `space` are what is written around the type: ld.volatile.global.b32. */
static void test_memory(const char *load, const char *store, const char *space, const char *address, bool vectors)
{
    char body[512];
    static const char signs[] = "bus";
    for (unsigned w = 0; w < 3; w++)
        for (const char *sign = signs; *sign; sign++) {
            const char *r = widths[w].registers, *n = widths[w].name;
            snprintf(body, sizeof body, "st%s%s.%c%s [%s], %%%s1; ld%s%s.%c%s %%%s9, [%s];", store, space, *sign, n, address, r, load, space, *sign, n, r,
                     address);
            test_text(body, widths[w].kind, first);
        }
    snprintf(body, sizeof body, "st%s%s.b8 [%s+1], %%h1; ld%s%s.b8 %%h9, [%s+1];", store, space, address, load, space, address);
    test_text(body, H, first_byte);
    snprintf(body, sizeof body, "st%s%s.u8 [%s+1], %%h1; ld%s%s.u8 %%h9, [%s+1];", store, space, address, load, space, address);
    test_text(body, H, first_byte);
    snprintf(body, sizeof body, "st%s%s.b8 [%s+3], %%r1; ld%s%s.s8 %%r9, [%s+3];", store, space, address, load, space, address);
    test_text(body, R, signed_byte);
    snprintf(body, sizeof body, "st%s%s.b16 [%s+2], %%h1; ld%s%s.s16 %%r9, [%s+2];", store, space, address, load, space, address);
    test_text(body, R, signed_half);
    snprintf(body, sizeof body, "st%s%s.f32 [%s+4], %%r1; ld%s%s.f32 %%r9, [%s+4];", store, space, address, load, space, address);
    test_text(body, R, first);
    snprintf(body, sizeof body, "st%s%s.f64 [%s+8], %%rd1; ld%s%s.f64 %%rd9, [%s+8];", store, space, address, load, space, address);
    test_text(body, D, first);
    for (unsigned w = 0; vectors && w < 3; w++) {
        const char *r = widths[w].registers, *n = widths[w].name, *add = widths[w].bytes == 2 ? "add.s16" : widths[w].bytes == 4 ? "add.s32" : "add.s64";
        snprintf(body, sizeof body,
                 "st%s%s.v2.b%s [%s], {%%%s1, %%%s2}; ld%s%s.v2.b%s {%%%s7, %%%s8}, [%s]; %s %%%s9, %%%s7, %%%s8; %s %%%s9, %%%s9, %%%s8;", store, space, n,
                 address, r, r, load, space, n, r, r, address, add, r, r, r, add, r, r, r);
        test_text(body, widths[w].kind, all_of_vector);
        snprintf(body, sizeof body,
                 "st%s%s.v4.b%s [%s], {%%%s1, %%%s3, %%%s2, %%%s2}; ld%s%s.v4.b%s {%%%s5, %%%s6, %%%s7, %%%s8}, [%s]; %s %%%s9, %%%s5, %%%s7; %s %%%s9, %%%s9, "
                 "%%%s8;",
                 store, space, n, address, r, r, r, r, load, space, n, r, r, r, r, address, add, r, r, r, add, r, r, r);
        test_text(body, widths[w].kind, all_of_vector);
    }
}

/* Orders and scopes: the value is what is tested here, the order in ptx_race.c and ptx_weak.c. */
static void test_orders(void)
{
    static const char *const pairs[][2] = {
        { ".volatile", ".volatile" },       { ".relaxed.cta", ".relaxed.cta" }, { ".relaxed.gpu", ".relaxed.gpu" }, { ".relaxed.sys", ".relaxed.sys" },
        { ".acquire.cta", ".release.cta" }, { ".acquire.gpu", ".release.gpu" }, { ".acquire.sys", ".release.sys" }, { ".weak", ".weak" },
    };
    for (unsigned k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        test_memory(pairs[k][0], pairs[k][1], "", "%rd15", false);
        test_memory(pairs[k][0], pairs[k][1], ".global", "%rd18", false);
        test_memory(pairs[k][0], pairs[k][1], ".shared", "%rd17", false);
    }
}

static void test_spaces(void)
{
    test_memory("", "", ".global", "%rd18", true);
    test_memory("", "", ".shared", "%rd17", true);
    test_memory("", "", ".local", "array", true);
    test_memory("", "", "", "%rd15", true);
    test_memory("", "", "", "%rd16", true);
    test_memory("", "", "", "%rd13", true);
    test_text("ld.param.b64 %rd9, [k_param_2];", D, parameter);
    test_text("ld.param.u64 %rd9, [k_param_2];", D, parameter);
    test_text("ld.param.b32 %r9, [k_param_2];", R, parameter);
    test_text("ld.param.u32 %r9, [k_param_2];", R, parameter);
    test_text("ld.param.s32 %r9, [k_param_2];", R, parameter);
    test_text("ld.param.f32 %r9, [k_param_2];", R, parameter);
    test_text("ld.param.b16 %h9, [k_param_2];", H, parameter);
    test_text("ld.param.b8 %h9, [k_param_2];", H, parameter_byte);
    test_text("ld.param.s8 %r9, [k_param_2];", R, signed_parameter_byte);
    test_text("ld.param.v2.b32 {%r9, %r8}, [k_param_2];", R, parameter);
    test_text("ld.param.v2.b64 {%rd8, %rd9}, [k_param_2];", D, fixed_memory);
    test_text("ld.param.v4.b32 {%r9, %r8, %r7, %r6}, [k_param_2];", R, parameter);
    test_text("ld.param.v4.b32 {%r6, %r7, %r8, %r9}, [k_param_2];", R, fixed_upper_half);
    test_text("ld.const.b64 %rd9, [fixed];", D, fixed_memory);
    test_text("ld.const.b32 %r9, [fixed];", R, fixed_memory);
}

/* What is only read is read as any other memory: [%rd21] has a, b and c. */
static void test_read_only(void)
{
    static const char *const types[] = { "b8", "u8", "b16", "u16", "b32", "u32", "f32", "b64", "u64", "f64" };
    char body[256];
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++) {
        int bits = atoi(types[k] + 1);
        const char *r = bits <= 16 ? "h" : bits == 32 ? "r" : "rd";
        snprintf(body, sizeof body, "ld.global.nc.%s %%%s9, [%%rd21];", types[k], r);
        test_text(body, bits <= 16 ? H : bits == 32 ? R : D, bits == 8 ? first_byte : first);
    }
    test_text("st.global.v2.b64 [%rd18], {%rd1, %rd2}; ld.global.nc.v2.b64 {%rd7, %rd8}, [%rd18]; add.s64 %rd9, %rd7, %rd8; add.s64 %rd9, %rd9, %rd8;", D,
              all_of_vector);
    test_text("st.global.v4.b32 [%rd18], {%r1, %r2, %r2, %r3}; ld.global.nc.v4.b32 {%r6, %r7, %r8, %r5}, [%rd18]; add.s32 %r9, %r6, %r7; add.s32 %r9, %r9, %r8;",
              R, all_of_vector);
}

/* ------------------------------------------------------------------ atomic updates */
static int atomic_op;
static const char *const atomics[] = { "add", "min", "max", "and", "or", "xor", "exch", "inc", "dec" };
enum { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_INC, A_DEC };
#define ATOMIC(name, T)                                                                                                          \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c)                                                                     \
    {                                                                                                                            \
        T x = (T)a, y = (T)b;                                                                                                    \
        (void)c;                                                                                                                 \
        switch (atomic_op) {                                                                                                     \
        case A_ADD: return (uint64_t)x + (uint64_t)y;                                                                            \
        case A_MIN: return (uint64_t)(x < y ? x : y);                                                                            \
        case A_MAX: return (uint64_t)(x > y ? x : y);                                                                            \
        case A_AND: return (uint64_t)(x & y);                                                                                    \
        case A_OR: return (uint64_t)(x | y);                                                                                     \
        case A_XOR: return (uint64_t)(x ^ y);                                                                                    \
        case A_INC: return x >= y ? 0 : (uint64_t)x + 1;                                                                         \
        case A_DEC: return x == 0 || x > y ? (uint64_t)y : (uint64_t)x - 1;                                                      \
        default: return (uint64_t)y;                                                                                             \
        }                                                                                                                        \
    }
ATOMIC(atomic_u32, uint32_t)
ATOMIC(atomic_u64, uint64_t)
ATOMIC(atomic_s32, int32_t)
ATOMIC(atomic_s64, int64_t)
static uint64_t atomic_f32(uint64_t a, uint64_t b, uint64_t c) { return (void)c, BF(F(a) + F(b)); }
static uint64_t atomic_f64(uint64_t a, uint64_t b, uint64_t c) { return (void)c, BG(G(a) + G(b)); }
static uint64_t exchanged(uint64_t a, uint64_t b, uint64_t c) { return (void)a, (void)b, c; }
static uint64_t not_exchanged(uint64_t a, uint64_t b, uint64_t c) { return (uint32_t)a == (uint32_t)b ? c : a; }

static void test_atomic(const char *order, const char *space, const char *address, const char *type, enum result kind, expression *want)
{
    char body[256];
    const char *r = strstr(type, "64") ? "rd" : "r", *bits = strstr(type, "64") ? "64" : "32", *op = atomics[atomic_op];
    snprintf(body, sizeof body, "st%s.b%s [%s], %%%s1; atom%s%s.%s.%s %%%s8, [%s], %%%s2; ld%s.b%s %%%s9, [%s];", space, bits, address, r, order, space, op,
             type, r, address, r, space, bits, r, address);
    test_text(body, kind, want);
    snprintf(body, sizeof body, "st%s.b%s [%s], %%%s1; atom%s%s.%s.%s %%%s9, [%s], %%%s2;", space, bits, address, r, order, space, op, type, r, address, r);
    test_text(body, *bits == '6' ? D : R, first);
    if (atomic_op == A_EXCH || strstr(order, ".acquire"))
        return; /* PTX has no such red */
    snprintf(body, sizeof body, "st%s.b%s [%s], %%%s1; red%s%s.%s.%s [%s], %%%s2; ld%s.b%s %%%s9, [%s];", space, bits, address, r, order, space, op, type,
             address, r, space, bits, r, address);
    test_text(body, kind, want);
}

static void test_exchange(const char *order, const char *space, const char *address, const char *r, const char *bits)
{
    char body[256];
    snprintf(body, sizeof body, "st%s.b%s [%s], %%%s1; atom%s%s.cas.b%s %%%s8, [%s], %%%s1, %%%s3; ld%s.b%s %%%s9, [%s];", space, bits, address, r, order,
             space, bits, r, address, r, r, space, bits, r, address);
    test_text(body, *bits == '6' ? D : R, exchanged);
    if (*bits == '3') {
        snprintf(body, sizeof body, "st%s.b32 [%s], %%r1; atom%s%s.cas.b32 %%r8, [%s], %%r2, %%r3; ld%s.b32 %%r9, [%s];", space, address, order, space, address,
                 space, address);
        test_text(body, R, not_exchanged);
    }
}

static void test_atomics_in(const char *order, const char *space, const char *address)
{
    for (atomic_op = A_ADD; atomic_op <= A_MAX; atomic_op++) {
        test_atomic(order, space, address, "u32", R, atomic_u32);
        test_atomic(order, space, address, "u64", D, atomic_u64);
        test_atomic(order, space, address, "s32", R, atomic_s32);
        if (atomic_op != A_ADD)
            test_atomic(order, space, address, "s64", D, atomic_s64);
    }
    for (atomic_op = A_AND; atomic_op <= A_EXCH; atomic_op++) {
        test_atomic(order, space, address, "b32", R, atomic_u32);
        test_atomic(order, space, address, "b64", D, atomic_u64);
    }
    for (atomic_op = A_INC; atomic_op <= A_DEC; atomic_op++)
        test_atomic(order, space, address, "u32", R, atomic_u32);
    atomic_op = A_ADD;
    test_atomic(order, space, address, "f32", RF, atomic_f32);
    test_atomic(order, space, address, "f64", DF, atomic_f64);
    test_exchange(order, space, address, "r", "32");
    test_exchange(order, space, address, "rd", "64");
}

static void test_atomics(void)
{
    static const char *const orders[] = { "", ".relaxed.cta", ".relaxed.gpu", ".acquire.gpu", ".acq_rel.gpu" };
    for (unsigned k = 0; k < sizeof orders / sizeof *orders; k++) {
        test_atomics_in(orders[k], ".global", "%rd18");
        test_atomics_in(orders[k], ".shared", "%rd17");
        test_atomics_in(orders[k], "", "%rd15");
    }
}

int main(int argc, char **argv)
{
    CUcontext c;
    only_texts = argc > 1 && !strcmp(argv[1], "--texts");
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cuStreamCreate(&stream, 0);
    choose_values();
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
        test_text(rows[k].text, rows[k].kind, rows[k].want);
    test_comparisons();
    test_spaces();
    test_orders();
    test_read_only();
    test_atomics();
    if (!only_texts)
        printf("1..%u\n", tests);
    return failures != 0;
}
