// Integers, floats, halves and their functions of the mathematics library.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void integers(const int* in, long long* out, unsigned n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[i], b = in[i + n];
    unsigned u = a, v = b;
    long long l = (static_cast<long long>(a) << 32) | u, m = l * b;
    unsigned long long ul = l, um = m;
    long long r = __mulhi(a, b) + __umul64hi(ul, um) + __mul24(a, b) + __sad(a, b, u) + __hadd(a, b) + __rhadd(a, b);
    r += __popc(a) + __popcll(l) + __clz(a) + __clzll(l) + __ffs(a) + __ffsll(l) + __brev(u) + __brevll(ul);
    r ^= __byte_perm(u, v, 0x5140) + __funnelshift_l(u, v, a & 31) + __funnelshift_rc(u, v, b);
    r += __dp4a(a, b, 7) + __dp4a(u, v, 9u) + __dp2a_lo(a, b, 3) + __dp2a_hi(u, v, 5u);
    r += __vadd4(u, v) ^ __vsub2(u, v) ^ __vmaxs4(u, v) ^ __vabsdiffu4(u, v) ^ __vcmpgts2(u, v) ^ __vavgu4(u, v);
    r += min(max(a, b), 100) + abs(a) + llabs(l) + a / b + a % 17 + u / v + u % 10 + l / m + ul % (um | 1) + (l >> (a & 63));
    r += __vimax3_s32(a, b, 5) + __viaddmin_u32(u, v, 9) + __vibmax_s32(a, b, nullptr == out ? nullptr : reinterpret_cast<bool*>(out));
    short s = a; unsigned char c = b; signed char d = a;
    r += s * c - d + (s >> 3) + (c << 2) + (a > b ? s : d) + __fns(u, 3, 2);
    asm("{ .reg .pred p; .reg .u32 t; setp.ne.u32 p, %1, 0; add.cc.u32 t, %1, %2; addc.u32 t, t, 0; @p xor.b32 t, t, 3; mov.u32 %0, t; }"
        : "=r"(u) : "r"(u), "r"(v));
    asm("bfe.s32 %0, %1, 3, 5;\n\tbfi.b32 %0, %0, %1, 8, 9;\n\tlop3.b32 %0, %0, %1, %1, 0x96;\n\tszext.wrap.u32 %0, %0, 5;" : "+r"(u) : "r"(v));
    out[i] = r + u;
}

extern "C" __global__ void floats(const float* in, float* out, const double* din, double* dout) {
    int i = threadIdx.x;
    float x = in[i], y = in[i + 1], s, c;
    sincosf(x, &s, &c);
    float r = s * c + tanf(x) + expf(x) + exp2f(y) + logf(x) + log2f(y) + powf(x, y) + erff(x) + erfcinvf(y) + lgammaf(x) + cbrtf(y);
    r += sqrtf(x) + rsqrtf(y) + x / y + fmodf(x, y) + remainderf(x, 3.f) + fmaf(x, y, r) + hypotf(x, y) + atan2f(x, y) + j0f(x) + normcdff(y);
    r += __sinf(x) + __expf(y) + __fdividef(x, y) + __frcp_rz(x) + __fsqrt_ru(y) + __fmaf_rd(x, y, r) + __saturatef(x) + __powf(x, y);
    r += floorf(x) + rintf(y) + roundf(x) + truncf(y) + copysignf(x, y) + nextafterf(x, y) + ldexpf(x, i) + fminf(x, fmaxf(y, r)) + tanhf(x);
    r += __float2int_rz(x) + __float2uint_ru(y) + __int2float_rd(i) + float(__float2ll_rn(x)) + __float_as_int(y) + __double2float_rz(din[i]);
    r += isnan(x) + isinf(y) + signbit(x) + isfinite(y);
    out[i] = r;
    double d = din[i], e = din[i + 1];
    dout[i] = sin(d) + exp(e) + log(d) + pow(d, e) + sqrt(d) + d / e + fma(d, e, 1.0) + __dadd_rz(d, e) + rint(d) + __double2ll_rd(e) + tgamma(d)
        + __drcp_ru(d) + double(__double2uint_rn(e)) + cyl_bessel_i0(d) + sinpi(d) + rsqrt(e) + __hiloint2double(i, i) + erfcx(d) + norm3d(d, e, 1.0);
}

extern "C" __global__ void halves(const half2* in, half2* out, const __nv_bfloat162* bin, __nv_bfloat162* bout, unsigned char* bytes) {
    int i = threadIdx.x;
    half2 a = in[i], b = in[i + 1];
    half x = __low2half(a), y = __high2half(b);
    half2 r = __hfma2(a, b, __hmul2(a, b)) + h2exp2(a) / __hadd2_sat(a, b) - h2sqrt(b) + __hmax2(a, b) + __hfma2_relu(a, b, a) + __habs2(b);
    x = hsin(x) + hlog2(y) + htanh(x) + hrcp(y) + __hmax_nan(x, y) + half(i) + __ushort_as_half(0x3c00) + hceil(x);
    if (__hgt(x, y) || __hbeq2(a, b) || __hisnan(y)) r = __half2half2(x);
    out[i] = r + __shfl_xor_sync(0xffffffff, a, 3) + __ldg(in + i);
    __nv_bfloat162 c = bin[i], d = bin[i + 1];
    bout[i] = __hfma2(c, d, c) + __hmin2(c, d) + h2exp(c) + __float22bfloat162_rn(make_float2(float(x), __bfloat162float(c.x))) - d;
    bytes[i] = __nv_cvt_float_to_fp8(float(x), __NV_SATFINITE, __NV_E4M3) + __nv_cvt_halfraw_to_fp8(y, __NV_SATFINITE, __NV_E5M2);
    __nv_fp8x4_e4m3 four(make_float4(float(x), float(y), 3.f, 4.f));
    reinterpret_cast<float4*>(bytes)[i + 9] = float4(four);
}
