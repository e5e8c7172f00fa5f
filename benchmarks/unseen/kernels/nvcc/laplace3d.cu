// One step of Jacobi for Laplace's equation in a cuboid: a thread walks along z with three planes in registers. Points of
// the boundary are copied.
extern "C" __global__ void laplace3d(float *__restrict__ out, const float *__restrict__ in, int nx, int ny, int nz)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= nx || y >= ny) return;

    long plane = (long)nx * ny;
    long at = (long)y * nx + x;
    float below, here = in[at], above = in[at + plane];
    out[at] = here;
    bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    for (int z = 1; z < nz - 1; ++z) {
        at += plane;
        below = here;
        here = above;
        above = in[at + plane];
        if (edge)
            out[at] = here;
        else
            out[at] = (below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]) * (1.0f / 6.0f);
    }
    out[at + plane] = above;
}
