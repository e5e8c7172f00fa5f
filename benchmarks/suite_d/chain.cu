extern "C" __global__ void mul(const float *a, const float *b, float *t1, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t1[i] = a[i] * b[i];
}
extern "C" __global__ void sub_loop(const float *__restrict__ a, const float *__restrict__ c, float *__restrict__ t2, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) t2[i] = a[i] - c[i];
}
extern "C" __global__ void sub_loop1(const float *__restrict__ a, const float *__restrict__ c, float *__restrict__ t2, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) t2[i] = a[i] - c[i];
}
