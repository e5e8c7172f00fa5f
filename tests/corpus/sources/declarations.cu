// Everything that can be declared: variables of each space with initialisers, bounds of launch, kinds of parameter.
#include <cuda_runtime.h>

struct Inner { short a; char b; };
struct alignas(16) Record { Inner inner[3]; double d; const float* p; long long l : 40; unsigned bits : 3; };

__constant__ float weights[9] = {0.1f, 0.2f, 0.3f, -0.4f, 1e-30f, 3e30f};
__constant__ Record records[2] = {{{{1, 'a'}, {-2, 'b'}}, 2.5, nullptr, -5, 3}};
__device__ int counter = 42;
__device__ double doubles[4] = {1.0, -2.0, 1.0 / 3};
__device__ float zeroed[1000];
__device__ const char text[] = "a \"quoted\"\ttext\\\n";
__device__ const char* texts[] = {"first", "second", text};
__device__ int* pointer = &counter;
__device__ float* into = &zeroed[17];
static __device__ unsigned char flags[3][5] = {{1, 2}, {3}};
__managed__ long long managed = 1ll << 40;
__device__ __int128 wide = -3;
__device__ volatile int seen;
__shared__ int never;
extern __shared__ float4 dynamic[];

template <int N> struct Grid { float v[N]; };

extern "C" __global__ void __launch_bounds__(256, 2) bounded(float* out) { out[threadIdx.x] = weights[threadIdx.x % 9]; }
extern "C" __global__ void __maxnreg__(40) limited(float* out) { out[threadIdx.x] = zeroed[threadIdx.x] + *into; }

extern "C" __global__ void parameters(const __grid_constant__ Grid<300> grid, Record r, bool b, char c, unsigned short s, float2 f,
                                      double4_16a d, const void* __restrict__ p, volatile int* v, void (*fn)(int), __int128 w) {
    __shared__ Record shared[4];
    __shared__ char tail[7];
    shared[threadIdx.x & 3] = r;
    tail[threadIdx.x % 7] = c;
    dynamic[threadIdx.x] = make_float4(grid.v[threadIdx.x], f.x, float(d.w), static_cast<const float*>(p)[threadIdx.x]);
    __syncthreads();
    *v = shared[1].inner[b].a + tail[3] + s + int(dynamic[5].z) + int(r.l) + r.bits;
    counter = *pointer + seen + flags[c & 1][s & 3] + texts[b][0] + text[c & 15];
    managed += int(doubles[c & 3]) + records[b].inner[1].b;
    wide = wide * w + (w >> 3);
    seen = *v;
    if (fn) fn(s);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int* out) {
    unsigned rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    out[blockIdx.x] = rank * size;
}
extern "C" __global__ void __block_size__((128, 1, 1), (2, 2, 1)) blocks(int* out) { out[threadIdx.x] = 1; }
#endif

__global__ void overloaded(int* x) { *x = 1; }
__global__ void overloaded(float* x) { *x = 2; }
namespace { __global__ void hidden(int* x) { *x = 3 + counter; } }
void launch() { hidden<<<1, 1>>>(nullptr); }
