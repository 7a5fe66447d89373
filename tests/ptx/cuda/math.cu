// math.cu - arithmetic: integers of all widths with the instructions that C cannot say, float and double with rounding modes and the mathematical
// functions, half and bfloat16, conversions.  The host computes the same by libm; the bounds on errors are those of CUDA's manual, rounded up.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { N = 256 };
typedef unsigned long long u64;
__host__ __device__ unsigned mix(unsigned x)
{
    x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b;
    return x ^ x >> 16;
}

// ------------------------------------------------------------------ integers: the same function on both sides
template <class T> __host__ __device__ T divisions(unsigned i)
{
    T a = (T)(mix(i) * 0x9e3779b97f4a7c15ull >> i % 40), b = (T)(mix(i + 1000) >> i % 29 | 1);
    return (T)(a / b * 31 + a % b + a * b + (a >> i % 7) + (a << i % 5));
}
__host__ __device__ u64 wide(unsigned i)
{
    unsigned __int128 a = (unsigned __int128)mix(i) << 70 | (u64)mix(i + 1) << 20, b = (u64)mix(i + 2) << i % 30 | 1;
    __int128 c = (__int128)a - (__int128)(b << 50);
    return (u64)(a / b) + (u64)(a % b) + (u64)(a * b >> 64) + (u64)(c >> 33) + (u64)(c / 1000003);
}
__global__ void integers(u64 *out)
{
    unsigned i = threadIdx.x;
    out[i * 8] = divisions<int>(i), out[i * 8 + 1] = divisions<unsigned>(i), out[i * 8 + 2] = divisions<long long>(i);
    out[i * 8 + 3] = divisions<u64>(i), out[i * 8 + 4] = divisions<short>(i), out[i * 8 + 5] = divisions<unsigned char>(i);
    out[i * 8 + 6] = divisions<signed char>(i), out[i * 8 + 7] = wide(i);
}
static u64 integers_host(int k)
{
    unsigned i = k / 8;
    u64 w[] = { (u64)divisions<int>(i), divisions<unsigned>(i), (u64)divisions<long long>(i), divisions<u64>(i), (u64)divisions<short>(i),
                divisions<unsigned char>(i), (u64)divisions<signed char>(i), wide(i) };
    return w[k % 8];
}

