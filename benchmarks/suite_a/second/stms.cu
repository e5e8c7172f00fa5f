// Shi-Tomasi: a pixel is a corner if the smaller eigenvalue of its gradient matrix is above the threshold.
extern "C" __global__ void stms(const short *Ixx, const short *Iyy, const short *Ixy, unsigned char *corner, int width,
                                int height, float threshold)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int row = id / width;
    if (row >= height) return;

    float xx = (float)Ixx[id];
    float yy = (float)Iyy[id];
    float xy = (float)Ixy[id];
    float d = xx - yy;
    float disc = d * d + 4.0f * xy * xy;
    float smaller;
    if (disc > 0.0f) {
        float root = sqrtf(disc);
        float l1 = (xx + yy + root) * 0.5f;
        float l2 = (xx + yy - root) * 0.5f;
        smaller = l1 < l2 ? l1 : l2;
    } else {
        smaller = 0.5f * (xx + yy);   // both are equal
    }
    if (smaller > threshold)
        corner[id] = 1;
    else
        corner[id] = 0;
}
