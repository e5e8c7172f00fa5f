// Copies that overlap with work: cp.async, cuda::pipeline, cuda::barrier.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

template <int Stages>
__global__ void staged(const float4* in, float* out, int tiles) {
    constexpr auto scope = cuda::thread_scope_block;
    __shared__ cuda::pipeline_shared_state<scope, Stages> state;
    __shared__ float4 buffer[Stages][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetch = 0, tile = 0; tile < tiles; tile++) {
        for (; fetch < tiles && fetch < tile + Stages; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % Stages], in + fetch * 128, cuda::aligned_size_t<16>(sizeof(float4) * 128), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        float4 v = buffer[tile % Stages][threadIdx.x];
        sum += v.x * v.y + v.z - v.w;
        pipe.consumer_release();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
template __global__ void staged<2>(const float4*, float*, int);
template __global__ void staged<4>(const float4*, float*, int);

extern "C" __global__ void specialised(const int* in, int* out, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2], filled[2];
    __shared__ int buffer[2][64];
    if (threadIdx.x < 2) {
        init(ready + threadIdx.x, blockDim.x);
        init(filled + threadIdx.x, blockDim.x);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        for (int i = 0; i < n; i += 64) {
            ready[i / 64 & 1].arrive_and_wait();
            buffer[i / 64 & 1][threadIdx.x] = in[i + threadIdx.x];
            auto token = filled[i / 64 & 1].arrive();
            (void)token;
        }
    } else {
        auto first = ready[0].arrive();
        auto second = ready[1].arrive();
        (void)first, (void)second;
        for (int i = 0; i < n; i += 64) {
            filled[i / 64 & 1].arrive_and_wait();
            if (threadIdx.x < 128) out[i + threadIdx.x - 64] = 2 * buffer[i / 64 & 1][threadIdx.x - 64];
            auto token = ready[i / 64 & 1].arrive();
            (void)token;
        }
    }
}

extern "C" __global__ void by_hand(const float* in, float* out, int n) {
    __shared__ float buffer[2][256];
    __pipeline_memcpy_async(&buffer[0][threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    for (int i = 1; i <= n; i++) {
        __pipeline_memcpy_async(&buffer[i & 1][threadIdx.x], in + i * 256 + threadIdx.x, 4, i == n ? 4 : 0);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * 256 + threadIdx.x] = buffer[~i & 1][255 - threadIdx.x];
        __syncthreads();
    }
#if __CUDA_ARCH__ >= 800
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(buffer[0]));
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(to), "l"(in));
    asm volatile("cp.async.wait_all;");
#endif
}
