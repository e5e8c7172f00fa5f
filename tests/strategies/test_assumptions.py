"""What is assumed of kernels, what the caller knows of them, and that candidates which may lose much are not chosen."""

import re
from math import inf
from pathlib import Path
from typing import Any

import pytest
from bodies import flow

import goptx
from goptx import InputError, Shape
from goptx.analysis.early_ends import early_end
from goptx.analysis.registers.register_demand import Demand
from goptx.cli import main
from goptx.cost.assumptions import MIDDLE, NOTHING, Behaviour, Known, Unknown, known_of, table
from goptx.cost.branches import BESIDE_LOOPS, PREDICATED, forks, most_taken, shares
from goptx.cost.estimate import Estimate, Load, Wave, estimate, side_by_side
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.cost.register_estimate import Pressure
from goptx.cost.work import UNITS
from goptx.errors import ProbablySlower
from goptx.latency.table import load_table
from goptx.results.expected_gain import ExpectedGain, unjudged
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.prospects import LOSS, Prospect, best, separate_cycles

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
WMMA, GELU, GEMM, LAYERNORM = (KERNELS / f"{name}.sm_90.ptx" for name in ("wmma", "gelu", "gemm", "layernorm"))
LOOP = 86  # the line of the head of WMMA's loop


def examined(path: Path, known: Known = NOTHING, shape: Shape | None = None) -> Alone:
    (kernel,) = kernels_of([path], least=1)
    return alone(kernel, machine_of("sm_90"), load_table(None, "sm_90"), known, shape)


# The table ------------------------------------------------------------------------------------------------


def test_the_table_varies_one_thing_for_one_kernel_or_for_all() -> None:
    rows = table([Unknown(frozenset({"trips", "live"})), Unknown(frozenset({"trips"}))])
    assert rows[0].kernels == (MIDDLE, MIDDLE) and rows[0].name == "the middle"
    assert len({row.kernels for row in rows}) == len(rows) == 1 + 2 * 3 + 2
    assert (Behaviour(trips=100.0), Behaviour(trips=100.0)) in [row.kernels for row in rows]
    assert {row.name for row in rows} >= {"A: 1% of the CTAs do not end at once", "B: unknown loops run 100 times"}
    assert len(table([Unknown(frozenset())] * 3)) == 1


def test_the_table_grows_linearly() -> None:
    every = Unknown(frozenset({"trips", "live", "divergent", "cached"}))
    assert [len(table([every] * n)) for n in (2, 5, 10)] == [1 + 7 * 3, 1 + 7 * 6, 1 + 7 * 11]


def test_what_is_unknown_of_a_kernel() -> None:
    assert examined(WMMA).unknown.fields == {"trips", "live", "cached"}
    assert examined(GELU).unknown.fields == {"live", "cached"}  # its loop is for grids that are too small
    known = examined(WMMA, Known({LOOP: 48.0}, 8192), Shape(1 << 20, 256))
    assert known.unknown.fields == {"cached"} and known.unknown.middle.live == 8192 / (1 << 20)


def test_known_trips_count() -> None:
    ten, many = examined(WMMA).work, examined(WMMA, Known({LOOP: 48.0})).work
    assert 3 < many.units["memory"] / ten.units["memory"] < 4.8 and many.course.latency > 3 * ten.course.latency


def test_behaviour_decides_the_work() -> None:
    wmma = examined(WMMA)
    few, many = (wmma.under(Behaviour(trips=trips)).work for trips in (1.0, 100.0))
    assert few.units["issue"] < wmma.work.units["issue"] < many.units["issue"]
    acts = wmma.under(MIDDLE)
    assert acts.ended["issue"] < acts.fused_ended["issue"] < acts.work.units["issue"] and acts.ended["memory"] == 0
    assert wmma.under(Behaviour(cached=True)).work.units["memory"] < acts.work.units["memory"]


# Branches -------------------------------------------------------------------------------------------------

