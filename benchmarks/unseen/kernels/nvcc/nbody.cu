// Accelerations of bodies under gravity, all pairs, tile by tile through shared memory; the last tile is padded with
// bodies without mass. The tile is a parameter of the template.
#include <cuda_runtime.h>

template <int Tile>
__device__ __forceinline__ void accelerations(float4 *out, const float4 *bodies, int count, float softening)
{
    __shared__ float4 tile[Tile];
    const int me = blockIdx.x * Tile + threadIdx.x;
    float4 own = me < count ? bodies[me] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < count; base += Tile) {
        int other = base + threadIdx.x;
        tile[threadIdx.x] = other < count ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < Tile; ++j) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = tile[j].w * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (me < count)
        out[me] = make_float4(ax, ay, az, 0);
}

extern "C" __global__ void nbody(float4 *out, const float4 *bodies, int count, float softening)
{
    accelerations<128>(out, bodies, count, softening);
}
