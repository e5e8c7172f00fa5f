// y = A x, A sparse in ELLPACK with a length for each row: column-major, a row a thread. Rows without elements are left
// at once, and a row may end early at the sentinel column -1.
struct Ell {
    int rows, pitch;
    const int *lengths, *columns;
    const float *values;
};

extern "C" __global__ void __launch_bounds__(128)
    spmv_ell(float *y, const float *x, const int *lengths, const int *columns, const float *values, int rows, int pitch)
{
    Ell A = {rows, pitch, lengths, columns, values};
    for (int row = blockIdx.x * 128 + threadIdx.x; row < A.rows; row += gridDim.x * 128) {
        int n = A.lengths[row];
        if (n == 0) {
            y[row] = 0.f;
            continue;
        }
        float sum = 0.f;
        for (int j = 0; j < n; ++j) {
            int c = A.columns[j * A.pitch + row];
            if (c < 0) break;
            sum += A.values[j * A.pitch + row] * x[c];
        }
        y[row] = sum;
    }
}
