// A step of the acoustic wave equation, second order in time and eighth in space: tile and rim of a plane in shared
// memory, nine values along z in registers. Each CTA walks `depth` planes. The outermost four cells stay as they are.
constexpr int R = 4, TX = 32, TY = 16;
__constant__ float c[R + 1] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};

extern "C" __global__ void __launch_bounds__(TX * TY)
wave3d_order8(float* __restrict__ previous, const float* __restrict__ u, const float* __restrict__ courant2, int nx, int ny, int nz,
              int depth) {
    __shared__ float tile[TY + 2 * R][TX + 2 * R];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = R + blockIdx.x * TX + tx, y = R + blockIdx.y * TY + ty;
    const int xc = min(x, nx - 1), yc = min(y, ny - 1);
    const bool inside = x < nx - R && y < ny - R;
    const int first = R + blockIdx.z * depth, last = min(first + depth, nz - R);
    const size_t plane = (size_t)nx * ny, column = (size_t)yc * nx + xc;
    float q[2 * R + 1];
#pragma unroll
    for (int k = 1; k <= 2 * R; ++k) q[k] = u[(first - R + k - 1) * plane + column];
    for (int z = first; z < last; ++z) {
#pragma unroll
        for (int k = 0; k < 2 * R; ++k) q[k] = q[k + 1];
        q[2 * R] = u[(z + R) * plane + column];
        const float* here = u + z * plane;
        __syncthreads();
        tile[ty + R][tx + R] = q[R];
        if (ty < R) {
            tile[ty][tx + R] = here[(size_t)(y - R) * nx + xc];
            tile[ty + TY + R][tx + R] = here[(size_t)min(y + TY, ny - 1) * nx + xc];
        }
        if (tx < R) {
            tile[ty + R][tx] = here[(size_t)yc * nx + x - R];
            tile[ty + R][tx + TX + R] = here[(size_t)yc * nx + min(x + TX, nx - 1)];
        }
        __syncthreads();
        if (inside) {
            float laplacian = 3 * c[0] * q[R];
#pragma unroll
            for (int r = 1; r <= R; ++r)
                laplacian += c[r] * (q[R - r] + q[R + r] + tile[ty + R][tx + R - r] + tile[ty + R][tx + R + r] +
                                     tile[ty + R - r][tx + R] + tile[ty + R + r][tx + R]);
            const size_t at = z * plane + column;
            previous[at] = 2 * q[R] - previous[at] + courant2[at] * laplacian;
        }
    }
}