enum { INTRINSICS = 30 };
__global__ void intrinsics(unsigned *out)
{
    unsigned i = threadIdx.x, a = mix(i), b = mix(i + 7), c = mix(i + 9), *o = out + i * INTRINSICS;
    u64 w = (u64)a << 32 | b;
    o[0] = __popc(a), o[1] = __clz(a >> i % 32), o[2] = __ffs(a << i % 32), o[3] = __brev(a), o[4] = __popcll(w), o[5] = __clzll(w >> i % 64);
    o[6] = __ffsll(w << i % 64), o[7] = (unsigned)(__brevll(w) >> 16), o[8] = __byte_perm(a, b, c & 0x7777), o[9] = __funnelshift_l(a, b, c);
    o[10] = __funnelshift_rc(a, b, c & 63), o[11] = __mulhi((int)a, (int)b), o[12] = __umulhi(a, b), o[13] = (unsigned)__umul64hi(w, w);
    o[14] = (unsigned)__mul64hi((long long)w, (long long)(w * 3)), o[15] = __sad((int)a, (int)b, c), o[16] = __usad(a, b, c);
    o[17] = __dp4a((int)a, (int)b, (int)c), o[18] = __dp4a(a, b, c), o[19] = __vadd4(a, b), o[20] = __vmaxs2(a, b), o[21] = __vabsdiffu4(a, b);
    o[22] = __hadd((int)a, (int)b), o[23] = __mul24((int)a, (int)b);
    o[24] = __dp2a_lo((int)a, (int)b, (int)c), o[25] = __dp2a_hi(a, b, c), o[26] = __vsadu4(a, b), o[27] = __vsadu2(a, b), o[28] = __vadd2(a, b);
    o[29] = __viaddmax_u16x2(a, b, c);
}
static unsigned per_byte(unsigned a, unsigned b, bool difference)
{
    unsigned r = 0;
    for (int k = 0; k < 32; k += 8) {
        int x = a >> k & 255, y = b >> k & 255;
        r |= (unsigned)((difference ? abs(x - y) : x + y) & 255) << k;
    }
    return r;
}
static unsigned intrinsics_host(int k)
{
    unsigned i = k / INTRINSICS, a = mix(i), b = mix(i + 7), c = mix(i + 9), r = 0;
    u64 w = (u64)a << 32 | b, x = w >> i % 64;
    switch (k % INTRINSICS) {
    case 0: return __builtin_popcount(a);
    case 1: return a >> i % 32 ? __builtin_clz(a >> i % 32) : 32;
    case 2: return __builtin_ffs(a << i % 32);
    case 3:
        for (int j = 0; j < 32; j++)
            r |= (a >> j & 1) << (31 - j);
        return r;
    case 4: return __builtin_popcountll(w);
    case 5: return x ? __builtin_clzll(x) : 64;
    case 6: return __builtin_ffsll(w << i % 64);
    case 7:
        x = 0;
        for (int j = 0; j < 64; j++)
            x |= (w >> j & 1) << (63 - j);
        return (unsigned)(x >> 16);
    case 8:
        for (int j = 0; j < 4; j++) {
            unsigned s = c >> 4 * j & 7;
            r |= ((s < 4 ? a >> 8 * s : b >> 8 * (s - 4)) & 255) << 8 * j;
        }
        return r;
    case 9: return (unsigned)(((u64)b << 32 | a) << c % 32 >> 32);
    case 10: return (unsigned)(((u64)b << 32 | a) >> std::min(c & 63, 32u));
    case 11: return (unsigned)((long long)(int)a * (int)b >> 32);
    case 12: return (unsigned)((u64)a * b >> 32);
    case 13: return (unsigned)((unsigned __int128)w * w >> 64);
    case 14: return (unsigned)((__int128)(long long)w * (long long)(w * 3) >> 64);
    case 15: return c + (unsigned)llabs((long long)(int)a - (int)b);
    case 16: return c + (a > b ? a - b : b - a);
    case 17:
        for (int j = 0; j < 32; j += 8)
            r += (unsigned)((signed char)(a >> j) * (signed char)(b >> j));
        return r + c;
    case 18:
        for (int j = 0; j < 32; j += 8)
            r += (a >> j & 255) * (b >> j & 255);
        return r + c;
    case 19: return per_byte(a, b, false);
    case 20: return (unsigned)std::max((int)(a & 0xffff0000), (int)(b & 0xffff0000)) & 0xffff0000u | (unsigned short)std::max((short)a, (short)b);
    case 21: return per_byte(a, b, true);
    case 22: return (unsigned)(((long long)(int)a + (int)b) >> 1);
    case 24: return (unsigned)((short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8)) + c;
    case 25: return (a & 0xffff) * (b >> 16 & 255) + (a >> 16) * (b >> 24) + c;
    case 26:
        for (int j = 0; j < 32; j += 8)
            r += (unsigned)abs((int)(a >> j & 255) - (int)(b >> j & 255));
        return r;
    case 27: return (unsigned)(abs((int)(a >> 16) - (int)(b >> 16)) + abs((int)(unsigned short)a - (int)(unsigned short)b));
    case 28: return (a & 0xffff0000) + (b & 0xffff0000) + (unsigned short)(a + b);
    case 29: return (unsigned)std::max((unsigned short)((a >> 16) + (b >> 16)), (unsigned short)(c >> 16)) << 16 | std::max((unsigned short)(a + b), (unsigned short)c);
    default: return (unsigned)(((int)(a << 8) >> 8) * (long long)((int)(b << 8) >> 8));
    }
}

// ------------------------------------------------------------------ mathematical functions: a row each
#define FUNCTIONS(F)                                                                                                                          \
    F(sqrt(x)) F(cbrt(x)) F(exp(x / 10)) F(exp2(x / 10)) F(expm1(x / 50)) F(log(x)) F(log2(x)) F(log10(x)) F(log1p(x)) F(sin(x)) F(cos(x)) F(tan(x)) \
    F(sinh(x / 20)) F(cosh(x / 20)) F(tanh(x / 50)) F(asin(x / 200)) F(acos(x / 200)) F(atan(x)) F(atan2(x, y)) F(asinh(x)) F(acosh(x + 1))      \
    F(atanh(x / 200)) F(pow(x, y / 50)) F(hypot(x, y)) F(erf(x / 50)) F(erfc(x / 50)) F(tgamma(x / 20 + 1)) F(lgamma(x + 1)) F(fmod((double)x, (double)y)) F(remainder((double)x, (double)y))       \
    F(fma(x, y, x)) F(floor(x)) F(ceil(x)) F(trunc(x)) F(rint(x)) F(round(x)) F(fabs(-x)) F(fmin(x, y)) F(fmax(x, y))         \
    F(fdim(x, y)) F(copysign(x, -y)) F(ldexp(x, 5)) F(logb(x)) F(ilogb(x)) F(nextafter(x, y)) F(x / y) F(x * y + 1) F(sin(x * 1e5)) F(j0(x / 30))  \
    F((double)isnan(x / (y - y))) F((double)signbit(-x)) F((double)lround(x)) F((double)llrint(x)) F(1 / sqrt(x)) F(x - y)
