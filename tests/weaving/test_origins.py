"""Where each instruction of a woven kernel comes from: kernel, file and line."""

import re
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from bodies import kernel
from published import published
from weaving.shaped_kernels import KERNELS as KERNELS_OF_SHAPES

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Flow
from goptx.analysis.terminators import Branch, Switch
from goptx.options import Strategy
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Instruction, Module, Provenance
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Origin, Woven
from goptx.weaving.emit.reconverge import RECONVERGE

ROOT = Path(__file__).parents[2]
KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
CONSTRUCTS = ROOT / "tests" / "constructs" / "constructs.sm_80.ptx"
NAMES = [e.name for e in goptx.read(CONSTRUCTS).entries]
INSERTED = {"and.pred", "or.pred", "not.pred", "mov.pred", "and.b32", "vote.sync.any.pred", "vote.sync.ballot.b32"}
BRANCHES = {"bra", "brx", "ret", "exit"}  # a branch of the fused kernel may stand for any of these under a guard

Rows = list[tuple[Instruction, Origin | None]]


@cache
def module(path: Path) -> Module:
    return goptx.read(path)


@cache
def opcodes(path: str) -> list[list[str]]:
    """What each line holds, guards left out."""
    statement = re.compile(r"(?:^|[;{])\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)")
    return [statement.findall(text) for text in Path(path).read_text().splitlines()]


def instructions(found: Module) -> list[Instruction]:
    (entry,) = found.entries
    return [s for s in statements_in(entry.body or ()) if isinstance(s, Instruction)]


def rows(woven: Woven) -> Rows:
    return list(zip(instructions(woven.module), woven.origins, strict=True))


def base(opcode: str) -> str:
    word = opcode.partition(".")[0]
    return "bar" if word == "barrier" else word  # barriers may be made unaligned


def written(path: Path, name: str) -> tuple[set[int], set[int]]:
    """The lines of an entry that can be reached: plain instructions, and branches with a choice."""
    entry = next(e for e in module(path).entries if e.name == name)
    flow: Flow = control_flow(flatten(entry.body or (), lambda n: n))
    plain = {i.line for b in flow.blocks.values() for i in b.instructions()}
    return plain, {b.end.line for b in flow.blocks.values() if isinstance(b.end, Branch | Switch)}


def check(found: Rows, sources: dict[str, Path]) -> None:
    for instruction, origin in found:
        where_from = f"{instruction}  {origin}"
        if origin is None:
            assert instruction.guard is None, where_from
            assert instruction.opcode in ("ret", "bra.uni", RECONVERGE.opcode), where_from
            continue
        assert origin.source == str(sources[origin.kernel]), where_from
        own = set(re.findall(r"(?<=%)[ab](?=_)", str(instruction)))
        assert own <= {origin.kernel.lower()}, where_from  # the prefixes of registers tell the same
        if not origin.line:
            assert instruction.opcode in INSERTED or base(instruction.opcode) == "bra", where_from
            continue
        there = opcodes(origin.source)[origin.line - 1]
        if base(instruction.opcode) in BRANCHES:
            assert BRANCHES & set(map(base, there)), where_from
        else:
            assert instruction.opcode in there or base(instruction.opcode) == "bar", where_from
            assert base(instruction.opcode) in map(base, there), where_from


def covered(found: Rows, letter: str) -> set[int]:
    return {o.line for _, o in found if o is not None and o.kernel == letter}


SUITE = [(ROOT / "examples" / "kernels" / f"{n}.sm_90.ptx", n) for n in KERNELS]
PAIRS = [
    *product(SUITE, SUITE),
    *(((CONSTRUCTS, a), (CONSTRUCTS, b)) for a, b in zip(NAMES, [*NAMES[1:], NAMES[0]], strict=True)),
]


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda p: p[1])
def test_lines_hold_the_same_opcode_and_none_is_lost(first: tuple[Path, str], second: tuple[Path, str]) -> None:
    woven = goptx.weave(module(first[0]), module(second[0]), entries=[first[1], second[1]])
    found = rows(woven)
    check(found, {"A": first[0], "B": second[0]})
    for letter, (path, name) in (("A", first), ("B", second)):
        plain, branches = written(path, name)
        alone = {n for n in plain if base(opcodes(str(path))[n - 1][-1]) != "bar"}  # one barrier may serve both kernels
        assert alone <= covered(found, letter) <= plain | branches | {0}


@pytest.mark.parametrize(("first", "second"), PAIRS[:49], ids=lambda p: p[1])
def test_the_papers_merge_has_them_too(first: tuple[Path, str], second: tuple[Path, str]) -> None:
    """Nothing is inserted there, and every branch stays."""
    found = rows(published(module(first[0]), module(second[0])))
    check(found, {"A": first[0], "B": second[0]})
    for letter, (path, name) in (("A", first), ("B", second)):
        plain, branches = written(path, name)
        assert covered(found, letter) == plain | branches


