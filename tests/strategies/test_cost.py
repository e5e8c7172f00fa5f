"""auto: what it chooses, why, and that the result has the choice."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from bodies import flow
from strategies.unseen_launches import fused

import goptx
from goptx import Shape
from goptx.analysis.loops.trips import loop_trips, trips, unknown_depth
from goptx.analysis.registers.register_demand import Demand
from goptx.cost.code_size import NO_CODE, CodeSize, Stretch
from goptx.cost.estimate import Load, Wave, estimate, next_step, steps
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import alone
from goptx.cost.register_estimate import PERHAPS, Pressure
from goptx.cost.work import UNITS, Course, Work
from goptx.latency.table import load_table
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import possible_candidates

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
LARGE = Shape(1 << 20, 256)


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


def chosen(first: str, second: str, shape: Shape | None = LARGE) -> goptx.Woven:
    shapes = None if shape is None else [shape, shape]
    return goptx.fuse(kernel(first), kernel(second), strategy="auto", shapes=shapes)


# Choices of suite A, bound by memory, by arithmetic, by both; all within 9 % of the best measured.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "candidate"),
    [
        (("gelu", "harris"), "weave x2 x2"),
        (("harris", "micnd"), "weave x2 x2"),
        (("gelu", "stms"), "weave x2 x2"),
        (("lud", "stms"), "weave x2 x2"),
    ],
)
def test_chooses_what_was_measured_to_be_fast(pair: tuple[str, str], candidate: str) -> None:
    made = chosen(*pair)
    assert made.report.decision
    best = made.report.decision.chosen
    assert best.name == candidate and best.made
    assert made.strategy == "weave" and made.max_registers is None
    chose, head, first = str(made.report.decision).splitlines()[:3]
    assert chose.startswith(f"chosen: {candidate}, ") and "; of another strategy: " in chose and "%" in chose
    assert head.split() == "candidate kilocycles gain least registers occupancy most of it".split()
    assert first.startswith(candidate) and str(made.report.decision) in str(made.report)
    stored = made.report.to_dict()["decision"]
    assert stored["candidates"][0]["name"] == candidate and not stored["assumed"]
    json.dumps(stored, allow_nan=False)


def test_grids_that_are_not_known_are_not_coarsened() -> None:
    made = chosen("gelu", "harris", None)
    assert made.strategy == "weave" and made.report.decision
    assert {c.name.split(" ")[0] for c in made.report.decision.candidates} == {"weave", "vertical", "separate"}
    assert not any(" x" in c.name for c in made.report.decision.candidates)
    assert made.report.decision.assumed == (
        "grids of 65536 CTAs where they are not known",
        "blocks of 256 threads where they are not known",
    )
    assert "assumed: grids" in str(made.report)


def test_few_ctas_are_not_coarsened() -> None:
    made = chosen("gelu", "harris", Shape(64, 256))  # they run on as many SMs
    assert made.report.decision and " x" not in made.report.decision.chosen.name


def test_ctas_are_not_left_over() -> None:
    factors = {
        w.factors
        for w in possible_candidates(kernels_of([kernel("gelu"), kernel("harris")]), [Shape(6, 256), Shape(5, 256)])
    }
    assert factors == {(1, 1), (2, 1)}


CHAIN = "\n".join("fma.rn.f32 %f2, %f2, %f2, %f2;" for _ in range(400))
LOADS = "ld.global.f32 %f2, [%rd2+4];"
SEVERAL = "\n".join(f"ld.global.f32 %f{k}, [%rd2+{4 * k}];" for k in range(4, 40))
SUM = "\n".join(f"add.f32 %f2, %f2, %f{k};" for k in range(4, 40))


def looping(loops: int, begin: str = "", end: str = "") -> str:
    """A kernel of so many loops within each other, each as long as its parameter says."""
    heads = "".join(f"mov.u32 %r{k}, 0;\nLOOP{k}:\n" for k in range(1, loops + 1))
    ends = "".join(
        f"add.u32 %r{k}, %r{k}, 1; setp.lt.u32 %p, %r{k}, %r9; @%p bra LOOP{k};\n" for k in range(loops, 0, -1)
    )
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry looping(.param .u64 out, .param .u32 n) {{
.reg .f32 %f<50>; .reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out]; ld.param.u32 %r9, [n]; mov.u32 %r8, %tid.x; mul.wide.u32 %rd2, %r8, 4;
add.u64 %rd2, %rd1, %rd2;
{begin}
{heads}{LOADS}
{ends}{end}
st.global.f32 [%rd2], %f2;
ret;
}}"""


