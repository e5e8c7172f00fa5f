#!/usr/bin/env python3
"""Compile every kernel of this folder, or of others, to PTX: NAME.cu -> NAME.sm_80.ptx and NAME.sm_90.ptx beside it.

With --check nothing is written: the exit status is 1 if a committed file is missing or differs from a fresh build.
The comment lines at the head of a file (compiler build and date) are not compared. Needs nvcc on the PATH.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ARCHITECTURES = ("sm_80", "sm_90")
FLAGS = ("-ptx", "-O3", "--std=c++17")


def compile_to_ptx(source: Path, architecture: str, nvcc: str) -> str:
    """Return the PTX text of one source; no path of this machine is in it."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "kernel.ptx"
        command = [nvcc, *FLAGS, f"-arch={architecture}", "-o", str(output), source.name]
        subprocess.run(command, cwd=source.parent, check=True)
        text = output.read_text()
    header, body = split_header(text)
    machine_paths = (scratch, str(source.parent))
    return "".join(line for line in header if not any(path in line for path in machine_paths)) + body


def split_header(text: str) -> tuple[list[str], str]:
    """Split PTX into its leading comment and blank lines and the rest."""
    lines = text.splitlines(keepends=True)
    length = 0
    while length < len(lines) and (not lines[length].strip() or lines[length].startswith("//")):
        length += 1
    return lines[:length], "".join(lines[length:])


def is_current(target: Path, fresh: str) -> bool:
    """Say whether the committed file equals the fresh text, headers apart."""
    return target.is_file() and split_header(target.read_text())[1] == split_header(fresh)[1]


def main() -> int:
    """Build or check all kernels; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--check", action="store_true", help="compare the committed PTX with a fresh build, write nothing"
    )
    parser.add_argument("--architectures", default=",".join(ARCHITECTURES), help="only these of %(default)s")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler to call (default: %(default)s)")
    parser.add_argument("folders", nargs="*", type=Path, default=[FOLDER], help="such as benchmarks/suite_b/kernels")
    arguments = parser.parse_args()
    check: bool = arguments.check
    nvcc: str = arguments.nvcc
    folders: list[Path] = arguments.folders
    architectures: list[str] = arguments.architectures.split(",")

    stale = 0
    for source in (s.resolve() for folder in folders for s in sorted(folder.glob("*.cu"))):
        for architecture in architectures:
            target = source.with_suffix(f".{architecture}.ptx")
            try:
                fresh = compile_to_ptx(source, architecture, nvcc)
            except FileNotFoundError:
                print(f"build.py: {nvcc} not found", file=sys.stderr)
                return 2
            except subprocess.CalledProcessError:
                print(f"build.py: {nvcc} failed on {source.name} for {architecture}", file=sys.stderr)
                return 2
            if not check:
                target.write_text(fresh)
                print(f"wrote {target.name}")
            elif is_current(target, fresh):
                print(f"equal {target.name}")
            else:
                print(f"DIFFERS {target.name}" if target.is_file() else f"MISSING {target.name}")
                stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
