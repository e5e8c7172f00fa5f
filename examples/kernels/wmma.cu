// WMMA: D = alpha A B + beta C on tensor cores. A warp computes one 16x16 tile of D straight from global memory; tiles are
// numbered row by row along the warps. A is m x k row-major, B is k x n column-major (halves), C and D are m x n row-major.
// m, n, k are multiples of 16 and the number of tiles a multiple of 8, a CTA's: so the guard is the same for a whole CTA.
// 256 threads per CTA; CTAs beyond the last tile return at once.
#include <mma.h>

namespace tensor = nvcuda::wmma;   // the entry itself is called wmma

constexpr unsigned kTile = 16, kWarps = 8;

extern "C" __global__ void wmma(const half *__restrict__ a, const half *__restrict__ b, const float *__restrict__ c,
                                float *__restrict__ d, unsigned m, unsigned n, unsigned k, float alpha, float beta)
{
    const unsigned tiles_across = n / kTile, tiles = m / kTile * tiles_across;
    if (blockIdx.x >= tiles / kWarps) return;

    const unsigned tile = blockIdx.x * kWarps + threadIdx.x / 32;
    const unsigned row = tile / tiles_across * kTile, column = tile % tiles_across * kTile;

    tensor::fragment<tensor::accumulator, kTile, kTile, kTile, float> product, sum;
    tensor::fill_fragment(product, 0.0f);
    for (unsigned i = 0; i < k; i += kTile) {
        tensor::fragment<tensor::matrix_a, kTile, kTile, kTile, half, tensor::row_major> left;
        tensor::fragment<tensor::matrix_b, kTile, kTile, kTile, half, tensor::col_major> right;
        tensor::load_matrix_sync(left, a + row * k + i, k);
        tensor::load_matrix_sync(right, b + column * k + i, k);
        tensor::mma_sync(product, left, right, product);
    }

    tensor::load_matrix_sync(sum, c + row * n + column, n, tensor::mem_row_major);
    for (int e = 0; e < sum.num_elements; ++e) sum.x[e] = alpha * product.x[e] + beta * sum.x[e];
    tensor::store_matrix_sync(d + row * n + column, sum, n, tensor::mem_row_major);
}
