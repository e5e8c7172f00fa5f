"""Remakes constructs.sm_80.ptx with nvcc."""

import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> None:
    target = FOLDER / "constructs.sm_80.ptx"
    source = FOLDER / "constructs.cu"
    subprocess.run(["nvcc", "-ptx", "-arch=sm_80", "-O3", "--std=c++17", "-o", target, source], check=True)
    target.write_text(re.sub(r"\A(//.*\n)*", "", target.read_text()))


if __name__ == "__main__":
    main()
