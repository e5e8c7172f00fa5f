// One kernel for each way in which control flow can be hard to weave. All have the same signature and any
// grid of 256-thread CTAs, read `in` (n ints) and write `out` (one int for each thread of the grid).
// build.py makes constructs.sm_80.ptx of it.
#define KERNEL(name) extern "C" __global__ void name(const int *__restrict__ in, int *__restrict__ out, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(straight) { out[I] = in[I % n] * 3 + 1; }

KERNEL(guard) {
    int i = I;
    if (i >= n) return;
    out[i] = in[i] + i;
}

KERNEL(guard_with_work) {
    int i = I;
    if (i >= n) {
        out[i] = -7;
        return;
    }
    out[i] = in[i] ^ 0x55;
}

KERNEL(if_else) {
    int v = in[I % n], r = 5;
    if (v & 1) {
        r = v * 11;
        if (v & 2) r += in[(v & 127) % n];
    } else {
        r = v - 9;
        out[I] = r;
    }
    out[I] = r + v;
}

KERNEL(short_circuit) {
    int v = in[I % n], r = 0;
    if (((v & 3) == 1 && in[(v & 63) % n] > 100) || (v & 12) == 4) r = in[(v & 255) % n];
    out[I] = r * 2 + v;
}

KERNEL(divergent_loop) {
    int v = in[I % n], sum = 0;
    for (int k = 0; k < (v & 15); k++) sum += in[(v + k & 1023) % n] >> k;
    out[I] = sum;
}

KERNEL(loop_with_break) {
    int v = in[I % n], k = 0, sum = 3;
#pragma unroll 1
    for (; k < 20; k++) {
        sum = sum * 5 + k;
        if ((sum ^ v) % 13 == 0) break;
        sum += in[(sum & 511) % n];
    }
    out[I] = sum + 100 * k;
}

KERNEL(return_in_loop) {
    int v = in[I % n];
    out[I] = -1;
#pragma unroll 1
    for (int k = 0; k < 12; k++) {
        v = v * 7 + k;
        if ((v & 31) == 3) return;
        out[I] = v;
    }
    out[I] = v + 1000;
}

KERNEL(nested_loops) {
    int v = in[I % n], sum = 0;
#pragma unroll 1
    for (int j = 0; j < (v & 3) + 1; j++) {
#pragma unroll 1
        for (int k = j; k < (v & 7); k++) sum += k * in[(k + j) % n];
        if (sum & 1) sum += j;
    }
    out[I] = sum;
}

KERNEL(grid_stride) {
    int step = gridDim.x * blockDim.x;
    int m = 2 * step - 77;  // most threads take two turns, some one
    int last = 0;
#pragma unroll 1
    for (int i = I; i < m; i += step) last += in[i % n] + i;
    out[I] = last;
}

KERNEL(choose) {
    int v = in[I % n];
    switch (v & 7) {
        case 0: v += 10; break;
        case 1: v *= 3; break;
        case 2: v ^= 99; break;
        case 3: v -= in[0]; break;
        case 4: v = ~v; break;
        case 5: v <<= 2; break;
        default: break;
    }
    out[I] = v;
}

KERNEL(uniform_switch) {
    int v = in[I % n];
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        switch ((blockIdx.x + k) % 5) {
            case 0: v += 10; break;
            case 1: v *= 3; break;
            case 2: v ^= 99; break;
            case 3: v -= k; break;
            default: v = ~v; break;
        }
    }
    out[I] = v;
}

KERNEL(barrier) {
    __shared__ int tile[256];
    tile[threadIdx.x] = in[I % n];
    __syncthreads();
    out[I] = tile[255 - threadIdx.x];
}

KERNEL(barriers_in_loop) {
    __shared__ int tile[256];
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        tile[threadIdx.x] = in[(I + k * 31) % n];
        __syncthreads();
        sum = sum * 3 + tile[(threadIdx.x * 7 + k) & 255];
        __syncthreads();
    }
    out[I] = sum;
}

KERNEL(guard_before_barrier) {
    __shared__ int tile[256];
    tile[threadIdx.x] = 17;
    int i = I;
    if (i >= n) return;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    int j = threadIdx.x ^ 1;
    if (blockIdx.x * blockDim.x + j < n) out[i] = tile[j];
    __syncthreads();
    out[i] += 1;
}

KERNEL(block_reduce) {
    __shared__ int partial[256];
    partial[threadIdx.x] = in[I % n];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    out[I] = partial[0] + threadIdx.x;
}

