// GEMM: C = A B on tensor cores. A is m x k, B is k x n, C is m x n, all row-major; A and B are halves, sums and C
// floats. A CTA makes a tile of 128x64, its eight warps (4x2) 32x32 each, by mma.sync.m16n8k16 on fragments from
// ldmatrix. Slices of 32 of k come by cp.async into two buffers, one filled while the other is used; rows are swizzled
// in chunks of 16 bytes, so that ldmatrix meets no bank twice. k and n are multiples of 8, all arrays 16-byte aligned;
// what lies beyond an edge counts as zero. 256 threads per CTA, one CTA per tile (those beyond return at once),
// numbered down stripes of eight tiles for the sake of L2.
#include <cuda_fp16.h>

constexpr unsigned kM = 128, kN = 64, kK = 32, kThreads = 256, kLanes = 32, kStripe = 8;
constexpr unsigned kChunk = 8;                                   // halves in 16 bytes
constexpr unsigned kChunksA = kK / kChunk, kChunksB = kN / kChunk;   // in a row
constexpr unsigned kWarpsDown = 4, kWarpM = kM / kWarpsDown, kWarpN = 32;
constexpr unsigned kFragmentsM = kWarpM / 16, kFragmentsN = kWarpN / 8;

struct Buffer {
    half a[kM * kK], b[kK * kN];
};

// Where a chunk of a row lies. Four chunks of A make half a line of the banks, eight of B a whole one.
__device__ __forceinline__ unsigned place_in_a(unsigned row, unsigned chunk)
{
    return (row * kChunksA + (chunk ^ (row / 2 % kChunksA))) * kChunk;
}

__device__ __forceinline__ unsigned place_in_b(unsigned row, unsigned chunk)
{
    return (row * kChunksB + (chunk ^ (row % kChunksB))) * kChunk;
}

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy_chunk(half *to, const half *from, bool inside)   // zeros where it is not inside
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(from), "r"(inside ? 16u : 0u) : "memory");
}

__device__ __forceinline__ void load_matrices(unsigned (&r)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

__device__ __forceinline__ void load_transposed(unsigned (&r)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(kThreads)
gemm(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, unsigned m, unsigned n, unsigned k)
{
    __shared__ __align__(128) Buffer buffers[2];

    const unsigned tiles_down = (m + kM - 1) / kM, tiles_across = (n + kN - 1) / kN;
    if (blockIdx.x >= tiles_down * tiles_across) return;
    const unsigned stripe = blockIdx.x / (kStripe * tiles_across), in_stripe = blockIdx.x % (kStripe * tiles_across);
    const unsigned height = min(kStripe, tiles_down - stripe * kStripe);
    const unsigned first_row = (stripe * kStripe + in_stripe % height) * kM, first_column = in_stripe / height * kN;

    const unsigned thread = threadIdx.x, lane = thread % kLanes, warp = thread / kLanes;
    const unsigned warp_row = warp % kWarpsDown * kWarpM, warp_column = warp / kWarpsDown * kWarpN;

    const auto fill = [&](Buffer &buffer, unsigned first_k) {
#pragma unroll
        for (unsigned j = 0; j < kM * kChunksA; j += kThreads) {
            const unsigned row = (j + thread) / kChunksA, chunk = thread % kChunksA;
            const unsigned x = first_k + chunk * kChunk, y = first_row + row;
            const bool inside = x < k && y < m;
            copy_chunk(buffer.a + place_in_a(row, chunk), inside ? a + size_t(y) * k + x : a, inside);
        }
#pragma unroll
        for (unsigned j = 0; j < kK * kChunksB; j += kThreads) {
            const unsigned row = (j + thread) / kChunksB, chunk = thread % kChunksB;
            const unsigned x = first_column + chunk * kChunk, y = first_k + row;
            const bool inside = x < n && y < k;
            copy_chunk(buffer.b + place_in_b(row, chunk), inside ? b + size_t(y) * n + x : b, inside);
        }
    };

    float sums[kFragmentsM][kFragmentsN][4] = {};
    fill(buffers[0], 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (unsigned first_k = 0, turn = 0; first_k < k; first_k += kK, turn ^= 1) {
        if (first_k + kK < k) fill(buffers[turn ^ 1], first_k + kK);
        asm volatile("cp.async.commit_group;" ::: "memory");   // in the last turn an empty one
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const Buffer &buffer = buffers[turn];
#pragma unroll
        for (unsigned step = 0; step < kK / 16; ++step) {
            unsigned left[kFragmentsM][4], right[kFragmentsN / 2][4];
#pragma unroll
            for (unsigned i = 0; i < kFragmentsM; ++i)
                load_matrices(left[i], buffer.a + place_in_a(warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
            for (unsigned j = 0; j < kFragmentsN / 2; ++j) {
                const unsigned chunk = warp_column / kChunk + j * 2 + lane / 16;
                load_transposed(right[j], buffer.b + place_in_b(step * 16 + lane % 16, chunk));
            }
#pragma unroll
            for (unsigned i = 0; i < kFragmentsM; ++i)
#pragma unroll
                for (unsigned j = 0; j < kFragmentsN; ++j)
                    multiply(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();   // all have read the buffer that the next turn fills
    }

#pragma unroll
    for (unsigned i = 0; i < kFragmentsM; ++i)
#pragma unroll
        for (unsigned j = 0; j < kFragmentsN; ++j)
#pragma unroll
            for (unsigned half_way = 0; half_way < 2; ++half_way) {
                const unsigned y = first_row + warp_row + i * 16 + half_way * 8 + lane / 4;
                const unsigned x = first_column + warp_column + j * 8 + lane % 4 * 2;
                if (y < m && x < n)
                    *reinterpret_cast<float2 *>(c + size_t(y) * n + x) =
                        make_float2(sums[i][j][half_way * 2], sums[i][j][half_way * 2 + 1]);
            }
}
