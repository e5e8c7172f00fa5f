"""What an edited text does, seen by the emulator: whether it leaves in memory what the kernels leave alone."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from proving.subjects import Subject, Values

import goptx
from goptx.checking.verdict import differences
from goptx.device.assemble import assemble, find_ptxas
from goptx.emulator.emulation import Emulation
from goptx.errors import GoptxError
from goptx.ptx.ir import Instruction, Module, Scope
from goptx.ptx.opcodes import facts_of
from goptx.ptx.parse import parse

STEPS = 300_000  # of a warp of a kernel alone
PATIENCE, LEAST = 10, 1000  # a warp of the fused kernel may take so many times what all warps alone took, and more
ORDERS = (0, 3, 11)  # of the warps
EQUAL, COUNTS, ILLEGAL, UNDEFINED = "equal", "equal, other counts", "not PTX", "equal, by undefined values"
UNKNOWN = re.compile(
    r"unsupported|there is no barrier|PtxSyntaxError"
)  # of the emulator; without ptxas, taken as illegal
NAMES = "ABC"


class TooLong(BaseException):
    """A time limit; not an `Exception`, so that nobody handles it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises `TooLong` where this takes more time."""

    def stop(*_: object) -> None:
        raise TooLong(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(slots=True)
class Launch:
    """Arguments, what the kernels leave of them, the most steps of a warp of the fused kernel, and how many lanes
    execute each opcode that has an effect in the fused kernel as it was made."""

    values: Values
    left: list[Any]
    steps: int
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Judge:
    """Runs the kernels of a subject alone, once, and then texts of the fused kernel."""

    subject: Subject
    launches: list[Launch] = field(default_factory=list)
    trouble: str = ""

    def __post_init__(self) -> None:
        """Leaves out launches in which a kernel fails by itself. `trouble`: if none is left, or the fused kernel is not
        right."""
        for values in self.subject.inputs:
            try:
                launch = self._alone(values)
            except GoptxError:
                continue
            self.launches.append(launch)
        module = parse(self.subject.fused.text())
        for launch in self.launches:
            for order in ORDERS:
                found, launch.counts = self._run(module, launch, order)
                if found:
                    self.trouble = f"as it was made, {found}"
                    return
        if not self.launches:
            self.trouble = "no launch of the kernels alone succeeds"

    def verdict(self, text: str) -> str:
        """`EQUAL`, `COUNTS`, `UNDEFINED`, `ILLEGAL` where assemblers do not take the text, or what is different."""
        found = self._verdict(text)
        if "uninitialised" in found:  # what they are may make no difference, which the emulator does not follow
            loosely = self._verdict(text, strict=False)
            return UNDEFINED if loosely in (EQUAL, COUNTS) else found
        if UNKNOWN.search(found):
            return ILLEGAL if find_ptxas() is None or not is_assembled(text, self.subject) else found
        return found

    def _verdict(self, text: str, strict: bool = True) -> str:
        try:
            module = parse(text)
        except GoptxError as error:
            return f"{type(error).__name__}: {error}"
        same = True
        for launch in self.launches:
            for order in ORDERS:
                found, counts = self._run(module, launch, order, strict)
                if found:
                    return found
                same &= counts == launch.counts
        return EQUAL if same else COUNTS

    def _alone(self, values: Values) -> Launch:
        left = deepcopy(values)
        steps = 0
        subject = self.subject
        for module, entry, shape, own, name in zip(
            subject.modules, subject.entries, subject.shapes, left, NAMES, strict=False
        ):
            done = goptx.emulate(
                module, shape.sizes("grid"), shape.sizes("block"), own, entry=entry, shared=shape.shared or 0,
                races=True, max_steps=STEPS, letter=name,
            )  # fmt: skip
            steps += sum(done.instructions.values())
        return Launch(values, arrays(left), PATIENCE * steps + LEAST)

    def _run(self, module: Module, launch: Launch, order: int, strict: bool = True) -> tuple[str, Counter[str]]:
        """What is different after the launches of a fused kernel, and how many lanes executed what."""
        values = deepcopy(launch.values)
        given = iter([v for own in values for v in own])
        counts: Counter[str] = Counter()
        try:
            for start in self.subject.fused.starts(**self.subject.launch):
                own = [next(given) for p in start.params if p.kernel]
                done = goptx.emulate(
                    module, start.shape.sizes("grid"), start.shape.sizes("block"), [*own, *start.hidden],
                    entry=start.entry, shared=start.shape.shared or 0, races=order == 0, seed=order, strict=strict,
                    max_steps=launch.steps,
                )  # fmt: skip
                counts += executed(module, done)
        except GoptxError as error:
            return f"{type(error).__name__}: {error}", counts
        except Exception as error:  # the emulator does not expect what the edit made
            return f"{type(error).__name__}: {error}", counts
        left = arrays(values)
        names = [str(i) for i in range(len(left))]
        return "; ".join(map(str, differences(names, launch.left, left))), counts


def is_assembled(text: str, subject: Subject) -> bool:
    try:
        return bool(assemble(text, entry=subject.fused.name).cubin)
    except GoptxError:
        return False


def arrays(values: Values) -> list[Any]:
    return [v for own in values for v in own if isinstance(v, np.ndarray) and v.ndim]


def executed(module: Module, done: Emulation) -> Counter[str]:
    """How many lanes executed each opcode that has an effect (without `.nc`), except barriers and what lanes of a warp
    do together."""
    opcodes = {i.line: i.opcode for f in module.functions for i in _instructions(f.body or ())}
    found: Counter[str] = Counter()
    for (_, line), lanes in done.executed.items():
        facts = facts_of(opcodes.get(line, "mov"))
        if facts.row.access not in ("", "f") and facts.space != "param" and not facts.row.scope:
            found[opcodes[line].replace(".nc", "")] += lanes
    return found


def _instructions(body: Any) -> Iterator[Instruction]:
    for statement in body:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Scope):
            yield from _instructions(statement.body)
