// Sums over shared memory, shuffles and atomics, for several types and sizes.
#include <cuda_fp16.h>

template <class T, int Threads>
__device__ T sum_in_shared(T value) {
    __shared__ T part[Threads];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int step = Threads / 2; step > 16; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    value = part[threadIdx.x % 32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

template <class T, int Threads>
__global__ void __launch_bounds__(Threads) sum(const T* __restrict__ in, T* out, unsigned n) {
    T total{};
    for (unsigned i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) total += in[i];
    total = sum_in_shared<T, Threads>(total);
    if (threadIdx.x == 0) atomicAdd(out, total);
}

template __global__ void sum<float, 128>(const float*, float*, unsigned);
template __global__ void sum<double, 256>(const double*, double*, unsigned);
template __global__ void sum<int, 512>(const int*, int*, unsigned);
template __global__ void sum<unsigned long long, 64>(const unsigned long long*, unsigned long long*, unsigned);
template __global__ void sum<half2, 1024>(const half2*, half2*, unsigned);

extern "C" __global__ void largest(const int* in, int* out, int n) {
    extern __shared__ int kept[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : -2147483647 - 1;
    if (__any_sync(0xffffffff, value > 0)) value = max(value, __shfl_down_sync(0xffffffff, value, 16));
    kept[threadIdx.x] = value;
    __syncthreads();
    if (__syncthreads_or(value > 1000) || __syncthreads_count(value < 0) > 3) kept[0] = value;
#if __CUDA_ARCH__ >= 800
    value = __reduce_max_sync(0xffffffff, kept[threadIdx.x ^ 1]);
#endif
    if (threadIdx.x % 32 == 0) atomicMax(out, value);
}
