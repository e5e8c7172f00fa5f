// How many steps the orbit of each point of a rectangle stays within the circle of radius 2, up to a limit. Points of the
// main cardioid and of the disc beside it never leave; for them nothing is iterated.
extern "C" __global__ void mandelbrot(unsigned short *steps, int width, int height, float left, float top, float pixel,
                                      int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = left + px * pixel, cy = top - py * pixel;

    float q = (cx - 0.25f) * (cx - 0.25f) + cy * cy;
    if (q * (q + (cx - 0.25f)) <= 0.25f * cy * cy) {
        steps[py * width + px] = limit;
        return;
    }
    if ((cx + 1) * (cx + 1) + cy * cy <= 0.0625f) {
        steps[py * width + px] = limit;
        return;
    }

    float x = 0, y = 0;
    int n = 0;
    while (n < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        ++n;
    }
    steps[py * width + px] = n;
}
