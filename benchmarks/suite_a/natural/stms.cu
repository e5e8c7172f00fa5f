// STMS: corners of Shi and Tomasi (CVPR 1994): a pixel is one when the smaller eigenvalue of its gradient matrix
// [dx2 dxy; dxy dy2] exceeds the threshold. A thread takes four pixels: three loads of 8 bytes, one store of 4,
// arithmetic in float.
// n4: groups of four pixels; dx2, dy2, dxy 8-byte aligned, out 4-byte. Any grid, any block.

__device__ __forceinline__ bool is_corner(int xx, int yy, int xy, float threshold)
{
    const float trace = xx + yy, difference = xx - yy, twice = 2 * xy;
    const float e = sqrtf(difference * difference + twice * twice);
    return fminf((trace + e) / 2, (trace - e) / 2) > threshold;
}

extern "C" __global__ void stms(const short4 *__restrict__ dx2, const short4 *__restrict__ dy2,
                                const short4 *__restrict__ dxy, uchar4 *__restrict__ out, float threshold, unsigned n4)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;

    const short4 xx = dx2[i], yy = dy2[i], xy = dxy[i];
    out[i] = make_uchar4(is_corner(xx.x, yy.x, xy.x, threshold), is_corner(xx.y, yy.y, xy.y, threshold),
                         is_corner(xx.z, yy.z, xy.z, threshold), is_corner(xx.w, yy.w, xy.w, threshold));
}
