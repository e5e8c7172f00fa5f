// y = a * x + y: moves 12 bytes for two operations. Right at any size.
extern "C" __global__ void saxpy(float *__restrict__ y, const float *__restrict__ x, float a, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
