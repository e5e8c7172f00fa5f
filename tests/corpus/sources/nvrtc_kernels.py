"""Sources for NVRTC with its own options; the headers of the toolkit are not needed."""

STENCIL = r"""
#ifndef RADIUS
#define RADIUS 2
#endif
__constant__ float c[RADIUS + 1];
template <int Width>
__global__ void __launch_bounds__(Width) stencil(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
    __shared__ float plane[Width / 16 + 2 * RADIUS][16 + 2 * RADIUS];
    int tx = threadIdx.x % 16 + RADIUS, ty = threadIdx.x / 16 + RADIUS;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * (Width / 16) + ty;
    long long step = static_cast<long long>(nx) * ny, at = static_cast<long long>(y) * nx + x;
    float behind[RADIUS], ahead[RADIUS + 1];
    for (int i = 0; i < RADIUS; i++) behind[i] = in[at + i * step];
    for (int i = 0; i <= RADIUS; i++) ahead[i] = in[at + (RADIUS + i) * step];
    for (int z = RADIUS; z < nz - RADIUS; z++) {
        __syncthreads();
        if (tx < 2 * RADIUS) plane[ty][tx - RADIUS] = in[at + z * step - RADIUS];
        if (ty < 2 * RADIUS) plane[ty - RADIUS][tx] = in[at + z * step - RADIUS * nx];
        plane[ty][tx] = ahead[0];
        __syncthreads();
        float sum = c[0] * ahead[0];
        for (int i = 1; i <= RADIUS; i++)
            sum += c[i] * (plane[ty][tx - i] + plane[ty - i][tx] + behind[RADIUS - i] + ahead[i]);
        out[at + z * step] = sum;
        for (int i = 0; i < RADIUS - 1; i++) behind[i] = behind[i + 1];
        behind[RADIUS - 1] = ahead[0];
        for (int i = 0; i < RADIUS; i++) ahead[i] = ahead[i + 1];
        ahead[RADIUS] = in[at + (z + RADIUS + 1) * step];
    }
}
"""

HASH = r"""
__device__ __constant__ unsigned long long keys[4] = {0x243f6a8885a308d3ull, 1, 2, ~0ull};
inline unsigned rotate(unsigned x, int n) { return x << n | x >> (32 - n); }
extern "C" __global__ void blake(const unsigned* in, unsigned* out, bool last) {
    unsigned v[16], m[16];
    for (int i = 0; i < 16; i++) { v[i] = 0x9e3779b9u * (i + 1) ^ (unsigned)keys[i & 3]; m[i] = in[threadIdx.x * 16 + i]; }
    auto mix = [&](int a, int b, int c, int d, unsigned x, unsigned y) {
        v[a] += v[b] + x; v[d] = rotate(v[d] ^ v[a], 16);
        v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 20);
        v[a] += v[b] + y; v[d] = rotate(v[d] ^ v[a], 24);
        v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 25);
    };
    for (int r = 0; r < (last ? 10 : 2); r++) {
        mix(0, 4, 8, 12, m[r], m[r + 1]); mix(1, 5, 9, 13, m[r + 2], m[r + 3]);
        mix(2, 6, 10, 14, m[r + 4], m[r + 5]); mix(3, 7, 11, 15, m[r + 6], m[(r + 7) % 16]);
        mix(0, 5, 10, 15, m[1], m[2]); mix(1, 6, 11, 12, m[3], m[4]); mix(2, 7, 8, 13, m[5], m[6]); mix(3, 4, 9, 14, m[7], m[8]);
    }
    unsigned __int128 wide = (unsigned __int128)v[0] * keys[1] + v[1];
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = v[i] ^ v[i + 8] ^ (unsigned)(wide >> (i * 4));
}
"""

# Of each module: source, options, names to instantiate.
KERNELS = {
    "stencil": (STENCIL, ("-arch=compute_80",), ("stencil<128>", "stencil<256>")),
    "stencil_debug": (STENCIL, ("-arch=compute_90", "-G", "-DRADIUS=4"), ("stencil<256>",)),
    "stencil_lineinfo": (STENCIL, ("-arch=compute_75", "-lineinfo", "--use_fast_math", "--maxrregcount=64"), ("stencil<256>",)),
    "hash_rdc": (HASH, ("-arch=compute_100", "-default-device", "--device-int128", "-rdc=true"), ()),
}
