/* format.c - formatted output into memory, what the driver's printf lacks, and numbers from text,
 * as the C library of GPUs lacks them; the emulated device has the process's.
 *
 * A double is m * 2^e, and its decimal expansion is finite: struct decimal holds all of it, so that
 * rounding for output, and the choice between two neighbours for input, need no approximation. */
#include "devicertl/arch.h"
#ifdef __NVPTX__
#include "devicertl/conversion.h"

enum { WORDS = 35, MOST_DIGITS = 1400, MOST_INPUT = 800 };

/* 0.d0 d1 d2 … * 10^point; no zero in front, but for 0, which has no digits */
struct decimal {
    char digits[MOST_DIGITS];
    int n, point;
};

/* ------------------------------------------------------------------ exact expansion */
static void add_nine(struct decimal *d, u32 nine)
{
    for (u32 unit = 100000000; unit; unit /= 10) {
        char digit = (char)(nine / unit % 10);
        if (d->n || digit)
            d->digits[d->n++] = digit;
        else
            d->point--;
    }
}

/* The words, least first, divided by 10^9; the remainder. */
static u32 divide(u32 *words, int n)
{
    u64 rest = 0;
    for (int i = n - 1; i >= 0; i--) {
        rest = rest << 32 | words[i];
        words[i] = (u32)(rest / 1000000000);
        rest %= 1000000000;
    }
    return (u32)rest;
}

static u32 multiply(u32 *words, int n)
{
    u64 carry = 0;
    for (int i = 0; i < n; i++) {
        carry += (u64)words[i] * 1000000000;
        words[i] = (u32)carry;
        carry >>= 32;
    }
    return (u32)carry;
}

/* m shifted left by `shift` bits */
static void place(u32 *words, u64 m, int shift)
{
    int at = shift / 32, bits = shift % 32;
    for (int i = 0; i < WORDS; i++)
        words[i] = 0;
    words[at] = (u32)(m << bits);
    words[at + 1] = (u32)(bits ? m >> (32 - bits) : m >> 32);
    if (bits)
        words[at + 2] = (u32)(m >> 32 >> (32 - bits));
}

static _Bool all_zero(const u32 *words, int n)
{
    u32 any = 0;
    for (int i = 0; i < n; i++)
        any |= words[i];
    return !any;
}

static void expand_whole(struct decimal *d, u64 m, int e)
{
    u32 words[WORDS], nines[WORDS];
    int n = 0;
    place(words, m, e);
    while (!all_zero(words, WORDS))
        nines[n++] = divide(words, WORDS);
    d->point = 9 * n;
    while (n > 0)
        add_nine(d, nines[--n]);
}

/* m * 2^-e, less than 1 */
static void expand_fraction(struct decimal *d, u64 m, int e)
{
    u32 words[WORDS];
    int n = (e + 31) / 32;
    place(words, m, 32 * n - e);
    while (!all_zero(words, n))
        add_nine(d, multiply(words, n));
}

static void expand(struct decimal *d, u64 m, int e)
{
    d->n = d->point = 0;
    if (e >= 0) {
        expand_whole(d, m, e);
        return;
    }
    if (e > -64 && m >> -e)
        expand_whole(d, m >> -e, 0);
    expand_fraction(d, e > -64 ? m & ((1ull << -e) - 1) : m, -e);
}

/* To `keep` digits, half to even. */
static void round_to(struct decimal *d, int keep)
{
    if (keep >= d->n)
        return;
    if (keep < 0) {
        d->n = 0;
        return;
    }
    _Bool more = 0, up = d->digits[keep] > 5;
    for (int i = keep + 1; i < d->n; i++)
        more |= d->digits[i] != 0;
    if (d->digits[keep] == 5)
        up = more || (keep && d->digits[keep - 1] % 2);
    d->n = keep;
    while (up && d->n && d->digits[d->n - 1] == 9)
        d->n--;
    if (up && d->n) {
        d->digits[d->n - 1]++;
    } else if (up) {
        d->digits[d->n++] = 1;
        d->point++;
    }
}

