"""The merge of the GoPTX paper: its text, what it refuses and warns of, and that each thread runs all kernels."""

import random
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from published import published

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Code, Flow
from goptx.analysis.sync.barriers import is_barrier
from goptx.analysis.terminators import Branch, Jump, Stop, Switch
from goptx.cli import main
from goptx.device.assemble import assemble, find_ptxas
from goptx.errors import CannotWeave, ConvergenceWarning, InputError
from goptx.latency.table import load_table
from goptx.options import Policy, Slicing
from goptx.ptx.flatten import as_written, flatten
from goptx.ptx.ir import Function, Instruction
from goptx.ptx.verify import verify
from goptx.results.fused_kernel import Woven
from goptx.weaving.merging import paper_merge
from goptx.weaving.schedule.schedule import greedy

Assembles = Callable[[Woven], None]
ROOT = Path(__file__).parents[2]
KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")


# The text -----------------------------------------------------------------------------------------------


def module(body: str, name: str = "k") -> str:
    begin = f"ld.param.u64 %rd1, [{name}_in]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 64;"
    return kernel(f"{begin}\n{body}\nst.global.u32 [%rd1], %r1; ret;", name)


def lines(woven: Woven) -> list[str]:
    return [line.strip() for line in woven.ptx.splitlines()]


def test_barriers_stay_as_they_are_but_for_clashing_ids(assembles: Assembles) -> None:
    woven = published(module("bar.sync 0; bar.sync 3;"), module("barrier.sync 5; bar.sync 0;", "other"))
    text = lines(woven)
    found = ["bar.sync 0;", "bar.sync 3;", "barrier.sync 5;", "bar.sync 1;"]  # the first kernel's come first
    assert [t for t in text if "sync" in t] == found
    assembles(woven)


def test_guarded_barriers_stay_guarded(assembles: Assembles) -> None:
    woven = published(module("@%p1 bar.sync 0;"), module("@!%p1 bar.red.popc.u32 %r2, 0, %p1;", "other"))
    text = lines(woven)
    assert text.index("@%a_p1 bar.sync 0;") < text.index("@!%b_p1 bar.red.popc.u32 %b_r2, 1, %b_p1;")
    assembles(woven)


def test_a_returning_kernel_leaves_the_barrier_to_copies(assembles: Assembles) -> None:
    """Lanes of the first that return and lanes that go on meet the second's barrier in two blocks."""
    work = "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4]; ld.global.u32 %r4, [%rd1+8];"
    woven = published(module("@%p1 ret; add.u32 %r1, %r1, 1;"), module(f"{work} bar.sync 0;", "other"))
    assert lines(woven).count("bar.sync 0;") == 2
    assembles(woven)


def test_the_second_kernels_shuffle_waits_for_the_firsts_barrier() -> None:
    """The greedy alone would put the long shuffle first; pairs are woven each by itself."""
    woven = published(
        module("add.u32 %r2, %r1, 1; add.u32 %r2, %r2, 1; bar.sync 0;"),
        module("shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;", "other"),
    )
    text = lines(woven)
    assert text.index("bar.sync 0;") < text.index("shfl.sync.idx.b32 %b_r1, %b_r1, 0, 31, -1;")


def test_uniform_branches_are_not_taken_for_uniform() -> None:
    body = "@%p1 bra.uni ON; add.u32 %r1, %r1, 1;\nON:"
    woven = published(module(body), module("add.u32 %r1, %r1, 1;", "other"))
    assert [t for t in lines(woven) if re.match(r"@.*bra", t)]
    assert not [t for t in lines(woven) if re.match(r"@.*bra\.uni", t)]


def test_the_report_says_what_it_is() -> None:
    report = published(module(""), module("", "other")).report
    assert (report.policy, report.slicing) == ("paper", "adaptive")
    assert [note for note in report.notes if note.startswith('merge="paper" does not keep convergence')]
    assert not any("several copies:" in note for note in report.notes)


def test_the_report_names_what_stands_in_several_copies() -> None:
    """Where the first returns, the second goes on alone; where it does not, a barrier stands beside each slice."""
    first, other = module("@%p1 ret;" + "add.u32 %r1, %r1, 1;" * 20), module("bar.sync 0;\n" * 10, "other")
    notes = published(first, other, slicing=4).report.notes
    line = 1 + other[: other.index("bar.sync")].count("\n")
    message = ", ".join(f"B:{line + i} (2)" for i in range(8))
    assert f"barriers and warp instructions in several copies: {message}, and 2 more" in notes


