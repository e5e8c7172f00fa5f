// What C++ allows in a kernel: recursion, tables of functions, virtual calls, lambdas, printf, assert, the heap, switches.
#include <cassert>
#include <cstdio>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ explicit Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.14159265f * radius * radius; }
};

__device__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float half_of(float x) { return x * 0.5f; }
__device__ __noinline__ float negative(float x) { return -x; }

using Function = float (*)(float);
__device__ Function table[] = {twice, half_of, negative};
__constant__ Function constant_table[] = {negative, twice};

struct Wide { double a[5]; char c; };
__device__ __noinline__ Wide widen(Wide w, short s) { w.a[s & 3] += s; w.c ^= s; return w; }

template <class F>
__device__ __noinline__ void apply(F f, float* data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = f(data[i], i);
}

extern "C" __global__ void calls(float* data, int n, int which, Function passed) {
    float x = data[threadIdx.x];
    x = table[which % 3](x) + constant_table[which & 1](x) + passed(x);
    Shape* shape = which & 4 ? static_cast<Shape*>(new Square(x)) : new Circle(x);
    if (shape) x += shape->area();
    delete shape;
    Wide w = {{x, 1, 2, 3, 4}, char(n)};
    w = widen(w, short(which));
    data[threadIdx.x] = x + ackermann(2, n & 3) + float(w.a[1]) + w.c;
    apply([=](float v, int i) { return v * n + i; }, data, n);
    auto generic = [&](auto v) { return v + which; };
    data[0] += generic(1.5) + generic(2);
}

extern "C" __global__ void chooses(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = data[i], y = 0;
    switch (x) {
        case 0: y = 7; break;
        case 1: y = x * i; break;
        case 2: y = i - 9; // falls through
        case 3: y ^= 0x55; break;
        case 4: y = __clz(i); break;
        case 5: y = i / (n + 1); break;
        case 6: y = atomicAdd(data, 3); break;
        case 9: __trap();
        default: y = -1;
    }
    while (y > 3) {
        if (y == 17) continue;
        if ((y & 1) && y > 100) goto out;
        y = y & 1 ? 3 * y + 1 : y >> 1;
        __nanosleep(20);
    }
out:
    assert(y != 12345);
    if (y == 3) printf("thread %d of %s has %f at %lld\n", i, __func__, x * 0.25, clock64());
    data[i] = y;
}

extern "C" __global__ void heap(void** kept, unsigned bytes) {
    char* p = static_cast<char*>(malloc(bytes));
    if (!p) { asm volatile("exit;"); }
    memset(p, threadIdx.x, bytes);
    int local[37];
#pragma unroll 1
    for (int i = 0; i < 37; i++) local[(i * 11) % 37] = p[i % bytes];
    kept[threadIdx.x] = local[threadIdx.x % 37] ? p : nullptr;
    if (local[3] == 1) free(p);
    char* a = static_cast<char*>(alloca(bytes & 63));
    memcpy(a, p, bytes & 63);
    kept[0] = reinterpret_cast<void*>(static_cast<size_t>(a[bytes & 31]));
}
