// Moro's inverse of the cumulative normal distribution, of a quasi-random sequence (multiples of the golden ratio).
__device__ static float inverse(unsigned int x)
{
    bool negate = false;
    if (x >= 0x80000000u) {
        x = 0xffffffffu - x;
        negate = true;
    }
    float p = ((float)x + 0.5f) / 4294967296.0f;   // 0 < p <= 0.5
    float y = p - 0.5f;
    float z;
    if (fabsf(y) < 0.42f) {
        const float a0 = 2.50662823884f, a1 = -18.61500062529f, a2 = 41.39119773534f, a3 = -25.44106049637f;
        const float b0 = -8.4735109309f, b1 = 23.08336743743f, b2 = -21.06224101826f, b3 = 3.13082909833f;
        float r = y * y;
        z = y * (((a3 * r + a2) * r + a1) * r + a0) / ((((b3 * r + b2) * r + b1) * r + b0) * r + 1.0f);
    } else {
        const float c[9] = {0.337475482272615f,    0.976169019091719f,    0.160797971491821f,
                            2.76438810333863e-2f,  3.8405729373609e-3f,   3.951896511919e-4f,
                            3.21767881768e-5f,     2.888167364e-7f,       3.960315187e-7f};
        float r = logf(-logf(p));
        z = c[8];
        for (int i = 7; i >= 0; --i)
            z = c[i] + r * z;
        z = -z;
    }
    if (negate)
        return -z;
    else
        return z;
}

extern "C" __global__ void micnd(float *out, int paths, int steps)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int path = t / steps;
    if (path >= paths)
        return;
    out[t] = inverse((unsigned int)(t + 1) * 2654435769u);
}
