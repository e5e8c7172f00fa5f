// The nearest of the centroids, which lie in shared memory, for each point; points are stored coordinate by coordinate.
#include <cfloat>

constexpr int kDims = 8;

template <int Dims>
struct Point {
    float at[Dims];
    __device__ float distance_to(const float *other) const
    {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < Dims; ++d) {
            float step = at[d] - other[d];
            sum = fmaf(step, step, sum);
        }
        return sum;
    }
};

extern "C" __global__ void kmeans_assign(int *__restrict__ nearest, float *__restrict__ distance,
                                         const float *__restrict__ points, const float *__restrict__ centroids, int n,
                                         int clusters)
{
    extern __shared__ float shared_centroids[];
    for (int i = threadIdx.x; i < clusters * kDims; i += blockDim.x) shared_centroids[i] = centroids[i];
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    Point<kDims> own;
#pragma unroll
    for (int d = 0; d < kDims; ++d) own.at[d] = points[d * n + i];
    float best = FLT_MAX;
    int which = -1;
    for (int c = 0; c < clusters; ++c) {
        float there = own.distance_to(shared_centroids + c * kDims);
        if (there < best) {
            best = there;
            which = c;
        }
    }
    nearest[i] = which;
    distance[i] = best;
}
