"""More than two kernels: what is merged is merged again. And a woven kernel as one of the kernels."""

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import pytest
from bodies import HEAD, kernel
from weaving import divergent_kernels, waiting_kernels

import goptx
from goptx import InputError, Shape
from goptx.cli import main
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
PARTING, WAITING = goptx.read(divergent_kernels.text().encode()), goptx.read(waiting_kernels.text())
MODULES = {e.name: module for module in (PARTING, WAITING) for e in module.entries}
NOT_TO_BE_WOVEN = {*waiting_kernels.NOT_EMULATED, "register_ids", "barrier_by_thread", "vote_in_a_loop_left_by_returns"}
NAMES = [n for n in (*divergent_kernels.KERNELS, *waiting_kernels.KERNELS) if n not in NOT_TO_BE_WOVEN]
CTAS, BLOCK = 2, 128
ROOT = Path(__file__).parents[2]


def data(k: int) -> list[int]:
    return [int(v) for v in np.random.default_rng(k).integers(0, 1024, 200)]


@cache
def alone(name: str, k: int) -> list[int]:
    out = np.full(CTAS * BLOCK, -1, np.int32)
    goptx.emulate(MODULES[name], CTAS, BLOCK, [np.array(data(k), np.int32), out, 200], entry=name, races=True)
    return [int(v) for v in out]


def woven_of(names: Sequence[str], **options: object) -> Woven:
    return goptx.weave(*(MODULES[n] for n in names), entries=names, **options)  # type: ignore[arg-type]


def same(woven: Woven, names: Sequence[str]) -> None:
    """Each kernel leaves what it leaves alone, on data of its own, in two orders of the warps."""
    for order in (0, 3):
        outs = [np.full(CTAS * BLOCK, -1, np.int32) for _ in names]
        values = [[np.array(data(k), np.int32), out, 200] for k, out in enumerate(outs)]
        goptx.emulate(woven, CTAS, BLOCK, values, races=True, seed=order)
        assert [out.tolist() for out in outs] == [alone(n, k) for k, n in enumerate(names)], order


def code(woven: Woven) -> list[Instruction]:
    return [s for s in woven.module.entries[0].body or () if isinstance(s, Instruction)]


def barriers(woven: Woven) -> list[str]:
    return [str(i) for i in code(woven) if facts_of(i.opcode).barrier]


CHOSEN = ("producers_by_data", "bulk_copies", "bulk_store")  # of which two split warps


@pytest.mark.slow
@pytest.mark.parametrize("names", [CHOSEN, *random.Random(1).sample(list(combinations(NAMES, 3)), 60)], ids="-".join)
def test_three_kernels(names: Sequence[str]) -> None:
    same(woven_of(names), names)


@pytest.mark.slow
@pytest.mark.parametrize("names", random.Random(2).sample(list(combinations(NAMES, 5)), 6), ids="-".join)
def test_five_kernels(names: Sequence[str]) -> None:
    same(woven_of(names), names)


@pytest.mark.parametrize(
    "options", [{"policy": "paper"}, {"policy": "concat"}, {"slicing": None}, {"slicing": 40}], ids=str
)
@pytest.mark.parametrize(
    "names", [("tiled", "reductions", "shuffles"), ("returns_in_loop", "tiled", "partial_masks")], ids="-".join
)
def test_every_policy_and_slicing(names: Sequence[str], options: dict[str, object]) -> None:
    same(woven_of(names, **options), names)


@pytest.mark.parametrize("divergence", ["park", "predicate", "duplicate"])
def test_each_choice_for_divergent_lanes(divergence: str) -> None:
    """A region of one kernel, on whose sides stands the code of two others."""
    names = "switch_by_lane", "shuffles", "tiled"
    woven = woven_of(names, divergence=divergence)
    same(woven, names)
    assert {d.choice for d in woven.report.divergences if d.kernel == "A"} == {divergence}


def test_one_kernel_several_times(assembles: Assembles) -> None:
    names = ("tiled",) * 4
    woven = woven_of(names)
    assert [p.kernel for p in woven.params] == [letter for letter in "ABCD" for _ in range(3)]
    same(woven, names)
    assembles(woven)


SYNC = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [k_out]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
    bar.sync 0; st.global.u32 [%rd1], %r1; ret;
