// Launches saxpy and mix alone, then woven, and compares what they write, byte by byte.
#include "driver.hpp"
#include "woven.h"

#include <cstring>

extern const char *const woven_ptx[];
extern const char *const separate_ptx[];

static_assert(GOPTX_SAXPY_MIX_ARGUMENTS == 7, "the arguments of saxpy, then those of mix");

struct Data {
    unsigned n = 1000000, m = 262000, rounds = 200;  // the last threads of both have nothing to do
    float a = 0.75f;
    CUdeviceptr y, x, states;

    Data() {
        std::vector<float> ys(n), xs(n);
        std::vector<unsigned> ss(m);
        for (unsigned i = 0; i < n; ++i) ys[i] = static_cast<float>(i % 1000), xs[i] = static_cast<float>(i % 777);
        for (unsigned i = 0; i < m; ++i) ss[i] = i + 1;
        y = on_device(ys), x = on_device(xs), states = on_device(ss);
    }
};

int main() {
    open_device();
    Data alone, together;

    void *saxpy[] = {&alone.y, &alone.x, &alone.a, &alone.n};
    launch(loaded(separate_ptx[0], "saxpy"), {4096, 1, 1}, {256, 1, 1}, 0, saxpy);
    void *mix[] = {&alone.states, &alone.rounds, &alone.m};
    launch(loaded(separate_ptx[1], "mix"), {2048, 1, 1}, {128, 1, 1}, 0, mix);

    void *both[GOPTX_SAXPY_MIX_ARGUMENTS] = {};
    both[GOPTX_SAXPY_MIX_A_0] = &together.y;
    both[GOPTX_SAXPY_MIX_A_1] = &together.x;
    both[GOPTX_SAXPY_MIX_A_2] = &together.a;
    both[GOPTX_SAXPY_MIX_A_3] = &together.n;
    both[GOPTX_SAXPY_MIX_B_0] = &together.states;
    both[GOPTX_SAXPY_MIX_B_1] = &together.rounds;
    both[GOPTX_SAXPY_MIX_B_2] = &together.m;
    launch(loaded(woven_ptx[0], GOPTX_SAXPY_MIX_NAME),
           {GOPTX_SAXPY_MIX_GRID_X, GOPTX_SAXPY_MIX_GRID_Y, GOPTX_SAXPY_MIX_GRID_Z},
           {GOPTX_SAXPY_MIX_BLOCK_X, GOPTX_SAXPY_MIX_BLOCK_Y, GOPTX_SAXPY_MIX_BLOCK_Z}, GOPTX_SAXPY_MIX_SHARED, both);

    const auto y0 = on_host<float>(alone.y, alone.n), y1 = on_host<float>(together.y, together.n);
    const auto s0 = on_host<unsigned>(alone.states, alone.m), s1 = on_host<unsigned>(together.states, together.m);
    const bool equal = !std::memcmp(y0.data(), y1.data(), sizeof(float) * y0.size()) && s0 == s1;
    const bool written = y0[1] == 0.75f * 1 + 1 && s0[0] != 1;
    std::printf("%s: %u floats and %u states are %s\n", GOPTX_SAXPY_MIX_NAME, alone.n, alone.m,
                equal && written ? "what separate launches write" : "DIFFERENT");
    return equal && written ? 0 : 1;
}
