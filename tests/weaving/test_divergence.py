"""Each way for lanes to part under each choice of `divergence=`: woven right or refused, as the document says."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from weaving.divergent_kernels import KERNELS, text

import goptx
from goptx.emulator.emulation import Emulation
from goptx.emulator.instructions.lanewise import Array
from goptx.errors import CannotWeave
from goptx.options import CHOICES, Choice
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import statements_in

ROOT = Path(__file__).parents[2]
CONSTRUCTS = goptx.read(ROOT / "tests" / "constructs" / "constructs.sm_80.ptx")
BY_HAND = goptx.read(text())
SOURCES = dict.fromkeys((e.name for e in CONSTRUCTS.entries), CONSTRUCTS) | dict.fromkeys(KERNELS, BY_HAND)
PARTNERS = ("guard_with_work", "warp_reduce")
BLOCK = 256
DATA = np.random.default_rng(1).integers(0, 1024, 300).astype(np.int32)

# Why a kernel is refused, by the word that the table has for it.
REFUSALS = {
    "lanes": r"cannot run under predicates \(.*needs its lanes together.*\)",
    "ways out": r"cannot run under predicates \(the loop is left to several places\)",
    "loop": r"a loop lies in what the branch decides",
    "entered": r"cannot run under predicates \(.*it is entered from elsewhere too\)",
    "call": r"cannot run under predicates \(.*it holds a call\)",
    "ended, warp": r"would wait for lanes that may have ended the kernel",
    "ended, barrier": r"where threads that ended the kernel before have to arrive too",
    "missing": r"threads that live on would never arrive",
}


def outcome(
    name: str, partner: str, choice: Choice | None, slicing: int | Literal["adaptive"] = "adaptive"
) -> goptx.Woven | str:
    """The woven kernel, or a word of `REFUSALS`."""
    try:
        entries = [name, partner]
        return goptx.weave(SOURCES[name], CONSTRUCTS, entries=entries, divergence=choice, slicing=slicing)
    except CannotWeave as error:
        words = [word for word, message in REFUSALS.items() if re.search(message, str(error))]
        assert words, str(error)
        assert re.search(r": kernel A \(`\w+`\): .*; use |Move the barrier", str(error))
        return words[0]


@cache
def alone(name: str) -> list[int]:
    out = np.full(BLOCK, -1, np.int32)
    goptx.emulate(SOURCES[name], 1, BLOCK, [DATA, out, len(DATA)], entry=name, races=True)
    return [int(value) for value in out]


def together(woven: goptx.Woven, seed: int) -> tuple[list[int], list[int]]:
    outs: list[Array] = [np.full(BLOCK, -1, np.int32) for _ in range(2)]
    arguments = [value for out in outs for value in (DATA, out, len(DATA))]
    goptx.emulate(woven.ptx, 1, BLOCK, arguments, races=True, seed=seed)
    return outs[0].tolist(), outs[1].tolist()


@pytest.mark.parametrize("partner", PARTNERS)
@pytest.mark.parametrize("choice", [None, *CHOICES])
@pytest.mark.parametrize("name", SOURCES)
def test_woven_is_right_or_refused(name: str, choice: Choice | None, partner: str) -> None:
    woven = outcome(name, partner, choice)
    if not isinstance(woven, str):
        assert together(woven, seed=0) == (alone(name), alone(partner))
        chosen = {d.choice for d in woven.report.divergences}
        assert choice is None or chosen <= {choice, "predicate" if choice == "predicate" else "park"}


# The table ----------------------------------------------------------------------------------------------


def cell(name: str, choice: Choice | None) -> str:
    woven = outcome(name, "straight", choice, slicing=30)
    if isinstance(woven, str):
        return f"refused: {woven}"
    return ", ".join(dict.fromkeys(d.choice for d in woven.report.divergences if d.kernel == "A")) or "woven"


@pytest.mark.slow
def test_the_documents_table_is_what_happens(table: Callable[[str, Sequence[Sequence[str]]], str]) -> None:
    rendered_table = table(
        "divergence.md", [(name, *(cell(name, choice) for choice in (None, *CHOICES))) for name in SOURCES]
    )
    assert all(f"| {word} |" in rendered_table for word in REFUSALS)


# What the choices promise -------------------------------------------------------------------------------


def effects(ptx: str, of: str) -> list[str]:
    return [line.strip() for line in ptx.splitlines() if re.search(rf"\b(st|ld|atom|red)\.global.*%{of}_", line)]


@pytest.mark.parametrize("name", ["choose", "divergent_shuffle", "guard_with_work", "short_circuit"])
def test_duplicate_copies_the_other_kernel_where_park_does_not(name: str) -> None:
    parked, doubled = (
        goptx.weave(SOURCES[name], CONSTRUCTS, entries=[name, "straight"], divergence=choice, slicing=30)
        for choice in ("park", "duplicate")
    )
    assert len(effects(parked.ptx, "b")) == 2  # a load and a store
    assert len(effects(doubled.ptx, "b")) > 2
    assert len(effects(doubled.ptx, "a")) == len(effects(parked.ptx, "a"))
    assert parked.report.merged.dummy_blocks > 0


@cache
def effect_lines() -> frozenset[int]:
    """Where the compiler's kernels have instructions that touch memory beyond parameters."""
    bodies = [s for entry in CONSTRUCTS.entries for s in statements_in(entry.body or ()) if isinstance(s, Instruction)]
    return frozenset(s.line for s in bodies if facts_of(s.opcode).may_fault_or_store)


def counts(kernel: goptx.Woven | str) -> Emulation:
    """Of a woven kernel, or of one alone."""
    outs = [np.full(BLOCK, -1, np.int32) for _ in range(2)]
    arguments = [value for out in outs for value in (DATA, out, len(DATA))]
    if isinstance(kernel, str):
        return goptx.emulate(CONSTRUCTS, 1, BLOCK, arguments[:3], entry=kernel)
    return goptx.emulate(kernel, 1, BLOCK, [arguments[:3], arguments[3:]])


@pytest.mark.slow
@pytest.mark.parametrize("choice", [None, *CHOICES])
@pytest.mark.parametrize("name", [entry.name for entry in CONSTRUCTS.entries])
def test_no_effect_happens_more_often_than_alone(name: str, choice: Choice | None) -> None:
    """For no thread; where all is parked, for no warp either."""
    partner = PARTNERS[0]
    woven = outcome(name, partner, choice)
    if isinstance(woven, str):
        return
    both = counts(woven)
    for letter, single in zip("AB", (counts(name), counts(partner)), strict=True):
        expected = {line: n for (_, line), n in single.executed.items() if line in effect_lines()}
        found = {line: n for (k, line), n in both.executed.items() if k == letter and line in effect_lines() and n}
        assert found == {line: n for line, n in expected.items() if n}
        if choice == "park":
            assert warps(both, letter) == warps(single, "A")


def warps(emulation: Emulation, letter: str) -> dict[str, int]:
    """How often warps issued each opcode that touches memory."""
    issued: dict[str, int] = {}
    for (kernel, _, opcode), n in emulation.instructions.items():
        if kernel == letter and facts_of(opcode).may_fault_or_store:
            issued[opcode] = issued.get(opcode, 0) + n
    return issued
