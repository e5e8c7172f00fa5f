// Sums of squares of blocks of 1,024 floats, as a program for OpenCL has it: a tree in local memory.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void block_sum(global float *sums, global const float *in, uint n)
{
    local float partial[256];
    const uint own = __nvvm_read_ptx_sreg_tid_x();
    const uint group = __nvvm_read_ptx_sreg_ctaid_x();
    float sum = 0.0f;
    for (uint k = 0; k < 4; ++k) {
        const uint i = group * 1024 + k * 256 + own;
        if (i < n)
            sum = __builtin_fmaf(in[i], in[i], sum);
    }
    partial[own] = sum;
    __nvvm_bar_sync(0);
    for (uint half_ = 128; half_ > 0; half_ >>= 1) {
        if (own < half_)
            partial[own] += partial[own + half_];
        __nvvm_bar_sync(0);
    }
    if (own == 0)
        sums[group] = partial[0];
}