static int digit_at(const struct decimal *d, int i)
{
    return i >= 0 && i < d->n ? d->digits[i] : 0;
}

/* ------------------------------------------------------------------ output
 * Of n characters those go to memory for which there is room; or all are printed, in parts as large
 * as the memory. */
struct out {
    char *at;
    usize room, n;
    char *text; /* where it begins; NULL: nothing is printed */
};
struct spec {
    _Bool left, plus, space, alternate, zero, upper;
    int width, precision; /* -1: none */
    char kind;
};

/* Up to a zero byte, and `last`, which may be one: in a call, so that other threads print nothing
 * in between. */
static void print_text(const char *text, int last)
{
    struct {
        const char *text;
        int last;
    } arguments = { text, last };
    vprintf(last < 0 ? "%s" : "%s%c", (__builtin_va_list)&arguments);
}

/* All that is in memory, or its whole lines, so that they stay whole among those of others. */
static void print_lines(struct out *o)
{
    char *end = o->at, *to = o->text;
    while (end > to && end[-1] != '\n')
        end--;
    if (end == to)
        end = o->at;
    char next = *end;
    *end = 0;
    print_text(to, -1);
    *end = next;
    o->room += (usize)(end - to);
    while (end < o->at)
        *to++ = *end++;
    o->at = to;
}

static void print_rest(struct out *o)
{
    *o->at = 0;
    if (o->at > o->text)
        print_text(o->text, -1);
}

/* For %s the end of a text. */
static void put_zero(struct out *o)
{
    *o->at = 0;
    print_text(o->text, 0);
    o->room += (usize)(o->at - o->text);
    o->at = o->text;
    o->n++;
}

/* Not inlined: it has very many callers. */
static __attribute__((noinline)) void put(struct out *o, char c)
{
    if (!o->room && o->text)
        print_lines(o);
    if (o->room) {
        *o->at++ = c;
        o->room--;
    }
    o->n++;
}
static void put_byte(struct out *o, char c)
{
    if (c || !o->text)
        put(o, c);
    else
        put_zero(o);
}
static void put_all(struct out *o, const char *s, int n)
{
    for (int i = 0; i < n; i++)
        put(o, s[i]);
}
static void fill(struct out *o, char c, int n)
{
    while (n-- > 0)
        put(o, c);
}

/* Sign or prefix, zeros, `length` more characters to come; what is left to fill after them. */
static int begin_field(struct out *o, const struct spec *s, const char *prefix, int zeros,
                       int length)
{
    int nprefix = 0;
    while (prefix[nprefix])
        nprefix++;
    int room = s->width - nprefix - zeros - length;
    if (room < 0)
        room = 0;
    if (!s->left && !s->zero)
        fill(o, ' ', room);
    put_all(o, prefix, nprefix);
    fill(o, '0', zeros + (!s->left && s->zero ? room : 0));
    return s->left ? room : 0;
}

static const char *sign_of(const struct spec *s, _Bool negative)
{
    return negative ? "-" : s->plus ? "+" : s->space ? " " : "";
}

static void put_integer(struct out *o, struct spec *s, u64 value, const char *prefix)
{
    const char *digits = s->upper ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = s->kind == 'o' ? 8 : s->kind == 'x' || s->kind == 'p' ? 16 : 10;
    char text[24];
    int n = 0;
    for (u64 v = value; v; v /= base)
        text[n++] = digits[v % base];
    if (s->precision < 0 && !n)
        text[n++] = '0';
    int zeros = s->precision > n ? s->precision - n : 0;
    if (s->kind == 'o' && s->alternate && !zeros && (!n || text[n - 1] != '0'))
        zeros = 1;
    s->zero &= s->precision < 0;
    int after = begin_field(o, s, prefix, zeros, n);
    while (n > 0)
        put(o, text[--n]);
    fill(o, ' ', after);
}

