// The offsets of a bucket sort: where an element goes is the start of its bucket in this block plus its rank there.
// The element is multiplied by the offset, and stays where it is.
#define BUCKETS 256

extern "C" __global__ void sort(const float *values, const int *ranks, const int *starts, float *result, int count)
{
    volatile __shared__ int start[BUCKETS];

    for (int b = threadIdx.x; b < BUCKETS; b += blockDim.x)
        start[b] = starts[blockIdx.x * BUCKETS + b];
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int code = ranks[i];
        int bucket = code % BUCKETS;
        int offset = start[bucket] + code / BUCKETS;
        result[i] = values[i] * (float)offset;
    }
}
