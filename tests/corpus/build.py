"""Makes PTX with real compilers: tests/corpus/ptx/ is committed, tests/corpus/more/ (with --all) is not.

    python tests/corpus/build.py [--all] [PATTERN ...]

Patterns such as `'*.triton'` choose pieces by name. Each is made if its compiler is there: nvcc of a CUDA toolkit, and
what `pip install triton "numba-cuda[cu13]" cupy-cuda13x llvmlite "cuda-python>=13,<14" "nvidia-cuda-nvrtc==13.0.*"`
brings; none of them needs a GPU. The committed files are of nvcc and NVRTC 13.0, Triton 3.9, Numba-CUDA 0.30, CuPy 14.2
and LLVM 22 (llvmlite 0.50). tests/corpus/test_corpus.py takes what lies in more/ too, as long as it does.

All is compiled in one folder, /tmp/goptx-corpus, so that the paths in debug information are the same on every machine.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
WORK = Path("/tmp/goptx-corpus")

Piece = tuple[str, Callable[[], str]]  # name, and what gives the text

# For each source the architectures, each followed by one of the options below.
NVCC = {
    "arithmetic": "sm_80 sm_89 sm_90 sm_100 sm_120 sm_80-fast sm_80-lineinfo sm_90-debug",
    "atomics": "sm_75 sm_80 sm_90 sm_100 sm_80-lineinfo sm_90-debug",
    "blackwell": "sm_100a sm_100a-lineinfo sm_100a-debug",
    "callees": "sm_80 sm_80-lineinfo sm_80-debug",
    "cooperative": "sm_75 sm_80 sm_90 sm_100 sm_90-lineinfo sm_80-debug",
    "declarations": "sm_75 sm_80 sm_90 sm_120 sm_90-lineinfo sm_90-debug sm_80-rdc",
    "device_sort": "sm_80 sm_90 sm_100 sm_90-lineinfo sm_90-debug",
    "hopper": "sm_90a sm_90a-lineinfo sm_90a-debug",
    "language": "sm_75 sm_80 sm_90 sm_120 sm_80-lineinfo sm_90-debug sm_90-rdc",
    "matrices": "sm_75 sm_80 sm_90 sm_120 sm_90-lineinfo sm_80-debug",
    "parallel": "sm_80-rdc sm_90-rdc-lineinfo sm_90-rdc-debug",
    "pipeline": "sm_75 sm_80 sm_90 sm_100 sm_80-lineinfo sm_80-debug",
    "reduction": "sm_75 sm_80 sm_90 sm_120 sm_80-lineinfo sm_90-debug sm_80-rdc-lineinfo",
    "textures": "sm_75 sm_80 sm_120 sm_90-lineinfo sm_90-debug",
}
OPTIONS = {
    "debug": "-G",
    "lineinfo": "-lineinfo",
    "rdc": "-rdc=true",
    "fast": "-use_fast_math",
}
ON_DEMAND = """
arithmetic.sm_89.* arithmetic.sm_[19]* arithmetic.*-[fl]* atomics.sm_80.* atomics.sm_100.* atomics.*-*
blackwell.*-debug.* cooperative.sm_75.* cooperative.sm_100.* cooperative.*-debug.* declarations.sm_80.*
declarations.sm_120.* device_sort.* hopper.*-debug.* language.sm_80.* language.sm_90.* language.sm_120.*
matrices.sm_90.* matrices.sm_120.* matrices.*-debug.* parallel.*-debug.* pipeline.sm_75.* pipeline.sm_100.*
pipeline.*-* reduction.sm_80.* reduction.sm_120.* textures.sm_75.* textures.sm_120.* textures.*-debug.* matmul_large.*
matmul_bf16.* matmul.sm_100.* softmax.sm_100.* layer_norm.sm_90.* layer_norm.sm_100.* scan_and_sort.sm_80.*
scan_and_sort.sm_100.* attention.sm_100.* matmul_by_descriptors.sm_80.* matmul_fp8.sm_100.*
attention.*.newest.* layer_norm.*.newest.* matmul.*.newest.* matmul_fp8.*.newest.* scan_and_sort.*.newest.*
*.sm_80.newest.*
""".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN", help="names of pieces; all")
    parser.add_argument("--all", action="store_true", help="also what is not committed")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(HERE / "sources", WORK)
    sys.path.insert(0, str(WORK))
    with contextlib.chdir(WORK):
        for compiler in (nvcc, nvrtc, cupy, numba, llvm, triton):
            try:
                made = list(compiler())
            except ImportError as error:
                print(f"{compiler.__name__}: left out, {error}")
                continue
            for name, text in made:
                on_demand = any(fnmatch(name, pattern) for pattern in ON_DEMAND)
                if any(fnmatch(name, pattern) for pattern in options.patterns) and (options.all or not on_demand):
                    target = HERE / ("more" if on_demand else "ptx") / f"{name}.ptx"
                    target.parent.mkdir(exist_ok=True)
                    target.write_text(without_own_paths(text()))
                    print(f"{target.relative_to(HERE)}: {target.stat().st_size} bytes", flush=True)
    return 0


def without_own_paths(text: str) -> str:
    """The text without trailing zeros, and `.file` without the folder of Python's packages."""
    return re.sub(r'(\.file\s+\d+ ")[^"]*/site-packages/', r"\1", text.rstrip("\0"))


