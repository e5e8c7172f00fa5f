// For each segment of up to 1024 floats, the order that sorts it: a bitonic network in shared memory, ties by position.
#define SEGMENT 1024

extern "C" __global__ void __launch_bounds__(SEGMENT / 2)
segment_argsort(short *order, float *sorted, const float *keys, const int *lengths)
{
	__shared__ float key[SEGMENT];
	__shared__ unsigned short idx[SEGMENT];
	unsigned t = threadIdx.x;
	int len = lengths[blockIdx.x];
	const float *mine = keys + (size_t)blockIdx.x * SEGMENT;

	for (unsigned i = t; i < SEGMENT; i += SEGMENT / 2) {
		key[i] = (int)i < len ? mine[i] : __int_as_float(0x7f800000);
		idx[i] = i;
	}

	for (unsigned k = 2; k <= SEGMENT; k <<= 1) {
		for (unsigned j = k >> 1; j > 0; j >>= 1) {
			__syncthreads();
			unsigned lo = 2 * t - (t & (j - 1));
			unsigned hi = lo + j;
			float a = key[lo], b = key[hi];
			unsigned short ia = idx[lo], ib = idx[hi];
			bool greater = a > b || (a == b && ia > ib);
			bool up = (lo & k) == 0;
			if (greater == up) {
				key[lo] = b;
				key[hi] = a;
				idx[lo] = ib;
				idx[hi] = ia;
			}
		}
	}
	__syncthreads();

	for (unsigned i = t; i < SEGMENT; i += SEGMENT / 2) {
		size_t at = (size_t)blockIdx.x * SEGMENT + i;
		order[at] = (int)i < len ? (short)idx[i] : (short)-1;
		sorted[at] = key[i];
	}
}
