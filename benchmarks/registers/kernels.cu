// Small kernels with many and few registers, in the shapes of real programs, for register_estimate.py.
#include <cuda_fp16.h>
#include <stdint.h>
#define ENTRY extern "C" __global__ void

template <typename T> __device__ T fma_chain(T x, T y, int n) {
#pragma unroll
    for (int i = 0; i < 16; i++) x = x * y + T(i + n);
    return x;
}

template <typename T, int N> __device__ void sums(const T* in, T* out, int n) {
    T total[N] = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#pragma unroll
        for (int k = 0; k < N; k++) total[k] += in[i + k * n];
#pragma unroll
    for (int k = 0; k < N; k++) out[k * n + threadIdx.x] = total[k];
}
ENTRY sums_4(const float* in, float* out, int n) { sums<float, 4>(in, out, n); }
ENTRY sums_12(const float* in, float* out, int n) { sums<float, 12>(in, out, n); }
ENTRY sums_32(const float* in, float* out, int n) { sums<float, 32>(in, out, n); }
ENTRY sums_64(const float* in, float* out, int n) { sums<float, 64>(in, out, n); }
ENTRY sums_double_8(const double* in, double* out, int n) { sums<double, 8>(in, out, n); }
ENTRY sums_double_24(const double* in, double* out, int n) { sums<double, 24>(in, out, n); }
ENTRY sums_int_6(const int* in, int* out, int n) { sums<int, 6>(in, out, n); }
ENTRY sums_long_6(const long long* in, long long* out, int n) { sums<long long, 6>(in, out, n); }

template <typename T, int TM, int TN, int TK> __device__ void gemm(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int BM = 16 * TM, BN = 16 * TN;
    __shared__ T as[TK][BM], bs[TK][BN];
    T sum[TM][TN] = {};
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * BM, col = blockIdx.x * BN;
    for (int k0 = 0; k0 < k; k0 += TK) {
        for (int i = threadIdx.x; i < BM * TK; i += 256) as[i % TK][i / TK] = a[(row + i / TK) * k + k0 + i % TK];
        for (int i = threadIdx.x; i < BN * TK; i += 256) bs[i / BN][i % BN] = b[(k0 + i / BN) * n + col + i % BN];
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < TK; kk++) {
            T x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; i++) x[i] = as[kk][ty * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j++) y[j] = bs[kk][tx * TN + j];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) c[(row + ty * TM + i) * n + col + tx * TN + j] = sum[i][j];
}
ENTRY gemm_1x1(const float* a, const float* b, float* c, int m, int n, int k) { gemm<float, 1, 1, 16>(a, b, c, m, n, k); }
ENTRY gemm_2x4(const float* a, const float* b, float* c, int m, int n, int k) { gemm<float, 2, 4, 8>(a, b, c, m, n, k); }
ENTRY gemm_4x4(const float* a, const float* b, float* c, int m, int n, int k) { gemm<float, 4, 4, 8>(a, b, c, m, n, k); }
ENTRY gemm_8x8(const float* a, const float* b, float* c, int m, int n, int k) { gemm<float, 8, 8, 8>(a, b, c, m, n, k); }
ENTRY __launch_bounds__(256, 4) gemm_8x8_bounded(const float* a, const float* b, float* c, int m, int n, int k) {
    gemm<float, 8, 8, 8>(a, b, c, m, n, k);
}
ENTRY gemm_double_4x4(const double* a, const double* b, double* c, int m, int n, int k) {
    gemm<double, 4, 4, 8>(a, b, c, m, n, k);
}
ENTRY gemm_int_4x8(const int* a, const int* b, int* c, int m, int n, int k) { gemm<int, 4, 8, 8>(a, b, c, m, n, k); }

template <int R> __device__ void butterflies(float2* data, int stride) {
    float2 v[R];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < R; i++) v[i] = data[at + i * stride];
#pragma unroll
    for (int h = 1; h < R; h *= 2)
#pragma unroll
        for (int i = 0; i < R; i++)
            if (!(i & h)) {
                float2 x = v[i], y = v[i | h];
                float c = __cosf(h * at), s = __sinf(h * at);
                float2 t = {y.x * c - y.y * s, y.x * s + y.y * c};
                v[i] = {x.x + t.x, x.y + t.y};
                v[i | h] = {x.x - t.x, x.y - t.y};
            }
