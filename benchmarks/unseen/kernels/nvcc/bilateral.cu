// A bilateral filter of 5x5 pixels: inside the image without tests, at its rim with clamped coordinates.
#define R 2

__device__ static float weight(float centre, float other, int dx, int dy, float space, float tone)
{
    float d = other - centre;
    return __expf(-(dx * dx + dy * dy) * space - d * d * tone);
}

extern "C" __global__ void bilateral(float *out, const float *in, int width, int height, float space, float tone)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height) return;
    if (x >= width) return;

    float centre = in[y * width + x], sum = 0, total = 0;
    if (x >= R && y >= R && x < width - R && y < height - R) {
        for (int dy = -R; dy <= R; dy++)
            for (int dx = -R; dx <= R; dx++) {
                float v = in[(y + dy) * width + x + dx];
                float w = weight(centre, v, dx, dy, space, tone);
                sum += w * v;
                total += w;
            }
    } else {
        for (int dy = -R; dy <= R; dy++) {
            int yy = min(max(y + dy, 0), height - 1);
            for (int dx = -R; dx <= R; dx++) {
                int xx = min(max(x + dx, 0), width - 1);
                float v = in[yy * width + xx];
                float w = weight(centre, v, dx, dy, space, tone);
                sum += w * v;
                total += w;
            }
        }
    }
    out[y * width + x] = sum / total;
}