@pytest.mark.slow
@pytest.mark.parametrize("policy", [None, "latency", "paper", "concat"])
@pytest.mark.parametrize("slicing", [None, "adaptive", 40])
def test_policies_and_slicings(policy: Policy | None, slicing: Slicing) -> None:
    report = published(source("gelu"), source("lud"), policy=policy, slicing=slicing).report
    assert (report.policy, report.slicing) == (policy or "paper", slicing)


def test_it_is_chosen_by_fuse_and_check_too() -> None:
    with pytest.warns(ConvergenceWarning, match='try it with goptx.check, or use merge="safe".'):
        woven = goptx.fuse(source("gelu"), source("lud"), merge="paper")
    assert woven.ptx == pair("gelu", "lud").ptx
    assert woven.strategy == "weave"
    with pytest.raises(InputError, match="strategy auto has no option `merge`; it is one of weave"):
        goptx.fuse(source("gelu"), source("lud"), strategy="auto", merge="paper")  # type: ignore[call-overload]


def test_nothing_chooses_it_by_itself() -> None:
    """Neither `auto` nor `tune`; what is woven by the safe merge says nothing of it."""
    for path in (ROOT / "goptx").rglob("*.py"):
        if path.name not in ("weave.py", "paper_merge.py", "dummy_blocks.py", "request.py", "flags.py", "errors.py"):
            text = path.read_text(encoding="utf-8")
            assert 'merge="paper"' not in text and "merge_as_published" not in text, path
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        woven = goptx.weave(source("gelu"), source("lud"), policy="paper")
    assert not any("convergence" in note for note in woven.report.notes)


SHAPE = goptx.Shape(4, 64)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge": "best"}, "merge `best` is unknown; expected one of safe, paper."),
        ({"divergence": "park"}, 'merge="paper" does not take `divergence`: the published merge has no such choice'),
        ({"placement": "front"}, 'merge="paper" does not take `placement`'),
        ({"max_blocks": 9}, 'merge="paper" does not take `max_blocks`'),
        ({"max_growth": 2.0}, 'merge="paper" does not take `max_growth`'),
        ({"presume": False}, 'does not take `presume`: .*; leave `presume` out, or use merge="safe".'),
        ({"policy": "best"}, "policy `best` is unknown"),
    ],
)
def test_options_that_it_does_not_have(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.weave(module(""), module("", "other"), **{"merge": "paper", **options})


@pytest.mark.parametrize(
    "other", [goptx.Shape(4, 40), goptx.Shape(4, 128), goptx.Shape(2, 64), goptx.Shape(None, 64), goptx.Shape(4, None)]
)
def test_kernels_of_different_shapes_are_refused(other: goptx.Shape) -> None:
    kernels = [module(""), module("", "other")]
    message = "k.*the published merge takes kernels that are launched in one shape, and theirs are .*; use merge="
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(*kernels, shapes=[SHAPE, other], merge="paper")


def test_kernels_of_one_shape_may_say_it() -> None:
    """Their dynamic shared memory may differ."""
    woven = published(module("bar.sync 0;"), module("bar.sync 0;", "other"), shapes=[SHAPE, goptx.Shape(4, 64, 512)])
    assert woven.shape == goptx.Shape(4, 64, 512)


def test_coarsened_kernels_are_refused() -> None:
    coarse = goptx.coarsen(module(""), 2)
    with pytest.raises(CannotWeave, match="the published merge does not take coarsened kernels; use merge="):
        goptx.weave(coarse, module("", "other"), merge="paper")


def test_stacks_are_refused_as_by_the_safe_merge() -> None:
    body = ".reg .u64 %s; stacksave.u64 %s; stackrestore.u64 %s;"
    other = ".reg .u64 %s; alloca.u64 %s, 16;"
    kernels = [module(body).replace("8.0", "8.1"), module(other, "other").replace("8.0", "8.1")]
    with pytest.raises(CannotWeave, match="would free what another kernel has taken"):
        goptx.weave(*kernels, merge="paper")


def test_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_merge, "MOST_PAIRS", 5)
    body = "@%p1 bra ON; add.u32 %r1, %r1, 1;\nON:"
    message = (
        r"kernel B \(`other`\): the published merge would go through 16 pairs of blocks, more than 5; use slicing=None"
    )
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(module(body), module(body, "other"), merge="paper", slicing=None)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The warning comes after the report, which has it as a note."""
    files = [str(source("gelu")), str(source("lud"))]
    for command in (["weave"], ["fuse", "--strategy", "weave"]):
        out = tmp_path / "out.ptx"
        assert main([*command, *files, "--merge", "paper", "-o", str(out), "--report"]) == 0
        assert out.read_text() == pair("gelu", "lud").text()
        lines = capsys.readouterr().err.splitlines()
        message = 'merge="paper" does not keep convergence: where lanes of a warp diverge'
        assert lines[-1].startswith(f"warning: {message}")
        assert [line for line in lines if line.startswith(f"note: {message}")]
    assert main(["weave", *files, "--merge", "paper", "--policy", "concat", "--slicing", "none"]) == 0
    assert capsys.readouterr().out == published(*map(Path, files), policy="concat", slicing=None).text()
    assert main(["weave", *files, "--merge", "best"]) == 2
    assert capsys.readouterr().err.startswith("InputError: merge `best` is unknown")
    assert main(["coarsen", files[0], "--merge", "paper"]) == 2


# More than two kernels ----------------------------------------------------------------------------------


def test_the_result_is_merged_with_the_next() -> None:
    """The second waits for the first's sync code, the third for that of both."""
    bodies = {
        name: f"add.u32 %r1, %r1, {i}; bar.sync 0; add.u32 %r2, %r1, 1;" for i, name in enumerate(("k", "l", "m"))
    }
    woven = published(*(module(body, name) for name, body in bodies.items()))
    found = [line for line in lines(woven) if line.startswith("bar.sync")]
    assert found == ["bar.sync 0;", "bar.sync 1;", "bar.sync 2;"]
    assert list(woven.report.kernels) == ["A", "B", "C"]
    assert woven.report.merged.dummy_blocks > 0


