// The Euclidean norm of each row of a matrix: a row a warp, four floats a load, and the rest of a row one by one.
template <typename Vector, int Width>
__device__ float squares(const float *row, int columns, int lane)
{
    float sum = 0;
    int whole = columns / Width;
    const Vector *vectors = reinterpret_cast<const Vector *>(row);
    for (int i = lane; i < whole; i += 32) {
        Vector v = vectors[i];
        const float *each = reinterpret_cast<const float *>(&v);
#pragma unroll
        for (int k = 0; k < Width; ++k)
            sum += each[k] * each[k];
    }
    int tail = whole * Width + lane;
    if (tail < columns)
        sum += row[tail] * row[tail];
    return sum;
}

extern "C" __global__ void row_norms(float *norms, const float *matrix, int rows, int columns, int pitch)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (warp >= rows)
        return;
    float sum = squares<float4, 4>(matrix + (size_t)warp * pitch, columns, lane);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        norms[warp] = sqrtf(sum);
}