static void put_fixed(struct out *o, const struct spec *s, const struct decimal *d, int precision,
                      const char *sign)
{
    int whole = d->n && d->point > 0 ? d->point : 1, shift = d->n && d->point > 0 ? 0 : 1;
    int base = shift ? (d->n ? d->point - 1 : -1) : 0;
    _Bool point = precision > 0 || s->alternate;
    int after = begin_field(o, s, sign, 0, whole + point + precision);
    for (int i = 0; i < whole; i++)
        put(o, (char)('0' + digit_at(d, i + base)));
    if (point)
        put(o, '.');
    for (int i = 0; i < precision; i++)
        put(o, (char)('0' + digit_at(d, whole + i + base)));
    fill(o, ' ', after);
}

static void put_exponent(struct out *o, const struct spec *s, int exponent, char letter, int least)
{
    char text[8];
    int n = 0;
    put(o, (char)(s->upper ? letter - 32 : letter));
    put(o, exponent < 0 ? '-' : '+');
    for (int v = exponent < 0 ? -exponent : exponent; v || n < least; v /= 10)
        text[n++] = (char)('0' + v % 10);
    while (n > 0)
        put(o, text[--n]);
}

static void put_scientific(struct out *o, const struct spec *s, const struct decimal *d,
                           int precision, const char *sign)
{
    int exponent = d->n ? d->point - 1 : 0;
    _Bool point = precision > 0 || s->alternate, three = exponent > 99 || exponent < -99;
    int after = begin_field(o, s, sign, 0, 1 + point + precision + (three ? 5 : 4));
    put(o, (char)('0' + digit_at(d, 0)));
    if (point)
        put(o, '.');
    for (int i = 1; i <= precision; i++)
        put(o, (char)('0' + digit_at(d, i)));
    put_exponent(o, s, exponent, 'e', 2);
    fill(o, ' ', after);
}

static void put_general(struct out *o, const struct spec *s, struct decimal *d, const char *sign)
{
    int precision = s->precision < 0 ? 6 : s->precision ? s->precision : 1;
    round_to(d, precision);
    int exponent = d->n ? d->point - 1 : 0, digits = d->n;
    while (digits > 0 && !d->digits[digits - 1])
        digits--;
    if (s->alternate)
        digits = precision;
    if (exponent < -4 || exponent >= precision) {
        put_scientific(o, s, d, digits > 1 ? digits - 1 : 0, sign);
    } else {
        int after = digits - exponent - 1;
        put_fixed(o, s, d, after > 0 ? after : 0, sign);
    }
}

static void put_hexadecimal(struct out *o, struct spec *s, u64 bits, const char *sign)
{
    int exponent = (int)(bits >> 52 & 2047), n = s->precision < 0 ? 13 : s->precision;
    u64 m = (bits & ((1ull << 52) - 1)) | (exponent ? 1ull << 52 : 0);
    _Bool is_zero = !m;
    char prefix[4] = { 0 };
    if (n < 13) {
        u64 unit = 1ull << (52 - 4 * n), rest = m & (unit - 1);
        m -= rest;
        m += rest > unit / 2 || (rest == unit / 2 && m & unit) ? unit : 0;
    }
    for (u64 v = m; s->precision < 0 && n > 0 && !(v & 15); v >>= 4)
        n--;
    exponent = is_zero ? 0 : exponent ? exponent - 1023 : -1022;
    int e = exponent < 0 ? -exponent : exponent, width = e > 999 ? 6 : e > 99 ? 5 : e > 9 ? 4 : 3;
    int k = 0;
    if (*sign)
        prefix[k++] = *sign;
    prefix[k++] = '0';
    prefix[k++] = s->upper ? 'X' : 'x';
    _Bool point = n > 0 || s->alternate;
    int after = begin_field(o, s, prefix, 0, 1 + point + n + width);
    put(o, (char)('0' + (m >> 52)));
    if (point)
        put(o, '.');
    for (int i = 1; i <= n; i++) {
        u64 digit = i <= 13 ? m >> (52 - 4 * i) & 15 : 0;
        put(o, (char)(digit < 10 ? '0' + digit : (s->upper ? 'A' : 'a') + digit - 10));
    }
    put_exponent(o, s, exponent, 'p', 1);
    fill(o, ' ', after);
}