#pragma unroll
    for (int i = 0; i < R; i++) data[at + i * stride] = v[i];
}
ENTRY fft_2(float2* data, int stride) { butterflies<2>(data, stride); }
ENTRY fft_4(float2* data, int stride) { butterflies<4>(data, stride); }
ENTRY fft_8(float2* data, int stride) { butterflies<8>(data, stride); }
ENTRY fft_16(float2* data, int stride) { butterflies<16>(data, stride); }
ENTRY fft_32(float2* data, int stride) { butterflies<32>(data, stride); }

ENTRY n_body(const float4* p, float3* a, int n) {
    __shared__ float4 tile[256];
    float4 own = p[blockIdx.x * 256 + threadIdx.x];
    float3 sum = {};
    for (int t = 0; t < n; t += 256) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int i = 0; i < 256; i++) {
            float dx = tile[i].x - own.x, dy = tile[i].y - own.y, dz = tile[i].z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f), f = tile[i].w * r * r * r;
            sum.x += f * dx, sum.y += f * dy, sum.z += f * dz;
        }
        __syncthreads();
    }
    a[blockIdx.x * 256 + threadIdx.x] = sum;
}

__device__ float normal(float d) {
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * -1.821255978f))));
    return d > 0 ? 1 - c : c;
}
ENTRY black_scholes(const float* s, const float* x, const float* t, float* call, float* put, float r, float v, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float root = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
        float c1 = normal(d1), c2 = normal(d2), e = expf(-r * t[i]);
        call[i] = s[i] * c1 - x[i] * e * c2;
        put[i] = x[i] * e * (1 - c2) - s[i] * (1 - c1);
    }
}
ENTRY mandelbrot(int* out, float x0, float y0, float dx, int w, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    float cx = x0 + i * dx, cy = y0 + j * dx, x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy, x = t, n++;
    }
    if (i < w) out[j * w + i] = n;
}
template <int R> __device__ void stencil(const float* in, float* out, const float* w, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < R || y < R || x >= nx - R || y >= ny - R) return;
    float sum = 0;
#pragma unroll
    for (int j = -R; j <= R; j++)
#pragma unroll
        for (int i = -R; i <= R; i++) sum += in[(y + j) * nx + x + i] * w[(j + R) * (2 * R + 1) + i + R];
    out[y * nx + x] = sum;
}
ENTRY stencil_1(const float* in, float* out, const float* w, int nx, int ny) { stencil<1>(in, out, w, nx, ny); }
ENTRY stencil_2(const float* in, float* out, const float* w, int nx, int ny) { stencil<2>(in, out, w, nx, ny); }
ENTRY stencil_4(const float* in, float* out, const float* w, int nx, int ny) { stencil<4>(in, out, w, nx, ny); }

template <int N> __device__ void window(const float* in, float* out, int n, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float v[N];
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = in[x + i * pitch];
    for (int r = N; r < n; r++) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < N; i++) sum = fmaf(v[i], 1.0f / (i + 1), sum);
        out[x + r * pitch] = sum;
#pragma unroll
        for (int i = 0; i + 1 < N; i++) v[i] = v[i + 1];
        v[N - 1] = in[x + r * pitch];
    }
}
ENTRY window_5(const float* in, float* out, int n, int pitch) { window<5>(in, out, n, pitch); }
ENTRY window_25(const float* in, float* out, int n, int pitch) { window<25>(in, out, n, pitch); }
ENTRY window_50(const float* in, float* out, int n, int pitch) { window<50>(in, out, n, pitch); }
ENTRY window_100(const float* in, float* out, int n, int pitch) { window<100>(in, out, n, pitch); }

