"""Each kernel to judge by gives, alone on the emulator, what a few lines of numpy give; the pairs are those that were
drawn."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from unseen_kernels.comparing import compare, launch_of
from unseen_kernels.references import SECOND, UNSEEN, Reference

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from unseen import (  # noqa: E402
    FITTED,
    GROUPS,
    HELD_OUT,
    LATER,
    NEWEST,
    PAIRS,
    SECOND_SPECIFICATIONS,
    SPECIFICATIONS,
    launches_of,
)
from unseen import SECOND as SECOND_WRITING  # noqa: E402
from unseen.draw import LATER_NAMES, NAMES, NEWEST_NAMES, TENSOR_CORES, drawn, main  # noqa: E402

ON_HOPPER_ONLY = ("matmul", "flash_attention")  # wgmma, which the emulator lacks


@pytest.mark.slow
@pytest.mark.parametrize("reference", [r for r in (*SECOND, *UNSEEN) if r.__name__ not in ON_HOPPER_ONLY],
                         ids=lambda r: r.__name__)  # fmt: skip
def test_kernel_gives_what_its_reference_gives(reference: Reference) -> None:
    launch = launch_of(reference)
    for seed in (0, 1):
        values = [sample(a) for a in launch.arguments]
        goptx.emulate(
            launch.file, launch.grid, launch.block, values, entry=launch.entry, shared=launch.shared, seed=seed
        )
        compare(launch, values, reference)


def test_every_kernel_has_a_reference() -> None:
    assert {r.__name__ for r in SECOND} == {*SECOND_SPECIFICATIONS}
    assert {r.__name__ for r in UNSEEN} == {*SPECIFICATIONS} == {*NAMES}


def test_the_pairs_are_those_that_were_drawn() -> None:
    assert {group: [*PAIRS[group]] for group in GROUPS if group != SECOND_WRITING} == drawn(NAMES)
    assert len({*PAIRS[FITTED], *PAIRS[HELD_OUT]}) == 60 and len(PAIRS[SECOND_WRITING]) == 28


@pytest.mark.parametrize(("group", "added"), [(LATER, LATER_NAMES), (NEWEST, NEWEST_NAMES)])
def test_pairs_of_added_kernels_are_of_these_and_of_earlier_ones(group: str, added: tuple[str, ...]) -> None:
    pairs = [{*pair.split("+")} for pair in PAIRS[group]]
    mixed = [pair for pair in pairs if not pair <= {*added}]
    assert (len({*PAIRS[group]}), len(mixed), len({*added})) == (60, 15, 16)
    assert all(len(pair) == 2 and pair & {*added} and not pair & {*TENSOR_CORES} for pair in pairs)
    assert group == NEWEST or not any(pair & {*NEWEST_NAMES} for pair in pairs)


def test_the_text_of_the_pairs_is_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert capsys.readouterr().out == (ROOT / "benchmarks" / "unseen" / "pairs.toml").read_text()


@pytest.mark.parametrize("path", [*SECOND_SPECIFICATIONS.values(), *SPECIFICATIONS.values()], ids=lambda p: p.stem)
def test_specification_fits_the_kernel(path: Path) -> None:
    """As many arguments as parameters, of their sizes; sizes for checks are of arguments that there are."""
    (launch,) = read_specification(path)
    entry = next(e for e in goptx.read(launch.file).entries if e.name == launch.entry)
    sizes = [8 if a.is_array else np.dtype(a.dtype).itemsize for a in launch.arguments]
    assert sizes == [p.size for p in entry.parameters]
    names = {a.name: a.is_array for a in launch.arguments}
    check = tomllib.loads(path.read_text())["check"]
    assert all(names[name] for name in check.get("lengths", {}))
    assert not any(names[name] for name in check.get("values", {}))


def test_no_kernel_names_a_folder_of_where_it_was_made() -> None:
    for path in [*SECOND_SPECIFICATIONS.values(), *SPECIFICATIONS.values()]:
        text = read_specification(path)[0].file.read_text()
        assert ".file" not in text and "/home" not in text and "/tmp" not in text


def test_pairs_of_either_group_are_found() -> None:
    assert [launch.entry for launch in launches_of(SECOND_WRITING, "gelu+wmma")] == ["gelu", "wmma_gemm"]
    assert [launch.entry for launch in launches_of(HELD_OUT, "matmul+matmul")] == ["matmul", "matmul"]
    assert [launch.entry for launch in launches_of(LATER, "fft1024+softmax")] == ["fft1024", "softmax"]
    assert [launch.entry for launch in launches_of(NEWEST, "gemm_s8+modexp256")] == ["gemm_s8", "modexp256"]
