"""The instruction cache: the estimated size of code, and that very large code is estimated to be slower."""

from pathlib import Path

import pytest

import goptx
from goptx import Shape
from goptx.cost.code_size import CodeSize, Stretch
from goptx.cost.courses import made_of
from goptx.cost.estimate import Estimate
from goptx.cost.hardware import MACHINES, machine_of
from goptx.cost.kernels import Alone, alone
from goptx.device.assembler_log import sections
from goptx.latency.table import load_table
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import STRATEGIES
from goptx.strategies.estimates.judge import Judge

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
SHAPES = [Shape(1 << 16, 256)] * 2
CACHE = 36 << 10


def loop(size: int, name: str, trips: int = 100) -> str:
    """A kernel with `size` multiply-adds in a loop, eight chains of them."""
    body = "\n".join(f"fma.rn.f32 %f{i % 8}, %f{i % 8}, %f{(5 * i + 3) % 8}, %f{i % 8};" for i in range(size))
    first = "".join(f"cvt.rn.f32.u32 %f{i}, %r1;" for i in range(8))
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 out) {{
.reg .f32 %f<8>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
{first}
LOOP:
{body}
add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, {trips}; @%p bra LOOP;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f0;
ret;
}}"""


def by_themselves(*sources: str | Path) -> list[Alone]:
    machine, table = machine_of("sm_90"), load_table(None, "sm_90")
    return [alone(kernel, machine, table) for kernel in kernels_of(sources)]


def estimates(size: int) -> dict[str, Estimate]:
    judge = Judge(by_themselves(loop(size, "a"), loop(size, "b")), [1, 1], SHAPES, "sm_90")
    return {s: next(e for _, e in judge.estimates(Candidate(s, (1, 1)))) for s in STRATEGIES}


def test_what_exceeds_the_cache_together_is_slower_than_separate() -> None:
    found = estimates(2000)  # 34 KiB each, 69 together
    for strategy in ("weave", "interleave", "vertical"):
        assert found[strategy].cycles > 1.05 * found["separate"].cycles
    assert "instructions" not in found["separate"].parts


def test_small_code_is_not_affected() -> None:
    for estimate in estimates(300).values():
        assert "instructions" not in estimate.parts


@pytest.mark.slow
@pytest.mark.parametrize(("size", "slower"), [(2000, 1.0), (3000, 1.12), (4000, 1.23), (6000, 1.29), (9000, 1.37)])
def test_estimates_are_near_what_was_measured(size: int, slower: float) -> None:
    """Equally many multiply-adds, in loops of this size, on an H200 (benchmarks/when_fusion_loses.py)."""
    whole = estimates(size)["separate"].cycles / size
    assert whole / (estimates(500)["separate"].cycles / 500) == pytest.approx(slower, abs=0.05)


@pytest.mark.slow
def test_what_exceeds_the_cache_by_itself_pays_with_each_strategy() -> None:
    found = estimates(9000)
    assert all(estimate.decided_by == "instructions" for estimate in found.values())
    both = found["separate"].then(found["weave"])
    assert both.parts["instructions"] == found["separate"].parts["instructions"] + found["weave"].parts["instructions"]
    assert found["separate"].then(estimates(300)["weave"]).parts["instructions"] > 0


@pytest.mark.slow
def test_auto_does_not_weave_very_large_code() -> None:
    made = goptx.fuse(loop(5000, "a"), loop(5000, "b"), strategy="auto", shapes=SHAPES)
    assert made.strategy in ("separate", "vertical") and made.report.decision
    cycles = {c.name: c.cycles for c in made.report.decision.candidates}
    assert cycles["weave"] > 1.01 * cycles["separate"]
    small = goptx.fuse(loop(20, "a"), loop(20, "b"), strategy="auto", shapes=SHAPES)
    assert small.report.decision
    assert not any(c.decided_by == "instructions" for c in small.report.decision.candidates)


@pytest.mark.slow
def test_code_of_a_woven_kernel() -> None:
    """Its loop has both bodies, and as many iterations as each."""
    sources = loop(500, "a"), loop(400, "b")
    kernels = by_themselves(*sources)
    made = made_of(goptx.weave(*sources), kernels, load_table(None, "sm_90"))
    course = made.course([kernel.unknown.middle for kernel in kernels], [0, 1])
    own = [kernel.work.course.code for kernel in kernels]
    assert [code.loops[0].passes for code in own] == [99, 99]
    together = course.code.loops[0]
    assert together.passes == pytest.approx(99, rel=0.02)
    assert together.size == pytest.approx(sum(code.loops[0].size for code in own), rel=0.05)


def test_loops_side_by_side() -> None:
    one, other = (CodeSize(50.0, (Stretch(40.0, 9.0),)), CodeSize(30.0, (Stretch(20.0, 4.0), Stretch(5.0, 36.0))))
    woven = one.beside(other)
    assert woven.whole == 80 and woven == other.beside(one)
    assert woven.loops == (Stretch(60.0, 4.0), Stretch(40.0, 5.0), Stretch(5.0, 36.0))
    assert woven.passed == one.passed + other.passed
    assert woven.missed(45) == 35 + 4 * 15 and woven.missed(80) == 0
    assert one.copies(2) == CodeSize(100.0, (Stretch(80.0, 9.0),)) == one.beside(one)


@pytest.mark.parametrize("name", "gelu harris lud micnd sort stms wmma softmax scan sha256".split())
def test_bytes_are_about_those_of_the_assembler(name: str) -> None:
    path = KERNELS / f"{name}.sm_90.ptx"
    (one, _) = by_themselves(path, path)
    cubin = goptx.fuse(path, strategy="separate").cubin()
    (made,) = (size for section, (_, size) in sections(cubin).items() if section.startswith(".text"))
    assert made / 3 < one.work.course.code.whole < made * 1.5


def test_every_machine_has_a_cache() -> None:
    assert {machine.code_cache for machine in MACHINES.values()} == {CACHE}
    assert all(100 < machine.fetch < 200 for machine in MACHINES.values())
