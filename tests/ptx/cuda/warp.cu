// warp.cu - what the lanes of a warp do together: shuffles of all kinds, widths and types, votes, match, redux.
#include "check.h"
constexpr unsigned ALL = 0xffffffff;

template <class T> __global__ void shuffles(T *out, const T *in, int width)
{
    int t = threadIdx.x;
    T v = in[t];
    out[t] = __shfl_sync(ALL, v, 5, width);
    out[t + 32] = __shfl_up_sync(ALL, v, 3, width);
    out[t + 64] = __shfl_down_sync(ALL, v, 2, width);
    out[t + 96] = __shfl_xor_sync(ALL, v, 1, width);
}
template <class T> void test_shuffles(const char *name)
{
    for (int width = 1; width <= 32; width *= 2) {
        Array<T> in(32, [](int i) { return (T)(i * 1.5 - 7); }), out(128);
        shuffles<<<1, 32>>>(out.device, in.device, width);
        expect(name, out, [&](int i) {
            int lane = i % 32, low = lane / width * width, from = lane;
            switch (i / 32) {
            case 0: from = low + 5 % width; break;
            case 1: from = lane - 3 >= low ? lane - 3 : lane; break;
            case 2: from = lane + 2 < low + width ? lane + 2 : lane; break;
            case 3: from = (lane ^ 1) < low + width ? lane ^ 1 : lane; break;
            }
            return in.host[from];
        });
    }
}

__global__ void votes(unsigned *out)
{
    unsigned lane = threadIdx.x;
    bool odd = lane & 1;
    out[lane * 8 + 0] = __ballot_sync(ALL, odd);
    out[lane * 8 + 1] = __all_sync(ALL, lane < 32);
    out[lane * 8 + 2] = __all_sync(ALL, odd);
    out[lane * 8 + 3] = __any_sync(ALL, lane == 31);
    out[lane * 8 + 4] = __uni_sync(ALL, odd);
    if (odd)
        out[lane * 8 + 5] = __ballot_sync(0xaaaaaaaa, lane > 15);
    else
        out[lane * 8 + 5] = __ballot_sync(0x55555555, lane < 16);
    out[lane * 8 + 6] = lane < 20 ? __activemask() & (1u << lane) : 1u << lane;
    __syncwarp();
    out[lane * 8 + 7] = __popc(__ballot_sync(ALL, lane % 3 == 0));
}

__global__ void matches(unsigned *out, unsigned long long *out64)
{
    int pred = -1, lane = threadIdx.x;
    out[lane * 4] = __match_any_sync(ALL, lane / 5);
    out[lane * 4 + 1] = __match_all_sync(ALL, lane, &pred);
    out[lane * 4 + 2] = pred;
    out[lane * 4 + 3] = __match_all_sync(ALL, 7.5f, &pred) + (unsigned)pred;
    out64[lane] = __match_any_sync(ALL, (unsigned long long)(lane % 4) << 40);
}

__global__ void reduxes(unsigned *out)
{
    unsigned lane = threadIdx.x, v = lane * 2654435761u;
    if (lane < 8)
        return;
    unsigned m = 0xffffff00;
    out[0] = __reduce_add_sync(m, v), out[1] = __reduce_min_sync(m, v), out[2] = __reduce_max_sync(m, v);
    out[3] = __reduce_and_sync(m, v | 0xff), out[4] = __reduce_or_sync(m, v & 0xf0f0), out[5] = __reduce_xor_sync(m, v);
    out[6] = __reduce_min_sync(m, (int)v), out[7] = __reduce_max_sync(m, (int)v), out[8] = __reduce_add_sync(m, (int)v);
}
void test_redux()
{
    Array<unsigned> out(9);
    reduxes<<<1, 32>>>(out.device);
    unsigned w[9] = { 0, ~0u, 0, ~0u, 0, 0, 0x7fffffff, 0x80000000, 0 };
    for (unsigned lane = 8; lane < 32; lane++) {
        unsigned v = lane * 2654435761u;
        w[0] += v, w[1] = v < w[1] ? v : w[1], w[2] = v > w[2] ? v : w[2], w[3] &= v | 0xff, w[4] |= v & 0xf0f0, w[5] ^= v;
        w[6] = (int)v < (int)w[6] ? v : w[6], w[7] = (int)v > (int)w[7] ? v : w[7], w[8] += v;
    }
    expect("redux", out, [&](int i) { return w[i]; });
}

// Reductions and scans by hand, also by a part of a warp.
__global__ void reductions(float *out, const float *in, int n)
{
    unsigned mask = __ballot_sync(ALL, threadIdx.x < n);
    if (threadIdx.x >= n)
        return;
    float v = in[threadIdx.x], s = v;
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(mask, s, d);
        if (threadIdx.x >= d)
            s += other;
    }
    out[threadIdx.x] = s;
    out[32 + threadIdx.x] = __shfl_sync(mask, s, n - 1);
}

int main()
{
    test_shuffles<int>("shuffle int");
    test_shuffles<float>("shuffle float");
    test_shuffles<double>("shuffle double");
    test_shuffles<long long>("shuffle long long");
    Array<unsigned> v(256), m(128);
    Array<unsigned long long> m64(32);
    votes<<<1, 32>>>(v.device);
    expect("votes", v, [](int i) {
        unsigned lane = i / 8, w[] = { 0xaaaaaaaa, 1, 0, 1, 0, lane & 1 ? 0xaaaa0000 : 0x5555, 1u << lane, 11 };
        return w[i % 8];
    });
    matches<<<1, 32>>>(m.device, m64.device);
    expect("match", m, [](int i) {
        unsigned lane = i / 4, same = 0;
        for (unsigned k = 0; k < 32; k++)
            same |= (unsigned)(k / 5 == lane / 5) << k;
        unsigned w[] = { same, 0, 0, ALL + 1u };
        return w[i % 4];
    });
    expect("match 64", m64, [](int i) { return 0x11111111u << i % 4; });
    test_redux();
    Array<float> in(32, [](int i) { return i + 0.5f; });
    for (int n : { 1, 7, 31, 32 }) {
        Array<float> out(64, [](int) { return -1.f; });
        reductions<<<1, 32>>>(out.device, in.device, n);
        expect("partial warp", out, [&](int i) { return i % 32 >= n ? -1.f : i < 32 ? (i + 1) * (i + 1) * 0.5f : n * n * 0.5f; });
    }
    return result();
}