static void put_float(struct out *o, struct spec *s, double x)
{
    union {
        double x;
        u64 bits;
    } u = { x };
    const char *sign = sign_of(s, u.bits >> 63);
    int e = (int)(u.bits >> 52 & 2047);
    u64 m = u.bits & ((1ull << 52) - 1);
    struct decimal d;
    if (e == 2047) {
        s->zero = 0;
        int after = begin_field(o, s, sign, 0, 3);
        put_all(o, m ? s->upper ? "NAN" : "nan" : s->upper ? "INF" : "inf", 3);
        fill(o, ' ', after);
        return;
    }
    if (s->kind == 'a') {
        put_hexadecimal(o, s, u.bits, sign);
        return;
    }
    expand(&d, e ? m | 1ull << 52 : m, e ? e - 1075 : -1074);
    int precision = s->precision < 0 ? 6 : s->precision;
    if (s->kind == 'g') {
        put_general(o, s, &d, sign);
    } else if (s->kind == 'e') {
        round_to(&d, precision + 1);
        put_scientific(o, s, &d, precision, sign);
    } else {
        round_to(&d, d.point + precision);
        put_fixed(o, s, &d, precision, sign);
    }
}

static void put_text(struct out *o, const struct spec *s, const char *text)
{
    int n = 0;
    if (!text)
        text = "(null)";
    while ((s->precision < 0 || n < s->precision) && text[n])
        n++;
    struct spec plain = *s;
    plain.zero = 0;
    int after = begin_field(o, &plain, "", 0, n);
    put_all(o, text, n);
    fill(o, ' ', after);
}

/* ------------------------------------------------------------------ the format */
struct arguments {
    __builtin_va_list list;
};

static const char *read_number(const char *f, struct arguments *a, int *value)
{
    *value = 0;
    if (*f == '*') {
        *value = __builtin_va_arg(a->list, int);
        return f + 1;
    }
    for (; *f >= '0' && *f <= '9'; f++)
        *value = *value * 10 + *f - '0';
    return f;
}

static const char *read_spec(const char *f, struct arguments *a, struct spec *s, char *length)
{
    *s = (struct spec){ .precision = -1 };
    for (;; f++) {
        s->left |= *f == '-';
        s->plus |= *f == '+';
        s->space |= *f == ' ';
        s->alternate |= *f == '#';
        s->zero |= *f == '0';
        if (!ompgpu_is_one_of(*f, "-+ #0'"))
            break;
    }
    f = read_number(f, a, &s->width);
    if (s->width < 0) {
        s->left = 1;
        s->width = -s->width;
    }
    if (*f == '.')
        f = read_number(f + 1, a, &s->precision);
    *length = 0;
    for (; *f == 'h' || *f == 'l' || *f == 'z' || *f == 'j' || *f == 't' || *f == 'L' || *f == 'q';
         f++)
        *length = *length == 'h' && *f == 'h' ? 'c' : *f;
    s->upper = *f >= 'A' && *f <= 'Z';
    s->kind = (char)(s->upper ? *f + 32 : *f);
    return f;
}

static long long read_signed(struct arguments *a, char length)
{
    if (length == 0 || length == 'h' || length == 'c') {
        int v = __builtin_va_arg(a->list, int);
        return length == 'h' ? (short)v : length == 'c' ? (signed char)v : v;
    }
    return __builtin_va_arg(a->list, long long);
}

/* As glibc does it, which is what formats the driver's text. */
static void put_pointer(struct out *o, struct spec *s, const void *p)
{
    s->precision = p ? s->precision : -1;
    if (p)
        put_integer(o, s, (u64)p, "0x");
    else
        put_text(o, s, "(nil)");
}

