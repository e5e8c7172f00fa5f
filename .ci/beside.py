#!/usr/bin/env python3
"""Installs goptx[gpu] beside Triton and the CUDA libraries that torch pins, and fails if that replaces any of them.

.ci/beside.py [PACKAGE...]    beside these packages, such as torch (large); by default Triton and the libraries
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OTHERS = ("triton", "nvidia-nvjitlink>=13,<14", "nvidia-cuda-nvrtc>=13,<14", "nvidia-cuda-runtime>=13,<14")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="goptx-beside-") as name:
        venv.create(name, with_pip=True)
        pip = [str(Path(name) / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", *(sys.argv[1:] or OTHERS)], check=True)
        before = installed(pip)
        subprocess.run([*pip, "install", "-q", f"{ROOT}[gpu]"], check=True)
        after = installed(pip)
        replaced = {package: (was, after.get(package)) for package, was in before.items() if after.get(package) != was}
        for package, (was, now) in replaced.items():
            print(f"FAILED {package} {was} became {now}")
        broken = subprocess.run([*pip, "check"], capture_output=True, text=True, check=False)
        print(broken.stdout, end="")
        print(f"{len(before)} packages before, {len(after) - len(before)} more after, {len(replaced)} replaced")
    return 1 if replaced or broken.returncode else 0


def installed(pip: list[str]) -> dict[str, str]:
    """The version of each package."""
    listed = subprocess.run([*pip, "list", "--format=json"], capture_output=True, text=True, check=True).stdout
    return {package["name"]: package["version"] for package in json.loads(listed)}


if __name__ == "__main__":
    sys.exit(main())