"""


def test_one_barrier_for_all_that_stand_at_one_place() -> None:
    assert barriers(goptx.weave(*[kernel(SYNC)] * 3)) == ["bar.sync 0;"]
    separate = barriers(goptx.weave(*[kernel(SYNC)] * 3, policy="paper"))
    assert sorted(separate) == ["bar.sync 0;", "bar.sync 1;", "bar.sync 2;"]


def test_two_barriers_of_one_kernel_stay_two() -> None:
    twice = f"bar.sync 0; bar.sync 0; {SYNC.replace('bar.sync 0;', '')}"
    assert barriers(goptx.weave(*[kernel(twice)] * 3, slicing=None)) == ["bar.sync 0;"] * 2


def test_at_most_one_of_the_barriers_gives_a_result() -> None:
    reduction = SYNC.replace("bar.sync 0;", "setp.eq.u32 %p1, %r1, 3; bar.red.popc.u32 %r1, 0, %p1;")
    found = barriers(goptx.weave(kernel(reduction), kernel(SYNC), kernel(reduction), kernel(SYNC)))
    assert len(found) == 2 and all(b.startswith("bar.red") for b in found)


def test_barriers_run_out() -> None:
    with pytest.raises(goptx.CannotWeave, match=r"kernel Q .*together the kernels need more than 16 barriers"):
        goptx.weave(*[kernel(SYNC)] * 17)


def test_the_report_covers_all() -> None:
    names = "tiled", "shuffles", "grid_stride"
    report = woven_of(names).report
    assert list(report.kernels) == ["A", "B", "C"]
    assert [c.name for c in report.kernels.values()] == list(names)
    assert report.merged.name == "tiled_shuffles_grid_stride_woven"
    assert report.woven_fraction == 1.0  # of the smallest kernel


def test_each_instruction_has_its_kernel() -> None:
    names = "tiled", "shuffles", "grid_stride"
    woven = woven_of(names)
    letters = {o.kernel for o in woven.origins if o}
    assert letters == {"A", "B", "C"}
    for instruction, origin in zip(code(woven), woven.origins, strict=True):
        for prefix in re.findall(r"%([abc])_", str(instruction)):
            assert origin and origin.kernel == prefix.upper()


@pytest.mark.slow
def test_limits_hold_for_all_of_them() -> None:
    names = "producers_and_consumers", "mbarrier_pipeline", "returns_in_loop"
    free = woven_of(names)
    narrow = woven_of(names, max_growth=1.1)
    sizes = sum(c.instructions for c in free.report.kernels.values())
    assert narrow.report.merged.instructions <= 1.1 * sizes + 1 and free.report.merged.instructions <= 3 * sizes
    assert any("max_growth=" in note for note in narrow.report.notes)
    same(narrow, names)


@pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction")
@pytest.mark.parametrize("position", range(3))
def test_unknown_instructions_run_after_all_others(position: int) -> None:
    texts = [kernel(SYNC)] * 2
    texts.insert(position, kernel(SYNC.replace("bar.sync 0;", "novel.op.b32 %r1, %r1;")))  # one block, as the others
    woven = goptx.weave(*texts)
    found = code(woven)
    (novel,) = [i for i, instruction in enumerate(found) if instruction.opcode == "novel.op.b32"]
    assert {o.kernel for o in woven.origins[novel:] if o} == {"ABC"[position]}


# Warps that a kernel lacks ----------------------------------------------------------------------------

WORK = ("ld.global.u32 %r3, [%rd1]; add.u32 %r2, %r2, %r3;", "mad.lo.u32 %r2, %r2, 3, 1;", "div.u32 %r2, %r2, 3;")


def with_barriers(name: str, drawn: random.Random) -> str:
    """Pieces of code and loops with barriers; the sum ends in `buffer`."""
    body = ""
    for i in range(drawn.randrange(1, 5)):
        work = "".join(drawn.choice(WORK) for _ in range(drawn.randrange(6)))
        if drawn.random() < 0.4:
            barrier = drawn.choice(["bar.sync 0;", "bar.sync 0;", ""])
            body += f"""mov.u32 %r7, 0; L{i}: {work} {barrier} add.u32 %r7, %r7, 1;
                setp.lt.u32 %p1, %r7, {drawn.randrange(2, 4)}; @%p1 bra L{i};"""
        else:
            body += f"{work} bar.sync 0;"
    return f"""{HEAD}.visible .entry {name}(.param .u64 buffer)
    {{
        .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [buffer]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
        mov.u32 %r2, 1; {body} st.global.u32 [%rd1], %r2; ret;
    }}
    """


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_warps_that_skip_a_kernel_keep_the_order_of_barriers(seed: int) -> None:
    """What is merged of two kernels has barriers of fewer warps; beside a third one's these come in one order, for the
    warps that pass one of them by too."""
    drawn = random.Random(seed)
    blocks = drawn.sample([32, 64, 96], 3)
    texts = [with_barriers(name, drawn) for name in "xyz"]
    woven = goptx.weave(*texts, shapes=[Shape(1, b) for b in blocks])
    one = [[np.arange(b, dtype=np.uint32)] for b in blocks]
    for text, values, block in zip(texts, one, blocks, strict=True):
        goptx.emulate(text, 1, block, values)
    for order in (0, 5):
        together = [[np.arange(b, dtype=np.uint32)] for b in blocks]
        goptx.emulate(woven, args=together, seed=order, max_steps=20_000)
        assert [v.tolist() for (v,) in together] == [v.tolist() for (v,) in one]


# A woven kernel among the kernels -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_woven_kernel_counts_as_its_kernels() -> None:
    names = "tiled", "shuffles", "grid_stride", "returns_in_loop"
    inner = woven_of(names[:2], policy="paper")
    outer = goptx.weave(inner, *(MODULES[n] for n in names[2:]), entries=[None, *names[2:]], name="all")
    assert outer.ptx == woven_of(names, name="all").ptx
    assert goptx.weave(inner, woven_of(names[2:]), name="all").ptx == outer.ptx
    assert goptx.weave(inner, policy="paper").ptx == inner.ptx


@pytest.mark.parametrize(
    "names",
    [("tiled", "shuffles", "grid_stride"), ("switch_by_lane", "reductions", "returns_in_loop"),
     ("mbarrier_pipeline", "tiled", "shuffles"), ("partial_masks", "producers_and_consumers", "tiled")],
    ids="-".join,
)  # fmt: skip
def test_the_text_of_a_woven_kernel_is_a_kernel(names: Sequence[str], assembles: Assembles) -> None:
    inner = woven_of(names[:2])
    outer = goptx.weave(inner.ptx, MODULES[names[2]], entries=[None, names[2]])
    assert [p.kernel for p in outer.params] == ["A"] * 6 + ["B"] * 3
    assembles(outer)
    outs = [np.full(CTAS * BLOCK, -1, np.int32) for _ in names]
    first, second, third = ([np.array(data(k), np.int32), out, 200] for k, out in enumerate(outs))
    goptx.emulate(outer, CTAS, BLOCK, [[*first, *second], third], races=True, independent=True)
    assert [out.tolist() for out in outs] == [alone(n, k) for k, n in enumerate(names)]


def test_shapes_of_a_woven_kernel() -> None:
    texts = [with_barriers(name, random.Random(4)) for name in "xyz"]
    shapes = [Shape(2, 64), Shape(1, 32), Shape(3, 96)]
    inner = goptx.weave(*texts[:2], shapes=shapes[:2])
    assert goptx.weave(inner, texts[2], shapes=shapes).ptx == goptx.weave(*texts, shapes=shapes).ptx
    assert goptx.weave(inner, placement="front").plan.shapes == tuple(shapes[:2])  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"woven again by shapes= for each of the 3 kernels"):
        goptx.weave(inner, texts[2])
    with pytest.raises(InputError, match=r"shapes= takes a goptx.Shape for each of the 3 kernels"):
        goptx.weave(inner, texts[2], shapes=shapes[:2])
    with pytest.raises(InputError, match=r"entries= names `x` of the woven kernel `x_y_woven`; give None there"):
        goptx.weave(inner, texts[2], entries=["x", None], shapes=shapes)


def test_a_woven_kernel_is_checked_with_another() -> None:
    paths = [ROOT / f"examples/kernels/{name}.sm_90.ptx" for name in ("harris", "sort", "stms")]
    assert goptx.check(goptx.weave(*paths[:2]), paths[2]).passed


# How it is asked for ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 27])
def test_wrong_numbers_of_kernels(count: int) -> None:
    with pytest.raises(InputError, match=rf"weave\(\) takes two to 26 kernels, got {count}"):
        goptx.weave(*[kernel(SYNC)] * count)


def test_as_many_as_there_are_letters() -> None:
    woven = goptx.weave(*[kernel(SYNC.replace("bar.sync 0;", ""))] * 26)
    assert list(woven.report.kernels) == list(ascii_uppercase)
    assert woven.report.merged.blocks == 1


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for i in range(3):
        paths.append(str(tmp_path / f"{i}.ptx"))
        Path(paths[-1]).write_text(kernel(SYNC, "k"))
    assert main(["weave", *paths, "-o", str(tmp_path / "all.ptx"), "--report"]) == 0
    assert len(goptx.read(tmp_path / "all.ptx").entries[0].parameters) == 9
    arrays = [word for letter in "ABC" for word in ("--arg", f"{letter}:1=u64[96]")]
    assert main(["check", *paths, *arrays, "--block", "64"]) == 0
    assert "does what its kernels do alone" in capsys.readouterr().out
    assert main(["check", *paths, *arrays, "--shape", "A=4:64", "--shape", "B=1:32", "--shape", "C=5:96"]) == 0
