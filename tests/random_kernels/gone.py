"""Lanes that end without taking part in a warp operation that names them: alone, an ended lane does not count.

Requires that threads may end here, and that whole warps are here except for lanes that have ended.
"""

from __future__ import annotations

from random_kernels.conditions import test
from random_kernels.ending import left
from random_kernels.place import Place
from random_kernels.together import here
from random_kernels.tree import Gone
from random_kernels.writer import Writer

KINDS = {
    "vote": "vote.sync.any.pred %q{a}, %q{b}, {mask};",
    "ballot": "vote.sync.ballot.b32 %v{a}, %q{b}, {mask};",
    "redux": "redux.sync.add.u32 %v{a}, %v{b}, {mask};",
    "match": "match.any.sync.b32 %v{a}, %v{b}, {mask};",
    "warp barrier": "bar.warp.sync {mask};",
    "shuffle": "shfl.sync.bfly.b32 {word}, %v{b}, 1, 31, {mask};",
}
BY = ("ret", "exit")


def gone(w: Writer, statement: Gone, place: Place) -> None:
    w.saw(f"lanes gone, named by {statement.kind}")
    n = statement.numbers
    away, on, mask = w.label("AWAY"), w.label("ON"), place.mask
    if n[2] & 1:
        mask = here(w, place.mask) if n[2] & 2 else w.mask()
        w.line(*([] if n[2] & 2 else [f"mov.b32 {mask}, {place.mask};"]))
    p, negated = test(w, statement.condition, place)
    w.line(f"@{'!' if negated else ''}{p} bra {away};")
    word = w.word()
    w.line(KINDS[statement.kind].format(a=n[0] % 4, b=n[1] % 4, mask=mask, word=word))
    if statement.kind == "shuffle":  # another's answer is taken from who is there only
        members, partner, q = here(w, mask), w.word(), w.predicate()
        w.line(f"xor.b32 {partner}, %lane, 1;", f"shr.u32 {partner}, {members}, {partner};")
        w.line(
            f"and.b32 {partner}, {partner}, 1;",
            f"setp.ne.u32 {q}, {partner}, 0;",
            f"@{q} mov.b32 %v{n[0] % 4}, {word};",
        )
    w.line(f"bra {on};")
    w.mark(away)
    for one in statement.body:
        w.plain(one)
    w.line(left(w, n[1]), f"{statement.by};")
    w.mark(on)
