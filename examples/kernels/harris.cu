// HARRIS: corner response of Harris and Stephens (1988), R = det - k trace^2, out = R > threshold, in integers.
// A thread takes one pixel of the smoothed gradient products dx2 = Ix Ix, dy2 = Iy Iy, dxy = Ix Iy; k = 41/1024, about 0.04.
// dx2 and dy2 are sums of squares, hence >= 0: then trace^2 fits 32 unsigned bits and R 32 signed ones. Any grid, any block.
#include <cstdint>

extern "C" __global__ void harris(const int16_t *__restrict__ dx2, const int16_t *__restrict__ dy2,
                                  const int16_t *__restrict__ dxy, uint8_t *__restrict__ out, int threshold, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    const int xx = dx2[i], yy = dy2[i], xy = dxy[i];
    const unsigned trace = xx + yy;
    const int response = (xx * yy - xy * xy) - static_cast<int>((trace * trace >> 10) * 41u);
    out[i] = response > threshold;
}
