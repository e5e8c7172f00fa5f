# mypy: ignore-errors
"""Remakes the PTX files beside it with nvcc, Triton 3.9 and Numba-CUDA 0.30; none of them needs a GPU for this."""

import os
import re
import subprocess
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
FOLDER = Path(__file__).parent


def write(name: str, text: str) -> None:
    text = re.sub(r"\A(//.*\n)*", "", text).lstrip()
    (FOLDER / name).write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


def with_nvcc() -> None:
    # -Xcicc -O0 gives the code that -G does, without what is for a debugger
    for name, options in (("cuda", ["-std=c++17"]), ("unoptimised", ["-Xcicc", "-O0"])):
        target = FOLDER / f"{name}.sm_80.ptx"
        subprocess.run(["nvcc", "-ptx", "-arch=sm_80", *options, "-o", target, FOLDER / f"{name}.cu"], check=True)
        write(target.name, target.read_text())


def with_triton() -> None:
    import kernels
    import triton
    from triton.backends.compiler import GPUTarget

    for name, types, sizes, divisible in [
        ("softmax", ["*fp32", "*fp32", "i32", "i32"], {"B": 512}, range(2)),
        ("product", ["*fp16"] * 3 + ["i32"] * 3, {"BM": 32, "BN": 32, "BK": 32}, range(6)),
        ("histogram", ["*i32", "*i32", "i32"], {"B": 256}, range(3)),
    ]:
        function = triton.jit(getattr(kernels, name))
        signature = dict(zip(function.arg_names, [*types, *["constexpr"] * len(sizes)], strict=True))
        source = triton.compiler.ASTSource(
            function,
            signature,
            {(function.arg_names.index(k),): v for k, v in sizes.items()},
            {(i,): [["tt.divisibility", 16]] for i in divisible},
        )
        made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, "num_stages": 3})
        write(f"triton_{name}.sm_80.ptx", made.asm["ptx"])
        print(f"{name} wants {made.metadata.shared} bytes of dynamic shared memory")


def with_numba() -> None:
    import kernels
    from numba import cuda, float32, int64

    for name, type_ in [("division", int64[::1]), ("tiles", float32[:, ::1])]:
        text, _ = cuda.compile_ptx(getattr(kernels, name), (type_,) * 3, cc=(8, 0))
        text = re.sub(r"_ZN08NumbaEnv\w*", f"{name}_environment", text)
        write(f"numba_{name}.sm_80.ptx", re.sub(r"_ZN7kernels\w*?(?=_param|\W)", name, text))


if __name__ == "__main__":
    with_nvcc()
    with_triton()
    with_numba()
