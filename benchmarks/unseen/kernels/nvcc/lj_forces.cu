// Lennard-Jones forces of `count` local atoms from neighbour lists (neighbour k of atom i at k * count + i) among local
// and ghost atoms; x, y, z and the type (by its sign) in one float4; the nearest image in a cubic box.
struct Pair { float epsilon, sigma2; };
__constant__ Pair pairs[2][2] = {{{1.0f, 1.0f}, {0.8f, 0.9f}}, {{0.8f, 0.9f}, {0.5f, 0.7744f}}};

__device__ __forceinline__ float nearest(float d, float box, float over) { return d - box * rintf(d * over); }

template <bool SHIFT> __device__ __forceinline__ float4 interact(float4 me, float4 other, float box, float over, float cut2) {
    const float dx = nearest(me.x - other.x, box, over), dy = nearest(me.y - other.y, box, over),
                dz = nearest(me.z - other.z, box, over);
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= cut2) return make_float4(0, 0, 0, 0);
    const Pair& p = pairs[me.w > 0][other.w > 0];
    r2 = fmaxf(r2, .64f);   // a soft core
    const float inverse = 1.f / r2, s2 = p.sigma2 * inverse, s6 = s2 * s2 * s2;
    const float strength = 24.f * p.epsilon * s6 * (2.f * s6 - 1.f) * inverse;
    float energy = 4.f * p.epsilon * s6 * (s6 - 1.f);
    if (SHIFT) {
        const float t2 = p.sigma2 / cut2, t6 = t2 * t2 * t2;
        energy -= 4.f * p.epsilon * t6 * (t6 - 1.f);
    }
    return make_float4(strength * dx, strength * dy, strength * dz, .5f * energy);
}

extern "C" __global__ void __launch_bounds__(192)
lj_forces(float4* __restrict__ force, const float4* __restrict__ atoms, const int* __restrict__ neighbours,
          const int* __restrict__ counts, int count, float box, float cut2) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 me = atoms[i];
    const float over = 1.f / box;
    const int many = counts[i];
    float4 total = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int k = 0; k < many; ++k) {
        const int j = __ldg(neighbours + (size_t)k * count + i);
        if (j == i) continue;
        const float4 f = interact<true>(me, __ldg(atoms + j), box, over, cut2);
        total.x += f.x;
        total.y += f.y;
        total.z += f.z;
        total.w += f.w;
    }
    force[i] = total;
}
