"""Suite A on the emulator: woven pairs equal their separate kernels, and errors of the paper's merge are caught."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import pytest
from published import published

import goptx
from goptx.errors import ConvergenceWarning, EmulationFault
from goptx.launch.sample_data import Sample, sample
from goptx.launch.specification import Launch, read_specification

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
NAMES = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")


@cache
def launch_of(name: str) -> Launch:
    return read_specification(KERNELS / f"{name}.toml")[0].small()


def data(name: str) -> list[Sample]:
    return [sample(argument) for argument in launch_of(name).arguments]


@cache
def alone(name: str) -> tuple[bytes, ...]:
    """The contents of a kernel's arrays after a separate run."""
    launch, arguments = launch_of(name), data(name)
    before = contents(arguments)
    goptx.emulate(launch.file, launch.grid, launch.block, arguments, entry=launch.entry, shared=launch.shared)
    assert contents(arguments) != before
    return contents(arguments)


def contents(arguments: list[Sample]) -> tuple[bytes, ...]:
    return tuple(argument.tobytes() for argument in arguments)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(NAMES, repeat=2)))
def test_woven_kernels_do_the_same_as_separate_ones(first: str, second: str) -> None:
    """At 4 CTAs of 256 threads, in strict mode, bit for bit; no races, whatever the pace of the warps."""
    assert launch_of(first).grid == launch_of(second).grid == (4,)
    woven = goptx.weave(launch_of(first).file, launch_of(second).file)
    for seed in (0, 1):
        both = [data(first), data(second)]
        result = goptx.emulate(woven, 4, 256, both, races=True, seed=seed)
        assert [contents(arguments) for arguments in both] == [alone(first), alone(second)]
        assert set(result.kernels) == {"A", "B"}


@pytest.mark.parametrize(("first", "second"), [("lud", "micnd"), ("micnd", "sort")])
def test_the_papers_merge_is_caught(first: str, second: str) -> None:
    """Pairs that hang on an H200, by how blocks are sliced: MICND diverges within warps, and its partner's aligned
    barrier has copies, which lanes of one warp reach separately."""
    woven = published(launch_of(first).file, launch_of(second).file)
    with pytest.raises(EmulationFault) as caught:
        goptx.emulate(woven, 4, 256, [data(first), data(second)])
    fault = caught.value
    assert fault.kind == "convergence"
    assert fault.instruction == "bar.sync 0;"
    assert fault.kernel == ("A" if first == "lud" else "B")
    lanes = {thread % 32 for thread in fault.threads}
    assert len({thread // 32 for thread in fault.threads}) == 1
    assert 0 < len(lanes) < 32
    text = str(fault)
    assert text.startswith(f"{woven.name}.ptx:{fault.line} (kernel {fault.kernel}, ")
    assert text.count("`bar.sync 0;`") >= 2  # here, and where the other lanes are
    assert f"lanes {sorted(lanes)[0]}" in text


@pytest.mark.parametrize("pair", [("gelu", "gelu"), ("lud", "lud"), ("sort", "wmma"), ("micnd", "stms")])
def test_the_papers_merge_is_right_where_nothing_splits_a_barrier(pair: tuple[str, str]) -> None:
    both = [data(name) for name in pair]
    goptx.emulate(published(launch_of(pair[0]).file, launch_of(pair[1]).file), 4, 256, both)
    assert [contents(arguments) for arguments in both] == [alone(name) for name in pair]


@pytest.mark.parametrize("names", [("gelu", "stms", "micnd"), ("lud", "lud", "lud"), ("sort", "wmma", "sort")])
def test_the_papers_merge_of_three_is_right_where_nothing_splits_a_barrier(names: tuple[str, ...]) -> None:
    given = [data(name) for name in names]
    goptx.emulate(published(*(launch_of(name).file for name in names)), 4, 256, given)
    assert [contents(arguments) for arguments in given] == [alone(name) for name in names]


@pytest.mark.parametrize("names", [("gelu", "lud", "micnd"), ("micnd", "gelu", "sort")])
def test_the_papers_merge_of_three_is_caught(names: tuple[str, ...]) -> None:
    woven = published(*(launch_of(name).file for name in names))
    with pytest.raises(EmulationFault, match=r"bar\.sync") as caught:
        goptx.emulate(woven, 4, 256, [data(name) for name in names])
    assert caught.value.kind == "convergence"
    assert names["ABC".index(caught.value.kernel)] in ("lud", "sort")


def test_check_finds_errors_of_the_papers_merge() -> None:
    """Without a GPU, by the launch specifications beside the kernels."""
    with pytest.warns(ConvergenceWarning):
        found = goptx.check(launch_of("lud").file, launch_of("micnd").file, merge="paper")
    assert not found
    with pytest.warns(ConvergenceWarning):
        assert goptx.check(launch_of("gelu").file, launch_of("lud").file, merge="paper")
