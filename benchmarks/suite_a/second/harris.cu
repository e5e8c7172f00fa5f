// Harris corner response of an image, row by row; k = 1/25.
#include <stdint.h>

extern "C" __global__ void harris(const short *Ixx, const short *Iyy, const short *Ixy, uint8_t *corner, int width,
                                  int height, int threshold)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int row = id / width;
    int col = id - row * width;
    if (row >= height) return;

    int at = row * width + col;
    int a = Ixx[at];
    int b = Iyy[at];
    int c = Ixy[at];
    int det = a * b - c * c;
    int tr = a + b;
    if (det - tr * tr / 25 > threshold) {
        corner[at] = 1;
    } else {
        corner[at] = 0;
    }
}
