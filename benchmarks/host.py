"""What a benchmark ran on, for its record: processor, programs and commit."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent


def processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return found[1].strip() if found else platform.machine()


def commit() -> str:
    """ "unknown" outside of a checkout."""
    describe = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty"]
    return subprocess.run(describe, capture_output=True, text=True).stdout.strip() or "unknown"


def environment(ptxas: str) -> dict[str, str]:
    """Processor, Python, ptxas and commit."""
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "processor": processor(),
        "python": platform.python_version(),
        "ptxas": (re.findall(r"V[\d.]+", version) or ["unknown"])[-1],
        "commit": commit(),
    }
