// Complex FFTs of 1024 points, radix 4 after Stockham: 256 threads a transform, real and imaginary parts in padded shared
// memory between the passes. A CTA takes several transforms.
#include <cuda_runtime.h>

namespace {
constexpr int N = 1024, T = N / 4;

__device__ __forceinline__ int padded(int i) { return i + (i >> 5); }

__device__ __forceinline__ float2 mul(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 sub(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

__device__ __forceinline__ void butterfly(float2 (&v)[4])
{
    float2 s = add(v[0], v[2]), d = sub(v[0], v[2]);
    float2 t = add(v[1], v[3]), e = sub(v[1], v[3]);
    float2 turned = make_float2(e.y, -e.x);   // -i e
    v[0] = add(s, t);
    v[1] = add(d, turned);
    v[2] = sub(s, t);
    v[3] = sub(d, turned);
}

template <int Done>
__device__ __forceinline__ void pass(float2 (&v)[4], float *re, float *im)
{
    const int j = threadIdx.x, k = j % Done;
    if (Done > 1) {
        float2 w;
        sincospif(-2.0f * k / (Done * 4), &w.y, &w.x);
        float2 w2 = mul(w, w);
        v[1] = mul(v[1], w);
        v[2] = mul(v[2], w2);
        v[3] = mul(v[3], mul(w2, w));
    }
    butterfly(v);
    if (Done < T) {
        const int to = (j / Done) * Done * 4 + k;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            re[padded(to + r * Done)] = v[r].x;
            im[padded(to + r * Done)] = v[r].y;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; ++r)
            v[r] = make_float2(re[padded(j + r * T)], im[padded(j + r * T)]);
    }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(T) fft1024(float2 *__restrict__ out, const float2 *__restrict__ in, int batch)
{
    __shared__ float re[N + N / 32], im[N + N / 32];
    for (int b = blockIdx.x; b < batch; b += gridDim.x) {
        const float2 *from = in + (size_t)b * N;
        float2 *to = out + (size_t)b * N;
        float2 v[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) v[r] = from[threadIdx.x + r * T];
        pass<1>(v, re, im);
        pass<4>(v, re, im);
        pass<16>(v, re, im);
        pass<64>(v, re, im);
        pass<256>(v, re, im);
#pragma unroll
        for (int r = 0; r < 4; ++r) to[threadIdx.x + r * T] = v[r];
    }
}