KERNEL(barrier_vote) {
    int v = in[I % n];
    int odd = __syncthreads_count(v & 1), any = __syncthreads_or(v == 12345), all = __syncthreads_and(v >= 0);
    out[I] = odd * 4 + any * 2 + all;
}

KERNEL(guard_before_barrier_vote) {
    int i = I;
    if (i >= n - 40) return;
    int v = in[i];
    int odd = __syncthreads_count(v & 1), any = __syncthreads_or(v == 12345), all = __syncthreads_and(v >= 0);
    out[i] = odd * 4 + any * 2 + all;
}

KERNEL(warp_reduce) {
    int v = in[I % n];
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    out[I] = v;
}

KERNEL(guard_before_vote) {
    int i = I;
    if (i >= n - 13) return;
    unsigned lanes = __activemask();
    unsigned odd = __ballot_sync(0xffffffffu, in[i] & 1);
    int next = __shfl_sync(lanes, in[i], (threadIdx.x & 31) ^ 1);
    out[i] = (int)odd + __popc(lanes) + ((lanes >> ((threadIdx.x & 31) ^ 1)) & 1 ? next : 0);
}

KERNEL(divergent_shuffle) {
    int v = in[I % n], r = v;
    if (threadIdx.x & 16) r += __shfl_xor_sync(0xffff0000u, v, 4);
    out[I] = r;
}

KERNEL(warp_uniform_loop) {
    int v = in[I % n];
    unsigned todo = __ballot_sync(0xffffffffu, v & 1);
#pragma unroll 1
    while (todo) {
        int lane = __ffs(todo) - 1;
        v += __shfl_sync(0xffffffffu, v, lane) & 0xff;
        todo &= todo - 1;
    }
    out[I] = v;
}

KERNEL(carry) {
    unsigned lo = in[I % n], hi = in[(I + 1) % n], a, b, c;
    asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %3; addc.u32 %2, 0, 0;"
        : "=r"(a), "=r"(b), "=r"(c) : "r"(lo * 0x9e3779b9u), "r"(hi * 0x85ebca6bu));
    out[I] = a ^ b ^ (c << 7);
}

__device__ __noinline__ int twist(int a, int b) {
    if (a > b) return a * 3 - b;
    return b * 5 + a;
}

KERNEL(call) {
    int v = in[I % n];
    int r = twist(v, 40);
    if (v & 1) r = twist(r, v);
    out[I] = r;
}

KERNEL(local_array) {
    int seen[8];
    for (int k = 0; k < 8; k++) seen[k] = k;
    int v = in[I % n];
#pragma unroll 1
    for (int k = 0; k < 12; k++) seen[(v >> k) & 7] += k;
    out[I] = seen[v & 7] + seen[(v >> 3) & 7];
}

KERNEL(atomics) {
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[I % n] & 31], 1);
    __syncthreads();
    out[I] = bins[threadIdx.x & 31];
}

KERNEL(slow_float) {
    float x = in[I % n] + 1.5f;
    float y = sqrtf(x) / (x + 3.0f) + rsqrtf(x);
    out[I] = __float_as_int(x > 50.0f ? y : sinf(y) * expf(-y));
}

KERNEL(two_guards) {
    int i = I;
    if (i >= n) return;
    int v = in[i];
    out[i] = v;
    if (v & 4) return;
    out[i] = v * in[(v + 1) % n];
}

KERNEL(warp_leaves_before_barrier) {
    __shared__ int tile[256];
    int v = in[I % n];
    if (__ballot_sync(0xffffffffu, v > 960) == 0) return;
    tile[threadIdx.x] = v;
    __syncthreads();
    out[I] = tile[threadIdx.x ^ 1] + 1;
}

KERNEL(loop_between_barriers) {
    __shared__ int tile[256];
    int v = in[I % n];
    tile[threadIdx.x] = v;
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < (v & 7); k++) sum += tile[(threadIdx.x + k) & 255];
    __syncthreads();
    tile[threadIdx.x] = sum;
    __syncthreads();
    out[I] = tile[(threadIdx.x * 5 + 3) & 255];
}

KERNEL(shuffle_after_loop) {
    int v = in[I % n];
#pragma unroll 1
    for (int k = 0; k < (v & 3); k++) v = v * 3 + in[(v & 1023) % n];
    for (int s = 1; s < 32; s <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, v, s);
        if ((threadIdx.x & 31) >= s) v += other;
    }
    out[I] = v;
}
