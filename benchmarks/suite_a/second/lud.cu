// The inner update of blocked LU: A[i][j] -= L[i][k] U[k][j], k in one tile; tiles are numbered in one dimension.
#define BS 16

extern "C" __global__ void lud(float *A, int n)
{
    __shared__ float up[BS * BS];
    __shared__ float left[BS * BS];

    int across = n / BS;
    int bx = (int)blockIdx.x % across;
    int by = (int)blockIdx.x / across;
    if (bx == 0 || by == 0) return;   // the panels, which are finished

    int tx = threadIdx.x & (BS - 1);
    int ty = (int)threadIdx.x / BS;
    int row = by * BS + ty;
    int col = bx * BS + tx;
    if (row < n) {
        up[threadIdx.x] = A[ty * n + col];
        left[threadIdx.x] = A[row * n + tx];
    } else {
        up[threadIdx.x] = 0.f;
        left[threadIdx.x] = 0.f;
    }
    __syncthreads();

    float s = 0;
    for (int k = 0; k < BS; k++)
        s += left[ty * BS + k] * up[k * BS + tx];

    if (row < n)
        A[row * n + col] = A[row * n + col] - s;
}