static void put_argument(struct out *o, struct spec *s, struct arguments *a, char length)
{
    switch (s->kind) {
    case 'd':
    case 'i': {
        long long v = read_signed(a, length);
        put_integer(o, s, v < 0 ? 0 - (u64)v : (u64)v, sign_of(s, v < 0));
        break;
    }
    case 'u':
    case 'o':
    case 'x': {
        u64 v = (u64)read_signed(a, length);
        v &= length == 'c' ? 0xff : length == 'h' ? 0xffff : length ? ~0ull : 0xffffffff;
        put_integer(o, s, v, s->kind == 'x' && s->alternate && v ? s->upper ? "0X" : "0x" : "");
        break;
    }
    case 'p': put_pointer(o, s, __builtin_va_arg(a->list, void *)); break;
    case 'c': {
        char byte = (char)__builtin_va_arg(a->list, int);
        int after = begin_field(o, s, "", 0, 1);
        put_byte(o, byte);
        fill(o, ' ', after);
        break;
    }
    case 's': put_text(o, s, __builtin_va_arg(a->list, const char *)); break;
    case 'f':
    case 'e':
    case 'g':
    case 'a': put_float(o, s, __builtin_va_arg(a->list, double)); break;
    case 'n': *__builtin_va_arg(a->list, int *) = (int)o->n; break;
    default: put(o, s->upper ? (char)(s->kind - 32) : s->kind);
    }
}

int vsnprintf(char *, usize, const char *, __builtin_va_list);
int snprintf(char *, usize, const char *, ...);
int(vsprintf)(char *, const char *, __builtin_va_list);
int(sprintf)(char *, const char *, ...);

static void put_format(struct out *o, const char *f, __builtin_va_list list)
{
    struct arguments a;
    __builtin_va_copy(a.list, list);
    for (; *f; f++) {
        struct spec s;
        char length;
        if (*f != '%') {
            put(o, *f);
            continue;
        }
        f = read_spec(f + 1, &a, &s, &length);
        if (!*f)
            break;
        put_argument(o, &s, &a, length);
    }
    __builtin_va_end(a.list);
}

int vsnprintf(char *to, usize size, const char *f, __builtin_va_list list)
{
    struct out o = { .at = to, .room = size ? size - 1 : 0 };
    put_format(&o, f, list);
    if (size)
        *o.at = 0;
    return (int)o.n;
}

int(vsprintf)(char *to, const char *f, __builtin_va_list list)
{
    return vsnprintf(to, ~(usize)0, f, list);
}

int snprintf(char *to, usize size, const char *f, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, f);
    int n = vsnprintf(to, size, f, list);
    __builtin_va_end(list);
    return n;
}

int(sprintf)(char *to, const char *f, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, f);
    int n = vsnprintf(to, ~(usize)0, f, list);
    __builtin_va_end(list);
    return n;
}

/* ------------------------------------------------------------------ printing */
enum { PRINTED = 512 }; /* bytes of a thread's stack for what it prints */

void __ompgpu_print_bytes(const char *from, usize n)
{
    char text[PRINTED];
    struct out o = { .at = text, .room = sizeof text - 1, .text = text };
    for (usize i = 0; i < n; i++)
        put_byte(&o, from[i]);
    print_rest(&o);
}

static _Bool driver_can(const char *f)
{
    unsigned n = 0;
    while (*f) {
        struct ompgpu_conversion c;
        if (*f++ != '%')
            continue;
        c = ompgpu_conversion_at(f - 1);
        if (!ompgpu_is_cudas(f - 1, &c) || (n += c.kind != '%') > OMPGPU_CUDA_ARGUMENTS)
            return 0;
        f = c.end;
    }
    return 1;
}

/* Not inlined: codegen/ir/passes/prints.c deletes the calls that turn out not to be needed. */
__attribute__((noinline)) int __ompgpu_print(const char *f, __builtin_va_list list)
{
    char text[PRINTED];
    struct out o = { .at = text, .room = sizeof text - 1, .text = text };
    if (driver_can(f))
        return vprintf(f, list);
    put_format(&o, f, list);
    print_rest(&o);
    return 0;
}

__attribute__((noinline)) int __ompgpu_vprintf(const char *f, __builtin_va_list list)
{
    __ompgpu_print(f, list);
    return vsnprintf((char *)0, 0, f, list);
}

__attribute__((noinline)) int __ompgpu_vprintf_storing(const char *f, __builtin_va_list list)
{
    return __ompgpu_vprintf(f, list);
}

/* ------------------------------------------------------------------ numbers from text */
static _Bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                  : 99;
}

