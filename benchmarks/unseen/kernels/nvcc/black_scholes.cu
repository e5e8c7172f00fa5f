// Prices of European calls and puts by the formula of Black and Scholes, an option a thread; the cumulative normal
// distribution is the polynomial of Abramowitz and Stegun 26.2.17, mirrored for negative arguments.
__device__ float cumulative(float d)
{
    const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
    if (d > 0)
        c = 1.0f - c;
    return c;
}

extern "C" __global__ void black_scholes(float *call, float *put, const float *price, const float *strike,
                                         const float *years, float rate, float volatility, int options)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < options) {
        float S = price[opt], X = strike[opt], T = years[opt];
        float root = sqrtf(T);
        float d1 = (logf(S / X) + (rate + 0.5f * volatility * volatility) * T) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = cumulative(d1), n2 = cumulative(d2);
        float discounted = X * expf(-rate * T);
        call[opt] = S * n1 - discounted * n2;
        put[opt] = discounted * (1.0f - n2) - S * (1.0f - n1);
    }
}
