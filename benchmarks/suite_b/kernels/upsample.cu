// UPSAMPLE: planes that lie one after the other (NCHW) in another size, by bilinear interpolation. Elements are squares,
// whose middles have the coordinates 0.5, 1.5 and so on; an element of the result is interpolated at its own middle, of
// which scale_y and scale_x give the place in the plane. Beyond the middles at the edges the elements there count. n:
// elements of out; n plus the number of threads must stay below 2^32. Any grid and any block along x.

struct Between {
    int low, high;   // two neighbours, or one at an edge twice
    float weight;    // of the second
};

__device__ __forceinline__ Between between(unsigned place, float scale, int size)
{
    const float found = fmaxf((static_cast<float>(place) + 0.5f) * scale - 0.5f, 0.0f);
    const int low = min(static_cast<int>(found), size - 1);
    return {low, min(low + 1, size - 1), found - static_cast<float>(low)};
}

extern "C" __global__ void upsample(const float *__restrict__ in, float *__restrict__ out, int height, int width,
                                    unsigned out_height, unsigned out_width, float scale_y, float scale_x, unsigned n)
{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const unsigned row = i / out_width, plane = row / out_height;
        const Between y = between(row % out_height, scale_y, height), x = between(i % out_width, scale_x, width);
        const float *const from = in + static_cast<size_t>(plane) * height * width;
        const float *const above = from + y.low * width, *const below = from + y.high * width;
        const float first = above[x.low] + x.weight * (above[x.high] - above[x.low]);
        const float second = below[x.low] + x.weight * (below[x.high] - below[x.low]);
        out[i] = first + y.weight * (second - first);
    }
}
