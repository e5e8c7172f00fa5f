// IM2COL: the windows of planes that lie one after the other (NCHW), so that a convolution becomes a product of
// matrices: row window * window * plane + window * y + x of `columns` has the element (y, x) of each window of a plane.
// Windows are `window` elements wide and high and `stride` apart; the first begins `padding` elements before the plane.
// Elements outside are zero. A thread takes a window. n: windows of all planes; n plus the number of threads must stay
// below 2^32. Any grid and any block along x.

extern "C" __global__ void im2col(const float *__restrict__ in, float *__restrict__ columns, int height, int width,
                                  unsigned out_height, unsigned out_width, int window, int stride, int padding,
                                  unsigned n)
{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const unsigned row = i / out_width, column = i % out_width, plane = row / out_height, line = row % out_height;
        const int top = static_cast<int>(line) * stride - padding, left = static_cast<int>(column) * stride - padding;
        const float *const from = in + static_cast<size_t>(plane) * height * width;
        const size_t places = static_cast<size_t>(out_height) * out_width;
        float *to = columns + plane * places * window * window + line * out_width + column;

        for (int y = top; y < top + window; ++y)
            for (int x = left; x < left + window; ++x) {
                *to = 0 <= y && y < height && 0 <= x && x < width ? from[y * width + x] : 0.0f;
                to += places;
            }
    }
}