LONG = "".join(f"fma.rn.f32 %f{i % 4}, %f{i % 4}, %f1, %f2;\n" for i in range(40))
TWO_SIDED = (
    "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; @%p1 bra LEFT;\n"
    f"{LONG} bra JOIN;\nLEFT: {LONG}\nJOIN: st.global.f32 [%rd1], %f1; ret;"
)


def test_long_sides_are_executed_by_those_that_go_there() -> None:
    found = flow(TWO_SIDED)
    (fork,) = forks(found)
    assert fork.lengths == (40, 40)
    for divergent, share in ((0.0, 0.5), (0.5, 0.75), (1.0, 1.0)):
        assert {shares(found, [fork], divergent, 30)[name] for side in fork.sides for name in side} == {share}
    assert set(shares(found, [fork], 0.0, 40).values()) == {1.0}  # under predicates all execute them


def test_a_side_to_which_several_branches_lead_is_executed_by_those_that_any_sends_there() -> None:
    """Steps that may fail: of the warps that come by, a half does at each."""
    step = f"{LONG} setp.gt.f32 %p1, %f1, %f2; @%p1 bra FAILED;\n"
    begin, store = "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;", "st.global.f32 [%rd1], %f1;"
    found = flow(f"{begin} {step * 3} {store} bra END; FAILED: {LONG} {store} END: ret;")
    branches = forks(found)
    (failed,) = frozenset.intersection(*(frozenset(fork.sides) for fork in branches))
    assert len(branches) == 3 and failed in most_taken(dict.fromkeys(branches, (0.25, 0.75)))
    share = shares(found, branches, 0.0, 0)
    assert {share[name] for name in failed} == {1 - 0.5**3}
    assert min(share.values()) == 0.5


def test_which_sides_the_assembler_puts_under_predicates() -> None:
    def predicated(one: int, other: int, loop: str = "") -> bool:
        sides = ("fma.rn.f32 %f0, %f0, %f1, %f2;\n" * slots for slots in (one, other))
        text = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; @%p1 bra LEFT;\n{} bra JOIN;\nLEFT: {}\nJOIN: "
        (fork,) = forks(flow(f"{text.format(*sides)} st.global.f32 [%rd1], %f0; {loop} ret;"))
        return fork.predicated

    loop = "LOOP: add.s32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, 9; @%p2 bra LOOP;"
    assert predicated(PREDICATED, 0) and predicated(PREDICATED // 2, PREDICATED // 2)
    assert not predicated(PREDICATED + 1, 0) and not predicated(PREDICATED, 1)
    assert predicated(BESIDE_LOOPS, BESIDE_LOOPS, loop) and not predicated(BESIDE_LOOPS + 1, 0, loop)


def test_branches_whose_sides_meet_at_one_place_are_reconverged_once() -> None:
    inner = f"setp.gt.u32 %p2, %r1, 3; @%p2 bra {{}}; {LONG}"
    outer = f"mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; @%p1 bra JOIN;\n{LONG}"
    text = f"{outer} {inner} JOIN: st.global.f32 [%rd1], %f1;"
    assert [fork.inner for fork in forks(flow(text.format("JOIN") + " ret;"))] == [False, True]
    separate = text.replace("JOIN: st", "NEAR: add.f32 %f1, %f1, %f2; JOIN: st").format("NEAR")
    assert [fork.inner for fork in forks(flow(separate + " ret;"))] == [False, False]


def test_branches_that_all_decide_alike_and_those_of_loops_do_not_count() -> None:
    assert forks(flow(TWO_SIDED.replace("%tid.x", "%ctaid.x"))) == ()
    assert forks(flow("LOOP: add.u32 %r1, %r1, %tid.x; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP; ret;")) == ()


@pytest.mark.parametrize(
    ("of", "ends"), [("%ctaid.x", True), ("%tid.x", False), ("%nctaid.x", False), ("%ctaid.y", True)]
)
def test_whole_ctas_may_end_at_once_by_their_number(of: str, ends: bool) -> None:
    guard = f"mov.u32 %r1, {of}; setp.gt.u32 %p1, %r1, 7; @%p1 bra END;\n"
    assert (early_end(flow(f"{guard} {LONG} st.global.f32 [%rd1], %f1;\nEND: ret;")) is not None) == ends
    late = f"{LONG} {guard} st.global.f32 [%rd1], %f1;\nEND: ret;"
    assert early_end(flow(late)) is None  # most of the kernel is done


# What is known --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ([("A", 1)], "assume= takes a dictionary, such as assume="),
        ({"C": {}}, "assume= names kernel `C`; there are the kernels A, B"),
        ({"A": 48}, "assume= of kernel A takes a dictionary"),
        ({"A": {"loops": 3}}, "assume= of kernel A has no `loops`; it takes trips, live_ctas, arguments"),
        ({"A": {"trips": 48}}, "trips are given by lines"),
        ({"A": {"trips": {"40": 48}}}, "'40' is not a line"),
        ({"A": {"trips": {40: "often"}}}, "the loop in line 40 cannot run 'often' times"),
        ({"A": {"trips": {40: -1}}}, "cannot run -1 times"),
        ({"A": {"live_ctas": 0.5}}, "live_ctas=0.5 is not a number of CTAs"),
        (
            {"A": {"trips": {40: 3}}},
            "assume= gives trips of a loop in line 40, where none begins; loops begin in lines",
        ),
        (
            {"B": {"arguments": {6: 1}}},
            r"kernel B \(harris\): assume= gives the argument 6; it has the parameters 0 to 5\.",
        ),
        ({"B": {"trips": {3: 3}}}, r"kernel B \(harris\).* line 3, where none begins; it has no loops"),
    ],
)
def test_what_does_not_fit_is_an_error(assume: Any, message: str) -> None:
    for make in (goptx.weave, lambda *sources, **given: goptx.fuse(*sources, strategy="auto", **given)):
        with pytest.raises(InputError, match=message):
            make(WMMA, KERNELS / "harris.sm_90.ptx", assume=assume)


