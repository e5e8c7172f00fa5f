// Tridiagonal systems of up to 1,024 doubles, one per CTA of 1,024 threads: six steps of parallel cyclic reduction, then
// 64 threads solve the 64 systems left by Thomas's algorithm.
extern "C" __global__ void __launch_bounds__(1024)
tridiag_pcr(double* __restrict__ x, const double* __restrict__ lower, const double* __restrict__ diagonal,
            const double* __restrict__ upper, const double* __restrict__ right, int n) {
    __shared__ double a[1024], b[1024], c[1024], d[1024];
    const int i = threadIdx.x;
    const size_t at = (size_t)blockIdx.x * n + i;
    const bool inside = i < n;
    double ai = inside && i > 0 ? lower[at] : 0, bi = inside ? diagonal[at] : 1, ci = inside && i < n - 1 ? upper[at] : 0,
           di = inside ? right[at] : 0;
    for (int s = 1; s < 64; s *= 2) {
        a[i] = ai;
        b[i] = bi;
        c[i] = ci;
        d[i] = di;
        __syncthreads();
        const int l = i - s, r = i + s;
        double an = 0, cn = 0;
        if (l >= 0) {
            const double k = ai / b[l];
            an = -a[l] * k;
            bi -= c[l] * k;
            di -= d[l] * k;
        }
        if (r < 1024) {
            const double k = ci / b[r];
            cn = -c[r] * k;
            bi -= a[r] * k;
            di -= d[r] * k;
        }
        ai = an;
        ci = cn;
        __syncthreads();
    }
    a[i] = ai;
    b[i] = bi;
    c[i] = ci;
    d[i] = di;
    __syncthreads();
    if (i < 64) {
        double cp = ci / bi, dp = di / bi;
        c[i] = cp;
        d[i] = dp;
        for (int k = i + 64; k < 1024; k += 64) {
            const double over = 1.0 / (b[k] - a[k] * cp);
            cp = c[k] * over;
            dp = (d[k] - a[k] * dp) * over;
            c[k] = cp;
            d[k] = dp;
        }
        for (int k = i + 960 - 64; k >= 0; k -= 64) {
            dp = d[k] - c[k] * dp;
            d[k] = dp;
        }
    }
    __syncthreads();
    if (inside) x[at] = d[i];
}
