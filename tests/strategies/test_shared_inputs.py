"""Inputs that kernels have in common, woven and interleaved: compared with the kernels alone on the emulator."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from command_line import run
from strategies.dependent_kernels import elementwise, strided

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.numbering import free_number
from goptx.analysis.terminators import Jump, Stop
from goptx.analysis.values.footprint import UNKNOWN
from goptx.emulator.instructions.lanewise import Array
from goptx.errors import DependentKernels
from goptx.options import POLICIES, Policy
from goptx.ptx.ir import Immediate, Instruction, Name, Provenance
from goptx.results.given_kernels import kernels_of
from goptx.weaving.dependent.shared_buffers import as_one, buffers_of
from goptx.weaving.dependent.to_registers import internalised
from goptx.weaving.link.link import link
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.schedule.schedule import schedule_block

InCommonStrategy = Literal["weave", "interleave"]
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import shared_inputs  # noqa: E402
from shared_inputs import WAYS  # noqa: E402

EXAMPLES = ROOT / "examples" / "kernels"
HARRIS, STMS = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "stms"))
INPUTS, BOUND = ["A:0=B:0", "A:1=B:1"], ["A:3=B:3"]
ALL = [*INPUTS, *BOUND]
PIXELS = ["A:0=B:0", "A:1=B:1", "A:2=B:2", "A:5=B:5"]
N, GRID, BLOCK = 100, 4, 32


def loads(woven: goptx.Woven) -> int:
    return woven.ptx.count("ld.global")


def data(bounds: tuple[int, ...], lead: int = 0) -> list[list[Any]]:
    """x and y in common, an output of each kernel."""
    rng = np.random.default_rng(1)
    x, y = (rng.random(4 * N, dtype=np.float32) for _ in range(2))
    return [[x, y, np.zeros(4 * N, np.float32), n] for n in bounds]


def same_as_alone(sources: tuple[str, ...], bounds: tuple[int, ...] = (), **options: Any) -> goptx.Woven:
    """The woven kernel, after a test that it does what the kernels do alone, and that it assembles."""
    woven = goptx.weave(*sources, **options)
    alone, together = (data(bounds or (N,) * len(sources)) for _ in range(2))
    for source, own in zip(sources, alone, strict=True):
        goptx.emulate(source, GRID, BLOCK, own)
    for seed in range(2):
        goptx.emulate(woven, GRID, BLOCK, together, seed=seed)
        for one, other in zip(alone, together, strict=True):
            assert (bits(one[2]) == bits(other[2])).all()
    assert woven.resources().registers
    return woven


def bits(array: Array) -> Array:
    return array.view(np.uint32)


PAIR = elementwise("mul.f32"), elementwise("sub.f32")
LOOPS = strided("mul.f32"), strided("sub.f32")


# loaded once ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"divergence": "park"}, {"divergence": "predicate"}, {"divergence": "duplicate"}, {"slicing": None},
    *({"policy": policy} for policy in POLICIES[1:]), {"shapes": [Shape(GRID, BLOCK)] * 2},
], ids=str)  # fmt: skip
def test_equal_elements_are_loaded_once(options: Any) -> None:
    woven = same_as_alone(PAIR, same=ALL, **options)
    assert loads(woven) == 2
    assert loads(goptx.weave(*PAIR, **options)) == 4
    assert [p.instead is None for p in woven.params if p.kernel == "B"] == [False, False, True, False]
    assert "A:0 (x), B:0 (x): 1 loads of what was loaded before are left out" in woven.report.notes
    assert woven.report.woven_fraction > 0


def test_the_rest_is_interleaved() -> None:
    woven = goptx.weave(HARRIS, STMS, same=PIXELS)
    letters = "".join(o.kernel for o in woven.origins if o)
    assert loads(woven) == 3
    assert len(re.findall("AB", letters)) > 3
    assert woven.report.merged.instructions < goptx.weave(HARRIS, STMS).report.merged.instructions


def test_three_kernels() -> None:
    sources = (*PAIR, elementwise("add.f32"))
    pairs = [*ALL, *(f"A:{i}=C:{i}" for i in (0, 1, 3))]
    assert loads(same_as_alone(sources, same=pairs)) == 2
    assert loads(same_as_alone(sources, same=[*ALL, "A:0=C:0", "A:3=C:3"])) == 3


@pytest.mark.parametrize("policy", POLICIES)
def test_loops_of_equal_trip_counts_run_as_one(policy: Policy) -> None:
    woven = same_as_alone(LOOPS, same=ALL, policy=policy)
    assert loads(woven) == 2
    assert woven.ptx.count("bra") == 1


def test_three_loops_run_as_one() -> None:
    pairs = [f"A:{i}={k}:{i}" for k in "BC" for i in (0, 1, 3)]
    assert loads(same_as_alone((*LOOPS, strided("add.f32")), same=pairs)) == 2


@pytest.mark.slow
def test_loops_beside_other_kernels() -> None:
    pairs = [f"A:{i}={k}:{i}" for k in "BC" for i in (0, 1, 3)]
    sources = strided("mul.f32"), elementwise("sub.f32"), strided("add.f32")
    assert loads(same_as_alone(sources, same=pairs)) < loads(goptx.weave(*sources)) / 2
    for policy in POLICIES[1:]:
        same_as_alone(sources, same=pairs, policy=policy)


def test_vectors_and_the_read_only_path() -> None:
    def two(operation: str, load: str) -> str:
        text = elementwise(operation).replace("ld.global.f32 %f1", f"{load}.v2.f32 {{%f1, %f4}}")
        return text.replace("mul.wide.s32 %rd4, %r4, 4", "mul.wide.s32 %rd4, %r4, 8").replace(
            "st.global.f32 [%rd7], %f3;", "add.f32 %f3, %f3, %f4; st.global.f32 [%rd7], %f3;"
        )

    sources = two("mul.f32", "ld.global.nc"), two("sub.f32", "ld.global")
    assert loads(same_as_alone(sources, same=ALL)) == 2
    assert loads(same_as_alone((elementwise("mul.f32"), sources[1]), same=ALL)) == 4  # other elements, another width
    single = two("sub.f32", "ld.global").replace(".v2.f32 {%f1, %f4}", ".f32 %f1").replace("%f3, %f4", "%f3, %f1")
    assert loads(same_as_alone((sources[0], single), same=ALL)) == 3


def test_a_result_that_is_overwritten_was_copied_before() -> None:
    over = elementwise("mul.f32").replace("st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; mov.f32 %f1, %f3;")
    assert loads(same_as_alone((over, elementwise("sub.f32")), same=ALL, policy="concat")) == 2


def test_a_narrow_element_is_widened_as_each_kernel_loads_it() -> None:
    assert loads(goptx.weave(HARRIS, STMS, same=PIXELS)) == 3
    checked = goptx.check(HARRIS, STMS, same=PIXELS)
    assert checked.fault is None and not checked.differences, str(checked)


@pytest.mark.parametrize("factors", [(2, 2), (4, 4), (2, 1)])
def test_copies_of_coarsened_kernels_load_once(factors: tuple[int, int]) -> None:
    """Copies of one kernel load for the same copies of the other."""
    shape = Shape(8, 64)
    sources = [goptx.coarsen(s, f, shape=shape) if f > 1 else s for s, f in zip(PAIR, factors, strict=True)]
    woven = goptx.weave(*sources, same=ALL, shapes=[shape] * 2)
    assert (loads(woven) == loads(goptx.weave(*sources, shapes=[shape] * 2)) // 2) == (factors[0] == factors[1])
    alone, together = (data((N, N)) for _ in range(2))
    for source, own in zip(PAIR, alone, strict=True):
        goptx.emulate(source, 8, 64, own)
    goptx.emulate(woven, args=together, shapes=[shape] * 2)
    assert all((bits(a[2]) == bits(b[2])).all() for a, b in zip(alone, together, strict=True))


def test_auto_knows_of_shared_inputs() -> None:
    made = goptx.fuse(HARRIS, STMS, strategy="auto", same=PIXELS)
    assert made.strategy == "weave" and loads(made) == 3


# loaded by each ---------------------------------------------------------------------------------------


def noted(woven: goptx.Woven) -> bool:
    return any(n.startswith("A:0 (x), B:0 (x): each kernel loads it for itself") for n in woven.report.notes)


def test_bounds_that_may_differ() -> None:
    """The second kernel reads further than the first."""
    for bounds in ((N, N), (7, N), (N, 7), (0, N)):
        woven = same_as_alone(PAIR, bounds, same=INPUTS)
        assert loads(woven) == 4 and noted(woven)


@pytest.mark.parametrize("divergence", [None, "park", "predicate", "duplicate"])
def test_a_guard_that_the_other_kernel_lacks(divergence: Any) -> None:
    """The kernel that always loads may load for the other, if its load comes first."""
    always = elementwise("mul.f32", guard="")
    odd = elementwise("sub.f32", guard="and.b32 %r9, %r4, 1; setp.eq.s32 %p1, %r9, 1; @%p1 bra DONE;")
    woven = same_as_alone((odd, always), same=ALL, divergence=divergence)
    assert loads(woven) > 2 or divergence in ("park", "duplicate")
    assert loads(same_as_alone((always, odd), same=ALL, divergence=divergence)) <= (
        4 if divergence == "duplicate" else 2
    )


def test_other_elements() -> None:
    woven = same_as_alone((PAIR[0], elementwise("sub.f32", before="add.s32 %r9, %r4, 1;", read="%r9")), same=ALL)
    assert loads(woven) == 4 and noted(woven)


def test_loops_of_other_bounds_or_steps() -> None:
    assert loads(same_as_alone(LOOPS, (N, 30), same=INPUTS)) == loads(goptx.weave(*LOOPS))
    slow = strided("sub.f32", step="mov.u32 %r7, %r2;")
    assert loads(same_as_alone((LOOPS[0], slow), same=ALL)) == loads(goptx.weave(LOOPS[0], slow))


def test_a_load_that_stands_in_several_places() -> None:
    """Beside the other kernel, which loads the element, and after that has ended."""
    some = elementwise("mul.f32", guard="setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;")
    everywhere = elementwise("sub.f32", guard="")
    assert goptx.weave(some, everywhere, same=ALL).report.woven_fraction > 0
    same_as_alone((some, everywhere), same=ALL)


def test_a_source_whose_copies_load_other_elements() -> None:
    """The register holds what the last of them has loaded."""
    kernels = [elementwise(operation, guard="") for operation in ("mul.f32", "sub.f32")]
    linked = link(kernels_of(kernels, None))
    buffers = buffers_of(linked, {"same": INPUTS})
    linked = as_one(linked, buffers)
    flows = [kernel.flow for kernel in linked.kernels]
    first, second = (next(b.code for b in flow.blocks.values() if b.code) for flow in flows)
    place = next(i for i, c in enumerate(first) if "ld.global.f32 %a_f1" in str(c))
    step = Instruction(
        "add.s64", (Name("%a_rd5"), Name("%a_rd5"), Immediate("4")), provenance=Provenance(0, free_number(flows[0]))
    )
    for more, left_out in (((), 2), ((first[place],), 2), ((step, first[place]), 1)):
        code = (*first[: place + 1], *more, *first[place + 1 :])
        flow = Flow("one", {"one": Block((*code, *second), Jump(EXIT)), EXIT: Block((), Stop())})
        side = MergeInput(flow, frozenset(), False, merged=True, kernels=(0, 1), cycles=lambda code: 4)
        made = internalised(linked, side, flows, buffers, UNKNOWN)
        assert len(made.notes) == left_out


@pytest.mark.parametrize("load", ["ld.volatile.global.f32", "ld.relaxed.gpu.global.f32", "ld.acquire.gpu.global.f32"])
@pytest.mark.parametrize("first", [False, True])
def test_what_may_see_new_values_is_loaded_again(load: str, first: bool) -> None:
    sources = elementwise("mul.f32", load=load), elementwise("sub.f32")
    woven = same_as_alone(sources if first else sources[::-1], same=ALL)
    assert loads(woven) + woven.ptx.count(load) == (4 if "acquire" in load else 3)


@pytest.mark.parametrize("place", [0, 1])
def test_kernels_that_acquire_load_for_themselves(place: int) -> None:
    sources = list(PAIR)
    sources[place] = elementwise("add.f32", before="fence.acq_rel.gpu;")
    assert loads(same_as_alone((sources[0], sources[1]), same=ALL)) == 4


def test_loads_within_a_carry_chain_stay() -> None:
    """The chain moves as a whole: what it waits for might wait for it."""
    chain = "ld.global.f32 %f1, [%rd5];"
    text = elementwise("mul.f32").replace(chain, f"add.cc.u32 %r8, %r4, %r5; {chain} addc.u32 %r9, %r4, 0;")
    assert loads(same_as_alone((text, text.replace("mul.f32", "sub.f32")), same=ALL)) == 3


def test_a_kernel_may_write_beside_its_loads() -> None:
    """Between its two loads of one element that no other kernel loads."""
    again = elementwise("mul.f32").replace(
        "st.global.f32 [%rd7], %f3;", "st.global.f32 [%rd7], %f3; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd7], %f1;"
    )
    woven = same_as_alone((again, elementwise("sub.f32")), same=ALL)
    assert loads(woven) == 3


# refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["weave", "interleave"])
@pytest.mark.parametrize("pair", ["A:2=B:0", "A:0=B:2", "A:2=B:2"])
def test_a_buffer_that_a_kernel_writes(strategy: InCommonStrategy, pair: str) -> None:
    with pytest.raises(CannotWeave, match=(
        r"kernel [AB] .*`st.global.f32 .*` writes the buffer A:. .*, B:. .*, so the kernels depend on each other; "
        rf'strategy {strategy} takes independent kernels: use strategy="vertical" with depends=True'
    )):  # fmt: skip
        goptx.fuse(*PAIR, strategy=strategy, same=[pair], shapes=[Shape(GRID, BLOCK)] * 2)


@pytest.mark.parametrize("strategy", ["weave", "interleave"])
def test_parameters_that_do_not_exist(strategy: InCommonStrategy) -> None:
    with pytest.raises(InputError, match=r"same `A:9`: kernel A \(`k`\) has no such parameter"):
        goptx.fuse(*PAIR, strategy=strategy, same=["A:9=B:0"], shapes=[Shape(GRID, BLOCK)] * 2)


def test_arguments_have_to_be_equal_and_unwritten() -> None:
    woven = goptx.weave(*PAIR, same=ALL)
    x, y, one, other = (np.ones(N, np.float32) for _ in range(4))
    with pytest.raises(InputError, match=r"A:0 \(x\) and B:0 \(x\) are one parameter .* different arguments"):
        goptx.emulate(woven, GRID, BLOCK, [[x, y, one, N], [y, y, other, N]])
    with pytest.raises(DependentKernels, match=r"A:2 \(out\) is written, B:0 \(x\) is read"):
        goptx.emulate(woven, GRID, BLOCK, [[x, y, x, N], [x, y, other, N]])


# interleaved ------------------------------------------------------------------------------------------


def test_interleaved_kernels_have_parameters_in_common() -> None:
    shapes = [Shape(GRID, BLOCK)] * 2
    woven = goptx.fuse(*PAIR, strategy="interleave", same=ALL, shapes=shapes)
    assert loads(woven) == 4
    assert [p.instead is None for p in woven.params if p.kernel == "B"] == [False, False, True, False]
    assert any(n.startswith("A:0 (x), B:0 (x) are one parameter, and each kernel loads") for n in woven.report.notes)
    alone, together = (data((N, N)) for _ in range(2))
    for source, own in zip(PAIR, alone, strict=True):
        goptx.emulate(source, GRID, BLOCK, own)
    goptx.emulate(woven, args=together, shapes=shapes)
    assert all((bits(a[2]) == bits(b[2])).all() for a, b in zip(alone, together, strict=True))


# the order of instructions ----------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_forwarded_values_are_there_before_they_are_read(policy: Policy) -> None:
    """The second part forwards to the first, and gets its next value after the first has read the last."""
    one, two = Name("%one"), Name("%two")

    def move(result: Name, value: Any) -> Code:
        return Instruction("mov.u32", (result, value))

    first = [move(Name("%a1"), one), move(two, Name("%a1"))]
    second = [move(one, Immediate("1")), move(Name("%b1"), two), move(one, Immediate("2"))]
    stood = (second[0], first[0], first[1], second[1], second[2])
    places = ((1, 0), (0, 0), (0, 1), (1, 1), (1, 2))
    woven = schedule_block([first, second], (), policy, lambda code: 4, places)
    assert [woven.index(code) for code in stood[:4]] == [0, 1, 2, 3] or policy == "latency"
    order = [woven.index(code) for code in stood]
    assert order[0] < order[1] < order[2] < order[3] and order[1] < order[4]


# the command line -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["weave"], ["fuse", "--strategy", "weave"], ["check"]])
def test_flags(command: list[str], tmp_path: Path) -> None:
    flags = [word for pair in PIXELS for word in ("--same", pair)]
    done = run(*command, str(HARRIS), str(STMS), *flags, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    if "check" in command:
        assert "B:0 (stms_param_0)    int16[1000]    is A:0" in done.stdout
    else:
        assert done.stdout == goptx.weave(HARRIS, STMS, same=PIXELS).text()


# the benchmark ----------------------------------------------------------------------------------------


def test_the_candidates_of_the_benchmark() -> None:
    loaded = {name: shared_inputs.facts(shared_inputs.fused(**how), 256)["loads"] for name, how in WAYS.items()}
    assert loaded == {"separate": 6, "two streams": 6, "weave": 6, "weave, same": 3, "vertical, same": 3}


def test_the_benchmark_says_how_it_is_run() -> None:
    command = [sys.executable, "benchmarks/shared_inputs.py", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python benchmarks/shared_inputs.py" in done.stdout
