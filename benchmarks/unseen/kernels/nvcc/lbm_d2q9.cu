// One step of a D2Q9 lattice Boltzmann method: pull, half-way bounce back from obstacles and from the walls above and
// below, periodic along x, BGK collision with a driving force. Nine planes of width * height.
__constant__ float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
__device__ constexpr int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__device__ constexpr int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__device__ constexpr int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

extern "C" __global__ void __launch_bounds__(128)
lbm_d2q9(float* __restrict__ fout, const float* __restrict__ fin, const unsigned char* __restrict__ kind, int width, int height,
         float omega, float force) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const size_t plane = (size_t)width * height, here = (size_t)y * width + x;
    float f[9];
    if (kind[here] == 0) {   // an obstacle keeps what it has
#pragma unroll
        for (int k = 0; k < 9; ++k) fout[k * plane + here] = __ldg(fin + k * plane + here);
        return;
    }
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        int sx = x - CX[k];
        const int sy = y - CY[k];
        if (sx < 0) sx += width;
        if (sx >= width) sx -= width;
        const size_t from = (size_t)sy * width + sx;
        const bool wall = sy < 0 || sy >= height || kind[from] == 0;
        f[k] = wall ? __ldg(fin + OPPOSITE[k] * plane + here) : __ldg(fin + k * plane + from);
    }
    float rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        rho += f[k];
        ux += CX[k] * f[k];
        uy += CY[k] * f[k];
    }
    const float over = 1.f / rho;
    ux = ux * over + force;
    uy *= over;
    const float base = 1.f - 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const float cu = 3.f * (CX[k] * ux + CY[k] * uy);
        const float equilibrium = weight[k] * rho * (base + cu + .5f * cu * cu);
        fout[k * plane + here] = f[k] + omega * (equilibrium - f[k]);
    }
}
