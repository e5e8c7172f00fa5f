// One ray a pixel through a cloud of spheres: the nearest one that it meets, then a ray to the light that stops at the first
// sphere in its way. Misses get the sky.
#include <cuda_runtime.h>
#define MAX_SPHERES 128

struct Vec { float x, y, z; };
__device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec unit(Vec a) { return rsqrtf(dot(a, a)) * a; }

// The distance along the ray, or a negative number.
__device__ inline float meet(Vec from, Vec to, float4 s)
{
    Vec oc = Vec{s.x, s.y, s.z} - from;
    float along = dot(oc, to);
    if (along < 0.f) return -1.f;
    float off = dot(oc, oc) - along * along, r2 = s.w * s.w;
    if (off > r2) return -1.f;
    return along - sqrtf(r2 - off);
}

extern "C" __global__ void ray_spheres(float *__restrict__ image, const float4 *__restrict__ spheres, int count, int width,
                                       int height, float radius)
{
    __shared__ float4 s[MAX_SPHERES];
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y) {
        float4 one = spheres[i];
        one.w = radius * (1.f + 0.5f * one.w);
        s[i] = one;
    }
    __syncthreads();

    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float u = (2.f * px + 1.f) / width - 1.f, v = 1.f - (2.f * py + 1.f) / height;
    Vec eye = {0.f, 0.f, -3.f}, to = unit({u, v, 2.f});

    float best = 1e30f;
    int which = -1;
    for (int i = 0; i < count; ++i) {
        float t = meet(eye, to, s[i]);
        if (t > 0.f && t < best) {
            best = t;
            which = i;
        }
    }
    if (which < 0) {
        image[py * width + px] = 0.1f + 0.1f * v;
        return;
    }

    float4 hit = s[which];
    Vec at = eye + best * to, normal = (1.f / hit.w) * (at - Vec{hit.x, hit.y, hit.z});
    Vec light = unit({1.f, 2.f, -1.5f});
    float lit = dot(normal, light);
    if (lit > 0.f)
        for (int i = 0; i < count; ++i)
            if (i != which && meet(at, light, s[i]) > 0.f) {
                lit = 0.f;
                break;
            }
    image[py * width + px] = 0.2f + 0.8f * fmaxf(lit, 0.f);
}
