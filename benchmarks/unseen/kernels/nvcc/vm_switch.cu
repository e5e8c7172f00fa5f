// An interpreter: each thread runs a program of its own, a byte an instruction, on a 32-bit state; programs end at a halt
// or after their last byte. They lie interleaved, so that the first bytes of all threads are neighbours.
#include <cstdint>

enum Op : uint8_t { Add, Mul, Xor, Shift, Rotate, Swap, SkipOdd, Halt };

extern "C" __global__ void vm_switch(uint32_t *__restrict__ state, const uint8_t *__restrict__ code, uint32_t programs,
                                     uint32_t length)
{
    const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= programs) return;
    uint32_t a = state[id], b = id * 2654435761u;
    for (uint32_t pc = 0; pc < length; ++pc) {
        const uint8_t byte = code[pc * programs + id];
        const uint32_t operand = byte >> 3;
        switch (byte & 7) {
        case Add: a += b + operand; break;
        case Mul: a *= 2 * operand + 3; break;
        case Xor: a ^= b << (operand & 15); break;
        case Shift: b = (b >> 3) + a; break;
        case Rotate: a = __funnelshift_l(a, a, operand); break;
        case Swap: {
            uint32_t t = a;
            a = b ^ operand;
            b = t;
            break;
        }
        case SkipOdd:
            if (a & 1) ++pc;
            break;
        case Halt:
            if (operand == 0) {   // one halt of 32 counts
                state[id] = a;
                return;
            }
            b += 0x9E3779B9u;
            break;
        }
    }
    state[id] = a ^ b;
}
