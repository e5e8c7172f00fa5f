// HARRIS: corner response of Harris and Stephens (1988), R = det - k trace^2, out = R > threshold, in integers.
// A thread takes four pixels of the smoothed gradient products dx2 = Ix Ix, dy2 = Iy Iy, dxy = Ix Iy, with one load of
// 8 bytes from each and one store of 4 bytes; k = 41/1024, about 0.04.
// dx2 and dy2 are sums of squares, hence >= 0: then trace^2 fits 32 unsigned bits and R 32 signed ones.
// n4: groups of four pixels; dx2, dy2, dxy 8-byte aligned, out 4-byte. Any grid, any block.

__device__ __forceinline__ bool is_corner(int xx, int yy, int xy, int threshold)
{
    const unsigned trace = xx + yy;
    const int response = (xx * yy - xy * xy) - static_cast<int>((trace * trace >> 10) * 41u);
    return response > threshold;
}

extern "C" __global__ void harris(const short4 *__restrict__ dx2, const short4 *__restrict__ dy2,
                                  const short4 *__restrict__ dxy, uchar4 *__restrict__ out, int threshold, unsigned n4)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;

    const short4 xx = dx2[i], yy = dy2[i], xy = dxy[i];
    out[i] = make_uchar4(is_corner(xx.x, yy.x, xy.x, threshold), is_corner(xx.y, yy.y, xy.y, threshold),
                         is_corner(xx.z, yy.z, xy.z, threshold), is_corner(xx.w, yy.w, xy.w, threshold));
}