template <int N> __device__ void sort_network(unsigned* data) {
    unsigned v[N];
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * N;
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = data[at + i];
#pragma unroll
    for (int k = 2; k <= N; k *= 2)
#pragma unroll
        for (int j = k / 2; j; j /= 2)
#pragma unroll
            for (int i = 0; i < N; i++)
                if ((i ^ j) > i) {
                    unsigned lo = min(v[i], v[i ^ j]), hi = max(v[i], v[i ^ j]);
                    v[i] = i & k ? hi : lo, v[i ^ j] = i & k ? lo : hi;
                }
#pragma unroll
    for (int i = 0; i < N; i++) data[at + i] = v[i];
}
ENTRY sort_4(unsigned* data) { sort_network<4>(data); }
ENTRY sort_16(unsigned* data) { sort_network<16>(data); }
ENTRY sort_64(unsigned* data) { sort_network<64>(data); }

ENTRY row_softmax(const float* in, float* out, int n) {
    __shared__ float part[32];
    const float* row = in + size_t(blockIdx.x) * n;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    most = part[0];
    for (int i = 1; i < blockDim.x / 32; i++) most = fmaxf(most, part[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __expf(row[i] - most);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++) sum += part[i];
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[size_t(blockIdx.x) * n + i] = __expf(row[i] - most) / sum;
}
ENTRY layer_norm_half(const half2* in, const half2* scale, half2* out, int n) {
    float sum = 0, squares = 0;
    const half2* row = in + blockIdx.x * n;
    half2 held[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        held[k] = row[threadIdx.x + k * blockDim.x];
        float2 v = __half22float2(held[k]);
        sum += v.x + v.y, squares += v.x * v.x + v.y * v.y;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d), squares += __shfl_xor_sync(~0u, squares, d);
    float mean = sum / (2 * n), inv = rsqrtf(squares / (2 * n) - mean * mean + 1e-5f);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float2 v = __half22float2(held[k]), s = __half22float2(scale[threadIdx.x + k * blockDim.x]);
        out[blockIdx.x * n + threadIdx.x + k * blockDim.x] = __floats2half2_rn((v.x - mean) * inv * s.x, (v.y - mean) * inv * s.y);
    }
}
ENTRY adam(float* p, float* m, float* v, const float* g, float lr, float b1, float b2, float eps, float c1, float c2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    p[i] -= lr * (m[i] / c1) / (sqrtf(v[i] / c2) + eps);
}
ENTRY adam_4(float4* p, float4* m, float4* v, const float4* g, float lr, float b1, float b2, float eps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 P = p[i], M = m[i], V = v[i], G = g[i];
    float *pp = &P.x, *mm = &M.x, *vv = &V.x, *gg = &G.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        mm[k] = b1 * mm[k] + (1 - b1) * gg[k];
        vv[k] = b2 * vv[k] + (1 - b2) * gg[k] * gg[k];
        pp[k] -= lr * mm[k] / (sqrtf(vv[k]) + eps);
    }
    p[i] = P, m[i] = M, v[i] = V;
}
ENTRY sines(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sinf(in[i]) + cosf(in[i] * 3) * tanf(in[i] + 1);
}
ENTRY powers(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = powf(in[i], 1.7f) + erff(in[i]) + tanhf(in[i]) + lgammaf(in[i]);
}
ENTRY double_functions(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = exp(in[i]) + log(in[i]) * sqrt(in[i]) / (1 + in[i]);
}
ENTRY double_sine(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sin(in[i]) * cos(in[i]);
}
ENTRY divisions(const int* a, const int* b, int* out, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / b[i] + a[i] % d;
}
ENTRY long_divisions(const long long* a, const long long* b, long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / b[i] + a[i] % (b[i] + 3);
}
ENTRY eight_divisions(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float q[8];
#pragma unroll
    for (int k = 0; k < 8; k++) q[k] = a[i + k * n] / b[i + k * n];
#pragma unroll
    for (int k = 0; k < 8; k++) out[i + k * n] = q[k] + q[(k + 3) % 8];
}
ENTRY transposed(const float* in, float* out, int w, int h) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
ENTRY spmv(const int* rows, const int* cols, const float* values, const float* x, float* y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int i = rows[row] + lane; i < rows[row + 1]; i += 32) sum += values[i] * x[cols[i]];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (!lane) y[row] = sum;
}
ENTRY bfs(const int* rows, const int* cols, const int* frontier, int* next, int* level, int* count, int depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int node = frontier[i];
    for (int e = rows[node]; e < rows[node + 1]; e++)
        if (atomicCAS(level + cols[e], -1, depth) == -1) next[atomicAdd(count, 1)] = cols[e];
}
ENTRY hash(const uint8_t* in, uint32_t* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t h = 2166136261u, s[16];
#pragma unroll
    for (int k = 0; k < 16; k++) s[k] = in[i * 16 + k] * 0x9e3779b9u;
#pragma unroll
    for (int r = 0; r < 32; r++) {
        uint32_t a = s[r % 16], b = s[(r + 5) % 16];
        h = (h ^ __funnelshift_l(a, a, 7)) * 16777619u + (b >> 3);
        s[(r + 9) % 16] += h;
    }
    if (i < n) out[i] = h;
}
__device__ void quarter(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
    a += b, d = __funnelshift_l(d ^ a, d ^ a, 16), c += d, b = __funnelshift_l(b ^ c, b ^ c, 12);
    a += b, d = __funnelshift_l(d ^ a, d ^ a, 8), c += d, b = __funnelshift_l(b ^ c, b ^ c, 7);
}
ENTRY chacha(uint4* out, uint4 key0, uint4 key1, uint32_t counter) {
    uint32_t s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key0.x, key0.y, key0.z, key0.w,
                      key1.x, key1.y, key1.z, key1.w, counter + blockIdx.x * blockDim.x + threadIdx.x, 0, 1, 2}, v[16];
    for (int i = 0; i < 16; i++) v[i] = s[i];
    for (int r = 0; r < 10; r++) {
        quarter(v[0], v[4], v[8], v[12]), quarter(v[1], v[5], v[9], v[13]), quarter(v[2], v[6], v[10], v[14]);
        quarter(v[3], v[7], v[11], v[15]), quarter(v[0], v[5], v[10], v[15]), quarter(v[1], v[6], v[11], v[12]);
        quarter(v[2], v[7], v[8], v[13]), quarter(v[3], v[4], v[9], v[14]);
    }
    for (int i = 0; i < 4; i++)
        out[(blockIdx.x * blockDim.x + threadIdx.x) * 4 + i] =
            make_uint4(v[4 * i] + s[4 * i], v[4 * i + 1] + s[4 * i + 1], v[4 * i + 2] + s[4 * i + 2], v[4 * i + 3] + s[4 * i + 3]);
}
ENTRY switches(const int* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = out[i];
    switch (in[i]) {
        case 0: x = sqrtf(x); break;
        case 1: x = fma_chain(x, 2.5f, 1); break;
        case 2: x = __sinf(x) + x; break;
        case 3: x = x / (1 + x); break;
        case 4: x = float(fma_chain(double(x), 1.25, n)); break;
        default: x = -x;
    }
    out[i] = x;
}
ENTRY local_table(const int* in, int* out, int n) {
    int table[16], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) table[k] = in[k * n + i];
    for (int k = 0; k < n; k++) out[k * n + i] = table[in[k] & 15];
}
ENTRY mma_tile(const half* a, const half* b, float* c, int k) {
    float d[8][4] = {};
    const uint32_t *x = (const uint32_t*)a + threadIdx.x, *y = (const uint32_t*)b + threadIdx.x;
    for (int t = 0; t < k; t++) {
        uint32_t u[4], v[2];
        for (int i = 0; i < 4; i++) u[i] = x[t * 512 + i * 128];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < 2; j++) v[j] = y[t * 4096 + i * 256 + j * 128];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                         : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(v[0]), "r"(v[1]));
        }
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) c[i * 512 + j * 128 + threadIdx.x] = d[i][j];
}
template <int T> __device__ void flash(const float4* q, const float4* k, const float4* v, float4* o, int n) {
    float4 Q[T], O[T] = {};
    float most = -1e30f, sum = 0;
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * T;
#pragma unroll
    for (int i = 0; i < T; i++) Q[i] = q[at + i];
    for (int j = 0; j < n; j++) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            float4 K = k[j * T + i];
            s += Q[i].x * K.x + Q[i].y * K.y + Q[i].z * K.z + Q[i].w * K.w;
        }
        float m = fmaxf(most, s), e = __expf(most - m), p = __expf(s - m);
        sum = sum * e + p, most = m;
