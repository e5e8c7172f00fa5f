// Hopper: bulk and tensor copies, mbarriers, clusters, wgmma. Needs sm_90a.
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_fp8.h>
namespace ptx = cuda::ptx;

__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void __cluster_dims__(2, 1, 1) copies(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap to,
                                                            const float* in, float* out, int n) {
    alignas(1024) extern __shared__ unsigned char memory[];
    __shared__ alignas(8) uint64_t bar[2];
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::mbarrier_init(bar + 1, blockDim.x);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    }
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, 16384 + 4096);
        const int c2[] = {0, int(blockIdx.x) * 64}, c5[] = {0, 1, 2, 3, n};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, memory, &map, c2, bar);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, memory, &map, c5, bar, uint16_t(3));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, memory + 16384, in, 4096u, bar);
    }
    for (int spins = 0; !ptx::mbarrier_try_wait_parity(bar, 0); spins++) if (spins > n) __trap();
    float* tile = reinterpret_cast<float*>(memory);
    tile[threadIdx.x] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int c2[] = {0, int(blockIdx.x) * 64};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, c2, memory);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, tile, 1024u);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    uint64_t* remote;
    asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(bar + 1), "r"(ptx::get_sreg_cluster_ctarank() ^ 1));
    ptx::st_async(reinterpret_cast<int*>(remote + 2), 42, remote);
    ptx::red_async(ptx::op_max, reinterpret_cast<int*>(remote + 3), 7, remote);
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("{ .reg .pred p; .reg .b32 lane; elect.sync lane|p, 0xffffffff; @p st.shared.u32 [%0], lane; }" ::"r"(at(tile)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map) : "memory");
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(tile[1]) : "l"(out) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at(memory)), "r"(n), "r"(n));
}

__device__ uint64_t describe(const void* tile) { return (at(tile) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }

extern "C" __global__ void __launch_bounds__(256, 1) warpgroups(const __grid_constant__ CUtensorMap a, float* out, int k) {
    alignas(1024) extern __shared__ unsigned char memory[];
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[8] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < k; i++)
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 1;\n}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "l"(describe(memory)), "l"(describe(memory + 8192)), "r"(i));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    unsigned r[4] = {1, 2, 3, 4};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 1, -1, 1;\n"
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(describe(memory)));
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = d[i];
}
