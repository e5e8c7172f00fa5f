"""Trip counts that follow from the shape of a launch and its scalar arguments, compared with what a thread does."""

from pathlib import Path
from typing import Any

import pytest
from bodies import flow

import goptx
from goptx import InputError, Shape
from goptx.analysis.loops.launch_trips import launch_trips
from goptx.analysis.loops.trips import trips_of_code
from goptx.analysis.numbering import completed, provenance_of
from goptx.analysis.values.thread_values import Elements
from goptx.cli.argument_values import assume
from goptx.cost.assumptions import NOTHING, Known, integers, known_of, with_arguments
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.cost.known_launches import known_launches
from goptx.latency.table import load_table
from goptx.launch.specification import find_specification
from goptx.results.given_kernels import kernels_of
from goptx.tuning.measured import measured
from goptx.tuning.space.pruning import Pruning

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
WMMA, GELU, SOFTMAX = (KERNELS / f"{name}.sm_90.ptx" for name in ("wmma", "gelu", "softmax"))
LOOP = 86  # the line of the head of WMMA's loop
SHAPE = Shape(6, 64)


def counted(body: str, shape: Shape = SHAPE, **arguments: int) -> float | None:
    """The count of the only loop, LOOP."""
    return launch_trips(flow(body), shape, arguments).get("LOOP")


def examined(path: Path, known: Known = NOTHING, shape: Shape | None = None) -> Alone:
    (kernel,) = kernels_of([path], least=1)
    return alone(kernel, machine_of("sm_90"), load_table(None, "sm_90"), known, shape)


# A single loop --------------------------------------------------------------------------------------------

LOAD = "ld.param.u32 %r9, [n];"
STEPS = """
{0} mov.u32 %r1, {1};
LOOP: add.s32 %r1, %r1, {2}; st.global.u32 [%rd1], %r1; setp.{3} %p1, %r1, %r9; @%p1 bra LOOP;
ret;
"""


@pytest.mark.parametrize(
    ("first", "step", "relation", "n", "trips"),
    [
        ("0", "1", "lt.s32", 48, 48),
        ("0", "4", "lt.s32", 49, 13),
        ("0", "1", "ne.s32", 1000, 1000),
        ("-7", "1", "ne.s32", 0, 7),
        ("1000000", "-3", "gt.s32", 10, 333330),
        ("0", "1", "lt.s32", 0, 1),  # the test is at the end
        ("5", "1", "le.u32", 4294967290, 4294967286),
    ],
)
def test_counters_go_from_a_number_to_an_argument(first: str, step: str, relation: str, n: int, trips: float) -> None:
    assert counted(STEPS.format(LOAD, first, step, relation), n=n) == trips


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (("ld.param.u32 %r9, [n];", "ld.global.u32 %r9, [%rd1];"), "a bound from memory"),
        (("add.s32 %r1, %r1, 1;", "@%p2 add.s32 %r1, %r1, 1;"), "a guarded step"),
        (("[n]", "[m]"), "an unknown argument"),
        (("st.global.u32 [%rd1], %r1;", "@%p2 bra OUT;"), "another exit, by an unknown predicate"),
        (("lt.s32", "lt.f32"), "floats"),
        (("add.s32 %r1, %r1, 1;", "mul.lo.s32 %r1, %r1, %r1;"), "a counter that never ends the loop"),
    ],
)
def test_what_numbers_do_not_decide_is_not_counted(change: tuple[str, str], name: str) -> None:
    body = STEPS.format(LOAD, "0", "1", "lt.s32").replace("ret;", "OUT: ret;")
    assert counted(body, n=20) == 20
    assert counted(body.replace(*change), n=20) is None, name


def test_a_test_at_the_head_counts_the_body() -> None:
    body = (
        f"{LOAD} mov.u32 %r1, 0;\nLOOP: setp.ge.s32 %p1, %r1, %r9; @%p1 bra OUT;\n"
        "add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; bra LOOP;\nOUT: ret;"
    )
    assert [counted(body, n=n) for n in (0, 1, 48)] == [0, 1, 48]


def test_a_counter_that_is_halved() -> None:
    body = (
        "mov.u32 %r1, %ntid.x;\nLOOP: shr.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; setp.gt.u32 %p1, %r1, 0; "
        "@%p1 bra LOOP; ret;"
    )
    assert counted(body, Shape(6, 256)) == 9


def test_a_grid_stride_loop() -> None:
    body = (
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;"
        "mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r3;"
        f"{LOAD} setp.ge.s32 %p2, %r1, %r9; @%p2 bra OUT;\n"
        "LOOP: st.global.u32 [%rd1], %r1; add.s32 %r1, %r1, %r6; setp.lt.s32 %p1, %r1, %r9; @%p1 bra LOOP;\nOUT: ret;"
    )
    for n, trips in ((64 * 6, 1), (64 * 6 * 10, 10), (64, 1), (0, 0)):
        assert counted(body, n=n) == trips  # of warps that have something to do