#pragma unroll
        for (int i = 0; i < T; i++) {
            float4 V = v[j * T + i];
            O[i].x = O[i].x * e + p * V.x, O[i].y = O[i].y * e + p * V.y;
            O[i].z = O[i].z * e + p * V.z, O[i].w = O[i].w * e + p * V.w;
        }
    }
#pragma unroll
    for (int i = 0; i < T; i++) o[at + i] = make_float4(O[i].x / sum, O[i].y / sum, O[i].z / sum, O[i].w / sum);
}
ENTRY attention_8(const float4* q, const float4* k, const float4* v, float4* o, int n) { flash<2>(q, k, v, o, n); }
ENTRY attention_32(const float4* q, const float4* k, const float4* v, float4* o, int n) { flash<8>(q, k, v, o, n); }
ENTRY attention_64(const float4* q, const float4* k, const float4* v, float4* o, int n) { flash<16>(q, k, v, o, n); }

ENTRY interpolated(const float* grid, const float3* at, float* out, int nx, int ny, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = at[i];
    int x = int(p.x), y = int(p.y), z = int(p.z);
    float fx = p.x - x, fy = p.y - y, fz = p.z - z, c[2][2];
#pragma unroll
    for (int b = 0; b < 2; b++)
#pragma unroll
        for (int a = 0; a < 2; a++) {
            const float* g = grid + ((z + b) * ny + y + a) * nx + x;
            c[b][a] = g[0] * (1 - fx) + g[1] * fx;
        }
    out[i] = (c[0][0] * (1 - fy) + c[0][1] * fy) * (1 - fz) + (c[1][0] * (1 - fy) + c[1][1] * fy) * fz;
}
ENTRY inverse_4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[4][8];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++) m[r][c] = in[(r * 4 + c) * n + i], m[r][c + 4] = r == c;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        float inv = __fdividef(1, m[p][p]);
#pragma unroll
        for (int c = 0; c < 8; c++) m[p][c] *= inv;
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (r != p) {
                float f = m[r][p];
#pragma unroll
                for (int c = 0; c < 8; c++) m[r][c] -= f * m[p][c];
            }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++) out[(r * 4 + c) * n + i] = m[r][c + 4];
}
ENTRY jacobi_double(const double* in, double* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    size_t pitch = nx, plane = pitch * ny, at = y * pitch + x;
    double below = in[at], own = in[at + plane];
    for (int z = 1; z < nz - 1; z++) {
        at += plane;
        double above = in[at + plane];
        out[at] = (below + above + in[at - 1] + in[at + 1] + in[at - pitch] + in[at + pitch] - 6 * own) * 0.125;
        below = own, own = above;
    }
}
ENTRY random_walk(unsigned* state, float* out, int steps) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s0 = state[4 * i], s1 = state[4 * i + 1], s2 = state[4 * i + 2], s3 = state[4 * i + 3];
    float x = 0, y = 0;
    for (int k = 0; k < steps; k++) {
        unsigned r = s0 + s3, t = s1 << 9;
        s2 ^= s0, s3 ^= s1, s1 ^= s2, s0 ^= s3, s2 ^= t, s3 = __funnelshift_l(s3, s3, 11);
        float a = r * 2.3283064e-10f * 6.2831853f;
        x += __cosf(a), y += __sinf(a);
    }
    out[2 * i] = x, out[2 * i + 1] = y;
    state[4 * i] = s0, state[4 * i + 1] = s1, state[4 * i + 2] = s2, state[4 * i + 3] = s3;
}
ENTRY copied(const float4* in, float4* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}
ENTRY filled(float* out, float x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x;
}
ENTRY scanned(const int* in, int* out, int n) {
    __shared__ int t[2][256];
    int i = blockIdx.x * 256 + threadIdx.x, p = 0;
    t[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        t[!p][threadIdx.x] = t[p][threadIdx.x] + (threadIdx.x >= d ? t[p][threadIdx.x - d] : 0);
        p = !p;
        __syncthreads();
    }
    if (i < n) out[i] = t[p][threadIdx.x];
}
