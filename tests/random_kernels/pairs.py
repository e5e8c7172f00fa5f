"""Runs kernels on the strict emulator: each kernel alone, then the woven kernel in two orders of its warps. Compares
all that they leave in memory, and how many threads executed each instruction with an effect."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from random_kernels.case import Case
from random_kernels.functions import WAITING
from random_kernels.trial import LETTERS, Array, Trial
from random_kernels.ways import trial

import goptx
from goptx.checking.verdict import differences
from goptx.emulator.emulation import Emulation
from goptx.errors import CannotWeave, GoptxError, InputError
from goptx.ptx.ir import Instruction, Module, Scope, Statement
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of

STEPS = 100_000  # of a warp of a kernel alone
PATIENCE, LEAST = 10, 1000  # a warp of the woven kernel may take so many times what all warps alone took, and more
SECONDS, EMULATING = 20.0, 60.0  # for weaving one pair, and for running it

FORCED = "a way that was asked for"

# Why goptx may decline a pair, from its messages: where it is not wrong to, or not yet wanted to do better.
REASONS = {
    FORCED: r'use divergence="|or leave the choice to goptx',
    "a barrier under a loaded condition": r"depends on loaded data, of which threads that have returned early",
    "a barrier under a divergent condition": r"that live on would never arrive|depends on the warp, but not all paths",
    "a barrier in divergent flow": r"stands in divergent flow that cannot be split",
    "a warp operation after ends": r"would wait for lanes that may have ended the kernel before it and live on",
    "a loop that a volatile load decides": r"decides when a loop ends, so the loop may wait for other CTAs",
    "whole warps in a larger block": r"needs whole warps",
    "waits and ends of single lanes": r"amid such waits others of them end the kernel",
    "a function that reads a size not known": r"depends on [A-C]\.\S+, which is known at launch only",
    "entangled flow": r"the control flow here is too entangled to be woven",
    "loops with several ways in": r"the kernel has multiple-entry loops, and copying code",
    "diverged lanes in a multiple-entry loop": r"a multiple-entry loop, which its lanes run separately",
    "too many threads": r"comes to \d+ threads; a CTA has at most",
    "what CTAs hand on": r"are not proved to belong to one thread or CTA",
    "a private element that is not the thread's": r"are not proved to be equal|to be an element of this thread",
    "a private element that may not be written": r"does not imply that .* has written it",
    "a private element that loops do not distinguish": r"not proved to be another element each time around",
    "a local element that may not be written": r"not proved to have been written before by a thread of the CTA",
    "a local piece that is not the CTA's": r"not proved to be in a piece of this CTA alone",
    "a guarded call that not all threads reach": r"is conditional within a call sequence that not all threads reach",
    "a barrier id that is not known": r"takes its barrier id from a register, so (it may be any|no id is left)",
    "what folded grids cannot do": r"\[folded-grids\]$",
    "too many barriers": r"together the kernels need more than 16 barriers|each team of folded grids needs barriers",
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


def run(case: Case) -> Outcome:
    """Raises `Wrong`, `InvalidKernel`, and `GoptxError` where the pair is declined for no reason among `REASONS`."""
    made = trial(case)
    alone, counts = _alone(made, 0)
    try:
        with within(SECONDS):
            woven = made.woven()
    except (CannotWeave, InputError) as error:
        reason = reason_of(error)
        if not reason:
            raise
        return Outcome(reason)
    steps = PATIENCE * sum(sum(c.instructions.values()) for c in counts) + LEAST
    for order in (0, *range(case.seed + 1, case.seed + made.orders)):
        data = made.data()
        try:
            with within(EMULATING, "emulating"):
                done = goptx.emulate(woven, args=data.together, races=True, seed=order, max_steps=steps, **made.launch)
        except GoptxError as error:
            raise Wrong(f"{type(error).__name__}: {error}") from error
        if found := _differences(alone, data.compared):
            raise Wrong(f"in order {order} of the warps {found}")
        if made.counted:
            _check_counts(made, counts, done)
    return Outcome("", woven.report.woven_fraction)


def reason_of(error: Exception) -> str:
    """The key of `REASONS` for an error, "" if no key fits."""
    return next((name for name, message in REASONS.items() if re.search(message, str(error))), "")


def run_alone(case: Case, orders: Sequence[int]) -> None:
    """Raises `InvalidKernel` where a kernel does anything wrong, or other things in other orders of its warps."""
    made = trial(case)
    first, _ = _alone(made, orders[0])
    for order in orders[1:]:
        again, _ = _alone(made, order)
        if found := _differences(first, again):
            raise InvalidKernel(f"in order {order} of the warps {found}")


@contextmanager
def within(seconds: float, what: str = "weaving") -> Iterator[None]:
    """Raises `Wrong` where this takes more of the processor. Only the main thread of a process of a POSIX system can be
    stopped."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Wrong(f"{what} takes more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)  # again and again: some callers pass exceptions over
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _alone(made: Trial, order: int) -> tuple[Mapping[str, Array], list[Emulation]]:
    """What the launches of the kernels leave, and what they count."""
    data = made.data()
    try:
        counts = [
            goptx.emulate(
                made.modules[k],
                made.shapes[k].sizes("grid"),
                made.shapes[k].sizes("block"),
                arguments,
                shared=made.shapes[k].shared or 0,
                races=True,
                seed=order,
                max_steps=STEPS,
                letter=LETTERS[k],
            )
            for k, arguments in data.separate
        ]
    except GoptxError as error:
        raise InvalidKernel(f"{type(error).__name__}: {error}") from error
    return data.compared, counts


def _differences(alone: Mapping[str, Array], other: Mapping[str, Array]) -> str:
    return "; ".join(str(d) for d in differences(list(alone), list(alone.values()), list(other.values())))


def _check_counts(made: Trial, alone: Sequence[Emulation], woven: Emulation) -> None:
    """Each instruction with an effect is executed by as many threads as alone."""
    for letter, module in zip(LETTERS, made.modules, strict=False):
        for line, instruction in effects(module).items():
            expected = sum(c.executed.get((letter, line), 0) for c in alone)
            got = woven.executed.get((letter, line), 0)
            if expected != got:
                raise Wrong(f"{letter}: `{instruction}` in line {line} is executed {got} times, not {expected}")


def effects(module: Module) -> Mapping[int, Instruction]:
    """What the entry stores, loads, or does together with other lanes, by line. Passed over are barriers, because ended
    threads have to arrive there too, loops that wait, which run as often as they have to, loads of what others write
    meanwhile, and calls of functions in which threads wait, whose code is put in their place."""

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
        if "[%g" in str(instruction) and facts.base in ("ld", "atom"):  # a flag: see `Writer.flag`
            continue
        if facts.base == "call" and WAITING in str(instruction):
            continue
        if facts.may_fault_or_store or facts.row.scope == Convergence.WARP or facts.base == "call":
            chosen[instruction.line] = instruction
    return chosen
