// Cholesky factors of many symmetric 8x8 matrices in doubles, a matrix a thread, in place. Lower triangles are packed row
// by row and stored element by element: a[e * count + m]. shift is added to the diagonal. info tells the first pivot
// that is not positive; such a matrix is left as it is.
template <int N>
struct Triangle {
    double v[N * (N + 1) / 2];
    __device__ double &operator()(int i, int j) { return v[i * (i + 1) / 2 + j]; }
};

extern "C" __global__ void __launch_bounds__(128) cholesky8(double *a, int *info, double shift, unsigned count)
{
    constexpr int N = 8, Elements = N * (N + 1) / 2;
    unsigned m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;

    Triangle<N> L;
#pragma unroll
    for (int e = 0; e < Elements; ++e) L.v[e] = a[(size_t)e * count + m];

#pragma unroll
    for (int j = 0; j < N; ++j) {
        double pivot = L(j, j) + shift;
#pragma unroll
        for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
        if (!(pivot > 0.0)) {
            info[m] = j + 1;
            return;
        }
        double root = sqrt(pivot), inverse = 1.0 / root;
        L(j, j) = root;
#pragma unroll
        for (int i = j + 1; i < N; ++i) {
            double s = L(i, j);
#pragma unroll
            for (int k = 0; k < j; ++k) s -= L(i, k) * L(j, k);
            L(i, j) = s * inverse;
        }
    }

#pragma unroll
    for (int e = 0; e < Elements; ++e) a[(size_t)e * count + m] = L.v[e];
    info[m] = 0;
}
