"""docs/pairs.md says which kernels of examples/ are woven with which: cells of each kind, made anew.

All of them: `examples/kernels/table.py --check`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import goptx
from goptx.device.assemble import assemble, find_ptxas

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
WOVEN = (
    "reduce+reduce", "harris+reduce", "reduce+scan", "scan+lud", "histogram+reduce", "histogram+gelu",
    "stencil+transpose", "transpose+transpose", "gemm+wmma", "scan+gemm", "layernorm+layernorm", "softmax+sort",
    "sha256+harris",
)  # fmt: skip
WAITING_OR_SHAPED = (
    "histogram+histogram", "pipeline+reduce", "gelu+pipeline", "pipeline+pipeline", "reduce+stencil", "transpose+lud",
)  # fmt: skip


@pytest.mark.slow
def test_cells_say_what_happens() -> None:
    done = subprocess.run(
        [sys.executable, str(KERNELS / "table.py"), "--check", *WOVEN, *WAITING_OR_SHAPED],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    listed = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert all(listed[pair].startswith(("woven", "in turn")) for pair in (*WOVEN, *WAITING_OR_SHAPED))


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("pair", WOVEN)
def test_woven_pairs_assemble(pair: str) -> None:
    """For the architecture that is not in the table."""
    woven = goptx.weave(*(KERNELS / f"{name}.sm_80.ptx" for name in pair.split("+")))
    made = assemble(woven.ptx, entry=woven.name)
    assert made.arch == "sm_80"
    assert made.spill_store_bytes == made.spill_load_bytes == 0
