// Some rounds of a xorshift generator on each state: computes much and moves little. Right at any size.
extern "C" __global__ void mix(unsigned *__restrict__ states, unsigned rounds, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = states[i];
    for (unsigned r = 0; r < rounds; ++r) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    states[i] = state;
}
