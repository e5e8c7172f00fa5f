// STMS: corners of Shi and Tomasi (CVPR 1994): a pixel is one when the smaller eigenvalue of its gradient matrix
// [dx2 dxy; dxy dy2] exceeds the threshold. A thread takes one pixel: three int16 in, one byte out, arithmetic in float.
// Any grid, any block.
#include <cstdint>

extern "C" __global__ void stms(const int16_t *__restrict__ dx2, const int16_t *__restrict__ dy2,
                                const int16_t *__restrict__ dxy, uint8_t *__restrict__ out, float threshold, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    const int xx = dx2[i], yy = dy2[i], xy = dxy[i];
    const float trace = xx + yy, difference = xx - yy, twice = 2 * xy;
    const float e = sqrtf(difference * difference + twice * twice);
    out[i] = fminf((trace + e) / 2, (trace - e) / 2) > threshold;
}