def test_both_lines_of_a_head_name_the_loop() -> None:
    heads = next(iter(examined(WMMA).heads.values()))
    assert heads == (LOOP, LOOP + 1)  # the label, and the first instruction
    for line in heads:
        assert set(examined(WMMA, Known({line: 5.0})).loops.values()) == {5.0}


@pytest.mark.slow
def test_assume_is_taken_by_the_functions_that_make_kernels() -> None:
    known: Any = {"A": {"trips": {LOOP: 48}, "live_ctas": 8192}}
    shapes = [Shape(1 << 19, 256)] * 2  # not what is described beside them
    ignorant = goptx.weave(WMMA, GELU, shapes=shapes).report.expected
    for made in (
        goptx.weave(WMMA, GELU, shapes=shapes, assume=known),
        goptx.fuse(WMMA, GELU, strategy="vertical", shapes=shapes, assume=known),
        goptx.fuse(WMMA, GELU, strategy="auto", shapes=shapes, assume=known),
        goptx.coarsen(WMMA, 2, shape=shapes[0], assume=known),
    ):
        expected = made.report.expected
        assert expected and ignorant and expected.most / expected.least < ignorant.most / ignorant.least
    assert goptx.weave(WMMA, GELU, assume=known).ptx == goptx.weave(WMMA, GELU).ptx


def test_nothing_known() -> None:
    assert known_of(None, 2) == [NOTHING, NOTHING]
    assert known_of({"B": {"live_ctas": 4}}, 2) == [NOTHING, Known({}, 4)]


# The choice -----------------------------------------------------------------------------------------------


def prospect(*cycles: float, separate: tuple[float, ...] = (100.0, 100.0)) -> Prospect:
    return Prospect(tuple(Estimate(c, {"memory": c}, 32, 1.0) for c in cycles), separate)