def test_the_longest_lane_counts() -> None:
    """Lane 31 of warps 0 and 1 of 2 runs 31 and 63 times."""
    body = STEPS.format("mov.u32 %r9, %tid.x;", "0", "1", "lt.s32")
    assert counted(body) == (31 + 63) / 2


def test_the_mean_over_the_grid() -> None:
    body = STEPS.format("mov.u32 %r9, %ctaid.x;", "0", "1", "lt.s32")
    assert 40 < (counted(body, Shape(101, 32)) or 0) < 60
    assert 950 < (counted(body, Shape((2048, 4), 32)) or 0) < 1100
    tiles = STEPS.format("mov.u32 %r8, %ctaid.x; and.b32 %r9, %r8, 31;", "0", "1", "lt.s32")  # along x, of each matrix
    assert 12 < (counted(tiles, Shape(2048, 32)) or 0) < 20
    most = STEPS.format("mov.u32 %r8, %ctaid.x; min.u32 %r9, %r8, 10;", "0", "1", "lt.s32")  # all but the first ones
    assert 8 < (counted(most, Shape(2048, 32)) or 0) < 10


def test_a_loop_that_is_branched_around() -> None:
    body = f"{LOAD} setp.lt.s32 %p3, %r9, 4; @%p3 bra OUT;\n" + STEPS.format("", "0", "4", "lt.s32")
    body = body.replace("ret;", "\nOUT: ret;")
    assert (counted(body, n=3), counted(body, n=9)) == (0, 3)


def test_an_inner_loop_of_a_counter_of_the_outer_one_is_not_counted() -> None:
    body = (
        f"{LOAD} mov.u32 %r2, 0;\nOUTER: add.s32 %r2, %r2, 1; mov.u32 %r1, {{}};\n"
        "LOOP: add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; setp.lt.s32 %p1, %r1, %r9; @%p1 bra LOOP;\n"
        "setp.lt.s32 %p2, %r2, %r9; @%p2 bra OUTER; ret;"
    )
    assert launch_trips(flow(body.format("0")), SHAPE, {"n": 7}) == {"OUTER": 7, "LOOP": 7}
    assert launch_trips(flow(body.format("%r2")), SHAPE, {"n": 7}) == {"OUTER": 7}


def test_nothing_is_counted_where_the_grid_is_unknown() -> None:
    assert counted(STEPS.format(LOAD, "0", "1", "lt.s32"), Shape(None, 64), n=5) is None


# What is given --------------------------------------------------------------------------------------------


def test_a_specification_tells_what_the_caller_would() -> None:
    """WMMA's loop runs k / 16 = 48 times, as its launch specification says."""
    launch = find_specification(WMMA, "wmma")
    assert launch is not None
    shape = Shape(launch.grid, launch.block, launch.shared)
    stated = examined(WMMA, Known({LOOP: 48.0}), shape)
    beside = WMMA.with_name("wmma.toml")
    for known in (Known(arguments={6: 768}), Known(specification=beside)):
        found = examined(WMMA, known, shape)
        assert found.loops == stated.loops and found.work == stated.work
    assert examined(WMMA, Known(specification=beside)).loops == stated.loops  # in the shape of the specification
    assert (
        examined(WMMA, Known({LOOP: 5.0}, specification=beside), shape).loops != stated.loops
    )  # the caller knows better
    assert examined(WMMA, Known(arguments={}), shape).loops == examined(WMMA).loops


def test_a_grid_that_is_smaller_than_its_data_counts() -> None:
    """Each CTA of 1,056 takes 62 or 63 of 65,536 rows, in blocks of 256 columns of 4,096."""
    found = examined(SOFTMAX, Known(specification=SOFTMAX.with_name("softmax.toml"))).loops
    assert examined(SOFTMAX).loops["$L__BB0_2"] == 1
    assert 62 < (found["$L__BB0_2"] or 0) < 63 and found["$L__BB0_4"] == found["$L__BB0_11"] == 16


