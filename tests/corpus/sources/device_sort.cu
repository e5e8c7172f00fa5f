// CUB's radix sort, template code at its heaviest. -DTYPES=n sorts n pairs of types, each about 210 kB of PTX.
#include <cub/device/device_radix_sort.cuh>

#ifndef TYPES
#define TYPES 2
#endif

struct Three { int word[3]; };
struct Five { int word[5]; };

template <int N, class First, class... Rest> struct At : At<N - 1, Rest...> {};
template <class First, class... Rest> struct At<0, First, Rest...> { using Type = First; };

template <int N> void sort(void* scratch, size_t& bytes, const void* in, void* out, int n) {
    using Key = typename At<(N - 1) % 8, unsigned, double, short, unsigned char, float, long long, char, unsigned long long>::Type;
    using Value = typename At<(N - 1) / 8, unsigned, double, Three, char, float4, short, Five, char3>::Type;
    cub::DeviceRadixSort::SortPairs(scratch, bytes, static_cast<const Key*>(in), static_cast<Key*>(out),
                                    static_cast<const Value*>(in), static_cast<Value*>(out), n);
    if constexpr (N > 1) sort<N - 1>(scratch, bytes, in, out, n);
}
template void sort<TYPES>(void*, size_t&, const void*, void*, int);
