"""Machine code is cached by PTX, entry, architecture, cap, contraction, and the assembler's name and version."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel

import goptx
from goptx.cache import keys, store
from goptx.device import assemble as module
from goptx.device.assemble import Assembly, RegisterCapWarning, assemble, assemble_all, find_ptxas
from goptx.device.assemblers import find_assemblers
from goptx.errors import AssemblyError, InputError

pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc")

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD, WMMA = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "lud", "wmma"))
ONE = kernel("ret;")
TWO = ONE + ".visible .entry other()\n{\nret;\n}\n"


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that ptxas was run."""
    runs: list[int] = []
    real = module._run_ptxas

    def run(*args: Any) -> Any:
        runs.append(1)
        return real(*args)

    monkeypatch.setattr(module, "_run_ptxas", run)
    return runs


@pytest.mark.parametrize("forgotten", [False, True], ids=["memory", "disk"])
def test_machine_code_is_cached(forgotten: bool, assembled: list[int]) -> None:
    first = assemble(ONE, entry="k")
    if forgotten:
        store.MEMORY.clear()
    second = assemble(ONE, entry="k")
    assert len(assembled) == 1
    assert first == second and isinstance(second.warnings, tuple) and second.cubin.startswith(b"\x7fELF")


def test_each_part_of_the_key_counts(assembled: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_them() -> list[Assembly]:
        return [
            assemble(TWO, entry="k"),
            assemble(TWO + "\n", entry="k"),
            assemble(TWO, entry="k", arch="sm_90"),
            assemble(TWO, entry="k", fmad=False),
            *assemble_all(TWO, entries=["k", "other"], max_registers=40, capped=lambda: TWO),
            *assemble_all(TWO, entries=["k", "other"], max_registers=41, capped=lambda: TWO),
            assemble_all(TWO, entries=["k"], capped=lambda: TWO)[0],
        ]

    first = all_of_them()
    assert len(assembled) == 6
    assert all_of_them() == first and len(assembled) == 6
    assemble(TWO, entry="k", arch="sm_80", assembler="ptxas")  # what is taken anyway
    assemble(TWO, entry="other", max_registers=40)  # which is only compared
    assert len(assembled) == 6
    monkeypatch.setattr(find_assemblers, "ptxas_version", lambda path: "99.0")
    assert assemble(TWO, entry="k").assembler == "ptxas 99.0" and len(assembled) == 7
    monkeypatch.setattr(keys, "code", lambda: "changed")
    assemble(TWO, entry="k")
    assert len(assembled) == 8


def test_woven_kernels(assembled: list[int]) -> None:
    first = goptx.weave(HARRIS, WMMA)
    made = first.cubin(), first.cubin(64), first.resources(64, block=256), first.cubin(fmad=False)
    assert len(assembled) == 3
    second = goptx.weave(HARRIS, WMMA)
    assert (second.cubin(), second.cubin(64), second.resources(64, block=256), second.cubin(fmad=False)) == made
    assert len(assembled) == 3


def test_the_cap_is_in_the_assembled_text() -> None:
    woven = goptx.weave(HARRIS, WMMA)
    assert woven.resources(28).registers == 28 < woven.resources().registers


def test_an_exceeded_cap_is_warned_of_again(assembled: list[int]) -> None:
    for _ in range(2):
        with pytest.warns(RegisterCapWarning, match="has 24 registers although the cap is 16"):
            goptx.weave(HARRIS, LUD).cubin(16)
    assert len(assembled) == 1


def test_failures_are_not_cached(assembled: list[int], folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(AssemblyError, match="refuses the PTX"):
            assemble(ONE.replace("ret;", "return;"), entry="k")
    assert len(assembled) == 2 and not folder.exists()
    for _ in range(2):
        with pytest.raises(InputError, match="no entry `missing`"):
            assemble(ONE, entry="missing")


@pytest.mark.parametrize("content", [b"", b"\n", b"{\n\x7fELF", b'""\n', b"\xff\n\x7fELF", b'"log"\nELF'])
def test_invalid_contents_are_made_anew(content: bytes, folder: Path, assembled: list[int]) -> None:
    first = assemble(ONE, entry="k")
    (file,) = folder.iterdir()
    store.MEMORY.clear()
    store.disk().keep(file.name, content)  # type: ignore[union-attr]
    assert assemble(ONE, entry="k").cubin == first.cubin and len(assembled) == 2
    store.MEMORY.clear()
    assert assemble(ONE, entry="k").cubin == first.cubin and len(assembled) == 2


@pytest.mark.slow
def test_a_process_finds_what_another_assembled(folder: Path) -> None:
    woven = goptx.weave(HARRIS, WMMA)
    cubin = woven.cubin()
    program = """
import json, sys
from pathlib import Path
import goptx
from goptx.device import assemble

assemble._run_ptxas = None
print(json.dumps(goptx.weave(*map(Path, sys.argv[1:])).cubin().hex()))
"""
    command = [sys.executable, "-c", program, str(HARRIS), str(WMMA)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert bytes.fromhex(json.loads(done.stdout)) == cubin


def test_switched_off_all_is_assembled_anew(monkeypatch: pytest.MonkeyPatch, assembled: list[int]) -> None:
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "0")
    assert assemble(ONE, entry="k").cubin == assemble(ONE, entry="k").cubin and len(assembled) == 2
