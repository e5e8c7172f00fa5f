// Launches from the device and calls between files; needs -rdc=true.
#include <cstdio>

extern __device__ int elsewhere(int, const float*);
extern __device__ int shared_counter;
extern __constant__ float shared_table[];

__device__ __noinline__ int here(int x) { return x * 3 + shared_counter; }
__device__ int (*chosen)(int, const float*) = elsewhere;

__global__ void child(float* data, int depth) {
    data[threadIdx.x] += elsewhere(depth, data) + here(depth) + chosen(depth, data) + shared_table[depth];
    if (depth > 0 && threadIdx.x == 0) {
        child<<<2, 32, 64>>>(data, depth - 1);
        child<<<1, dim3(8, 4), 0, cudaStreamTailLaunch>>>(data, 0);
        if (cudaGetLastError() != cudaSuccess) printf("no launch at depth %d\n", depth);
    }
}

__global__ void parent(float* data, int n) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (threadIdx.x == 0) child<<<n, 64, 0, stream>>>(data, 2);
    cudaStreamDestroy(stream);
    int device;
    cudaGetDevice(&device);
    data[n] = device;
}