def check_provenance(woven: Woven, letters: str, sources: dict[str, str]) -> None:
    """What comes from a kernel has that kernel and its line, and so have copies of it. `letters` are those of the
    kernels, one for each copy."""
    texts: dict[Provenance, str] = {}
    for instruction, origin in rows(woven):
        if instruction.provenance is None:  # jumps, `ret`, and what is computed for all kernels
            assert origin is None or base(instruction.opcode) in ("bra", "brx"), instruction
            assert not instruction.line or base(instruction.opcode) in ("bra", "brx"), instruction
        else:
            letter = letters[instruction.provenance.kernel]
            assert origin == Origin(letter, sources[letter], instruction.line)
            assert texts.setdefault(instruction.provenance, str(instruction)) == str(instruction)
    assert {letters[p.kernel] for p in texts} == set(letters)


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda p: p[1])
def test_instructions_of_the_entry_have_their_provenance(first: tuple[Path, str], second: tuple[Path, str]) -> None:
    woven = goptx.weave(module(first[0]), module(second[0]), entries=[first[1], second[1]])
    check_provenance(woven, "AB", {"A": str(first[0]), "B": str(second[0])})
    for instruction, origin in rows(woven):
        if instruction.provenance is None:
            assert origin or instruction.opcode in ("ret", "bra.uni", RECONVERGE.opcode), instruction


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["weave", "vertical", "horizontal", "interleave"])
@pytest.mark.parametrize("factors", [(1, 1), (1, 2), (3, 2)], ids=str)
def test_copies_of_coarsened_kernels_have_a_number_each(strategy: Strategy, factors: tuple[int, int]) -> None:
    names, shapes = ("tiled", "leaving"), [goptx.Shape(6, 64), goptx.Shape(5, 96)]
    coarse = [goptx.coarsen(KERNELS_OF_SHAPES[n], f) if f > 1 else KERNELS_OF_SHAPES[n]
              for n, f in zip(names, factors, strict=True)]  # fmt: skip
    letters = "A" * factors[0] + "B" * factors[1]
    check_provenance(goptx.fuse(*coarse, strategy=strategy, shapes=shapes), letters, dict.fromkeys("AB", "<ptx>"))


def where(woven: Woven, opcode: str) -> Counter[tuple[str, int]]:
    """Kernel and line of each instruction with that opcode."""
    return Counter((o.kernel, o.line) for i, o in rows(woven) if o is not None and i.opcode == opcode)


def line(text: str, piece: str) -> int:
    (number,) = (i for i, t in enumerate(text.splitlines(), 1) if piece in t)
    return number


def test_instructions_without_operands() -> None:
    """No name tells whose they are: one kernel beside itself, its lines moved."""
    body = "setp.eq.u32 %p1, %r1, 0;\n@%p1 trap; // one\nmembar.gl; // two\nbar.sync 0; // three\nret;"
    first, second = kernel(body), "//\n//\n//\n" + kernel(body, "other")
    woven = goptx.weave(first, second)
    for opcode, note in (("trap", "one"), ("membar.gl", "two")):
        assert where(woven, opcode) == {("A", line(first, note)): 1, ("B", line(second, note)): 1}
    assert where(woven, "bar.sync") == {("A", line(first, "three")): 1}  # which serves both


def test_they_are_in_the_order_of_the_text() -> None:
    for entries in (["call", "barrier_vote"], ["choose", "divergent_shuffle"]):
        woven = goptx.weave(module(CONSTRUCTS), module(CONSTRUCTS), entries=entries)
        assert instructions(goptx.read(woven.ptx)) == instructions(woven.module)
        assert len(woven.origins) == len(instructions(woven.module))


def test_one_kernel_with_itself() -> None:
    found = rows(goptx.weave(module(CONSTRUCTS), module(CONSTRUCTS), entries=["barriers_in_loop"] * 2))
    check(found, {"A": CONSTRUCTS, "B": CONSTRUCTS})
    plain, _ = written(CONSTRUCTS, "barriers_in_loop")
    assert all(plain <= covered(found, letter) for letter in "AB")


def test_instructions_within_the_braces_of_a_call() -> None:
    woven = goptx.weave(module(CONSTRUCTS), module(CONSTRUCTS), entries=["call", "straight"])
    text = CONSTRUCTS.read_text().splitlines()
    calls = where(woven, "call.uni")
    assert calls
    for (letter, number), count in calls.items():
        assert (letter, count) == ("A", 1)
        assert "call.uni" in text[number - 1]


def test_branches_belong_to_the_kernel_whose_predicate_they_test() -> None:
    text = kernel("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 3;\n@%p1 bra ON;\nst.global.u32 [%rd1], 1;\nON: ret;")
    woven = goptx.weave(text, "//\n" + text.replace("k_", "other_").replace("entry k", "entry other"), slicing=None)
    branches = [(i, o) for i, o in rows(woven) if i.opcode.startswith("bra") and i.guard]
    assert {o.kernel for _, o in branches if o} == {"A", "B"}
    for instruction, origin in branches:
        assert instruction.guard is not None
        letter = instruction.guard.predicate.text[1].upper()
        assert origin == Origin(letter, "<ptx>", line(text, "bra ON") + (letter == "B"))


def test_switches_keep_their_line() -> None:
    table = "mov.u32 %r1, %ctaid.x; T: .branchtargets ONE, TWO;\nbrx.idx %r1, T; // here\n"
    text = kernel(table + "ONE: st.global.u32 [%rd1], 1; ret;\nTWO: ret;")
    woven = goptx.weave(module(CONSTRUCTS), text, entries=["straight", None])
    assert set(where(woven, "brx.idx.uni")) == {("B", line(text, "here"))}


def test_what_goptx_inserts_for_a_kernel_has_line_0() -> None:
    woven = goptx.weave(module(CONSTRUCTS), module(CONSTRUCTS), entries=["straight", "loop_with_break"])
    votes = where(woven, "vote.sync.any.pred")
    assert set(votes) == {("B", 0)}