def test_a_candidate_that_may_lose_much_is_not_chosen() -> None:
    ones = (1, 1)
    separate, bold, safe = (Candidate(s, ones) for s in ("separate", "weave", "vertical"))
    found = {separate: prospect(100, 100), bold: prospect(40, 100 * (1 + 2 * LOSS)), safe: prospect(80, 99)}
    assert best(found) == safe
    assert best({**found, bold: prospect(40, 100 * (1 + LOSS / 2))}) == bold
    assert best({separate: found[separate], bold: found[bold]}) == separate
    assert best({separate: found[separate], safe: prospect(102, 50)}) == separate  # a loss in the middle
    assert best({separate: found[separate], safe: prospect(100.1, 50)}) == safe  # much to gain, nothing to lose
    assert best({separate: found[separate], safe: prospect(100.1, 90)}) == separate
    assert best({separate: found[separate], safe: prospect(98.5, 106)}) == separate  # it may lose more than it gains
    assert (
        found[bold].worst[0] == pytest.approx(1 / (1 + 2 * LOSS))
        and found[bold].worst[1] == 1
        and found[bold].gain == 2.5
    )


def test_what_never_loses_is_chosen_for_what_it_may_gain() -> None:
    separate, fused = Candidate("separate", (1, 1)), Candidate("weave", (1, 1))
    nothing = prospect(100, 100)
    assert best({separate: nothing, fused: prospect(99, 60)}) == fused
    assert best({separate: nothing, fused: prospect(99, 90)}) == separate  # not worth it
    interleaved = Candidate("interleave", (1, 1))  # its registers are estimated better
    assert best({separate: nothing, fused: prospect(99, 85)}) == separate
    assert best({separate: nothing, interleaved: prospect(99, 85)}) == interleaved
    assert best({separate: nothing, fused: prospect(99, 60, 101, separate=(100, 100, 100))}) == separate  # it may lose


def test_plain_interleaved_kernels_are_preferred_where_estimates_are_near() -> None:
    separate, woven, interleaved = (Candidate(s, (1, 1)) for s in ("separate", "weave", "interleave"))
    found = {separate: prospect(100, 100), woven: prospect(80, 80)}
    assert best({**found, interleaved: prospect(82, 82)}) == interleaved
    assert best({**found, interleaved: prospect(90, 90)}) == woven


def test_what_cannot_run_is_not_chosen() -> None:
    separate, fused = Candidate("separate", (1, 1)), Candidate("weave", (1, 1))
    assert best({separate: prospect(100, 100), fused: prospect(inf, inf)}) == separate


HALF = Shape(66, 256)


def test_the_kernel_of_few_or_long_ctas_is_launched_first() -> None:
    kernels = [examined(GELU), examined(LAYERNORM)]

    def order(*shapes: Shape) -> Any:
        return Judge(kernels, [1, 1], shapes, "sm_90").side_by_side(Candidate("separate", (1, 1))).option("streams")

    few, many = Shape(64, 256), Shape(1 << 20, 256)
    assert (order(few, many), order(many, few)) == (True, "reversed")
    last_longer = kernels[1].work.course.latency > kernels[0].work.course.latency
    assert order(many, many) == ("reversed" if last_longer else True)


def test_the_kernel_that_needs_more_shared_memory_is_launched_first() -> None:
    """The other way round it would wait until SMs are idle; a few kilobytes do not matter."""
    kernels = [examined(GELU), examined(GELU)]

    def order(first: int, second: int) -> Any:
        shapes = [Shape(1 << 20, 256, shared << 10) for shared in (first, second)]
        return Judge(kernels, [1, 1], shapes, "sm_90").side_by_side(Candidate("separate", (1, 1))).option("streams")

    assert (order(0, 24), order(24, 0)) == ("reversed", True)
    assert order(0, 1) is True and order(20, 24) is True


def test_warps_that_have_ended_leave_their_place() -> None:
    own = dict.fromkeys(UNITS, 0.0) | {"issue": 1.0}
    load = Load(own, 1 << 16, 32)

    def cycles(threads: int) -> float:
        waves = [Wave(1 << 16, threads, 1e4), Wave(1, 256, 1.0)]
        return estimate([load, load], waves, Pressure.of(Demand(20)), 0, "sm_90", together=False).cycles

    assert cycles(32) < cycles(256) / 3


