"""Suite A in its natural shape: each kernel computes bit for bit what it computes in the paper's shape, with wide
accesses to memory, and is woven with the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_a import FOLDER as PAPER  # noqa: E402
from suite_a import KERNELS, launches_of  # noqa: E402
from suite_a import NATURAL as NATURAL_SHAPE  # noqa: E402
from suite_a.candidates import made  # noqa: E402
from suite_a.schemes import Subject, Task, workload  # noqa: E402

NATURAL = ROOT / "benchmarks" / "suite_a" / "natural"
WIDE = ("gelu", "harris", "micnd", "sort", "stms")
ARCHITECTURES = ("sm_80", "sm_90")
COUNTS = {"n4": "n", "n8": "n2"}  # what four of are counted, by the kernel's name for it and the paper's shape's


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("grid", [4, 1])
@pytest.mark.parametrize("name", WIDE)
def test_computes_what_the_papers_shape_does(name: str, grid: int, arch: str) -> None:
    """With four times the CTAs, four of which have one's bucket offsets. One CTA takes several turns of a loop, or does
    a part of the work."""
    launch = read_specification(NATURAL / f"{name}.toml")[0].small()
    names = [a.name for a in launch.arguments]
    natural: list[Any] = [sample(a) for a in launch.arguments]
    paper = [papers(a.name, sample(a)) for a in launch.arguments]
    goptx.emulate(NATURAL / f"{name}.{arch}.ptx", grid, 256, natural, races=True)
    goptx.emulate(PAPER / f"{name}.{arch}.ptx", 4 * grid, 256, paper, races=True)
    written = [i for i, a in enumerate(launch.arguments) if a.role != "in" and a.is_array]
    assert written
    for i in written:
        before: Any = sample(launch.arguments[i])
        assert natural[i].tobytes() == paper[i].tobytes() != before.tobytes(), names[i]
        if grid == 4 and launch.arguments[i].role == "out":
            assert not np.array_equal(natural[i][-4:], before[-4:]), "not all is written"


def papers(name: str, value: Any) -> Any:
    """An argument of a natural kernel as the kernel in the paper's shape takes it."""
    if name in COUNTS:
        return type(value)(4 * value)
    return np.repeat(value.reshape(-1, 256), 4, axis=0).ravel() if name == "offsets" else value


@pytest.mark.parametrize("name", KERNELS)
def test_does_the_work_of_the_papers_shape(name: str) -> None:
    """On the same data."""
    (natural,), (paper,) = (read_specification(folder / f"{name}.toml") for folder in (NATURAL, PAPER))
    grid = {"lud": 1048576, "wmma": 8192}.get(name, 1048576 // 4)
    assert natural.grid == (grid,) and natural.file.is_file() and natural.small().grid == (4,)
    assert (natural.entry, natural.block, natural.shared) == (paper.entry, paper.block, paper.shared)
    expected = {a.name: a for a in paper.arguments}
    for own in natural.arguments:
        other = expected[COUNTS.get(own.name, own.name)]
        scale = 4 if own.name in (*COUNTS, "offsets") else 1
        value = None if own.value is None else own.value * scale
        assert replace(own, name=other.name, value=value, length=own.length * scale) == other
    assert len(expected) == len(natural.arguments)
    entry = next(e for e in goptx.read(natural.file).entries if e.name == natural.entry)
    assert len(entry.parameters) == len(expected)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", WIDE)
def test_elements_are_loaded_and_stored_four_at_a_time(name: str, arch: str) -> None:
    """All but the bucket offsets, of which a thread has one."""
    accesses = re.findall(r"(?:ld|st)\.global\S*", (NATURAL / f"{name}.{arch}.ptx").read_text())
    expected = {"gelu": 2, "harris": 4, "micnd": 1, "sort": 3, "stms": 4}[name]
    assert sum(".v4" in access for access in accesses) == expected
    assert len(accesses) == expected + (name == "sort")


# woven --------------------------------------------------------------------------------------------------


PAIRS = [*((name, name) for name in WIDE), ("gelu", "sort"), ("micnd", "harris"), ("wmma", "stms"), ("sort", "lud")]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_woven(pair: tuple[str, str], assembles: Callable[[goptx.Woven], None]) -> None:
    launches = launches_of("+".join(pair), NATURAL_SHAPE)
    files = [one.file for one in launches]
    check = goptx.check(*files, races=True)
    assert check, check
    assembles(goptx.weave(*files, shapes=[goptx.Shape(one.grid, one.block, one.shared) for one in launches]))


def test_the_suite_takes_natural_kernels() -> None:
    subject = Subject("micnd+wmma", NATURAL_SHAPE)
    assert [shape.grid[0] for shape in workload(subject).separate.plan.shapes] == [262144, 8192]  # type: ignore[union-attr]
    done = made(Task(subject, "interleave"))
    assert done.refused == "" and list(done.forms) == ["interleave"]
