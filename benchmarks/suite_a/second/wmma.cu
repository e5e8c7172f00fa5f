// D = alpha A B + beta C: a warp computes the 16x16 tile that its number says, in a grid that may be larger than the matrix.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_gemm(const half *a, const half *b, const float *c, float *d, int M, int N, int K,
                                     float alpha, float beta)
{
    int warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int perRow = N / 16;
    int row = warp / perRow * 16;
    int col = warp % perRow * 16;
    if (row >= M) return;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> aFrag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> bFrag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> cFrag;
    wmma::fill_fragment(acc, 0.0f);

    for (int k = 0; k < K; k += 16) {
        if (row < M && col < N) {
            wmma::load_matrix_sync(aFrag, a + row * K + k, K);
            wmma::load_matrix_sync(bFrag, b + col * K + k, K);
            wmma::mma_sync(acc, aFrag, bFrag, acc);
        }
    }

    wmma::load_matrix_sync(cFrag, c + row * N + col, N, wmma::mem_row_major);
    for (int i = 0; i < cFrag.num_elements; i++)
        cFrag.x[i] = alpha * acc.x[i] + beta * cFrag.x[i];
    wmma::store_matrix_sync(d + row * N + col, cFrag, N, wmma::mem_row_major);
}
