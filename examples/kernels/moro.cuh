// The inverse of the cumulative normal distribution by Moro ("The Full Monte", Risk 8(2), 1995) at a position in units of
// 2^-32, a rational function in the centre and in the tails a polynomial in log(-log y).
#pragma once

__device__ __forceinline__ float moro_inverse_normal(unsigned position)
{
    const bool upper = position >= 0x80000000u;            // fold the upper half onto the lower: y in (0, 0.5]
    const float y = static_cast<float>(upper ? ~position : position) * 0x1p-32f + 0x1p-33f;
    const float x = 0.5f - y;

    float z;
    if (x < 0.42f) {
        const float r = x * x;
        const float above = ((-25.44106049637f * r + 41.39119773534f) * r - 18.61500062529f) * r + 2.50662823884f;
        const float below =
            (((3.13082909833f * r - 21.06224101826f) * r + 23.08336743743f) * r - 8.47351093090f) * r + 1.0f;
        z = x * __fdividef(above, below);
    } else {
        const float r = __logf(-__logf(y));
        z = 3.960315187e-7f;
        z = z * r + 2.888167364e-7f;
        z = z * r + 3.21767881768e-5f;
        z = z * r + 3.951896511919e-4f;
        z = z * r + 3.8405729373609e-3f;
        z = z * r + 2.76438810333863e-2f;
        z = z * r + 0.1607979714918209f;
        z = z * r + 0.9761690190917186f;
        z = z * r + 0.3374754822726147f;
    }
    return upper ? z : -z;
}
