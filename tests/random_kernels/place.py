"""Where a statement stands: who executes it, and where loops go on or end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from random_kernels.tree import Level

FULL = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Target:
    """Of the innermost loop: its level, and its labels."""

    level: Level
    onward: str
    out: str


@dataclass(frozen=True, slots=True)
class Company:
    """Threads that meet at barriers, those numbered from `first` on up to `past`, an operand, in a CTA.

    number: 0 are all threads, 1 and 2 the parties. barrier: the operands of their barrier, id and count.
    """

    number: int
    first: int
    past: str
    barrier: str


ALL = Company(0, 0, "%present", "0")


@dataclass(frozen=True, slots=True)
class Place:
    """mask: the lanes that are here together, as an operand; "" at `Level.LONE`. lanes: the same as a number where that
    is known; lanes that have ended, or never were, may be among them."""

    level: Level
    mask: str
    lanes: int | None
    loop: Target | None = None
    company: Company = ALL

    def at(self, level: Level) -> Place:
        """A place inside, to which all of those lanes come if the level says so."""
        if level == Level.LONE:
            return replace(self, level=level, mask="", lanes=None)
        return replace(self, level=max(level, self.level))

    def among(self, mask: str, lanes: int | None = None) -> Place:
        """A place inside, to which these of its lanes come."""
        return replace(self, level=Level.PART, mask=mask, lanes=lanes)

    def inside(self, loop: Target) -> Place:
        return replace(self, loop=loop)

    def of(self, company: Company) -> Place:
        """A place inside, to which these threads come."""
        return replace(self, company=company)


EVERYWHERE = Place(Level.CTA, f"{FULL:#x}", FULL)
