// x[i]^e[i] modulo the prime 2^256 - 2^32 - 977, in Montgomery form; eight limbs in registers, carry chains by hand.
// Limb-major arrays: limb k of number i at k * count + i.
#include <cstdint>

__constant__ uint32_t P[8] = {0xfffffc2fu, 0xfffffffeu, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
__constant__ uint32_t R2[8] = {0x000e90a1u, 0x000007a2u, 1u, 0, 0, 0, 0, 0};
constexpr uint32_t N0 = 0xd2253531u;   // -P^-1 mod 2^32

// t[0..9] += a * b
__device__ __forceinline__ void mac_row(uint32_t (&t)[10], const uint32_t (&a)[8], uint32_t b) {
    asm volatile("mad.lo.cc.u32 %0, %1, %2, %0;" : "+r"(t[0]) : "r"(a[0]), "r"(b));
#pragma unroll
    for (int k = 1; k < 8; ++k) asm volatile("madc.lo.cc.u32 %0, %1, %2, %0;" : "+r"(t[k]) : "r"(a[k]), "r"(b));
    asm volatile("addc.cc.u32 %0, %0, 0;" : "+r"(t[8]));
    asm volatile("addc.u32 %0, %0, 0;" : "+r"(t[9]));
    asm volatile("mad.hi.cc.u32 %0, %1, %2, %0;" : "+r"(t[1]) : "r"(a[0]), "r"(b));
#pragma unroll
    for (int k = 1; k < 8; ++k) asm volatile("madc.hi.cc.u32 %0, %1, %2, %0;" : "+r"(t[k + 1]) : "r"(a[k]), "r"(b));
    asm volatile("addc.u32 %0, %0, 0;" : "+r"(t[9]));
}

__device__ __forceinline__ void montgomery(uint32_t (&out)[8], const uint32_t (&a)[8], const uint32_t (&b)[8],
                                           const uint32_t (&p)[8]) {
    uint32_t t[10] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        mac_row(t, a, b[i]);
        mac_row(t, p, t[0] * N0);
#pragma unroll
        for (int k = 0; k < 9; ++k) t[k] = t[k + 1];
        t[9] = 0;
    }
    uint32_t d[8], borrow;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(d[0]) : "r"(t[0]), "r"(p[0]));
#pragma unroll
    for (int k = 1; k < 8; ++k) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(d[k]) : "r"(t[k]), "r"(p[k]));
    asm volatile("subc.u32 %0, %1, 0;" : "=r"(borrow) : "r"(t[8]));
#pragma unroll
    for (int k = 0; k < 8; ++k) out[k] = borrow == ~0u ? t[k] : d[k];
}

extern "C" __global__ void __launch_bounds__(64)
modexp256(uint32_t* __restrict__ out, const uint32_t* __restrict__ in, const uint32_t* __restrict__ exponents, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t p[8], r2[8], x[8], y[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        p[k] = P[k];
        r2[k] = R2[k];
        x[k] = in[(size_t)k * count + i];
    }
    montgomery(x, x, r2, p);
#pragma unroll
    for (int k = 0; k < 8; ++k) y[k] = x[k];
    const uint32_t e = exponents[i];   // at least 1
    for (int bit = 30 - __clz(e); bit >= 0; --bit) {
        montgomery(y, y, y, p);
        if (e >> bit & 1) montgomery(y, y, x, p);
    }
    const uint32_t one[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    montgomery(y, y, one, p);
#pragma unroll
    for (int k = 0; k < 8; ++k) out[(size_t)k * count + i] = y[k];
}
