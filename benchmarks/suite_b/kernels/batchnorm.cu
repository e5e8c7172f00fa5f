// BATCHNORM: mean and inverse standard deviation, 1 / sqrt(variance + epsilon), of every channel of images that lie in
// NCHW order. A CTA takes one channel, so that the grid has as many along x as there are channels. Threads along x go
// along the pixels of an image, those along y from image to image. Each gathers count, mean and squared deviations by
// Welford's method (1962), which shuffles merge by the formula of Chan, Golub and LeVeque (1979): the lanes of each warp
// first, then the warps. Fewer than 2^24 numbers of a channel; any block of whole warps, along x or along x and y.

constexpr unsigned kLanes = 32;

struct Moments {
    float count, mean, squares;   // squares: the sum of squared deviations from the mean
};

__device__ __forceinline__ Moments merged(Moments a, Moments b)
{
    const float count = a.count + b.count, delta = b.mean - a.mean;
    const float weight = b.count / fmaxf(count, 1.0f);
    return {count, a.mean + delta * weight, a.squares + b.squares + delta * delta * a.count * weight};
}

__device__ __forceinline__ Moments of_the_warp(Moments own)
{
#pragma unroll
    for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
        own = merged(own, {__shfl_xor_sync(~0u, own.count, offset), __shfl_xor_sync(~0u, own.mean, offset),
                           __shfl_xor_sync(~0u, own.squares, offset)});
    return own;
}

extern "C" __global__ void batchnorm(const float *__restrict__ in, float *__restrict__ mean,
                                     float *__restrict__ inverse_deviation, float epsilon, unsigned images,
                                     unsigned pixels)
{
    __shared__ float counts[kLanes], means[kLanes], squares[kLanes];   // of each warp, and of none where there is none

    const unsigned channel = blockIdx.x, channels = gridDim.x;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / kLanes, lane = thread % kLanes;
    if (warp == 0) counts[lane] = means[lane] = squares[lane] = 0.0f;

    Moments own = {};
    for (unsigned image = threadIdx.y; image < images; image += blockDim.y) {
        const float *const from = in + (static_cast<size_t>(image) * channels + channel) * pixels;
        for (unsigned pixel = threadIdx.x; pixel < pixels; pixel += blockDim.x) {
            const float x = from[pixel], delta = x - own.mean;
            own.count += 1.0f;
            own.mean += delta / own.count;
            own.squares += delta * (x - own.mean);
        }
    }
    own = of_the_warp(own);
    __syncthreads();

    if (lane == 0) {
        counts[warp] = own.count;
        means[warp] = own.mean;
        squares[warp] = own.squares;
    }
    __syncthreads();

    if (warp == 0) {
        own = of_the_warp({counts[lane], means[lane], squares[lane]});
        if (lane == 0) {
            mean[channel] = own.mean;
            inverse_deviation[channel] = 1.0f / sqrtf(own.squares / own.count + epsilon);
        }
    }
}
