#!/usr/bin/env python3
"""Compile the kernels of kernels.py to PTX with Triton, without a GPU: NAME.sm_90a.ptx.

    ./make.py [--check] [NAME ...]

With --check nothing is written: the exit status is 1 if a committed file differs. Needs Triton. Beside each file it
prints what a launch needs to know: the threads, the bytes of dynamic shared memory, and those of scratch memory.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # lines name the folder of the sources
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
from kernels import KERNELS, Compiled
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent
TARGET = GPUTarget("cuda", 90, 32)
VERSION = 86  # of PTX: that of CUDA 12.7, which newer assemblers take, too


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed PTX, write nothing")
    parser.add_argument("names", nargs="*", help="only these kernels")
    options = parser.parse_args()
    stale = 0
    for name, compiled in KERNELS.items():
        if options.names and name not in options.names:
            continue
        text, facts = made(compiled)
        path = FOLDER / f"{name}.sm_90a.ptx"
        if not options.check:
            path.write_text(text)
        equal = path.is_file() and path.read_text() == text
        stale += not equal
        print(f"{path.name}: {facts}{'' if equal else ', DIFFERS'}")
    return 1 if stale else 0


def made(compiled: Compiled) -> tuple[str, str]:
    """The PTX, and the facts of a launch."""
    names = [name for name in compiled.kernel.arg_names if name not in compiled.constants]
    types = compiled.types.split()
    signature = {name: one.split(":")[0] for name, one in zip(names, types, strict=True)}
    signature |= dict.fromkeys(compiled.constants, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(types) if one[0] == "*" or ":16" in one}
    source = ASTSource(compiled.kernel, signature, constexprs=dict(compiled.constants), attrs=aligned)
    settings = {"num_warps": compiled.warps, "num_stages": compiled.stages, "ptx_version": VERSION}
    found = triton.compile(source, target=TARGET, options=settings)
    about = found.metadata
    text = found.asm["ptx"]
    head = f"// Triton {triton.__version__}, num_warps={about.num_warps}, num_stages={about.num_stages}\n"
    facts = f"{32 * about.num_warps} threads, {about.shared} bytes shared"
    for kind in ("global_scratch_size", "profile_scratch_size"):
        facts += f", {kind} {getattr(about, kind, 0)}"
    return head + re.sub(r"\s+\n", "\n", text).lstrip(), facts


if __name__ == "__main__":
    sys.exit(main())
