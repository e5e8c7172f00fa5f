#!/bin/sh
# Compiles the kernels of this folder to NAME.sm_90.ptx with clang (CLANG, by default clang-19), without CUDA's headers.
set -e
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
for name in lower_bound sobel; do
    $clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib -Wno-unknown-cuda-version -O3 -S \
        --cuda-feature=+ptx80 -o "$name.sm_90.ptx" "$name.cu"
done
$clang -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target nvptx64-nvidia-cuda -march=sm_90 -nogpulib -O3 -S \
    -o block_sum.sm_90.ptx block_sum.cl