@pytest.mark.parametrize(
    ("text", "ctas", "most"),
    [
        (looping(0), 1024, 4),
        (looping(1), 1024, 1),
        (looping(1), 1 << 20, 4),
        (looping(2), 1 << 20, 2),
        (looping(0, SEVERAL, CHAIN + SUM), 1024, 1),
        (looping(0, SEVERAL, CHAIN + SUM), 1 << 20, 4),
    ],
)
def test_kernels_of_long_ctas_or_many_registers_are_coarsened_only_in_large_grids(
    text: str, ctas: int, most: int
) -> None:
    kernels = kernels_of([text, kernel("harris")])
    machine, table = machine_of("sm_90"), load_table(None, "sm_90")
    analysed = [alone(k, machine, table) for k in kernels]
    found = possible_candidates(kernels, [Shape(ctas, 256), Shape(7, 256)], analysed)
    assert max(w.factors for w in found) == (most, 1)


def test_declines_what_cannot_be_fused(caplog: pytest.LogCaptureFixture) -> None:
    spins = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry spins(.param .u64 flag) {
 .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
 ld.param.u64 %a, [flag];
$again: ld.volatile.global.u32 %v, [%a];
 setp.eq.u32 %p, %v, 0;
 @%p bra $again;
 ret;
}"""
    made = goptx.fuse(spins, spins, strategy="auto", shapes=[Shape(64, 32)] * 2)
    assert made.strategy == "separate" and made.report.decision and made.report.decision.chosen.name == "separate"
    assert made.report.notes[0].startswith("not weave, interleave, vertical: <ptx>")
    assert "not fused: weave, interleave, vertical: <ptx>" in caplog.text


@pytest.mark.slow
def test_one_choice_everywhere() -> None:
    code = (
        "import goptx; from pathlib import Path; from goptx import Shape\n"
        f"pair = [Path({str(KERNELS)!r}) / f'{{n}}.sm_90.ptx' for n in ('gelu', 'stms')]\n"
        "made = goptx.fuse(*pair, strategy='auto', shapes=[Shape(1 << 20, 256)] * 2)\n"
        "print(made.report, made.ptx)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.slow
def test_a_cached_choice_has_its_reason_and_its_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPTX_CACHE_DIR", "")  # in memory
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "64")
    first, again = (fused("bilateral", "embedding_bag", strategy="auto") for _ in range(2))
    assert again is not first and again.report == first.report and again.report.decision
    assert again.ptx == first.ptx and again.max_registers == first.max_registers == 32


def test_a_refusal_holds_for_candidates_with_larger_factors() -> None:
    assert Candidate("weave", (1, 2)).is_part_of(Candidate("weave", (2, 2), 32))
    assert not Candidate("weave", (1, 2)).is_part_of(Candidate("weave", (4, 1)))
    assert not Candidate("weave", (1, 2)).is_part_of(Candidate("vertical", (2, 2)))


def test_the_cap_holds_unless_another_is_asked_for() -> None:
    woven = goptx.weave(kernel("gelu"), kernel("gelu"))
    capped = woven.capped(24)
    assert woven.max_registers is None and capped.max_registers == 24 and ".maxnreg 24" in capped.ptx
    free = woven.resources().registers
    assert free > 28 and capped.resources().registers <= 24 and capped.cubin() == woven.cubin(24)
    assert capped.resources(28).registers in range(25, 29) and capped.resources(256).registers > 28


def work(issue: float = 100, latency: float = 1000, live: int = 20, memory: float = 50) -> Work:
    units = {**dict.fromkeys(UNITS, 0.0), "issue": issue, "shared": 10.0, "memory": memory}
    return Work(units, Course(latency, Pressure.of(Demand(live))))


def cycles(of: Work, ctas: int = 1 << 20, shared: int = 0, cap: int | None = None, spilled: int = 0) -> float:
    wave = Wave(ctas, 256, of.course.latency, spilled=spilled)
    return estimate([Load(of.units, ctas, 256)], [wave], of.course.pressure, shared, "sm_90", cap).cycles


def test_more_to_do_takes_longer() -> None:
    least = cycles(work())
    assert cycles(work(issue=200)) > least and cycles(work(latency=2000)) > least and cycles(work(memory=100)) > least
    assert cycles(work(), ctas=1 << 21) > 1.9 * least
    assert cycles(work(live=200)) > least and cycles(work(), shared=100_000) > least  # fewer warps at once
    assert cycles(work(), shared=1 << 20) == float("inf")


def of(live: int, across: int = 0) -> Pressure:
    return Pressure.of(Demand(live, across))


def test_a_cap_is_worth_it_near_a_step_only() -> None:
    near, far = of(30), of(30, 60)
    assert near.registers == 34 and next_step(near, 0, 256, "sm_90") == 32
    assert far.registers == 73 and next_step(far, 0, 256, "sm_90") is None
    assert next_step(Pressure.of(Demand(30), 26), 0, 256, "sm_90") is None  # an instruction needs more
    assert cycles(work(), cap=16, spilled=5) > cycles(work())  # spills, and gains no warps


def test_more_ctas_of_any_kernel_are_worth_a_cap() -> None:
    assert steps(of(60), 0, [256], "sm_90") == [64, 48, 40, 32]
    assert steps(of(60), 0, [1024], "sm_90") == [64, 32]
    assert steps(of(60), 0, [1024, 256], "sm_90") == [64, 48, 40, 32]
    assert steps(of(60), 100_000, [256], "sm_90") == []  # shared memory decides
    assert steps(Pressure.of(Demand(60), 40), 0, [256], "sm_90") == [64, 48]  # an instruction needs more than 40
    assert of(30).registers in range(33, 40) and steps(of(30), 0, [256], "sm_90") == []  # it may have 32 as it is


def test_a_register_that_spills_is_moved_in_every_pass() -> None:
    hurried, loop = work(issue=10, latency=5000, live=30), CodeSize(100.0, (Stretch(100.0, 9.0),))

    def parts(spilled: int, code: CodeSize = NO_CODE) -> Mapping[str, float]:
        wave = Wave(1 << 20, 256, 5000.0, code, spilled=spilled)
        return estimate([Load(hurried.units, 1 << 20, 256)], [wave], of(30), 0, "sm_90", 32).parts

    assert loop.rounds == 10
    for part in ("arithmetic", "shared", "memory"):
        one = parts(1)[part] - parts(0)[part]
        assert one > 0 and parts(3)[part] - parts(0)[part] == pytest.approx(3 * one)
        assert parts(1, loop)[part] - parts(0, loop)[part] == pytest.approx(10 * one)


def test_what_several_ctas_share_may_take_more_registers_than_an_sm_is_full_with() -> None:
    one, other = work(live=25, latency=3000), of(25)
    wave, load = Wave(1 << 20, 256, 3000.0), Load(one.units, 1 << 20, 256)
    assert other.registers == 31 and other.likely(False) == {31: 1.0}
    assert other.likely(True) == {31: 1.0 - PERHAPS, 40: PERHAPS}
    assert of(20).likely(True) == {26: 1.0} and of(40).likely(True) == {of(40).registers: 1.0}
    in_own = estimate([load, load], [wave, wave], other, 0, "sm_90", together=False)
    in_common, capped = (estimate([load, load], [wave], other, 0, "sm_90", cap) for cap in (None, 32))
    assert in_common.registers == in_own.registers == 31 and in_common.cycles > capped.cycles


def test_registers_follow_what_is_live() -> None:
    straight, slow = of(40), of(40, 50)
    assert of(10).registers < straight.registers < slow.registers
    assert (straight + straight).registers > straight.registers == (straight | of(5)).registers
    assert straight.times(2).registers == (straight + straight).registers


def test_kernels_that_would_spill_together_are_not_fused() -> None:
    """Separate launches may spill, for they would alone."""
    large = of(150)
    wave, load = Wave(1 << 16, 128, 1000.0), Load(work().units, 1 << 16, 128)
    assert not large.spills and (large + large).spills and large.times(2).spills and not (large | large).spills
    assert estimate([load], [wave], large + large, 0, "sm_90").cycles < float("inf")
    assert estimate([load, load], [wave], large + large, 0, "sm_90").cycles == float("inf")
    assert estimate([load, load], [wave], large, 0, "sm_90").cycles < float("inf")


def test_what_waits_is_worth_weaving() -> None:
    first, second = work(), work(latency=900)
    assert first.beside(second).course.latency < first.before(second).course.latency
    assert first.beside(second).course.pressure.registers > first.before(second).course.pressure.registers
    assert first.copies(4).course.latency < first.in_sequence(4).course.latency


def test_kernels_of_suite_a() -> None:
    """Compared with Nsight Compute: instructions that a warp issues, and bytes between a thread and memory."""
    machine, table = machine_of("sm_90"), load_table(None, "sm_90")
    for name, issued, moved in (("harris", 37, 7), ("stms", 52, 7), ("micnd", 73, 4), ("lud", 103, 16)):
        (one, _) = kernels_of([kernel(name)] * 2)
        found = alone(one, machine, table).work
        assert issued * 0.7 < found.units["issue"] < issued * 1.3
        assert found.units["memory"] * machine.memory / (machine.sms * 4 * 32) == pytest.approx(moved)


@pytest.mark.parametrize(
    ("step", "bound", "times"), [("%r2", "%r3", 1), ("1", "12", 12), ("4", "12", 3), ("1", "%r3", 10)]
)
def test_loops_go_round(step: str, bound: str, times: float) -> None:
    found = flow(
        "mov.u32 %r1, %nctaid.x; mul.lo.u32 %r2, %r1, 4; ld.param.u32 %r3, [k_n]; mov.u32 %r4, 0;\n"
        f"LOOP: add.u32 %r4, %r4, {step}; setp.lt.u32 %p1, %r4, {bound}; @%p1 bra LOOP; ret;"
    )
    own = loop_trips(found)
    assert max(trips(found, own).values()) == times
    assert unknown_depth(found, own) == (bound == "%r3" and step == "1")
