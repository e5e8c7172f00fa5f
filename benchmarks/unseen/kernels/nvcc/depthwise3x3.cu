// Depthwise convolution 3x3 with padding 1, bias and ReLU6, channels innermost, two channels a thread in half2. A thread
// makes four neighbours of a row from a window that slides through registers.
#include <cuda_fp16.h>

#define RUN 4

extern "C" __global__ void __launch_bounds__(256)
depthwise3x3(__half2 *__restrict__ y, const __half2 *__restrict__ x, const __half2 *__restrict__ weight,
             const __half2 *__restrict__ bias, int height, int width, int pairs)
{
    const int c = threadIdx.x;
    const int left = (blockIdx.x * blockDim.y + threadIdx.y) * RUN;
    const int row = blockIdx.y;
    if (c >= pairs || left >= width)
        return;
    const size_t image = (size_t)blockIdx.z * height * width;

    __half2 w[3][3];
    #pragma unroll
    for (int k = 0; k < 9; k++)
        w[k / 3][k % 3] = __ldg(weight + k * pairs + c);
    const __half2 b = __ldg(bias + c);
    const __half2 zero = __float2half2_rn(0.0f), six = __float2half2_rn(6.0f);

    __half2 in[3][RUN + 2];
    #pragma unroll
    for (int dy = 0; dy < 3; dy++) {
        const int yy = row + dy - 1;
        #pragma unroll
        for (int dx = 0; dx < RUN + 2; dx++) {
            const int xx = left + dx - 1;
            in[dy][dx] = zero;
            if (yy >= 0 && yy < height && xx >= 0 && xx < width)
                in[dy][dx] = __ldg(x + (image + (size_t)yy * width + xx) * pairs + c);
        }
    }

    #pragma unroll
    for (int r = 0; r < RUN; r++) {
        __half2 sum = b;
        #pragma unroll
        for (int dy = 0; dy < 3; dy++)
            #pragma unroll
            for (int dx = 0; dx < 3; dx++)
                sum = __hfma2(in[dy][r + dx], w[dy][dx], sum);
        sum = __hmin2(__hmax2(sum, zero), six);
        if (left + r < width)
            y[(image + (size_t)row * width + left + r) * pairs + c] = sum;
    }
}
