// STENCIL: one explicit step of the heat equation on a grid of width x height points, out = u + k (north + south + west
// + east - 4 u), edges insulated. A CTA loads its 32x8 points and a rim of one around them into shared memory, clamped
// to the grid; then a thread computes one point. 32x8 threads per CTA, a two-dimensional grid of CTAs that covers all
// points.

constexpr int kX = 32, kY = 8;

extern "C" __global__ void stencil(const float *__restrict__ in, float *__restrict__ out, float k, int width,
                                   int height)
{
    __shared__ float tile[kY + 2][kX + 2];

    const int first_x = blockIdx.x * kX - 1, first_y = blockIdx.y * kY - 1;
    for (int row = threadIdx.y; row < kY + 2; row += kY) {
        const int y = min(max(first_y + row, 0), height - 1);
        for (int column = threadIdx.x; column < kX + 2; column += kX) {
            const int x = min(max(first_x + column, 0), width - 1);
            tile[row][column] = in[static_cast<long long>(y) * width + x];
        }
    }
    __syncthreads();

    const int column = threadIdx.x + 1, row = threadIdx.y + 1, x = first_x + column, y = first_y + row;
    if (x >= width || y >= height) return;
    const float u = tile[row][column];
    const float above_below = tile[row - 1][column] + tile[row + 1][column];
    const float left_right = tile[row][column - 1] + tile[row][column + 1];
    out[static_cast<long long>(y) * width + x] = u + k * (above_below + left_right - 4.0f * u);
}