enum {
#define COUNT(e) +1
    FUNCTION_COUNT = FUNCTIONS(COUNT)
};
static const char *const function_names[] = {
#define NAME(e) #e,
    FUNCTIONS(NAME)
};
template <class T> __host__ __device__ void functions_at(T x, T y, T *o)
{
#define CALL(e) *o++ = (T)(e);
    FUNCTIONS(CALL)
}
template <class T> __host__ __device__ T argument(unsigned i) { return (T)(mix(i) % 20000) / 128 + (T)0.0078125; }
template <class T> __global__ void functions(T *out)
{
    unsigned i = threadIdx.x;
    functions_at<T>(argument<T>(i), argument<T>(i + 5000), out + i * FUNCTION_COUNT);
}
template <class T> void test_functions(const char *type, double relative)
{
    Array<T> out(N * FUNCTION_COUNT);
    functions<<<1, N>>>(out.device);
    out.fetch();
    for (int i = 0; i < N; i++) {
        double w[FUNCTION_COUNT];
        functions_at<double>(argument<T>(i), argument<T>(i + 5000), w);
        for (int f = 0; f < FUNCTION_COUNT; f++) {
            double got = out.host[i * FUNCTION_COUNT + f], bound = relative * (1 + std::fabs(w[f]));
            bool steps = strstr(function_names[f], "nextafter") && sizeof(T) == 4, large = strstr(function_names[f], "1e5") && sizeof(T) == 4;
            if (!steps && !large && !(std::fabs(got - w[f]) <= bound) && !(std::isnan(got) && std::isnan(w[f])) && got != w[f]) {
                printf("FAILED %s %s at %.17g: %.17g, not %.17g\n", type, function_names[f], (double)argument<T>(i), got, w[f]);
                failures++;
                return;
            }
        }
    }
}

// ------------------------------------------------------------------ roundings, conversions, fast functions: exact values
__global__ void roundings(float *f, double *d, long long *n)
{
    float a = 1, tiny = ldexpf(1, -30), third = 3;
    f[0] = __fadd_rn(a, tiny), f[1] = __fadd_ru(a, tiny), f[2] = __fadd_rd(-a, -tiny), f[3] = __fadd_rz(a, -tiny);
    f[4] = __fdiv_ru(a, third), f[5] = __fdiv_rd(a, third), f[6] = __fsqrt_ru(third), f[7] = __fsqrt_rd(third);
    f[8] = __fmaf_rz(a, a, -tiny), f[9] = __frcp_rn(third), f[10] = __fmul_ru(third, 1 + ldexpf(1, -23));
    f[11] = __double2float_ru(1 + 1e-12), f[12] = __double2float_rd(1 - 1e-12), f[13] = __ll2float_rz((1ll << 40) + 1);
    f[14] = __uint2float_ru(0xffffffff), f[15] = __saturatef(1.5f), f[16] = __int_as_float(0x40490fdb);
    f[17] = __expf(1), f[18] = __sinf(0.5f), f[19] = __powf(2, 0.5f), f[20] = __fdividef(1, 3), f[21] = rsqrtf(4), f[22] = __log2f(8), f[23] = __cosf(0);
    d[0] = __dadd_ru(1, 1e-20), d[1] = __dadd_rd(1, -1e-20), d[2] = __ddiv_rz(2, 3), d[3] = __dsqrt_ru(2), d[4] = __fma_rd(1, 1, 1e-20);
    d[5] = __ll2double_rd((1ll << 60) + 1), d[6] = __hiloint2double(0x400921fb, 0x54442d18), d[7] = __drcp_rn(3);
    n[0] = __float2int_rn(2.5f), n[1] = __float2int_ru(2.1f), n[2] = __float2int_rd(-2.1f), n[3] = __double2ll_rn(-3.5);
    n[4] = __float2uint_rz(-5.f), n[5] = __double2int_rz(1e20), n[6] = __float2ll_rz(1e10f), n[7] = (long long)__double2ull_rn(1.8e19);
    n[8] = __float_as_int(1.f), n[9] = __double2hiint(1.), n[10] = __float2int_rn(nanf("")), n[11] = (unsigned char)(int)300.7f;
}
static void test_roundings()
{
    Array<float> f(24);
    Array<double> d(8);
    Array<long long> n(12);
    float one = 1, up = nextafterf(1, 2), down = nextafterf(1, 0), third = 1.f / 3;
    float wf[] = { one, up, -up, down, nextafterf(third, 0) < third && third * 3.0 < 1.0 ? nextafterf(third, 1) : third, nextafterf(third, 0), 0, 0, down, third,
                   nextafterf(3.f * up, 9), up, down, (float)(1ll << 40), 4294967296.f, 1, 3.14159274f, expf(1), sinf(0.5f), sqrtf(2), third, 0.5f, 3, 1 };
    wf[4] = (double)third * 3 >= 1 ? third : nextafterf(third, 1), wf[5] = (double)third * 3 <= 1 ? third : nextafterf(third, 0);
    float root = sqrtf(3);
    wf[6] = (double)root * root >= 3 ? root : nextafterf(root, 9), wf[7] = (double)root * root <= 3 ? root : nextafterf(root, 0);
    double p = 3.0 * (1 + ldexp(1, -23));
    wf[10] = (float)p >= p ? (float)p : nextafterf((float)p, 9);
    double wd[] = { nextafter(1., 2.), nextafter(1., 0.), 0.66666666666666663, 1.4142135623730951455, 1, 1152921504606846976., M_PI, 1. / 3 };
    long long wn[] = { 2, 3, -3, -4, 0, 0x7fffffff, 10000000000ll, (long long)18000000000000000000ull, 0x3f800000, 0x3ff00000, 0, 300 & 255 };
    roundings<<<1, 1>>>(f.device, d.device, n.device);
    expect("float roundings", f, [&](int i) { return wf[i]; }, 3e-7);
    f.fetch();
    for (int i = 0; i < 17; i++)
        if (f.host[i] != wf[i])
            printf("FAILED rounding [%d] %.9g, not %.9g\n", i, f.host[i], wf[i]), failures++;
    expect("double roundings", d, [&](int i) { return wd[i]; });
    expect("to integers", n, [&](int i) { return wn[i]; });
}

