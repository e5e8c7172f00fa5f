// The CUDA driver for the example programs: found when they start, so that they are built where there is none.
#pragma once

#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

constexpr int SKIPPED = 77;  // exit status where there is no GPU; ctest and automake know it

inline void *find_in_driver(const char *name) {
#ifdef _WIN32
    static HMODULE library = LoadLibraryA("nvcuda.dll");
    return library ? reinterpret_cast<void *>(GetProcAddress(library, name)) : nullptr;
#else
    static void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, name) : nullptr;
#endif
}

// `call(DRIVER(cuInit), 0)`; cuda.h has names such as cuMemAlloc as macros for those of a version.
#define STRING_OF(name) #name
#define DRIVER(name) reinterpret_cast<decltype(&name)>(find_in_driver(STRING_OF(name))), STRING_OF(name)

template <class Function, class... Arguments>
void call(Function function, const char *name, Arguments... arguments) {
    const CUresult result = function ? function(arguments...) : CUDA_ERROR_NOT_FOUND;
    if (result != CUDA_SUCCESS) {
        std::fprintf(stderr, "%s: error %d\n", name, static_cast<int>(result));
        std::exit(1);
    }
}

// Makes the first GPU current, or ends the program.
inline void open_device() {
    const auto init = reinterpret_cast<decltype(&cuInit)>(find_in_driver("cuInit"));
    if (!init || init(0) != CUDA_SUCCESS) {
        std::puts("no GPU: not launched");
        std::exit(SKIPPED);
    }
    CUdevice device;
    CUcontext context;
    call(DRIVER(cuDeviceGet), &device, 0);
    call(DRIVER(cuDevicePrimaryCtxRetain), &context, device);
    call(DRIVER(cuCtxSetCurrent), context);
}

// A kernel of a module: PTX text that ends with a zero, or machine code.
inline CUfunction loaded(const void *image, const char *entry) {
    CUmodule module;
    CUfunction function;
    call(DRIVER(cuModuleLoadData), &module, image);
    call(DRIVER(cuModuleGetFunction), &function, module, entry);
    return function;
}

template <class T>
CUdeviceptr on_device(const std::vector<T> &values) {
    CUdeviceptr pointer;
    call(DRIVER(cuMemAlloc), &pointer, values.size() * sizeof(T));
    call(DRIVER(cuMemcpyHtoD), pointer, values.data(), values.size() * sizeof(T));
    return pointer;
}

template <class T>
std::vector<T> on_host(CUdeviceptr pointer, std::size_t size) {
    std::vector<T> values(size);
    call(DRIVER(cuMemcpyDtoH), values.data(), pointer, size * sizeof(T));
    return values;
}

inline void launch(CUfunction kernel, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                   void **arguments) {
    call(DRIVER(cuLaunchKernel), kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
         static_cast<CUstream>(nullptr), arguments, static_cast<void **>(nullptr));
    call(DRIVER(cuCtxSynchronize));
}
