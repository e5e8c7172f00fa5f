// Compiled without optimisation: the group's fields of bits lie in a word of local memory that nobody set as a whole.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void count_odd(const int *in, int *out, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (in[i] & 1) {
        cg::coalesced_group odd = cg::coalesced_threads();
        if (odd.thread_rank() == 0) atomicAdd(total, odd.size());
        out[i] = odd.thread_rank() + 100 * odd.size();
    }
}