def test_ctas_that_end_at_once_come_when_all_others_have_ended() -> None:
    own = dict.fromkeys(UNITS, 0.0) | {"memory": 1e5}
    load, none, machine = Load(own, 1 << 20, 256, live=2**-8), Pressure.of(Demand(20)), machine_of("sm_90")
    live, ended = Wave(1 << 12, 256, 1e4), Wave(255 << 12, 256, 0.0, ends=True)
    few, all_, none_live = (estimate([load], waves, none, 0, "sm_90") for waves in ([live], [live, ended], [ended]))
    launching = ended.ctas / (machine.sms * 8) * machine.turnover
    assert all_.cycles == pytest.approx(few.cycles + launching)
    assert all_.parts["latency"] == few.parts["latency"] < none_live.parts["latency"]


def test_kernels_that_fill_parts_of_the_gpu_run_at_the_same_time() -> None:
    own = dict.fromkeys(UNITS, 0.0) | {"issue": 1e6}
    load = Load(own, 66, 256)
    one = estimate([load], [Wave(66, 256, 1e7)], Pressure.of(Demand(20)), 0, "sm_90")
    both = side_by_side([one, one], [load, load], "sm_90").cycles
    assert one.cycles < both < 1.1 * one.cycles and one.then(one).cycles == 2 * one.cycles
    full = estimate([Load(own, 1 << 16, 256)], [Wave(1 << 16, 256, 1e7)], Pressure.of(Demand(20)), 0, "sm_90")
    assert side_by_side([full, full], [load, load], "sm_90").cycles == full.then(full).cycles


CHAIN = "\n".join("fma.rn.f32 %f1, %f1, %f2, %f1;" for _ in range(60))