/* Magnitude and sign; *overflow: it does not fit. */
static u64 read_integer(const char *s, char **end, int base, _Bool *negative, _Bool *overflow)
{
    const char *start = s;
    u64 value = 0;
    *overflow = 0;
    while (is_space(*s))
        s++;
    *negative = *s == '-';
    s += *s == '-' || *s == '+';
    if ((base == 0 || base == 16) && *s == '0' && (s[1] | 32) == 'x' && digit_value(s[2]) < 16) {
        base = 16;
        s += 2;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    _Bool any = digit_value(*s) < base;
    for (; digit_value(*s) < base; s++) {
        *overflow |= __builtin_mul_overflow(value, (u64)base, &value);
        *overflow |= __builtin_add_overflow(value, (u64)digit_value(*s), &value);
    }
    if (end)
        *end = (char *)(any ? s : start);
    return value;
}

long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);

long strtol(const char *s, char **end, int base)
{
    const u64 most = ~0ull >> 1;
    _Bool negative, overflow;
    u64 v = read_integer(s, end, base, &negative, &overflow);
    if (overflow || v > most + negative)
        v = most + negative;
    return (long)(negative ? 0 - v : v);
}
unsigned long strtoul(const char *s, char **end, int base)
{
    _Bool negative, overflow;
    u64 v = read_integer(s, end, base, &negative, &overflow);
    return overflow ? ~0ul : negative ? 0 - v : v;
}
long long strtoll(const char *s, char **end, int base) { return strtol(s, end, base); }
unsigned long long strtoull(const char *s, char **end, int base) { return strtoul(s, end, base); }
int atoi(const char *s) { return (int)strtol(s, (char **)0, 10); }
long atol(const char *s) { return strtol(s, (char **)0, 10); }
long long atoll(const char *s) { return strtol(s, (char **)0, 10); }

/* Where there is one at s, with that letter; its end. */
static const char *read_exponent(const char *s, char letter, int *of)
{
    if ((*s | 32) != letter) /* perhaps the end of the text */
        return s;
    const char *e = s + 1 + (s[1] == '-' || s[1] == '+');
    if (*e < '0' || *e > '9')
        return s;
    int exponent = 0;
    _Bool negative = s[1] == '-';
    for (s = e; *s >= '0' && *s <= '9'; s++)
        exponent = exponent < 100000 ? exponent * 10 + *s - '0' : exponent;
    *of += negative ? -exponent : exponent;
    return s;
}

/* Digits, point and exponent; the end, or NULL: no number. */
static const char *read_decimal(const char *s, struct decimal *d)
{
    _Bool any = 0, point = 0;
    d->n = d->point = 0;
    for (;; s++) {
        if (*s == '.' && !point) {
            point = 1;
            continue;
        }
        if (*s < '0' || *s > '9')
            break;
        any = 1;
        if (d->n || *s != '0') {
            if (d->n < MOST_INPUT)
                d->digits[d->n++] = (char)(*s - '0');
            else if (*s != '0')
                d->digits[MOST_INPUT - 1] |= 1; /* a rest decides ties */
            d->point += !point;
        } else {
            d->point -= point;
        }
    }
    if (!any)
        return (const char *)0;
    s = read_exponent(s, 'e', &d->point);
    while (d->n && !d->digits[d->n - 1])
        d->n--;
    return s;
}

static int compare(const struct decimal *a, const struct decimal *b)
{
    if (!a->n || !b->n)
        return (a->n > 0) - (b->n > 0);
    if (a->point != b->point)
        return a->point > b->point ? 1 : -1;
    for (int i = 0; i < a->n || i < b->n; i++)
        if (digit_at(a, i) != digit_at(b, i))
            return digit_at(a, i) > digit_at(b, i) ? 1 : -1;
    return 0;
}

/* The point half way from the double with these bits to the next one, against d. */
static int compare_to_middle(const struct decimal *d, u64 bits)
{
    struct decimal middle;
    int e = (int)(bits >> 52);
    u64 m = bits & ((1ull << 52) - 1);
    expand(&middle, 2 * (e ? m | 1ull << 52 : m) + 1, (e ? e - 1075 : -1074) - 1);
    return compare(d, &middle);
}

