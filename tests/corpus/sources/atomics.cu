// Atomic operations of every type, order and scope; fences.
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void old_style(int* i, unsigned* u, unsigned long long* l, float* f, double* d, half2* h, __nv_bfloat16* b) {
    __shared__ int s;
    s = 0;
    __syncthreads();
    int t = threadIdx.x;
    int r = atomicAdd(i, t) + atomicSub(i + 1, t) + atomicExch(i, 3) + atomicMin(i, t) + atomicCAS(i, 1, 2) + atomicAdd(&s, 1);
    r += atomicInc(u, 7) + atomicDec(u, 9) + atomicAnd(u, 3u) + atomicOr(u, 4u) + atomicXor(u, 5u) + atomicMax(&s, t);
    r += atomicAdd(l, 1ull) + atomicMax(l, 5ull) + atomicCAS(l, 1ull, 2ull) + atomicExch(f, 2.f) + atomicAdd(f, 1.f) + atomicAdd(d, 1.0);
    atomicAdd(h, __float2half2_rn(1.f));
    atomicAdd(b, __float2bfloat16(2.f));
    atomicAdd_block(i + 2, r);
    atomicOr_system(u + 2, r);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
#if __CUDA_ARCH__ >= 900
    float4 v = atomicAdd(reinterpret_cast<float4*>(f) + 4, make_float4(1, 2, 3, 4));
    f[t] = v.x;
#endif
}

template <cuda::thread_scope Scope>
__device__ void scoped(int* p, unsigned long long* q) {
    cuda::atomic_ref<int, Scope> a(*p);
    cuda::atomic_ref<unsigned long long, Scope> b(*q);
    a.fetch_add(1, cuda::memory_order_relaxed);
    a.store(b.load(cuda::memory_order_acquire), cuda::memory_order_release);
    int expected = 3;
    while (!a.compare_exchange_weak(expected, 4, cuda::memory_order_acq_rel)) expected = a.load();
    b.fetch_max(7, cuda::memory_order_seq_cst);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
    a.exchange(9, cuda::memory_order_acquire);
    b.fetch_xor(3);
}

extern "C" __global__ void new_style(int* p, unsigned long long* q, cuda::atomic<float>* f) {
    scoped<cuda::thread_scope_thread>(p, q);
    scoped<cuda::thread_scope_block>(p, q);
    scoped<cuda::thread_scope_device>(p, q);
    scoped<cuda::thread_scope_system>(p, q);
    f->fetch_add(1.5f);
}

extern "C" __global__ void lock(int* mutex, volatile int* data, int* plain) {
    while (atomicCAS(mutex, 0, 1)) __nanosleep(100);
    *data = *data + 1;
    __threadfence();
    atomicExch(mutex, 0);
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(plain[0]) : "l"(plain) : "memory");
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(plain + 1), "r"(3) : "memory");
    asm volatile("red.relaxed.gpu.global.add.u32 [%0+8], %1;" ::"l"(plain), "r"(3) : "memory");
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0, _, _, %1}, [%2];" : "=r"(plain[2]), "=r"(plain[3]) : "l"(plain));
}
