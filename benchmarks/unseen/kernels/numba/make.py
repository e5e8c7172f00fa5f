#!/usr/bin/env python3
"""Compile the kernels of kernels.py to PTX with Numba, without a GPU: NAME.sm_90.ptx.

    ./make.py [--check]

With --check nothing is written: the exit status is 1 if a committed file differs. Needs numba-cuda and NVVM.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numba_cuda
from kernels import KERNELS
from numba import cuda

FOLDER = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed PTX, write nothing")
    options = parser.parse_args()
    stale = 0
    for name, (function, signature) in KERNELS.items():
        text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(9, 0), output="ptx")
        text = named(text, name)
        path = FOLDER / f"{name}.sm_90.ptx"
        if not options.check:
            path.write_text(text)
        equal = path.is_file() and path.read_text() == text
        stale += not equal
        print(f"{path.name}{'' if equal else ' DIFFERS'}")
    return 1 if stale else 0


def named(text: str, name: str) -> str:
    """With the entry called as the function; Numba's name of it has the number of the process's compilations."""
    found = re.search(r"\.entry (\w+)\(", text)
    assert found
    body = text.replace(found[1], name)
    kept = [line for line in body.splitlines() if not line.startswith("//")]
    return f"// numba-cuda {numba_cuda.__version__}\n" + "\n".join(kept).strip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