def test_the_woven_pair_is_one_list_for_the_next() -> None:
    """A and B are woven first; C then shares the issue slots with both of them as with one kernel."""
    sources = [module("add.u32 %r1, %r1, 1; " * 8, name) for name in ("k", "l", "m")]
    units = [[(c,) for c in flow_of(found).instructions()] for found in (
        published(*sources[:2], slicing=None).module.entries[0], goptx.read(sources[2]).entries[0]
    )]  # fmt: skip
    cycles = load_table("sm_80", "sm_80").cycles_of
    expected = greedy(units, lambda unit: cycles(unit[0]))  # type: ignore[arg-type]
    woven = flow_of(published(*sources, slicing=None).module.entries[0])
    assert [owner(c) or "c" for c in expected if isinstance(c, Instruction)] == [owner(c) for c in woven.instructions()]


@pytest.mark.parametrize("names", [("gelu", "lud", "sort"), ("stms", "gelu", "stms"), ("harris", "wmma", "lud")])
def test_each_thread_runs_all_three(names: tuple[str, str, str]) -> None:
    flow = flow_of(published(*map(source, names)).module.entries[0])
    for letter, name in zip("abc", names, strict=True):
        for seed in range(3):
            ran = [shape(c, letter) for c in walk(flow, seed, 1500) if owner(c) == letter]
            own = [c for c in walk(flow_of(alone(name)), seed, 1500, letter) if re.search(r"%[a-z]+\d", str(c))]
            expected = [shape(c, "") for c in own]
            least = min(len(ran), len(expected))
            assert least > 5 and ran[:least] == expected[:least]


# Suite A ------------------------------------------------------------------------------------------------


def source(name: str, arch: str = "sm_90") -> Path:
    return ROOT / "examples" / "kernels" / f"{name}.{arch}.ptx"


@cache
def pair(first: str, other: str, arch: str = "sm_90") -> Woven:
    return published(source(first, arch), source(other, arch))


@cache
def alone(name: str) -> Function:
    return goptx.read(source(name)).entries[0]


