"""What may be drawn at a place of a random kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

from random_kernels.functions import FOR_ALL, FOR_WARPS
from random_kernels.tree import Level


@dataclass(frozen=True, slots=True)
class Where:
    """What may stand at a place.

    leaves: "" (no thread may end), "whole" (whole warps) or "any". tile: whether threads may write their words of it.
    functions: their kinds. loaded: whether a word from memory may stand for a uniform value. alone: whether no threads
    of the kernel do anything together. favour: the kind of statements of which there are many. counted, phases: see
    `tree.Kernel`. parties: whether there are any that may diverge; party: whether this is in one. halves: whether it
    is known which lanes these are. skip: whether a loop may be left. looped: whether this is in a loop. size: the most
    statements of a body. more: whether statements of the new generator may stand there; the old one draws as it always
    did.
    """

    level: Level
    depth: int
    leaves: str
    exact: bool
    barriers: bool
    tile: bool
    bins: bool
    functions: tuple[str, ...]
    loaded: bool
    alone: bool
    favour: str
    counted: bool = False
    phases: bool = False
    parties: bool = False
    party: bool = False
    halves: bool = True
    skip: bool = False
    looped: bool = False
    size: int = 4
    more: bool = False

    def at(self, level: Level) -> Where:
        """One level down, with those who are sure to come there."""
        inner = replace(self, level=max(level, self.level), depth=self.depth - 1, size=3)
        inner = replace(inner, skip=self.skip and inner.level == self.level)
        if inner.level == Level.LONE:
            inner = replace(inner, halves=False)
        return inner

    def among(self, halves: bool) -> Where:
        return replace(self.at(Level.PART), skip=False, halves=halves)

    def looping(self, level: Level) -> Where:
        """In a loop. Barriers there, and threads that end there, are drawn separately."""
        inner = replace(self.at(level), skip=True, looped=True)
        if inner.level == Level.CTA and inner.barriers and inner.leaves:
            inner = replace(inner, leaves="")
        return inner

    def kinds(self) -> list[str]:
        """Of statements, the more often the likelier."""
        found = ["plain"] * 9 + ["access"] * 3
        if self.level < Level.LONE:
            found += ["together"] * 3
        if self.level == Level.CTA:
            found += ["uniform"] + ["meeting"] * 5 * self.barriers
            if self.depth > 0 and self.tile:
                found += ["copying"] * 2 + ["handover"] * 4 * self.parties
            found += ["parties"] * 4 * (self.depth > 0 and self.parties)
        found += ["call"] * 4 * bool(self.callable()) + ["skip"] * 2 * self.skip
        if self.leaves == "any" or (self.leaves == "whole" and self.level <= Level.WARP):
            found += ["leave"]
        if self.depth > 0:
            found += ["if"] * 4 + ["loop"] * 3 + ["switch"] * 2
        found += self._more() * self.more
        return found + [self.favour] * 12 * (self.favour in found)

    def _more(self) -> list[str]:
        """Kinds of the new generator."""
        found = ["corner"] * 3
        if self.level == Level.CTA and self.barriers and self.depth > 0 and not self.party:
            found += ["sides"] * 2
            found += (["wait"] * 2 + ["message"] * 2) * (self.phases and self.tile)
        if self.level <= Level.WARP and self.leaves == "any" and not self.exact and self.halves:
            found += ["gone"] * 2
        return found

    def callable(self) -> list[int]:
        """The functions that may be called."""
        return [i for i, kind in enumerate(self.functions) if self.may_call(kind)]

    def may_call(self, kind: str) -> bool:
        if kind in FOR_ALL:
            return self.level == Level.CTA and self.barriers and not self.party and (kind != "exchange" or self.tile)
        return kind not in FOR_WARPS or self.level <= Level.WARP

    def diverged_by_warps(self) -> Where:
        """In one of the parties."""
        return replace(self, depth=self.depth - 1, size=2, skip=False, parties=False, party=True)

    def amid_copies(self) -> Where:
        """Where words of the tile are being copied."""
        return replace(
            self, depth=self.depth - 1, size=2, skip=False, parties=False, tile=False, phases=False, leaves=""
        )
