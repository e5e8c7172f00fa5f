// Blackwell: tensor memory and the fifth generation of tensor cores, packed floats, narrow formats. Needs sm_100a.
#include <cuda/ptx>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
namespace ptx = cuda::ptx;

extern "C" __global__ void tensor_memory(uint64_t a, uint64_t b, uint32_t idesc, float* out, int k) {
    __shared__ uint32_t base;
    __shared__ alignas(8) uint64_t bar;
    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &base, 128u);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < k; i++) ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, base, a + i, b + i, idesc, i != 0);
        ptx::tcgen05_commit(ptx::cta_group_1, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    ptx::tcgen05_fence_after_thread_sync();
    uint32_t r[8];
    ptx::tcgen05_ld_32x32b(r, base);
    ptx::tcgen05_wait_ld();
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = __uint_as_float(r[i]);
    ptx::tcgen05_st_16x256b(base, {r[0], r[1], r[2], r[3]});
    ptx::tcgen05_wait_st();
    ptx::tcgen05_cp_128x256b(ptx::cta_group_1, base, a);
    ptx::tcgen05_shift_down(ptx::cta_group_1, base);
    ptx::clusterlaunchcontrol_try_cancel(reinterpret_cast<void*>(&base), &bar);
    __syncthreads();
    if (threadIdx.x < 32) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 128u);
}

extern "C" __global__ void narrow(const float2* in, unsigned char* out, float2* twos) {
    float2 v = in[threadIdx.x];
    out[threadIdx.x] = __nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest);
    out[threadIdx.x + 99] = __nv_cvt_float_to_fp6(v.x, __NV_E3M2, cudaRoundNearest) + __nv_cvt_float_to_fp6(v.y, __NV_E2M3, cudaRoundNearest);
    twos[threadIdx.x] = __ffma2_rn(v, v, __fadd2_rn(v, in[threadIdx.x + 1]));
    asm volatile("ld.global.v8.f32 {%0, _, _, _, _, _, _, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(in));
    twos[threadIdx.x + 99] = v;
}
