// MICND: the inverse of the cumulative normal distribution by Moro ("The Full Monte", Risk 8(2), 1995) at quasi-random
// positions: out[i] gets point i + 1 of the Weyl sequence of the golden ratio. A thread takes four points, each by the
// branch that it needs, and writes them with one store of 16 bytes.
// n4: groups of four points; out 16-byte aligned. Any grid, any block.
#include "../../../examples/kernels/moro.cuh"

constexpr unsigned kStep = 0x9E3779B9u;

extern "C" __global__ void micnd(float4 *__restrict__ out, unsigned n4)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;

    const unsigned first = (4 * i + 1) * kStep;
    out[i] = make_float4(moro_inverse_normal(first), moro_inverse_normal(first + kStep),
                         moro_inverse_normal(first + 2 * kStep), moro_inverse_normal(first + 3 * kStep));
}
