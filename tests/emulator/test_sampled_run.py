"""A few CTAs of a launch, run on data as a launch specification describes it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from bodies import kernel

from goptx.emulator.emulate import emulate
from goptx.emulator.sampled.described_memory import PAGE, elements
from goptx.emulator.sampled.sample_counts import LOADS, MOST_WORK, UPDATES, SampledRun
from goptx.emulator.sampled.sampled_run import GROUPS, _groups, sampled_run
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument
from goptx.memo import Same
from goptx.ptx.parse import parse

WARPS, CTAS = 4, 1000
LENGTH = WARPS * 32 * CTAS
INDEX = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1; mul.wide.u32 %rd3, %r3, 4;"
ARRAYS = "ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out];"
OWN = f"{INDEX} {ARRAYS} add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;"
SECTORS = WARPS * 32 * 4 / 32  # of the elements of a CTA


def array(name: str, **more: Any) -> Argument:
    return Argument(name, **{"dtype": "uint32", "length": LENGTH, "generator": "integers", "high": 100, **more})


def sampled(
    code: str, grid: int | Sequence[int] = CTAS, *, read: Argument | None = None, **more: Any
) -> SampledRun | None:
    arguments = read or array("in", seed=3), array("out", role="out"), Argument("n", "uint32", 7)
    module = parse(kernel(f"{code} ret;"), "k.ptx")
    return sampled_run(Same(module), "k", arguments, Shape(grid, 32 * WARPS, **more))


def certain(code: str, *args: Any, **more: Any) -> SampledRun:
    found = sampled(code, *args, **more)
    assert found is not None
    return found


def line(code: str, instruction: str) -> int:
    """The line of an instruction of a kernel, which stands there once."""
    (number,) = [n for n, text in enumerate(kernel(f"{code} ret;").splitlines(), 1) if instruction in text]
    return number


# Elements -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "uint32", "int32", "int64", "uint64", "float16", "float32", "float64"]
)
@pytest.mark.parametrize(
    ("generator", "low", "high"), [("integers", 3, 90), ("uniform", -2.0, 5.0), ("normal", 10.0, 2.0)]
)
def test_elements_are_drawn_as_described(dtype: str, generator: str, low: float, high: float) -> None:
    if dtype[0] == "u" and low < 0:
        low = 0.0
    drawn = elements(Argument("x", dtype, length=1, generator=generator, low=low, high=high), np.arange(20_000))
    assert drawn.dtype == dtype
    mean, deviation = drawn.astype(float).mean(), drawn.astype(float).std()
    if generator == "normal":
        assert abs(mean - low) < 0.6 and abs(deviation - high) < 0.2
        return
    assert low <= drawn.min() <= low + 1 and high - 2 <= drawn.max() <= high
    assert abs(mean - (low + high) / 2) < 1.0
    assert abs(deviation - (high - low) / 12**0.5) < 0.6


def test_elements_depend_on_their_position_and_on_the_seed_alone() -> None:
    one, other = (Argument("x", "uint64", length=1, generator="integers", high=1 << 60, seed=s) for s in (0, 1))
    whole = elements(one, np.arange(1000))
    assert (elements(one, np.arange(999, -1, -7)) == whole[999::-7]).all() and len(set(whole.tolist())) == 1000
    assert not set(whole.tolist()) & set(elements(other, np.arange(1000)).tolist())


def test_elements_that_are_not_drawn() -> None:
    index = np.arange(5, 300)
    assert (elements(Argument("x", "int16", length=1, generator="arange"), index) == index).all()
    assert not elements(Argument("x", "float32", length=1, generator="zeros"), index).any()
    assert (elements(Argument("x", "uint8", length=1, role="out"), index) == 0xA5).all()


# Which CTAs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 1), (1000, 1, 1), (1, 7, 1), (64, 64, 1), (3, 5, 9), (1, 1, 40)])
def test_groups_are_in_the_grid(grid: tuple[int, int, int]) -> None:
    x, y, z = grid
    groups = list(_groups(grid))
    assert len({group[0] for group in groups}) == len(groups)
    for first, *others in groups:
        steps = [stride for size, stride in zip(grid, (1, x, x * y), strict=True) if size > 1]
        assert [other - first for other in others] == steps
        assert first >= 0 and max((first, *others)) < x * y * z
    assert len(groups) >= min(x * y * z, GROUPS) // 8


# Counts -----------------------------------------------------------------------------------------------------


def test_instructions_are_counted_as_in_a_whole_launch() -> None:
    """A loop whose trips are data, in a grid of which every CTA is run."""
    step = "add.u32 %r4, %r4, 1;"
    loop = f"L:\n{step}\nsetp.lt.u32 %p1, %r4, %r5; @%p1 bra L;"
    code = f"{OWN} ld.global.u32 %r5, [%rd1]; mov.u32 %r4, 0;\n{loop}\nst.global.u32 [%rd2], %r4;"
    run = certain(code, 2)
    data = elements(array("in", seed=3), np.arange(256))
    whole = emulate(kernel(f"{code} ret;"), 2, 128, [data, np.zeros(256, np.uint32), 7])
    assert run.issued[line(code, step)] == whole.instructions["A", "L", "add.u32"]
    assert len(run.steps) == 2 and run.warps == WARPS and run.whole
    most = np.maximum(data.reshape(2, -1), 1).max(axis=1)
    assert run.steps[1] - run.steps[0] == 3 * (int(most[1]) - int(most[0]))


def test_arrays_of_gigabytes_take_little_memory() -> None:
    long = array("in", length=1 << 33, generator="arange", dtype="uint64")
    far = "mov.u64 %rd4, 60000000000; add.u64 %rd1, %rd1, %rd4;"
    assert certain(
        f"{OWN} {far} ld.global.u64 %rd5, [%rd1];".replace("mul.wide.u32 %rd3, %r3, 4", "mul.wide.u32 %rd3, %r3, 8"),
        read=long,
    )


COPY = [(SECTORS, 0), (SECTORS, 0)]
ACCESSES = {
    "a copy": ("ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;", COPY, 2 * SECTORS, 8),
    "in place": ("ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd1], %r4;", COPY, 2 * SECTORS, 8),
    "twice": ("ld.global.u32 %r4, [%rd1]; bar.sync 0; ld.global.u32 %r5, [%rd1];", COPY[:1], SECTORS, 8),
    "one place": ("ld.param.u64 %rd1, [k_in]; ld.global.u32 %r4, [%rd1];", [(1, 1)], 1, 4),
    "every second": ("add.u64 %rd1, %rd1, %rd3; ld.global.u32 %r4, [%rd1];", [(2 * SECTORS, 0)], 2 * SECTORS, 8),
    "shared memory": ("mov.u32 %r6, tile; ld.shared.u32 %r4, [%r6];", [], 0, 4),
}


@pytest.mark.parametrize(("code", "touched", "requested", "passes"), ACCESSES.values(), ids=ACCESSES)
def test_what_a_cta_accesses(code: str, touched: list[tuple[float, float]], requested: float, passes: float) -> None:
    """Loads and stores of one place are counted separately; what was just loaded is in the L1; what all load is in
    common."""
    run = certain(f"{OWN} {code}", 400)
    assert [(t.own, t.common) for t in run.touched] == [pytest.approx(pair) for pair in touched]
    assert sum(run.requested) == pytest.approx(requested)
    assert run.passes == pytest.approx(passes)
    assert all(t.all == LENGTH / 8 for t in run.touched)


def test_sectors_of_neighbours() -> None:
    """A CTA loads those of the next one, too."""
    (touched,) = certain(f"{OWN} ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+512];", 400).touched
    assert touched.own == pytest.approx(2 * SECTORS) and touched.common == pytest.approx(SECTORS)


ALONE = {
    "scattered": ("mul.wide.u32 %rd4, %r3, {0}; add.u64 %rd1, %rd1, %rd4;", 128, 128),
    "two sectors of each": ("mul.wide.u32 %rd4, %r3, {0}; add.u64 %rd1, %rd1, %rd4;", 128, 256),
    "one after the other": ("", 0, 0),
    "every second line of neighbours": (
        "mul.wide.u32 %rd4, %r2, 32; add.u64 %rd1, %rd1, %rd4; and.b32 %r4, %r1, 7; mul.wide.u32 %rd4, %r4, 4;", 0, 0
    ),
}  # fmt: skip


@pytest.mark.parametrize(("place", "lines", "sectors"), ALONE.values(), ids=ALONE)
def test_lines_far_from_all_others(place: str, lines: int, sectors: int) -> None:
    """For rows of 32 bytes that neighbours continue there are none."""
    many = array("in", length=LENGTH * 256)
    own = f"{INDEX} {ARRAYS}" + (place.format(1024) if place else "add.u64 %rd1, %rd1, %rd3;")
    own += "add.u64 %rd1, %rd1, %rd4;" if "and.b32" in place else ""
    second = "ld.global.u32 %r6, [%rd1+32];" if sectors > lines else ""
    (touched,) = certain(f"{own} ld.global.u32 %r5, [%rd1]; {second}", 400, read=many).touched
    assert (touched.alone, touched.with_them) == pytest.approx((lines, sectors), abs=0.05)


def test_atomic_operations_are_a_kind_of_their_own() -> None:
    run = certain(f"{OWN} ld.global.u32 %r4, [%rd1]; atom.global.add.u32 %r5, [%rd2], %r4;", 400)
    assert [t.kind for t in run.touched] == [LOADS, UPDATES]
    assert run.requested == pytest.approx((SECTORS, 0, SECTORS))


def test_which_loads_wait_for_what_is_beyond_the_l1() -> None:
    first, again, table = "ld.global.u32 %r4, [%rd1];", "ld.global.u32 %r5, [%rd1];", "ld.global.u32 %r6, [%rd2+64];"
    some = "setp.lt.u32 %p1, %r1, 64; @%p1 bra DONE; add.u64 %rd1, %rd1, 512;\nDONE:\n"
    code = f"{OWN}\n{first}\nbar.sync 0;\n{again}\nld.param.u64 %rd2, [k_out];\n{table}\nbar.sync 0;\n{some}"
    last = "ld.global.u32 %r7, [%rd1];"
    run = certain(f"{code}{last}", 400)
    assert run.missed[line(code + last, first)] == {0: 1.0} and run.missed[line(code + last, again)] == {}
    assert run.missed[line(code + last, table)] == {1: 1.0}  # all warps load one place at the same time
    assert run.missed[line(code + last, last)] == {0: 0.5}
    assert run.touched[0].asked == pytest.approx(1.5 * SECTORS)


# What is not known ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "L: bra L;",
        f"mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {MOST_WORK}; @%p1 bra L;",
        f"{OWN} L: ld.volatile.global.u32 %r4, [%rd1]; setp.lt.u32 %p1, %r4, 100; @%p1 bra L;",  # for another CTA
        f"{OWN} ld.global.u32 %r4, [%rd1+{4 * LENGTH}];",
        "mov.u64 %rd1, 16; ld.global.u32 %r4, [%rd1];",
    ],
    ids=["endless", "long", "waiting", "beyond an array", "nowhere"],
)
def test_kernels_that_cannot_be_run_so(code: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "goptx"):
        assert sampled(code) is None
    assert "k.ptx: estimated without running `k` on the described data: " in caplog.text


def test_what_the_emulator_lacks_is_passed_over() -> None:
    run = certain(f"{OWN} wgmma.fence.sync.aligned; ld.global.u32 %r4, [%rd1];")
    assert not run.whole and run.touched[0].own == pytest.approx(SECTORS)


def test_arguments_that_do_not_fit() -> None:
    module = Same(parse(kernel("ret;"), "k.ptx"))
    assert sampled_run(module, "k", (array("in"),), Shape(4, 128)) is None
    assert (
        sampled_run(module, "k", (array("in"), array("out"), Argument("n", "uint32", 1 << 40)), Shape(4, 128)) is None
    )


def test_pages_begin_where_arrays_do() -> None:
    """Of its last page there is what the array has and nothing else."""
    short = array("in", length=PAGE // 4 + 1)
    last = f"mov.u32 %r1, {PAGE}; cvt.u64.u32 %rd3, %r1; ld.param.u64 %rd1, [k_in]; add.u64 %rd1, %rd1, %rd3;"
    assert sampled(f"{last} ld.global.u32 %r4, [%rd1];", read=short)
    assert sampled(f"{last} ld.global.u32 %r4, [%rd1+4];", read=short) is None
