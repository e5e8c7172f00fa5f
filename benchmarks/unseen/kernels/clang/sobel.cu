// Edges of a grey image by the operator of Sobel: strong, weak or none, an image of any width, a pixel a thread.
#include "device.h"

__device__ static int at(const unsigned char *image, int width, int height, int x, int y)
{
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return image[y * width + x];
}

extern "C" __global__ void sobel(unsigned char *edges, const unsigned char *image, int width, int height, int weak,
                                 int strong)
{
    int x = THREAD % width, y = THREAD / width;
    if (y >= height)
        return;
    int gx = 0, gy = 0;
    for (int k = -1; k <= 1; ++k) {
        int twice = k == 0 ? 2 : 1;
        gx += twice * (at(image, width, height, x + 1, y + k) - at(image, width, height, x - 1, y + k));
        gy += twice * (at(image, width, height, x + k, y + 1) - at(image, width, height, x + k, y - 1));
    }
    int strength = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
    unsigned char kind;
    if (strength >= strong)
        kind = 255;
    else if (strength >= weak)
        kind = 128;
    else
        kind = 0;
    edges[y * width + x] = kind;
}
