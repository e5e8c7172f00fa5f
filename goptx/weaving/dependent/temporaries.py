"""Which temporaries become registers or shared memory: one by one, and those that cannot be proved stay in memory.

Requires: an attempt that fuses the kernels with given kinds of buffers and finds out which of them cannot be proved.
Ensures: what is refused is tried as the next weaker kind (`WEAKER`), alone; the others keep theirs. The outcome depends
neither on the order in which buffers are declared nor on how they are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from goptx.errors import CannotLink, CannotWeave, InputError, TooLarge, UnmetRule
from goptx.log import LOG
from goptx.options import UNPROVED, Unproved
from goptx.results.fused_kernel import Woven
from goptx.results.temporary import Temporary, Where, left_in_memory
from goptx.weaving.dependent.shared_buffers import Buffer
from goptx.weaving.model import Linked

TEMPORARY = ("private", "local")
WEAKER = {"local": "private", "private": "same"}  # a CTA's temporary may be each thread's own
REFUSALS = (CannotWeave, CannotLink, TooLarge)
Refusal = CannotWeave | CannotLink | TooLarge


@dataclass(slots=True)
class Findings:
    """Of one attempt, by the names of buffers. declared: what the caller says of them, which what is tried may be
    weaker than. refused: why a temporary cannot be what it is tried as; with any, the attempt makes nothing. became:
    where the others are, and what that took. in_memory: whether a temporary is to stay there."""

    declared: dict[str, str] = field(default_factory=dict)
    in_memory: bool = False
    refused: dict[str, CannotWeave] = field(default_factory=dict)
    became: dict[str, tuple[Where, str]] = field(default_factory=dict)


Attempt = Callable[[Sequence[Buffer], Findings], Woven | None]  # None with refusals


def check_unproved(unproved: Unproved) -> None:
    """Raises `InputError` for another word."""
    if unproved not in UNPROVED:
        raise InputError(f"unproved `{unproved}` is unknown; expected {' or '.join(UNPROVED)}.")


def one_by_one(attempt: Attempt, buffers: Sequence[Buffer], linked: Linked, unproved: Unproved) -> Woven:
    """The result of the attempt in which no temporary is refused; `report.temporaries` has what became of each.

    Raises `CannotWeave` for the first temporary that is refused, unless those may stay in memory, and what the attempt
    raises.
    """
    tried = _Tried(buffers, unproved)
    while True:
        findings = tried.findings()
        try:
            made = attempt(tuple(tried.now.values()), findings)
        except REFUSALS as refusal:
            tried.all_in_memory(refusal)
        else:
            if made is not None and not findings.refused:
                return _reported(made, tried.outcome(linked, findings))
            tried.weaken(findings.refused)


class _Tried:
    """`now`: the buffers, of the kinds that the next attempt takes. `why`: of what was refused, the first reason."""

    def __init__(self, buffers: Sequence[Buffer], unproved: Unproved) -> None:
        self.declared = buffers
        self.now = {b.name: b for b in buffers}
        self.unproved = unproved
        self.why: dict[str, Refusal] = {}

    def findings(self) -> Findings:
        """For the next attempt."""
        declared = {b.name: b.kind for b in self.declared}
        in_memory = any(b.kind in TEMPORARY and self.now[b.name].kind == "same" for b in self.declared)
        return Findings(declared, in_memory)

    def weaken(self, refused: dict[str, CannotWeave]) -> None:
        for name, reason in refused.items():
            self.why.setdefault(name, reason)
            kind = WEAKER[self.now[name].kind]
            if kind == "same" and self.unproved == "refuse":
                raise self.why[name]
            self.now[name] = replace(self.now[name], kind=kind)

    def all_in_memory(self, refusal: Refusal) -> None:
        """After a refusal that names no temporary. Raises it where they are in memory, and what was refused before
        where they may not be."""
        left = [name for name, buffer in self.now.items() if buffer.kind in TEMPORARY]
        if self.unproved == "refuse":
            raise next(iter(self.why.values()), refusal)
        if not left:
            raise _combined([why for why in self.why.values() if str(why) != str(refusal)], refusal)
        for name in left:
            self.why.setdefault(name, refusal)
            self.now[name] = replace(self.now[name], kind="same")

    def outcome(self, linked: Linked, findings: Findings) -> tuple[Temporary, ...]:
        found = []
        for buffer in self.declared:
            if buffer.kind in TEMPORARY:
                where, why = findings.became.get(buffer.name, ("memory", str(self.why.get(buffer.name, ""))))
                found.append(Temporary(buffer.called(linked), buffer.kind, where, why))
        return tuple(found)


def _combined(before: Sequence[Refusal], last: Refusal) -> Refusal:
    """The last refusal, with the messages of those before it."""
    whole = (*dict.fromkeys(map(str, before)), last.message if isinstance(last, UnmetRule) else str(last))
    message = "; and in memory: ".join(whole)
    return type(last)(message, rule=last.rule) if isinstance(last, UnmetRule) else TooLarge(message)


def _reported(made: Woven, temporaries: tuple[Temporary, ...]) -> Woven:
    left = left_in_memory(temporaries)
    for text in left:
        LOG.warning("%s", text)
    notes = (*made.report.notes, *left)
    return made.reported(replace(made.report, notes=notes, temporaries=temporaries))
