// C = rows[m] * columns[n] * sum A[m][k] B[n][k] of bytes, in halves: mma.sync.m16n8k32, tiles of 128x128x64, cp.async into two
// buffers (40,960 bytes of dynamic shared memory). k is a multiple of 16, n an even number.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int BM = 128, BN = 128, BK = 64, PITCH = 80, STAGE = (BM + BN) * PITCH;

__device__ __forceinline__ void copy16(uint32_t to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0));
}

__device__ __forceinline__ void mma(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(256)
gemm_s8(__half* __restrict__ C, const int8_t* __restrict__ A, const int8_t* __restrict__ B, const float* __restrict__ rows,
        const float* __restrict__ columns, int m, int n, int k) {
    extern __shared__ __align__(16) unsigned char shared[];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32, g = lane / 4, q = lane % 4;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, wm = warp / 4 * 64, wn = warp % 4 * 32;
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);

    auto fetch = [&](int stage, int k0) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int chunk = t + j * 256, row = chunk / 4, at = k0 + chunk % 4 * 16;
            const bool isA = row < BM;
            const int r = isA ? m0 + row : n0 + row - BM;
            const bool inside = at < k && r < (isA ? m : n);
            const int8_t* from = (isA ? A : B) + (inside ? (size_t)r * k + at : 0);
            copy16(base + stage * STAGE + row * PITCH + chunk % 4 * 16, from, inside);
        }
        asm volatile("cp.async.commit_group;");
    };

    int acc[4][4][4] = {};
    const int steps = (k + BK - 1) / BK;
    fetch(0, 0);
    for (int s = 0; s < steps; ++s) {
        if (s + 1 < steps) {
            fetch((s + 1) & 1, (s + 1) * BK);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const unsigned char* a = shared + (s & 1) * STAGE + wm * PITCH;
        const unsigned char* b = shared + (s & 1) * STAGE + (BM + wn) * PITCH;
#pragma unroll
        for (int kk = 0; kk < BK; kk += 32) {
            uint32_t fa[4][4], fb[4][2];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int p = 0; p < 4; ++p)
                    fa[i][p] = *(const uint32_t*)(a + (i * 16 + g + p % 2 * 8) * PITCH + kk + p / 2 * 16 + q * 4);
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int p = 0; p < 2; ++p) fb[j][p] = *(const uint32_t*)(b + (j * 8 + g) * PITCH + kk + p * 16 + q * 4);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) mma(acc[i][j], fa[i], fb[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = m0 + wm + i * 16 + half * 8 + g;
            if (row >= m) continue;
            const float scale = rows[row];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int column = n0 + wn + j * 8 + q * 2;
                if (column >= n) continue;
                const float2 two = *(const float2*)(columns + column);
                *(__half2*)(C + (size_t)row * n + column) =
                    __floats2half2_rn(scale * two.x * acc[i][j][2 * half], scale * two.y * acc[i][j][2 * half + 1]);
            }
        }
}
