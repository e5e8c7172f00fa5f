"""Every form of every instruction: the table of docs/emulator.md is what the code says, what it calls emulated runs,
and what it does not says so by its name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from emulator.emulated_forms import DOCUMENT, document, is_emulated, since_9_1
from isa.coverage import sections
from isa.forms import Form, entry, first_line, forms, module
from isa.test_isa import release

import goptx
from goptx import EmulationFault
from goptx.emulator.instructions.lanewise import Array

WITHOUT_FORMS = re.compile(r"9\.7\.(10\.[12]|10\.28\.5\.2|12\.1|14\.[12])")  # about modifiers, modes, scopes and guards
NOT_RUN = ("trap", "setmaxnreg", "mbarrier.inval")  # which end the kernel, or are for one thread or some launches
INITIALISE = "mbarrier.init.shared.b64 [bar], 1000"


def arguments() -> list[Array]:
    return [np.zeros(4096, np.uint64), np.zeros(64, np.uint8)]


def runnable(form: Form) -> list[str]:
    """The instructions, with a new mbarrier object for each that operates on one, and both halves of a barrier."""
    before, after = [], []
    if "[bar]" in form.operands or form.pattern.startswith(("mbarrier.", "cp.async.mbarrier")):
        before = [INITIALISE]
    if form.pattern.startswith("barrier.cluster.wait"):
        before = ["barrier.cluster.arrive"]
    if form.pattern.startswith("barrier.cluster.arrive"):
        after = ["barrier.cluster.wait"]
    return [line for instruction in form.instructions() for line in (*before, instruction, *after)]


@pytest.mark.slow
def test_the_table_is_what_the_code_says() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run tests/emulator/emulated_forms.py"


def test_every_section_with_instructions_has_forms() -> None:
    have = {form.section for form in forms()}
    due = [s.number for s in sections() if s.number.startswith("9.7.") and not WITHOUT_FORMS.fullmatch(s.number)]
    assert [number for number in due if number not in have | since_9_1()] == []
    assert have <= {s.number for s in sections()}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", range(1, 22))
def test_what_is_emulated_runs(chapter: int) -> None:
    """All forms of a line one after the other, in two warps whose registers mostly have no values."""
    own = [f for f in forms() if f.section.startswith(f"9.7.{chapter}.") and is_emulated(f)]
    for form in own:
        if not form.pattern.startswith(NOT_RUN):
            text = module(runnable(form), form.architecture)
            try:
                goptx.emulate(text, 1, 64, arguments(), strict=False)
            except EmulationFault as fault:
                raise AssertionError(f"{form.pattern}: {fault}") from None
    assert own or chapter in (6, 11, 12, 13, 17, 18, 19)


@pytest.mark.slow
def test_what_is_not_emulated_says_so_by_its_name() -> None:
    lost = [form for form in forms() if not is_emulated(form)]
    assert len(lost) > 20
    for form in lost:
        instruction = form.instructions()[0]
        with pytest.raises(EmulationFault) as caught:
            goptx.emulate(module([instruction], form.architecture), 1, 64, arguments(), strict=False)
        assert caught.value.kind == "unsupported", form.pattern
        assert instruction.split()[0] in str(caught.value), form.pattern
        assert f":{first_line(form.architecture)}" in str(caught.value), form.pattern


@pytest.mark.slow
def test_ptxas_takes_every_form(tmp_path: Path) -> None:
    if release() != "13.0":
        pytest.skip("needs ptxas 13.0")
    by_architecture: dict[str, list[Form]] = {}
    for form in forms():
        by_architecture.setdefault(form.architecture, []).append(form)
    for architecture, own in by_architecture.items():
        lines = [instruction for form in own for instruction in form.instructions()]
        text = module(lines[:200], architecture)
        text += "".join(entry(lines[i : i + 200], f"k{i}") for i in range(200, len(lines), 200))
        (tmp_path / "forms.ptx").write_text(text)
        command = ["ptxas", f"-arch=sm_{architecture}", "-O0", "forms.ptx", "-o", "forms.cubin"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200)
        assert done.returncode == 0, done.stderr[:2000]
