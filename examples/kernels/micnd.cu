// MICND: the inverse of the cumulative normal distribution by Moro ("The Full Monte", Risk 8(2), 1995) at a quasi-random
// position: thread i takes point i + 1 of the Weyl sequence of the golden ratio and writes one float.
// Its centre is a rational function, its tails a polynomial in log(-log y): neighbouring threads take different branches.
// Any grid, any block.
#include "moro.cuh"

extern "C" __global__ void micnd(float *__restrict__ out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    out[i] = moro_inverse_normal((i + 1) * 0x9E3779B9u);
}