def flow_of(entry: Function) -> Flow:
    return control_flow(flatten(entry.body or (), lambda n: n))


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("first", KERNELS)
def test_every_pair_assembles(first: str) -> None:
    for other in KERNELS:
        woven = pair(first, other)
        assert verify(woven.module) is woven.module
        assert assemble(woven.ptx, entry=woven.name).arch == "sm_90"


@pytest.mark.parametrize(("first", "other"), list(product(KERNELS, KERNELS)))
def test_each_thread_runs_both_kernels(first: str, other: str) -> None:
    """Whatever the branches say, the instructions of each kernel come as they would in the kernel alone."""
    woven = flow_of(pair(first, other).module.entries[0])
    flows = {"a": flow_of(alone(first)), "b": flow_of(alone(other))}
    waits = [k for k, flow in flows.items() if any(is_barrier(c) for b in flow.blocks.values() for c in b.code)]
    for seed in range(6):
        ran: dict[str, list[str]] = {"a": [], "b": []}
        for code in walk(woven, seed, 400):
            letter = owner(code) or waits[int(str(code.operands[0]))]  # barriers: ids are 0, then 1
            ran[letter].append(shape(code, letter))
        for letter, flow in flows.items():
            expected = [shape(c, "") for c in walk(flow, seed, 400, letter)]
            assert ran[letter] == expected[: len(ran[letter])]
            assert ran[letter]


def walk(flow: Flow, seed: int, steps: int, letter: str = "") -> Iterator[Instruction]:
    """One thread's way; the k-th answer that a kernel's branches get depends on kernel, k and `seed` only."""
    answers = {k: random.Random(f"{seed}{k}") for k in "abc"}
    name = flow.entry
    for _ in range(steps):
        block = flow.blocks[name]
        yield from (c for c in block.code if isinstance(c, Instruction))
        match block.end:
            case Stop():
                return
            case Jump(target):
                name = target
            case Branch(guard, taken, fallen):
                truth = answers[letter or guard.predicate.text[1]].random() < 0.5
                name = taken if truth != guard.negated else fallen
            case Switch(index, targets):
                name = answers[letter or str(index)[1]].choice(targets)


def owner(code: Instruction) -> str:
    return "".join(set(re.findall(r"(?<=%)[abc](?=_)", str(code))))


def shape(code: Code, letter: str) -> str:
    """The instruction without what linking renames: prefixes, parameters and barrier ids."""
    written = as_written(code, letter) if letter else str(code)
    return re.sub(r"\w+_param_\d+|(?<=bar\.sync )\d+", "_", written)


def barrier_blocks(flow: Flow, start: str) -> frozenset[str]:
    """The blocks whose barrier comes first on the paths from `start`."""
    met, seen, stack = set(), {start}, [start]
    while stack:
        name = stack.pop()
        block = flow.blocks[name]
        if any(map(is_barrier, block.code)):
            met.add(name)
            continue
        following = [t for t in block.end.successors() if t not in seen]
        seen.update(following)
        stack += following
    return frozenset(met)


@pytest.mark.parametrize(
    ("first", "other", "diverging"),
    [("lud", "micnd", "b"), ("micnd", "lud", "a"), ("micnd", "sort", "a"), ("sort", "micnd", "b")],
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_diverging_lanes_meet_barriers_in_copies(first: str, other: str, diverging: str, arch: str) -> None:
    """Pairs that hang on an H200, by how blocks are sliced: MICND diverges within warps, and each way has its own
    aligned barrier."""
    flow = flow_of(pair(first, other, arch).module.entries[0])
    copies = [n for n, b in flow.blocks.items() if any(str(c) == "bar.sync 0;" for c in b.code)]
    written = next(n for n in (first, other) if n != "micnd")
    assert len(copies) > len(re.findall(r"bar\.sync", source(written, arch).read_text()))
    parted = [
        b.end
        for b in flow.blocks.values()
        if isinstance(b.end, Branch)
        and b.end.guard.predicate.text.startswith(f"%{diverging}_")
        and not b.end.uniform
        and not (both := [barrier_blocks(flow, t) for t in b.end.successors()])[0] & both[1]
        and all(both)
    ]
    assert parted
    assert "barrier.sync" not in pair(first, other, arch).ptx
