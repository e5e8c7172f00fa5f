// MAXPOOL: the largest element of each window of planes that lie one after the other (NCHW), and where it is: its number
// in its plane. Windows are `window` elements wide and high and `stride` apart; the first begins `padding` elements
// before the plane. Elements outside are left out, NaN is larger than all others, and of equal elements the first is
// taken. `padding` at most half of `window`. n: elements of out; n plus the number of threads must stay below 2^32. Any
// grid and any block along x.

extern "C" __global__ void maxpool(const float *__restrict__ in, float *__restrict__ out, unsigned *__restrict__ places,
                                   int height, int width, unsigned out_height, unsigned out_width, int window,
                                   int stride, int padding, unsigned n)
{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const unsigned row = i / out_width, plane = row / out_height;
        const int top = static_cast<int>(row % out_height) * stride - padding;
        const int left = static_cast<int>(i % out_width) * stride - padding;
        const int bottom = min(top + window, height), right = min(left + window, width);
        const float *const from = in + static_cast<size_t>(plane) * height * width;

        int place = max(top, 0) * width + max(left, 0);
        float largest = -INFINITY;
        for (int y = max(top, 0); y < bottom; ++y)
            for (int x = max(left, 0); x < right; ++x) {
                const float value = from[y * width + x];
                if (value > largest || isnan(value)) {
                    largest = value;
                    place = y * width + x;
                }
            }
        out[i] = largest;
        places[i] = static_cast<unsigned>(place);
    }
}