def test_assume_takes_arguments_and_specifications() -> None:
    path = str(WMMA.with_name("wmma.toml"))
    assert known_of({"B": {"arguments": {6: 768}}}, 2) == [NOTHING, Known(arguments={6: 768})]
    assert known_of({"A": {"specification": path}}, 1) == [Known(specification=Path(path))]
    given = assume(["A:arguments:5=768", "A:arguments:3=-1", "B:specification=a=b.toml"])
    assert given == {"A": {"arguments": {5: 768, 3: -1}}, "B": {"specification": "a=b.toml"}}
    shapes = [Shape(1 << 19, 256)] * 2  # not what the specification beside it describes
    ignorant = goptx.weave(WMMA, GELU, shapes=shapes)
    knowing = goptx.weave(WMMA, GELU, shapes=shapes, assume={"A": {"specification": path}})
    stated = goptx.weave(WMMA, GELU, shapes=shapes, assume={"A": {"trips": {LOOP: 48}}})
    assert knowing.ptx == ignorant.ptx
    assert knowing.report.expected == stated.report.expected != ignorant.report.expected


def test_the_specification_beside_a_file_tells_of_the_launch_that_it_describes(tmp_path: Path) -> None:
    for name in (WMMA.name, "wmma.toml"):
        (tmp_path / name).write_bytes((KERNELS / name).read_bytes())
    beside, launch = tmp_path / "wmma.toml", find_specification(WMMA, "wmma")
    assert launch is not None
    shapes = [Shape(launch.grid, launch.block, launch.shared), Shape(1 << 20, 256)]

    def known(file: Path | str, **more: Any) -> list[Known]:
        return known_launches(more.pop("assume", None), kernels_of([file, GELU]), more.pop("shapes", shapes))

    assert known(WMMA)[0].arguments == integers(launch.arguments) == known(tmp_path / WMMA.name)[0].arguments
    assert known(WMMA)[0] != known(WMMA, assume={"A": {"arguments": {6: 5}}})[0] == Known(arguments={6: 5})
    sentence = str(goptx.weave(WMMA, GELU, shapes=shapes).report.expected)
    assert sentence.endswith(", sizes of A as in wmma.toml, sizes of B as in gelu.toml.")
    assert "sizes of" not in str(goptx.weave(WMMA, GELU, shapes=[Shape(4, 256)] * 2).report.expected)
    assert known(WMMA.read_text())[0] == known(WMMA, shapes=None)[0] == NOTHING
    assert known(WMMA, shapes=[Shape(launch.grid, 64), shapes[1]])[0] == NOTHING
    for text in ("[[kernel]", beside.read_text().replace('name = "k"', 'name = "k"\ntypo = 1')):
        beside.write_text(text)
        assert known(tmp_path / WMMA.name)[0] == NOTHING


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arguments": [4]}, "arguments are given by position"),
        ({"arguments": {"n": 4}}, "not the position of an integer parameter"),
        ({"arguments": {0: 0.5}}, "not the position of an integer parameter"),
        ({"specification": 3}, "specification=3 is not the path of a TOML file"),
        ({"specification": "a.toml", "arguments": {}}, "a specification has the arguments; leave one of the two out"),
        (
            {"specification": str(KERNELS / "gemm.toml")},
            r"kernel A \(gelu\).*does not describe its launch",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(GELU, WMMA, assume={"A": given})


def test_tune_and_suggest_know_from_specifications() -> None:
    what = measured([WMMA, GELU])
    knowing = Pruning.of(what.kernels, what.shapes, "sm_90", None, what.workload.arguments).judge
    stated = Pruning.of(what.kernels, what.shapes, "sm_90", {"A": {"arguments": {}, "trips": {LOOP: 48}}}).judge
    assert knowing and stated and knowing.kernels[0].loops == stated.kernels[0].loops
    beside = goptx.suggest([WMMA, GELU])[0]
    elsewhere = goptx.suggest([WMMA, GELU], shapes=what.shapes)[0]  # of which no specification is read
    assert beside != elsewhere


def test_trips_of_code_are_those_of_the_innermost_loop() -> None:
    """The outer loop steps by the size of the grid, the inner one ends by data."""
    nested = """
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
        OUTER: mov.u32 %r3, 0;
        INNER: ld.global.u32 %r4, [%rd1]; add.u32 %r3, %r3, %r4; setp.lt.u32 %p1, %r3, 99; @%p1 bra INNER;
        add.u32 %r1, %r1, %r2; setp.lt.u32 %p2, %r1, %r9; @%p2 bra OUTER; ret;
    """
    found = completed(flow(nested), 0)
    own = {str(code): trips_of_code(found, None).get(provenance_of(code)) for code in found.codes()}
    assert own["add.u32 %r1, %r1, %r2;"] == own["mov.u32 %r3, 0;"] == 1.0
    assert own["add.u32 %r3, %r3, %r4;"] is None
    assert own["mov.u32 %r1, %ctaid.x;"] is None


# What loops leave, and what arrays have --------------------------------------------------------------------

UNROLLED = """
    ld.param.u32 %r9, [n]; mov.u32 %r1, 0; and.b32 %r2, %r9, 3; setp.eq.s32 %p1, %r2, 0; @%p1 bra MAIN;
REST:
    add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; add.s32 %r2, %r2, -1; setp.ne.s32 %p2, %r2, 0; @%p2 bra REST;
MAIN:
    setp.lt.u32 %p3, %r9, 4; @%p3 bra OUT;
FOUR:
    st.global.u32 [%rd1], %r1; add.s32 %r1, %r1, 4; setp.lt.s32 %p4, %r1, %r9; @%p4 bra FOUR;
OUT:
    ret;
"""


@pytest.mark.parametrize("n", [0, 1, 3, 4, 8, 11, 4096, 4099])
def test_the_rest_and_then_four_at_a_time(n: int) -> None:
    """As compilers unroll loops: the second loop begins with the number that the first one leaves."""
    found = launch_trips(flow(UNROLLED), SHAPE, {"n": n})
    assert found == {"REST": n % 4, "FOUR": n // 4}


@pytest.mark.parametrize(
    "change",
    [
        ("add.s32 %r1, %r1, 1;", "ld.global.u32 %r1, [%rd1];"),
        ("add.s32 %r1, %r1, 1;", "add.s32 %r1, %r1, %r1;"),
        ("add.s32 %r1, %r1, 1;", "@%p2 add.s32 %r1, %r1, 1;"),
        ("add.s32 %r1, %r1, 1;", "add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1;"),
    ],
    ids=["loaded", "doubled", "guarded", "twice"],
)
def test_what_a_loop_leaves_is_unknown_unless_it_grows_evenly(change: tuple[str, str]) -> None:
    found = launch_trips(flow(UNROLLED.replace(*change)), SHAPE, {"n": 11})
    assert found == {"REST": 3}


def test_loops_that_decide_about_each_other_are_not_counted() -> None:
    """Two loops in one, of which the second decides about all three."""
    body = """
        OUTER: add.u32 %r1, %r1, %r2; FIRST: setp.lt.u32 %p1, %r2, %r1; @%p1 bra FIRST;
        SECOND: setp.lt.u32 %p1, %r2, %r1; @%p1 bra SECOND; @%p1 bra OUTER; ret;
    """
    assert launch_trips(flow(body), SHAPE, {}) == {}


def test_what_is_the_same_in_each_iteration_is_so_after_the_loop() -> None:
    same = UNROLLED.replace("add.s32 %r1, %r1, 1;", "mov.u32 %r1, 2;")
    assert launch_trips(flow(same), SHAPE, {"n": 11}) == {"REST": 3, "FOUR": 3}


LOADED = STEPS.format(
    "ld.param.u64 %rd2, [n]; cvta.to.global.u64 %rd3, %rd2; mov.u32 %r8, {0}; mul.wide.u32 %rd4, %r8, 4; "
    "add.s64 %rd5, %rd3, %rd4; ld.global.u32 %r9, [%rd5+4];",
    "0", "1", "lt.s32",
)  # fmt: skip


def test_elements_of_an_array_are_in_its_range() -> None:
    grid = Shape(4096, 32)

    def loaded(index: str, elements: Elements) -> float | None:
        return launch_trips(flow(LOADED.replace("{0}", index)), grid, {}, {"n": elements}).get("LOOP")

    assert loaded("%ctaid.x", Elements(7, 8)) == loaded("%tid.x", Elements(7, 8)) == 7
    assert 800 < (loaded("%ctaid.x", Elements(512, 2049)) or 0) < 1700
    assert (loaded("%tid.x", Elements(1, 33)) or 0) > (loaded("4", Elements(1, 33)) or 0) / 2
    assert launch_trips(flow(LOADED.replace("{0}", "4")), grid, {}) == {}
    beyond = LOADED.replace("{0}", "4").replace("add.s64 %rd5, %rd3, %rd4;", "sub.s64 %rd5, %rd4, %rd3;")
    assert launch_trips(flow(beyond), grid, {}, {"n": Elements(7, 8)}) == {}


def test_a_specification_has_the_range_of_integer_arrays() -> None:
    """Decode attention runs over 512 to 2,048 tokens, 64 at a time."""
    file = Path(__file__).parents[2] / "benchmarks" / "unseen" / "kernels" / "triton" / "decode_attention.sm_90a.ptx"
    launch = find_specification(file, "decode_attention")
    assert launch is not None
    known = with_arguments(NOTHING, launch.arguments)
    assert known.elements == {4: Elements(512, 2049)} and known.arguments is not None and known.arguments[6] == 2048
    (loop,) = examined(file, known, Shape(launch.grid, launch.block, launch.shared)).loops.values()
    assert loop is not None and 14 < loop < 26
    assert known_launches(None, kernels_of([file, GELU]), [Shape(launch.grid, launch.block), Shape(4, 256)])[0] == known