// ------------------------------------------------------------------ half and bfloat16: all values are small enough to be exact
__global__ void halves(float *out)
{
    int t = threadIdx.x;
    __half a = __float2half(t * 0.25f), b = __int2half_rn(t % 7 + 1);
    __nv_bfloat16 c = __float2bfloat16(t), d = __float2bfloat16(2);
    __half2 v = __halves2half2(a, b), w = __hfma2(v, __float2half2_rn(2), __float2half2_rn(1));
    float *o = out + t * 16;
    o[0] = __half2float(__hadd(a, b)), o[1] = __half2float(__hmul(a, b)), o[2] = __half2float(__hfma(a, b, b)), o[3] = __half2float(-a);
    o[4] = __low2float(w), o[5] = __high2float(w), o[6] = __hgt(a, b), o[7] = __half2float(__hmax(a, b)), o[8] = __half2int_rz(a);
    o[9] = __bfloat162float(__hadd(c, d)), o[10] = __bfloat162float(c * d), o[11] = __bfloat162float(__hfma(c, d, d)), o[12] = c > d;
    o[13] = __half2float(__habs(__hsub(b, a))), o[14] = __half2float(hsqrt(__float2half(t * t))), o[15] = __half2float(__float2half_rd(1.0001f));
}
static float halves_host(int k)
{
    int t = k / 16;
    float a = t * 0.25f, b = t % 7 + 1, w[] = { a + b, a * b, a * b + b, -a, 2 * a + 1, 2 * b + 1, (float)(a > b), std::max(a, b), (float)(int)a, t + 2.f, t * 2.f,
                                                t * 2 + 2.f, (float)(t > 2), std::fabs(b - a), (float)t, 1 };
    return w[k % 16];
}

int main()
{
    Array<u64> n(N * 8);
    Array<unsigned> i(N * INTRINSICS);
    Array<float> h(32 * 16);
    integers<<<1, N>>>(n.device);
    expect("integers", n, integers_host);
    intrinsics<<<1, N>>>(i.device);
    expect("intrinsics", i, intrinsics_host);
    test_functions<float>("float", 1e-5);
    test_functions<double>("double", 1e-13);
    test_roundings();
    halves<<<1, 32>>>(h.device);
    expect("half, bfloat16", h, halves_host);
    return result();
}