static double nearest(const struct decimal *d)
{
    const u64 infinity = 2047ull << 52;
    u64 low = 0, high = infinity; /* of the bits: the doubles are in this order */
    union {
        u64 bits;
        double x;
    } u;
    if (!d->n || d->point < -330)
        return 0;
    if (d->point > 310)
        low = infinity;
    while (low < high) { /* the least double whose upper middle is not below d */
        u64 half = (low + high) / 2;
        int c = half == infinity ? -1 : compare_to_middle(d, half);
        if (c > 0 || (c == 0 && half & 1))
            low = half + 1;
        else
            high = half;
    }
    u.bits = low;
    return u.x;
}

/* The double, or what makes the same float of it as the number itself: where it is not exact, the
 * neighbour whose last bit is set. */
static double of_decimal(const struct decimal *d, _Bool for_float)
{
    union {
        double x;
        u64 bits;
    } u = { nearest(d) };
    struct decimal exact;
    int e = (int)(u.bits >> 52), c;
    u64 m = u.bits & ((1ull << 52) - 1);
    if (!for_float || !u.bits || e == 2047)
        return u.x;
    expand(&exact, e ? m | 1ull << 52 : m, e ? e - 1075 : -1074);
    c = compare(d, &exact);
    if (c && !(u.bits & 1))
        u.bits += c > 0 ? 1 : -1ull;
    return u.x;
}

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* After 0x, as a decimal number; NULL: there is no digit. */
static const char *read_hexadecimal(const char *s, struct decimal *d)
{
    enum { FULL = 60, LEAST = -1110, MOST = 1030 }; /* bits; of a double, and some more */
    _Bool any = 0, point = 0;
    u64 m = 0;
    int e = 0, digit;
    d->n = d->point = 0;
    for (; (digit = hexadecimal(*s)) >= 0 || (*s == '.' && !point); s++) {
        if (digit < 0) {
            point = 1;
            continue;
        }
        any = 1;
        if (m >> (FULL - 4))
            m |= digit != 0, e += 4; /* a rest decides ties */
        else
            m = m << 4 | (u64)digit;
        e -= point ? 4 : 0;
    }
    if (!any)
        return (const char *)0;
    s = read_exponent(s, 'p', &e);
    for (; m && e < LEAST; e++)
        m = m >> 1 | (m & 1);
    if (m && e > MOST)
        d->point = 400, d->digits[d->n++] = 1;
    else if (m)
        expand(d, m, e);
    return s;
}

static const char *read_nan(const char *s)
{
    const char *end = s;
    if (*s == '(')
        for (end = s + 1;
             hexadecimal(*end) >= 0 || ((*end | 32) > 'f' && (*end | 32) <= 'z') || *end == '_';
             end++)
            ;
    return *s == '(' && *end == ')' ? end + 1 : s;
}

static _Bool has_word(const char *s, const char *word)
{
    while (*word && (*s | 32) == *word)
        s++, word++;
    return !*word;
}

double strtod(const char *, char **);
float strtof(const char *, char **);
double atof(const char *);

static double read_floating(const char *s, char **end, _Bool for_float)
{
    const char *start = s, *after;
    struct decimal d;
    double x;
    while (is_space(*s))
        s++;
    _Bool negative = *s == '-';
    s += *s == '-' || *s == '+';
    if (has_word(s, "inf")) {
        after = s + (has_word(s, "infinity") ? 8 : 3);
        x = __builtin_inf();
    } else if (has_word(s, "nan")) {
        after = read_nan(s + 3);
        x = __builtin_nan("");
    } else {
        after = has_word(s, "0x") ? read_hexadecimal(s + 2, &d) : (const char *)0;
        after = after ? after : read_decimal(s, &d);
        x = after ? of_decimal(&d, for_float) : 0;
    }
    if (end)
        *end = (char *)(after ? after : start);
    return negative && after ? -x : x;
}
double strtod(const char *s, char **end) { return read_floating(s, end, 0); }
float strtof(const char *s, char **end) { return (float)read_floating(s, end, 1); }
double atof(const char *s) { return strtod(s, (char **)0); }
#endif
