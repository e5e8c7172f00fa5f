"""Remakes the PTX files of this folder with nvcc."""

import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent
TARGETS = {"constructs": "sm_80", "dead_warps": "sm_90"}


def main() -> None:
    for name, arch in TARGETS.items():
        target = FOLDER / f"{name}.{arch}.ptx"
        source = FOLDER / f"{name}.cu"
        subprocess.run(["nvcc", "-ptx", f"-arch={arch}", "-O3", "--std=c++17", "-o", target, source], check=True)
        target.write_text(re.sub(r"\A(//.*\n)*", "", target.read_text()))


if __name__ == "__main__":
    main()
