// Cooperative groups: tiles, coalesced threads, the grid, reductions and copies of a group; clusters from sm_90.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void groups(const int* in, int* out, int n) {
    __shared__ int stage[256];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof stage));
    cg::wait(block);
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    int value = stage[block.thread_rank() % 256];
    value = cg::reduce(warp, value, cg::plus<int>()) + cg::reduce(quad, value, cg::greater<int>());
    value += cg::inclusive_scan(warp, value) + quad.shfl_xor(value, 1) + warp.match_any(value) + warp.ballot(value & 1);
    if (value % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(out, active.size());
        value = active.shfl(value, 0);
        auto label = cg::labeled_partition(active, value & 3);
        value += cg::reduce(label, value, cg::bit_xor<int>());
    }
    auto halves = cg::binary_partition(warp, value > n);
    halves.sync();
    block.sync();
    out[block.group_index().x * 256 + block.thread_index().x] = value + halves.meta_group_rank();
}

extern "C" __global__ void whole_grid(float* data, int steps) {
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        unsigned long long i = grid.thread_rank();
        data[i] = data[(i + 1) % grid.size()] * 0.5f;
        grid.sync();
    }
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned bins[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        unsigned* remote = cluster.map_shared_rank(bins, in[i] / 64 % cluster.num_blocks());
        atomicAdd(remote + in[i] % 64, 1);
    }
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(out + cluster.block_rank() * 64 + i, bins[i]);
}
#endif
