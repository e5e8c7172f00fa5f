// TRANSPOSE: out, height columns wide, is the transpose of in, width columns wide. A CTA carries a tile of 32x32
// elements through shared memory, so that warps read and write whole lines; a column of padding keeps the tile's
// columns in different banks. 32x8 threads per CTA, a two-dimensional grid of CTAs that covers all tiles.

constexpr unsigned kTile = 32, kRows = 8;

extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, unsigned width,
                                     unsigned height)
{
    __shared__ float tile[kTile][kTile + 1];

    const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
    for (unsigned row = 0; row < kTile; row += kRows)
        if (x < width && y + row < height)
            tile[threadIdx.y + row][threadIdx.x] = in[static_cast<size_t>(y + row) * width + x];
    __syncthreads();

    const unsigned out_x = blockIdx.y * kTile + threadIdx.x, out_y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
    for (unsigned row = 0; row < kTile; row += kRows)
        if (out_x < height && out_y + row < width)
            out[static_cast<size_t>(out_y + row) * height + out_x] = tile[threadIdx.x][threadIdx.y + row];
}
