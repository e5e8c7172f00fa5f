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
class Place:
    """mask: the lanes that are here together, as an operand; "" at `Level.LONE`. lanes: the same as a number where that
    is known; lanes that have ended, or never were, may be among them."""

    level: Level
    mask: str
    lanes: int | None
    loop: Target | None = None

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


EVERYWHERE = Place(Level.CTA, f"{FULL:#x}", FULL)