def busy(name: str) -> str:
    """A kernel that computes in a long loop."""
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 out) {{
.reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, %f1;
LOOP:
{CHAIN}
add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 1000; @%p bra LOOP;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;
ret;
}}"""


def test_auto_does_not_put_small_grids_after_each_other() -> None:
    made = goptx.fuse(busy("one"), busy("two"), strategy="auto", shapes=[HALF, HALF])
    assert made.report.decision and made.strategy in ("interleave", "separate", "weave")
    assert made.streams or not made.is_separate
    by_name = {c.name: c.cycles for c in made.report.decision.candidates}
    least = min(by_name.values())
    assert by_name["vertical"] > 1.9 * least and by_name["separate"] > 1.9 * least
    assert by_name["separate streams=True"] < 1.1 * least


def test_kernels_that_nothing_fuses_are_not_launched_side_by_side() -> None:
    waits = busy("one").replace(
        "LOOP:", "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p, %r3, 0; @%p bra SPIN;\nLOOP:"
    )
    made = goptx.fuse(waits, waits.replace("one(", "two("), strategy="auto", shapes=[HALF, HALF])
    assert made.strategy == "separate" and made.streams is False


def test_dead_ctas_cost_a_fused_kernel_little() -> None:
    kernels = [examined(WMMA), examined(GELU)]
    judge = Judge(kernels, [1, 1], [Shape(1 << 20, 256)] * 2, "sm_90")
    number = [row.name for row in judge.assumptions].index("A: 1% of the CTAs do not end at once")
    weave = Candidate("weave", (1, 1))
    gains = Prospect(judge.under_all(weave)[weave], separate_cycles(judge)).gains
    assert gains[number] > 0.88


# The sentence ---------------------------------------------------------------------------------------------


def test_the_sentence() -> None:
    assert str(ExpectedGain(1.3, 1.3, 1.3, "")) == "Estimated 1.3 times as fast as separate launches."
    assert str(ExpectedGain(1.01, 1.0, 1.0, "")) == "Estimated about as fast as separate launches (1.01 times)."
    slower = ExpectedGain(1 / 4.1, 0.1, 0.9, "", ("registers 32 -> 210",), '`strategy="auto"` would keep them separate')
    assert slower.is_slower and str(slower) == (
        "Estimated 4.1 times *slower* than separate launches, 0.10 to 0.90 times as kernels behave; "
        '`strategy="auto"` would keep them separate: registers 32 -> 210.'
    )


@pytest.mark.slow
def test_what_is_slower_is_warned_of() -> None:
    with pytest.warns(ProbablySlower, match=r"Estimated .* times \*slower\* than separate launches") as caught:
        made = goptx.weave(GEMM, LAYERNORM, policy="latency")
    (warning,) = caught
    assert warning.filename == __file__  # that of the caller
    expected = made.report.expected
    assert expected and expected.is_slower and str(warning.message) == str(expected)
    assert re.search(r'`strategy="auto"` would keep them separate: registers \d+ -> \d+', str(expected))
    for text in (str(made), str(made.report), made.report.to_dict()["expected"]["sentence"]):
        assert text.startswith(str(expected)) and text.count("Estimated") == 1
    assert "<em>slower</em>" in made._repr_html_() and made.report.woven_fraction > 0.5


@pytest.mark.slow
def test_every_strategy_has_the_sentence() -> None:
    shapes = [Shape(1 << 16, 256)] * 2
    for strategy in ("weave", "vertical", "interleave", "horizontal", "auto"):
        made = goptx.fuse(GELU, LAYERNORM, strategy=strategy, shapes=shapes)
        assert made.report.expected, strategy
    assert (
        goptx.fuse(GELU, LAYERNORM, strategy="separate", shapes=shapes).report.expected is None
    )  # it is compared with
    alone_ = goptx.coarsen(GELU, 2, shape=shapes[0]).report.expected
    assert alone_ and "the kernel alone" in str(alone_)
    with unjudged():
        assert goptx.weave(GELU, GELU).report.expected is None


def test_the_sentence_of_a_choice_is_that_of_its_table() -> None:
    made = goptx.fuse(GELU, KERNELS / "stms.sm_90.ptx", strategy="auto", shapes=[Shape(1 << 20, 256)] * 2)
    assert made.report.decision and made.report.expected
    chosen = made.report.decision.chosen
    assert made.report.expected.gain == pytest.approx(chosen.gain, rel=0.03) and chosen.worst <= chosen.gain


# The command line -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_gain_may_be_required(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "both.ptx"
    files = [str(GEMM), str(LAYERNORM), "-o", str(output)]
    assert main(["weave", *files, "--require-gain"]) == 3
    assert not output.exists()
    error = capsys.readouterr().err
    assert error.startswith("NoGain: Estimated ") and "Nothing is written, because --require-gain is given." in error
    assert main(["weave", *files]) == 0 and output.exists()
    assert "warning: Estimated " in capsys.readouterr().err
    assert main(["weave", str(GELU), str(GELU), "-o", str(output), "--require-gain", "--report"]) == 0
    assert capsys.readouterr().err.startswith("Estimated ")


def test_assume_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "both.ptx")
    known = ["--assume", f"A:trips:{LOOP}=48", "--assume", "A:live_ctas=8192"]
    shaped = ["--shape", "A=1048576:256", "--shape", "B=1048576:256", "-o", output, "--report"]
    assert main(["weave", str(WMMA), str(GELU), *known, *shaped]) == 0
    assume: Any = {"A": {"trips": {LOOP: 48}, "live_ctas": 8192}}
    made = goptx.weave(WMMA, GELU, shapes=[Shape(1 << 20, 256)] * 2, assume=assume)
    assert capsys.readouterr().err.startswith(str(made.report.expected))
    assert main(["weave", str(WMMA), str(GELU), "--assume", "A:40=48"]) == 2
    assert "--assume A:40=48: write A:trips:40=48, for a loop of kernel A" in capsys.readouterr().err
    assert main(["weave", str(WMMA), str(GELU), "--assume", "A:live_ctas=4", "--assume", "A:live_ctas=5"]) == 2
    assert "--assume A:live_ctas=4 contradicts --assume A:live_ctas=5; give one of them" in capsys.readouterr().err
    assert main(["fuse", str(WMMA), str(GELU), "--strategy", "auto", "--assume", "A:trips:40=48"]) == 2
    assert "where none begins; loops begin in lines 86." in capsys.readouterr().err
