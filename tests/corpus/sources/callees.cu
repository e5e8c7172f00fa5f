// Functions behind pointers, virtual calls, recursion, printf and assert, a local array, a counter of the module, a barrier.
#include <cassert>
#include <cstdio>

struct Shape {
    __device__ virtual int area(int by) const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area(int by) const override { return side * side * by; }
};
struct Line : Shape {
    __device__ int area(int by) const override { return -by; }
};

__device__ __noinline__ int twice(int x) { return x + x; }
__device__ __noinline__ int less(int x) { return x - 7; }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

using Function = int (*)(int);
__device__ Function table[] = {twice, less, fibonacci};
__device__ int calls;

extern "C" __global__ void callees(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = in[i] & 7;
    int y = table[i % 3](x);
    atomicAdd(&calls, 1);
    Square square(x);
    Line line;
    const Shape* shape = y & 1 ? static_cast<const Shape*>(&square) : &line;
    int kept[8];
    for (int k = 0; k < 8; k++) kept[(k * 3 + x) & 7] = shape->area(k);
    assert(x < 8);
    if (i == 33) printf("%d of %s: %d\n", i, "callees", y);
    out[i] = y + kept[x];
}

extern "C" __global__ void partner(const int* in, int* out, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i >= n) return;
    out[i] = twice(tile[threadIdx.x ^ 1]);
    atomicAdd(&calls, 2);
}
