// Texture and surface objects of every shape.
#include <cuda_runtime.h>

extern "C" __global__ void textures(cudaTextureObject_t t, cudaTextureObject_t u, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i * 0.5f, y = i * 0.25f, z = 1.f / (i + 1);
    float4 r = tex1D<float4>(t, x);
    r.x += tex1Dfetch<float>(t, i) + tex2D<float>(t, x, y) + tex3D<float>(t, x, y, z) + tex1DLayered<float>(t, x, i);
    r.y += tex2DLayered<float>(t, x, y, 3) + texCubemap<float>(t, x, y, z) + texCubemapLayered<float>(t, x, y, z, 2);
    r.z += tex2DLod<float>(t, x, y, 2.f) + tex2DGrad<float>(t, x, y, make_float2(x, 1), make_float2(1, y)) + tex3DLod<float>(u, x, y, z, 1.f);
    float4 g = tex2Dgather<float4>(t, x, y, 2);
    int4 k = tex2D<int4>(u, x, y);
    uchar2 c = tex2D<uchar2>(u, y, x);
    bool resident;
    float s = tex2D<float>(t, x, y, &resident);
    int2 size = make_int2(0, 0);
    asm("txq.width.b32 %0, [%1];" : "=r"(size.x) : "l"(t));
    asm("txq.channel_order.b32 %0, [%1];" : "=r"(size.y) : "l"(t));
    asm volatile("tex.base.2d.v4.f32.f32 {%0, _, _, _}, [%1, {%2, %3}];" : "=f"(z) : "l"(t), "f"(x), "f"(y));
    out[i] = make_float4(r.x + g.y + k.z, r.y + c.x + c.y, r.z + s + resident, r.w + size.x + size.y + z + n);
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t s, cudaSurfaceObject_t d) {
    int x = threadIdx.x, y = blockIdx.x;
    float a = surf1Dread<float>(s, x * 4), b;
    surf2Dread(&b, s, x * 4, y, cudaBoundaryModeClamp);
    uchar4 c = surf3Dread<uchar4>(s, x * 4, y, 1, cudaBoundaryModeZero);
    short2 e = surf2DLayeredread<short2>(s, x * 4, y, 2);
    surf2Dwrite(make_float4(a, b, c.x, e.y), d, x * 16, y);
    surf1Dwrite(c, d, x * 4, cudaBoundaryModeZero);
    surf3Dwrite(static_cast<long long>(x), d, x * 8, y, 3);
    surfCubemapwrite(1.f, d, x * 4, y, 5);
    surf2DLayeredwrite(make_ushort2(x, y), d, x * 4, y, 1, cudaBoundaryModeClamp);
    unsigned w;
    asm("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(s));
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(d), "r"(x), "r"(y), "r"(w));
}
