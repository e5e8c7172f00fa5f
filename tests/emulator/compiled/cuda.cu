// What nvcc makes of C++: each kernel needs something of the emulator that the others do not.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

struct Record { double a; float b; int c; short d; char e[5]; };
struct Pair { int a; float b; };

extern "C" __global__ void structures(Record r, Pair p, const Record* in, Record* out, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = in[n - 1 - i];
    sums[i] = (float)r.a + r.b * i + r.c + r.d + r.e[i % 5] + p.a * p.b;
}

extern "C" __global__ void slow_paths(const float* x, float* sines, const double* y, double* powers, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    sines[i] = sinf(x[i]);
    powers[i] = pow(y[i], y[(i + 1) % n]);
}

extern "C" __global__ void wide(const long long* x, const long long* y, long long* out) {
    int i = threadIdx.x;
    __int128 product = (__int128)x[i] * y[i], quotient = product / ((__int128)y[i] + 7);
    out[4 * i] = (long long)quotient;
    out[4 * i + 1] = (long long)(quotient >> 64);
    out[4 * i + 2] = x[i] / y[i];
    out[4 * i + 3] = (unsigned long long)x[i] % (unsigned long long)y[i];
}

extern "C" __global__ void halves(const __half2* x, const __half2* y, __half2* out, const __nv_bfloat16* b, __nv_bfloat16* c) {
    int i = threadIdx.x;
    out[i] = __hfma2(x[i], y[i], __hmax2(x[i], y[i]));
    c[i] = __hfma(b[i], b[i], b[i]);
}

extern "C" __global__ void choices(const int* x, int* out, int n) {
    int i = threadIdx.x, v = x[i];
    switch (v) {
        case 0: v = 11; break;
        case 1: v = v * v + 5; break;
        case 2: v = -v;
        case 3: v += 100; break;
        case 4: v = i; break;
        case 5: v = i * i; break;
        case 6: v ^= 0x55; break;
        case 9: v = n; break;
        default: v = 1234;
    }
    out[i] = v;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } };
struct Stripe : Shape { int a; __device__ Stripe(int a) : a(a) {} __device__ int area() const override { return 3 * a; } };

extern "C" __global__ void calls(int* out) {
    int i = threadIdx.x;
    Square square(i);
    Stripe stripe(i);
    Shape* shape = i & 1 ? (Shape*)&square : (Shape*)&stripe;
    out[i] = shape->area() + 1000 * fibonacci(i % 7);
}

__device__ int four[4] = {5, 6, 7, 8};
__device__ const char* names[3] = {"zero", "one", "two"};
__constant__ float4 quads[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
struct __attribute__((packed)) Packed { char c; int* p; short s; };
__device__ Packed packed[2] = {{1, four + 2, 3}, {4, four, 5}};

extern "C" __global__ void initial(int* out) {
    int i = threadIdx.x;
    out[i] = names[i % 3][1] + *packed[i & 1].p + packed[i & 1].s + (int)(&quads[i % 2].x)[i % 4];
}

extern "C" __global__ void report(int n) {
    int i = threadIdx.x;
    if (i < n) printf("%d %5.2f %s %c %lld %% %-4d| %x\n", i, i * 1.5, i & 1 ? "odd" : "even", 'a' + i, (long long)i << 40, i, i * 255);
}

__device__ int done;

extern "C" __global__ void last_block(const int* in, int* parts, int* out, int* histogram) {
    __shared__ int bins[8], sum;
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    if (!threadIdx.x) sum = 0;
    __syncthreads();
    atomicAdd(&bins[in[i] % 8], 1);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int s = cg::reduce(warp, in[i], cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&sum, s);
    if (in[i] & 1) {
        auto odd = cg::coalesced_threads();
        if (odd.thread_rank() == 0) atomicAdd(out + 1, (int)odd.size());
    }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(histogram + threadIdx.x, bins[threadIdx.x]);
    if (!threadIdx.x) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && !threadIdx.x)
        for (int k = 0; k < gridDim.x; k++) *out += ((volatile int*)parts)[k];
}

extern "C" __global__ void stages(const int* in, int* out, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int buffer[128];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int s = 0;
    for (int k = 0; k < n; k++) {
        cuda::memcpy_async(block, buffer, in + 128 * k, sizeof(buffer), barrier);
        barrier.arrive_and_wait();
        s += buffer[(threadIdx.x * 7 + k) % 128];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = s;
}

extern "C" __global__ void spaces(int* outside, int* out) {
    __shared__ int inside;
    int own = threadIdx.x;
    if (!own) inside = 7;
    __syncthreads();
    int* p = own % 3 == 0 ? &inside : own % 3 == 1 ? &own : outside;
    out[threadIdx.x] = *p * 100 + __isShared(p) + 2 * __isLocal(p) + 4 * __isGlobal(p);
}
