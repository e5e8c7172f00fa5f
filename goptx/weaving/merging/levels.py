"""Keeps two kernels on one level of loops and ifs while they are merged, so that a block stands beside few others.

Requires: the nests of both kernels. Whichever lies deeper goes on alone until the other lies as deep; beyond a limit
the two take turns.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.weaving.merging.nesting import Level, Nests, Place
from goptx.weaving.merging.product import ANY, Move, Pair

_ALONE = (Move.FIRST, Move.SECOND)


class Levels:
    """What two kernels may do at each pair of their blocks. `deepest` is the last level on which blocks of both may
    stand side by side, None if any may."""

    def __init__(self, first: Nests, second: Nests, deepest: Level | None) -> None:
        self.deepest = deepest
        rows = {p: {n: self._moves(p, q) for n, q in second.places.items()} for p in set(first.places.values())}
        self._wanted = {n: rows[p] for n, p in first.places.items()}

    def narrowed(self, pair: Pair, moves: Sequence[Move]) -> Sequence[Move]:
        """Those of the moves that keep the kernels level; all of them if none does."""
        wanted = self._wanted[pair[0]][pair[1]]
        return wanted if moves is ANY else [m for m in moves if m in wanted] or moves

    def _moves(self, first: Place, second: Place) -> Sequence[Move]:
        wanted = self._level_moves(first, second)
        if self._is_too_deep(first.ahead) and self._is_too_deep(second.ahead):
            return tuple(m for m in wanted if m != Move.BOTH)
        return wanted

    def _level_moves(self, first: Place, second: Place) -> Sequence[Move]:
        if first.level == second.level:
            return ANY
        deeper, alone = (first, Move.FIRST) if first.level > second.level else (second, Move.SECOND)
        if deeper.loop is None or self._is_too_deep(deeper.loop):
            return (alone,)
        return ANY if first.loop == second.loop else _ALONE

    def _is_too_deep(self, level: Level) -> bool:
        return self.deepest is not None and level > self.deepest
