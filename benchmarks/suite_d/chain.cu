// Four element-wise kernels that depend on each other: t1 = a*b; t2 = a-c; t3 = t2*d; out = t1-t3. Any n, along x only;
// one element a thread, and the same in grid-stride loops.

#define ELEMENT_WISE(name, operation)                                                                       \
    extern "C" __global__ void name(const float *left, const float *right, float *result, int n) {          \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        if (i < n) result[i] = left[i] operation right[i];                                                  \
    }                                                                                                       \
    extern "C" __global__ void name##_strided(const float *left, const float *right, float *result, int n) { \
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)             \
            result[i] = left[i] operation right[i];                                                         \
    }

ELEMENT_WISE(first, *)
ELEMENT_WISE(second, -)
ELEMENT_WISE(third, *)
ELEMENT_WISE(fourth, -)
