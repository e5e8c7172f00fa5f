// LUD: the trailing update of one step of a blocked, in-place LU decomposition: tile -= column tile x row tile.
// The matrix is row-major, tiles x tiles tiles of 16x16 floats. CTA b owns tile (b / tiles, b % tiles), a thread one element.
// Tiles of row 0 and column 0 are only read (their CTAs, and those beyond the matrix, return at once), so CTAs are independent.
// 256 threads per CTA. Idea: the internal step of the LUD benchmark of the Rodinia suite (Che et al., IISWC 2009).

constexpr unsigned kTile = 16;

extern "C" __global__ void lud(float *__restrict__ matrix, unsigned tiles)
{
    __shared__ float column[kTile][kTile], row[kTile][kTile];

    const unsigned tile_y = blockIdx.x / tiles, tile_x = blockIdx.x % tiles;
    if (tile_x == 0 || tile_y == 0 || tile_y >= tiles) return;

    const unsigned dim = tiles * kTile;
    const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
    const unsigned global_x = tile_x * kTile + x, global_y = tile_y * kTile + y;
    column[y][x] = matrix[global_y * dim + x];
    row[y][x] = matrix[y * dim + global_x];
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < kTile; ++i) sum += column[y][i] * row[i][x];
    matrix[global_y * dim + global_x] -= sum;
}
