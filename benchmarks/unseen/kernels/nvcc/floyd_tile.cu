// Third phase of blocked Floyd-Warshall: all tiles outside the pivot's row and column take ways through its 32 vertices.
// 16x16 threads, each 2x2 elements that lie 16 apart.
#define TILE 32
#define HALF 16
#define FAR 0x3fffffff

extern "C" __global__ void floyd_tile(int *dist, int n, int pivot)
{
    __shared__ int down[TILE][TILE + 1];
    __shared__ int across[TILE][TILE];

    if (blockIdx.x == pivot || blockIdx.y == pivot) return;

    int tx = threadIdx.x, ty = threadIdx.y;
    int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE, k0 = pivot * TILE;

    for (int a = ty; a < TILE; a += HALF) {
        for (int b = tx; b < TILE; b += HALF) {
            int i = i0 + a, j = j0 + b;
            down[a][b] = i < n && k0 + b < n ? dist[(long long)i * n + k0 + b] : FAR;
            across[a][b] = j < n && k0 + a < n ? dist[(long long)(k0 + a) * n + j] : FAR;
        }
    }
    __syncthreads();

    int best[2][2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int i = i0 + ty + a * HALF, j = j0 + tx + b * HALF;
            best[a][b] = i < n && j < n ? dist[(long long)i * n + j] : FAR;
        }

#pragma unroll 8
    for (int k = 0; k < TILE; k++) {
        int l0 = down[ty][k], l1 = down[ty + HALF][k];
        int r0 = across[k][tx], r1 = across[k][tx + HALF];
        best[0][0] = min(best[0][0], l0 + r0);
        best[0][1] = min(best[0][1], l0 + r1);
        best[1][0] = min(best[1][0], l1 + r0);
        best[1][1] = min(best[1][1], l1 + r1);
    }

    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int i = i0 + ty + a * HALF, j = j0 + tx + b * HALF;
            if (i < n && j < n)
                dist[(long long)i * n + j] = best[a][b];
        }
}
