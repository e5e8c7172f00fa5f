"""Runs kernels on the strict emulator: each kernel alone, then the woven kernel in two orders of its warps. Compares
all that they leave in memory, and how many threads executed each instruction with an effect."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from random_kernels import case as cases
from random_kernels.case import Case
from random_kernels.frame import text
from random_kernels.functions import WAITING, names
from random_kernels.tree import Pair

import goptx
from goptx.emulator.verdict import differences
from goptx.errors import CannotWeave, GoptxError, InputError
from goptx.ptx.ir import Instruction, Module, Scope, Statement
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.shape import Shape

LETTERS = "ABC"
STEPS = 100_000  # of a warp of a kernel alone
PATIENCE, LEAST = 10, 1000  # a warp of the woven kernel may take so many times what all warps alone took, and more
SECONDS = 20.0  # for weaving one pair
NAMES = ("in", "out", "totals", "n", "scale")

FORCED = "a way that was asked for"

# Why goptx may decline a pair, from its messages: where it is not wrong to, or not yet wanted to do better.
REASONS = {
    FORCED: r'use divergence="|or leave the choice to goptx',
    "a barrier under a loaded condition": r"depends on loaded data, of which threads that have returned early",
    "a barrier under a divergent condition": r"depends on the thread: threads that live on would never arrive",
    "a barrier in divergent flow": r"stands in divergent flow that cannot be taken apart",
    "a warp operation behind ends": r"would wait for lanes that may have ended the kernel before it and live on",
    "a loop that a volatile load decides": r"decides when a loop ends, so the loop may wait for other CTAs",
    "whole warps in a larger block": r"needs whole warps",
    "waits and ends of single lanes": r"amid such waits others of them end the kernel",
    "a function that reads a size not known": r"depends on [A-C]\.\S+, which is known at launch only",
    "entangled flow": r"the control flow here is too entangled to be woven",
    "loops with several ways in": r"the kernel has loops with several ways in, and copying code",
    "lanes apart in a loop with several ways in": r"a loop with several ways in, which its lanes run apart",
    "too many threads": r"comes to \d+ threads; a CTA has at most",
    "too large": r"even one after the other the kernels come to",
}


class InvalidKernel(Exception):
    """A random kernel does something wrong on its own."""


class Wrong(Exception):
    """The woven kernel is not what its kernels are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`refused` is a key of `REASONS`, or "" where the pair was woven and is right."""

    refused: str
    woven_fraction: float = 0.0


def case_of(pair: Pair) -> tuple[Case, set[str]]:
    """The kernels as text, and what constructs they have."""
    texts, seen = zip(*map(text, pair.kernels), strict=True)
    shapes = tuple(k.shape for k in pair.kernels)
    stated = None
    if pair.unknown is not None:
        stated = tuple(_less(shape, unknown) for shape, unknown in zip(shapes, pair.unknown, strict=True))
    n, scale = (tuple(getattr(k, f) for k in pair.kernels) for f in ("n", "scale"))
    case = Case(
        texts, shapes, n, scale, pair.policy, pair.slicing, pair.seed, pair.divergence, stated, pair.placement
    )  # fmt: skip
    return case, set().union(*seen, _seen(pair))


def _less(shape: Shape, unknown: str) -> Shape:
    """With what is not known left out."""
    first = (None, *shape.grid[1:])
    grid = {"grid": None, "all": None, "axis": first}.get(unknown, shape.grid)
    block = None if unknown in ("block", "all") else shape.block
    return Shape(grid, block, None if unknown in ("shared", "all") else shape.shared)


def _seen(pair: Pair) -> set[str]:
    """What the kernels have together."""
    found = {f"{len(pair.kernels)} kernels"}
    if pair.unknown is None:
        found.add("one launch shape")
    else:
        found |= {f"own launch shapes, {u} not known" if u else "own launch shapes" for u in pair.unknown}
        found |= {
            f"{what}s that differ" for what in ("grid", "block") if len({getattr(k, what) for k in pair.kernels}) > 1
        }
    if len([k for k in pair.kernels if k.dynamic is not None]) > 1:
        found.add("dynamic shared memory of several kernels")
    own = [{n for n, f in zip(names(k.functions), k.functions, strict=True) if not f.common} for k in pair.kernels]
    if any(a & b for i, a in enumerate(own) for b in own[:i]):
        found.add("functions of one name")
    return found


def run(case: Case) -> Outcome:
    """Raises `Wrong`, `InvalidKernel`, and `GoptxError` where the pair is declined for no reason among `REASONS`."""
    modules = parsed(case)
    alone, counts = _alone(case, modules, 0)
    try:
        with within(SECONDS):
            woven = goptx.fuse(*modules, **case.options)
    except (CannotWeave, InputError) as error:
        reason = next((name for name, said in REASONS.items() if re.search(said, str(error))), None)
        if reason is None:
            raise
        return Outcome(reason)
    steps = PATIENCE * sum(sum(c.instructions.values()) for c in counts) + LEAST
    for order in (0, case.seed + 1):
        values = case.arguments()
        try:
            done = goptx.emulate(woven, args=values, races=True, seed=order, max_steps=steps, **case.launch)
        except GoptxError as error:
            raise Wrong(f"{type(error).__name__}: {error}") from error
        if found := _differences(alone, values):
            raise Wrong(f"in order {order} of the warps {found}")
        _check_counts(modules, counts, done)
    return Outcome("", woven.report.woven_fraction)


def parsed(case: Case) -> list[Module]:
    return [goptx.parse(t, f"{name}.ptx") for t, name in zip(case.texts, cases.NAMES, strict=False)]


def run_alone(case: Case, orders: Sequence[int]) -> None:
    """Raises `InvalidKernel` where a kernel does anything wrong, or other things in other orders of its warps."""
    modules = parsed(case)
    first, _ = _alone(case, modules, orders[0])
    for order in orders[1:]:
        again, _ = _alone(case, modules, order)
        if found := _differences(first, again):
            raise InvalidKernel(f"in order {order} of the warps {found}")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises `Wrong` where this takes longer. Only the main thread of a process of a POSIX system can be stopped."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Wrong(f"weaving takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again and again: some callers pass exceptions over
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _alone(case: Case, modules: Sequence[Module], order: int) -> tuple[list[list[object]], list[goptx.Emulation]]:
    values = case.arguments()
    try:
        counts = [
            goptx.emulate(
                module,
                shape.sizes("grid"),
                shape.sizes("block"),
                arguments,
                shared=shape.shared or 0,
                races=True,
                seed=order,
                max_steps=STEPS,
                letter=letter,
            )
            for module, shape, arguments, letter in zip(modules, case.shapes, values, LETTERS, strict=False)
        ]
    except GoptxError as error:
        raise InvalidKernel(f"{type(error).__name__}: {error}") from error
    return values, counts


def _differences(alone: Sequence[Sequence[object]], other: Sequence[Sequence[object]]) -> str:
    found = [
        str(d)
        for letter, one, two in zip(LETTERS, alone, other, strict=False)
        for d in differences([f"{letter}:{name}" for name in NAMES], one, two)
    ]
    return "; ".join(found)


def _check_counts(modules: Sequence[Module], alone: Sequence[goptx.Emulation], woven: goptx.Emulation) -> None:
    """Each instruction with an effect is executed by as many threads as alone (design.md, contract 1)."""
    for letter, module, own in zip(LETTERS, modules, alone, strict=False):
        for line, instruction in effects(module).items():
            expected, got = (c.executed.get((letter, line), 0) for c in (own, woven))
            if expected != got:
                raise Wrong(f"{letter}: `{instruction}` in line {line} is executed {got} times, not {expected}")


def effects(module: Module) -> Mapping[int, Instruction]:
    """What the entry stores, loads, or does together with other lanes, by line. Passed over are barriers, because ended
    threads have to arrive there too, loops that wait, which run as often as they have to, and calls of functions in
    which threads wait, whose code is put in their place."""

    def instructions(body: Sequence[Statement]) -> list[Instruction]:
        found = []
        for statement in body:
            if isinstance(statement, Instruction):
                found.append(statement)
            elif isinstance(statement, Scope):
                found += instructions(statement.body)
        return found

    chosen = {}
    for instruction in instructions(module.entries[0].body or ()):
        facts = facts_of(instruction.opcode)
        if facts.barrier or facts.space == "param" or "_wait." in instruction.opcode:
            continue
        if facts.base == "call" and WAITING in str(instruction):
            continue
        if facts.may_fault_or_store or facts.row.scope == Convergence.WARP or facts.base == "call":
            chosen[instruction.line] = instruction
    return chosen
