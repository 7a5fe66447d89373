/* complex.c - <complex.h> for GPUs, over the real functions; the emulated device has the process's.
 *
 * Each function exists for double and float: T the type, F(name) its real function. */
#ifdef __NVPTX__

/* Under other names: clang would make intrinsics of the known ones, which GPUs have not. */
#define REAL1(name)                                                                                \
    double real_##name(double) __asm__(#name);                                                     \
    float real_##name##f(float) __asm__(#name "f")
#define REAL2(name)                                                                                \
    double real_##name(double, double) __asm__(#name);                                             \
    float real_##name##f(float, float) __asm__(#name "f")
REAL1(exp);
REAL1(log);
REAL1(sin);
REAL1(cos);
REAL1(sinh);
REAL1(cosh);
REAL1(sqrt);
REAL1(fabs);
REAL2(hypot);
REAL2(atan2);
REAL2(copysign);

#define COMPLEX(T, F)                                                                              \
    T F(creal)(T _Complex);                                                                        \
    T F(cimag)(T _Complex);                                                                        \
    T _Complex F(conj)(T _Complex);                                                                \
    T F(creal)(T _Complex z) { return __real__ z; }                                                \
    T F(cimag)(T _Complex z) { return __imag__ z; }                                                \
    T _Complex F(conj)(T _Complex z) { return ~z; }                                                \
    T F(cabs)(T _Complex);                                                                         \
    T F(carg)(T _Complex);                                                                         \
    T _Complex F(cproj)(T _Complex);                                                               \
    T _Complex F(cexp)(T _Complex);                                                                \
    T _Complex F(clog)(T _Complex);                                                                \
    T _Complex F(csqrt)(T _Complex);                                                               \
    T _Complex F(cpow)(T _Complex, T _Complex);                                                    \
    T _Complex F(csin)(T _Complex);                                                                \
    T _Complex F(ccos)(T _Complex);                                                                \
    T _Complex F(ctan)(T _Complex);                                                                \
    T _Complex F(csinh)(T _Complex);                                                               \
    T _Complex F(ccosh)(T _Complex);                                                               \
    T _Complex F(ctanh)(T _Complex);                                                               \
    T _Complex F(casin)(T _Complex);                                                               \
    T _Complex F(cacos)(T _Complex);                                                               \
    T _Complex F(catan)(T _Complex);                                                               \
    T _Complex F(casinh)(T _Complex);                                                              \
    T _Complex F(cacosh)(T _Complex);                                                              \
    T _Complex F(catanh)(T _Complex);                                                              \
    static T _Complex F(make_)(T x, T y) { return __builtin_complex(x, y); }                       \
    T F(cabs)(T _Complex z) { return F(real_hypot)(__real__ z, __imag__ z); }                      \
    T F(carg)(T _Complex z) { return F(real_atan2)(__imag__ z, __real__ z); }                      \
    T _Complex F(cproj)(T _Complex z)                                                              \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z;                                                          \
        if (__builtin_isinf(x) || __builtin_isinf(y))                                              \
            return F(make_)((T)__builtin_inf(), F(real_copysign)(0, y));                           \
        return z;                                                                                  \
    }                                                                                              \
    T _Complex F(cexp)(T _Complex z)                                                               \
    {                                                                                              \
        T r = F(real_exp)(__real__ z), y = __imag__ z;                                             \
        return y == 0 ? F(make_)(r, y) : F(make_)(r * F(real_cos)(y), r * F(real_sin)(y));         \
    }                                                                                              \
    T _Complex F(clog)(T _Complex z) { return F(make_)(F(real_log)(F(cabs)(z)), F(carg)(z)); }     \
    T _Complex F(csqrt)(T _Complex z)                                                              \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z, r = F(cabs)(z);                                          \
        if (r == 0)                                                                                \
            return F(make_)(0, y);                                                                 \
        T s = F(real_sqrt)((F(real_fabs)(x) + r) / 2), t = F(real_fabs)(y) / (2 * s);              \
        return x >= 0 ? F(make_)(s, F(real_copysign)(t, y)) : F(make_)(t, F(real_copysign)(s, y)); \
    }                                                                                              \
    T _Complex F(cpow)(T _Complex z, T _Complex w)                                                 \
    {                                                                                              \
        if (__real__ z == 0 && __imag__ z == 0)                                                    \
            return __real__ w == 0 && __imag__ w == 0 ? F(make_)(1, 0) : F(make_)(0, 0);           \
        return F(cexp)(w * F(clog)(z));                                                            \
    }                                                                                              \
    T _Complex F(csinh)(T _Complex z)                                                              \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z;                                                          \
        return F(make_)(F(real_sinh)(x) * F(real_cos)(y), F(real_cosh)(x) * F(real_sin)(y));       \
    }                                                                                              \
    T _Complex F(ccosh)(T _Complex z)                                                              \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z;                                                          \
        return F(make_)(F(real_cosh)(x) * F(real_cos)(y), F(real_sinh)(x) * F(real_sin)(y));       \
    }                                                                                              \
    T _Complex F(ctanh)(T _Complex z)                                                              \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z;                                                          \
        if (F(real_fabs)(x) > 20)                                                                  \
            return F(make_)(F(real_copysign)(1, x), 4 * F(real_sin)(y) * F(real_cos)(y) *          \
                                                        F(real_exp)(-2 * F(real_fabs)(x)));        \
        T s = F(real_sinh)(x), c = F(real_cos)(y), d = s * s + c * c;                              \
        return F(make_)(s * F(real_cosh)(x) / d, c * F(real_sin)(y) / d);                          \
    }                                                                                              \
    /* of a hyperbolic function h: h(i z) / i; of an even one: h(i z) */                           \
    static T _Complex F(turn_)(T _Complex z) { return F(make_)(-__imag__ z, __real__ z); }         \
    static T _Complex F(back_)(T _Complex z) { return F(make_)(__imag__ z, -__real__ z); }         \
    T _Complex F(csin)(T _Complex z) { return F(back_)(F(csinh)(F(turn_)(z))); }                   \
    T _Complex F(ccos)(T _Complex z) { return F(ccosh)(F(turn_)(z)); }                             \
    T _Complex F(ctan)(T _Complex z) { return F(back_)(F(ctanh)(F(turn_)(z))); }                   \
    T _Complex F(casinh)(T _Complex z) { return F(back_)(F(casin)(F(turn_)(z))); }                 \
    T _Complex F(casin)(T _Complex z)                                                              \
    {                                                                                              \
        T _Complex r = F(csqrt)(F(make_)(1 - __real__ z, -__imag__ z)),                            \
                   s = F(csqrt)(F(make_)(1 + __real__ z, __imag__ z));                             \
        T x = F(real_atan2)(__real__ z, __real__ r * __real__ s - __imag__ r * __imag__ s);        \
        T y = __real__ r * __imag__ s - __imag__ r * __real__ s; /* sinh of the imaginary part */  \
        T a = F(real_fabs)(y);                                                                     \
        return F(make_)(x, F(real_copysign)(F(real_log)(a + F(real_hypot)(a, 1)), y));             \
    }                                                                                              \
    T _Complex F(cacos)(T _Complex z)                                                              \
    {                                                                                              \
        T _Complex a = F(casin)(z);                                                                \
        return F(make_)((T)1.5707963267948966 - __real__ a, -__imag__ a);                          \
    }                                                                                              \
    T _Complex F(cacosh)(T _Complex z)                                                             \
    {                                                                                              \
        T _Complex a = F(cacos)(z);                                                                \
        return __imag__ a <= 0 ? F(turn_)(a) : F(back_)(a);                                        \
    }                                                                                              \
    T _Complex F(catanh)(T _Complex z)                                                             \
    {                                                                                              \
        T x = __real__ z, y = __imag__ z, p = (1 + x) * (1 + x) + y * y,                           \
          m = (1 - x) * (1 - x) + y * y;                                                           \
        return F(make_)(F(real_log)(p / m) / 4,                                                    \
                        F(real_atan2)(2 * y, (1 - x) * (1 + x) - y * y) / 2);                      \
    }                                                                                              \
    T _Complex F(catan)(T _Complex z) { return F(back_)(F(catanh)(F(turn_)(z))); }

#define AS_DOUBLE(name) name
#define AS_FLOAT(name) name##f
COMPLEX(double, AS_DOUBLE) COMPLEX(float, AS_FLOAT)
#endif
