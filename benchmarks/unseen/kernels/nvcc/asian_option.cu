// Monte Carlo for an Asian call with a barrier: each thread follows a few paths of geometric Brownian motion, with normals by
// Box and Muller from an xorshift generator, and gives a path up once it touches the barrier. Sums of payoffs and of their
// squares for each CTA.
#include <cuda_runtime.h>

struct XorShift {
    unsigned int s;
    __device__ explicit XorShift(unsigned int seed)
    {
        seed = (seed ^ 61u) ^ (seed >> 16);
        seed *= 9u;
        seed ^= seed >> 4;
        seed *= 0x27d4eb2du;
        seed ^= seed >> 15;
        s = seed | 1u;
    }
    // in (0, 1]
    __device__ float next()
    {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        return ((s >> 8) + 1u) * (1.0f / 16777216.0f);
    }
};

__device__ __forceinline__ float2 normals(XorShift &rng)
{
    float u = rng.next(), v = rng.next();
    float r = sqrtf(-2.0f * __logf(u)), s, c;
    __sincosf(6.2831853f * (v - 0.5f), &s, &c);
    return make_float2(r * c, r * s);
}

extern "C" __global__ void __launch_bounds__(128)
asian_option(float *sums, float *squares, float spot, float strike, float barrier, float drift, float volatility,
             int steps, int paths, unsigned int seed)
{
    XorShift rng(seed + blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0.0f, square = 0.0f;
    for (int p = 0; p < paths; ++p) {
        float price = spot, total = 0.0f;
        bool alive = true;
        for (int t = 0; t < steps; t += 2) {
            float2 z = normals(rng);
            price *= __expf(drift + volatility * z.x);
            total += price;
            price *= __expf(drift + volatility * z.y);
            total += price;
            if (price < barrier) {
                alive = false;
                break;
            }
        }
        if (alive) {
            float payoff = fmaxf(total / steps - strike, 0.0f);
            sum += payoff;
            square += payoff * payoff;
        }
    }

    __shared__ float2 of_warp[4];
    for (int lanes = 16; lanes; lanes >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, lanes);
        square += __shfl_xor_sync(~0u, square, lanes);
    }
    if ((threadIdx.x & 31) == 0)
        of_warp[threadIdx.x >> 5] = make_float2(sum, square);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 4; ++w) {
            sum += of_warp[w].x;
            square += of_warp[w].y;
        }
        sums[blockIdx.x] = sum;
        squares[blockIdx.x] = square;
    }
}
