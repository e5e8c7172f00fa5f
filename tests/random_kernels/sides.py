"""Branches that vary by warp and not within one, with equally many barriers of the whole CTA on both sides.

What decides is known to vary by warp, or is loaded. Copies of a barrier are one barrier: warps of either side meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

from random_kernels.data import ALIKE
from random_kernels.functions import WAITING
from random_kernels.meeting import COUNTED
from random_kernels.place import Place
from random_kernels.tree import Gone, Leave, Level, Numbers, Sides, Statement
from random_kernels.writer import Writer

BY = ("number", "shuffle", "ballot", "any", "redux", "function", "loaded")
MEETS = ("plain", "named", "reduction", "exchange", "counted")  # the last where barriers may count, see `tree.Kernel`
WORDS = ("bar.sync", "barrier.sync", "barrier.sync.aligned")
WARPS = "shr.u32 {}, %rank, 5;"
Write = Callable[[Writer, Sequence[Statement], Place], None]


def sides(w: Writer, statement: Sides, place: Place, write: Write) -> None:
    w.saw(f"sides by {statement.by}")
    n = statement.numbers
    p, second, join = _decided(w, statement, place), w.label("SECOND"), w.label("JOIN")
    w.line(f"@{'!' if n[2] & 2 else ''}{p} {'bra.uni' if n[2] & 1 else 'bra'} {second};")
    for bodies, label in ((statement.first, second), (statement.second, join)):
        for i, (kind, numbers) in enumerate(statement.meets):
            write(w, bodies[i], place.at(Level.WARP))
            w.saw(f"barriers on both sides: {kind}")
            _meet(w, kind, numbers, place, label == join)
        write(w, bodies[-1], place.at(Level.WARP))
        w.line(*([f"bra {join};"] if label == second else []))
        w.mark(label)


def _decided(w: Writer, statement: Sides, place: Place) -> str:
    """A predicate, the same for all lanes of a warp."""
    n = statement.numbers
    by = "number" if statement.by == "function" and some_end(w.kernel.body) else statement.by
    warp, t, p, q = w.word(), w.word(), w.predicate(), w.predicate()
    w.line(WARPS.format(warp))
    past = f"setp.ge.u32 {q}, %rank, {32 * (1 + n[0] % 3)};"
    match by:
        case "shuffle":
            w.line(f"shfl.sync.idx.b32 {t}, {warp}, {_some_lane(w)}, 31, {place.mask};")
        case "ballot":
            w.line(past, f"vote.sync.ballot.b32 {t}, {q}, {place.mask};", f"setp.ne.u32 {p}, {t}, 0;")
            return p
        case "any":
            w.line(past, f"vote.sync.any.pred {p}, {q}, {place.mask};")
            return p
        case "redux":
            w.line(f"redux.sync.max.u32 {t}, {warp}, {place.mask};")
        case "function":
            name = f"{WAITING}_warp"
            fetch = [".reg .b32 %t;", "ld.param.b32 %t, [rank];", WARPS.replace("%rank", "%t").format("%t")]
            shuffle = f"shfl.sync.idx.b32 %t, %t, 0, 31, {place.mask};"
            head = f".func (.param .b32 result) {name}(.param .b32 rank)"
            w.helper(name, head, [*fetch, shuffle, "st.param.b32 [result], %t;", "ret;"])
            w.line("{", ".param .b32 rank;", ".param .b32 result;", "st.param.b32 [rank], %rank;")
            w.line(f"call (result), {name}, (rank);", f"ld.param.b32 {t}, [result];", "}")
        case "loaded":
            w.line(f"ld.global.u32 {t}, [{w.at('%in', warp, 4)}+{4 * (ALIKE + n[0])}];")
        case _:
            w.line(f"mov.b32 {t}, {warp};")
    if n[1] & 4:
        w.line(f"setp.lt.u32 {p}, {t}, {1 + n[0] % 3};")
    else:
        w.line(f"and.b32 {t}, {t}, {1 + n[1] % 2};", f"setp.eq.u32 {p}, {t}, 0;")
    return p


def _some_lane(w: Writer) -> str:
    """A lane of the warp that has not ended: what a shuffle takes from one that has is nothing known."""
    if not some_end(w.kernel.body):
        return "0"
    lane = w.word()
    w.line(f"activemask.b32 {lane};", f"brev.b32 {lane}, {lane};", f"bfind.shiftamt.u32 {lane}, {lane};")
    return lane


def some_end(part: object) -> bool:
    """Whether lanes of a warp may end the kernel one by one in a part of its tree."""
    if isinstance(part, Gone | Leave):
        return True
    if isinstance(part, tuple):
        return any(map(some_end, part))
    return is_dataclass(part) and any(some_end(getattr(part, field.name)) for field in fields(part))


def _meet(w: Writer, kind: str, numbers: Numbers, place: Place, second: bool) -> None:
    """On one of the sides: these may use other words for a barrier."""
    n = cast("tuple[int, int, int, int]", numbers)
    word = WORDS[(n[0] + n[3] * second) % 3]
    match kind:
        case "plain":
            w.barrier(f"{word} 0;", place)
        case "named":
            w.barrier(f"{word} {1 + 2 * (n[1] & 1)};", place)
        case "reduction":
            w.barrier(f"{('bar', 'barrier')[n[0] & 1]}.red.popc.u32 %v{(n[1] + second) % 8}, 0, %q{n[2] % 4};", place)
        case "counted":
            w.barrier(f"{word} {COUNTED}, {w.kernel.counted_threads};", place)
        case _:
            w.line(f"st.shared.u32 [%slot], %v{(n[2] + second) % 8};")
            w.barrier(f"{word} 0;", place)
            w.read_tile(n, place)
