// run BOTH.cubin SAXPY.ptx MIX.ptx: launches the kernels alone, then woven, in sizes that nobody knew when they were
// woven, and compares what they write, byte by byte.
#include "driver.hpp"
#include "both.cubin.h"

#include <cstring>
#include <fstream>
#include <iterator>

static std::string read(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static bool equal(unsigned n, unsigned m, char **files) {
    std::vector<float> ys(n), xs(n);
    std::vector<unsigned> ss(m);
    for (unsigned i = 0; i < n; ++i) ys[i] = static_cast<float>(i % 1000), xs[i] = static_cast<float>(i % 777);
    for (unsigned i = 0; i < m; ++i) ss[i] = i + 1;
    float a = 0.75f;
    unsigned rounds = 200;
    CUdeviceptr x = on_device(xs), y[] = {on_device(ys), on_device(ys)}, states[] = {on_device(ss), on_device(ss)};

    const goptx_shape kernels[] = {{{(n + 255) / 256, 1, 1}, {256, 1, 1}, 0}, {{(m + 127) / 128, 1, 1}, {128, 1, 1}, 0}};
    void *saxpy[] = {&y[0], &x, &a, &n}, *mix[] = {&states[0], &rounds, &m};
    launch(loaded(read(files[1]).c_str(), "saxpy"), kernels[0].grid, kernels[0].block, kernels[0].shared, saxpy);
    launch(loaded(read(files[2]).c_str(), "mix"), kernels[1].grid, kernels[1].block, kernels[1].shared, mix);

    constexpr int own = 7, hidden = GOPTX_SAXPY_MIX_ARGUMENTS - own;
    unsigned values[hidden];
    goptx_shape shape;
    goptx_saxpy_mix_launch(kernels, &shape, values);
    void *both[GOPTX_SAXPY_MIX_ARGUMENTS] = {&y[1], &x, &a, &n, &states[1], &rounds, &m};
    for (int i = 0; i < hidden; ++i) both[own + i] = &values[i];
    launch(loaded(read(files[0]).data(), GOPTX_SAXPY_MIX_NAME), shape.grid, shape.block, shape.shared, both);

    const auto y0 = on_host<float>(y[0], n), y1 = on_host<float>(y[1], n);
    const auto s0 = on_host<unsigned>(states[0], m), s1 = on_host<unsigned>(states[1], m);
    const bool same = !std::memcmp(y0.data(), y1.data(), sizeof(float) * n) && s0 == s1;
    const bool written = y0[1] == 0.75f * 1 + 1 && s0[0] != 1;
    std::printf("%u floats and %u states in %u CTAs of %u threads are %s\n", n, m, shape.grid[0], shape.block[0],
                same && written ? "what separate launches write" : "DIFFERENT");
    return same && written;
}

int main(int count, char **arguments) {
    if (count != 4) {
        std::fputs("usage: run BOTH.cubin SAXPY.ptx MIX.ptx\n", stderr);
        return 2;
    }
    open_device();
    bool all = true;
    for (const unsigned n : {1000000u, 777u})
        for (const unsigned m : {262000u, 5u}) all = equal(n, m, arguments + 1) && all;
    return all ? 0 : 1;
}
