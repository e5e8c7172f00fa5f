// Kernels that end early, or in which few lanes take a long side of a branch, as they are written by hand: in the fused
// kernel the warps that ended, or have no lane on that side, must not run the rest.

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define KERNEL(NAME) extern "C" __global__ void NAME(float *y, const float *x, int n)

KERNEL(scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0f * x[i] + 1.0f;
}

// Straight code after the guard.
KERNEL(unrolled) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = x[i];
#pragma unroll
    for (int k = 0; k < 16; k++) s = s * s + x[(i + k) % 64] * (float)k;
    y[i] = s;
}

// A side that few lanes take, with two slow paths.
KERNEL(rare_side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = x[i], r = p * 0.5f;
    if (p > 0.99f) r = logf(-logf(p));
    y[i] = r;
}

// Two sides, each of them long, on which whole warps go.
KERNEL(two_sides) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], r;
    if (x[i / 32] > 0.5f) r = logf(v) / (v + 2.0f);
    else r = sqrtf(v) / (v * v + 1.0f) + expf(v) / (v + 3.0f);
    y[i] = r;
}

// Lanes end in the middle, before a loop.
KERNEL(ends_in_the_middle) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], s = v * 3.0f + 1.0f;
    y[i] = s;
    if (v < 0.25f) return;
    for (int k = 0; k < 21; k++) s = s * v + x[k];
    y[i] = s;
}

// A long side that ends the kernel.
KERNEL(ends_on_a_long_side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v > 0.99f) {
        y[i] = sqrtf(v) / (v + 2.0f) + 1.0f / (v + 3.0f) + v / 7.0f;
        return;
    }
    y[i] = v * 2.0f;
}

// A condition of two parts, of which either leads to long code.
KERNEL(either_of_two) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], r = 0.0f;
    if (v > 0.995f || x[i / 2] > 0.999f) r = sqrtf(v) / (v + 2.0f) + 1.0f / (v + 3.0f) + v / 7.0f;
    y[i] = r;
}

// The same, and the conditions are long themselves.
KERNEL(long_conditions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], r = 0.0f;
    if ((v > 0.995f && sqrtf(v) / (v + 2.0f) > 0.1f) || x[i / 2] > 0.999f) r = 1.0f / (v + 3.0f) + v / 7.0f;
    y[i] = r;
}

// Short code to the end of the array, which only the last CTA runs.
KERNEL(tail_of_fours) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 v = *(const float4 *)(x + i);
        *(float4 *)(y + i) = make_float4(v.x * 2 + 1, v.y * 3 + 1, v.z * 4 + 1, v.w * 5 + 1);
    } else {
        for (int k = i; k < n; k++) y[k] = x[k] * (float)(2 + (k & 3)) + 1;
    }
}

// Barriers in straight code after the guard, and long code after the last one.
KERNEL(straight_with_barriers) {
    __shared__ float s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    s[threadIdx.x] = sqrtf(v) / (v + 1.0f);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) v += s[threadIdx.x ^ k] * (float)(k + 1);
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) v += s[threadIdx.x ^ (2 * k)] / (float)(k + 3);
    y[i] = v;
}

// Only the first threads of each CTA live on, before a loop with barriers and a loop without.
extern "C" __global__ void few_warps(float *y, const float *x, int threads, int trips) {
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x >= threads) return;
    float s = 0;
    for (int t = 0; t < trips; t++) {
        tile[threadIdx.x] = x[(i + t * 3) & 127];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) s = s * 0.5f + tile[j] * tile[(threadIdx.x + j) & 31];
        __syncthreads();
    }
    for (int t = 0; t < 40; t++) s = s * 0.5f + x[t];
    y[i] = sqrtf(s) / (s + 1.0f);
}

// A guard by the rows of tiles, as in NVIDIA's sample of WMMA: of n rows of 16 elements each; one warp has one tile.
extern "C" __global__ void tiles_by_row(float *c, const half *a, const half *b, int n, int k) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    if (row >= n) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + i * 16, 16);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * 16, fc, 16, wmma::mem_row_major);
}