def nvcc() -> Iterator[Piece]:
    if shutil.which("nvcc") is None:
        raise ImportError("there is no nvcc on the PATH")
    for source, variants in NVCC.items():
        for variant in variants.split():
            arch, *options = variant.split("-")
            flags = [f"-arch={arch}", *(OPTIONS[option] for option in options)]
            yield f"{source}.{variant}.nvcc", partial(compile_file, f"{source}.cu", *flags)


def compile_file(source: str, *flags: str) -> str:
    """The PTX that nvcc makes of a file in the current folder."""
    command = ["nvcc", "-ptx", "-std=c++17", "-w", *flags, "-o", "out.ptx", source]
    subprocess.run(command, check=True)
    return Path("out.ptx").read_text()


def nvrtc() -> Iterator[Piece]:
    importlib.import_module("cuda.bindings.nvrtc")
    for name, kernel in importlib.import_module("nvrtc_kernels").KERNELS.items():
        yield f"{name}.nvrtc", partial(compile_text, *kernel)


def cupy() -> Iterator[Piece]:
    """NVRTC with the headers and options of CuPy, which itself asks the GPU for its architecture."""
    import cupy as api

    headers = Path(api.__file__).parent / "_core" / "include"
    folders = [headers, *(headers / "cupy" / "_cccl").iterdir()]
    common = ["-arch=compute_90", "--device-as-default-execution-space", "-std=c++17", *(f"-I{f}" for f in folders)]
    for name, (source, options, instances) in importlib.import_module("cupy_kernels").KERNELS.items():
        yield f"{name}.cupy", partial(compile_text, source, (*common, *options), instances)


def compile_text(source: str, options: Sequence[str], instances: Sequence[str]) -> str:
    """The PTX that NVRTC makes; `instances` name templates to instantiate."""
    from cuda.bindings import nvrtc as api

    def checked(result: Any) -> Any:
        error, *values = result
        if error != api.nvrtcResult.NVRTC_SUCCESS:
            log = bytes(api.nvrtcGetProgramLogSize(program)[1])
            api.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{error.name}: {log.decode()}")
        return values[0] if values else None

    program = api.nvrtcCreateProgram(source.encode(), b"source.cu", 0, [], [])[1]
    for instance in instances:
        checked(api.nvrtcAddNameExpression(program, instance.encode()))
    checked(api.nvrtcCompileProgram(program, len(options), [option.encode() for option in options]))
    text = bytes(checked(api.nvrtcGetPTXSize(program)))
    checked(api.nvrtcGetPTX(program, text))
    return text.decode()


def numba() -> Iterator[Piece]:
    from numba import cuda

    gpu = SimpleNamespace(compute_capability=(8, 0))  # for device functions, which ask the GPU

    def compile_function(function: Any, signature: Any, options: dict[str, Any]) -> str:
        with patch("numba.cuda.dispatcher.get_current_device", lambda: gpu):
            return str(cuda.compile_ptx(function, signature, cc=gpu.compute_capability, **options)[0])

    for name, kernel in importlib.import_module("numba_kernels").KERNELS.items():
        yield f"{name}.numba", partial(compile_function, *kernel)


def llvm() -> Iterator[Piece]:
    import llvmlite.binding

    llvmlite.binding.initialize_all_targets()
    llvmlite.binding.initialize_all_asmprinters()

    def compile_text(assembly: str, processor: str, features: str) -> str:
        target = llvmlite.binding.Target.from_triple("nvptx64-nvidia-cuda")
        machine = target.create_target_machine(cpu=processor, features=features, opt=3)
        return str(machine.emit_assembly(llvmlite.binding.parse_assembly(assembly)))

    for name, kernel in importlib.import_module("llvm_kernels").KERNELS.items():
        yield f"{name}.llvm", partial(compile_text, *kernel)


def triton() -> Iterator[Piece]:
    os.environ["TRITON_CACHE_DIR"] = str(WORK / "cache")
    import triton as api
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    def compile_function(
        function: Any, types: dict[str, str], constants: dict[str, Any], options: dict[str, Any], arch: int
    ) -> str:
        signature = {n: types.get(n, "constexpr") for n in function.arg_names}
        aligned = {(function.arg_names.index(n),): [["tt.divisibility", 16]] for n in types}
        source = ASTSource(function, signature, constants, aligned)
        done = api.compile(source, GPUTarget("cuda", arch, 32), options)
        return str(done.asm["ptx"])

    for name, (function, types, constants, options) in importlib.import_module("triton_kernels").KERNELS.items():
        for arch in (80, 90, 100):
            if arch > 80 or "fp8" not in name:  # fp8 begins with sm_89
                # Left alone, Triton takes a version of PTX that ptxas 13.0 does not know.
                for words, version in (("", {"ptx_version": 87}), (".newest", {})):
                    made = partial(compile_function, function, types, constants, {**version, **options}, arch)
                    yield f"{name}.sm_{arch}{words}.triton", made


if __name__ == "__main__":
    sys.exit(main())
