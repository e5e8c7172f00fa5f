"""What lanes of a warp do together, where it is known which they are: all that have not ended, or those in a mask."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.place import FULL, Place
from random_kernels.tree import Level, Together
from random_kernels.writer import Writer

WARP = 32
REDUCTIONS = ("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32")

Kind = Callable[[Writer, tuple[int, ...], Place], None]


def together(w: Writer, statement: Together, place: Place) -> None:
    w.saw(statement.kind)
    if place.level == Level.PART:
        w.saw("warp operation of a part")
    elif w.lanes_end:
        w.saw("warp operation after lanes have ended")
    elif place.level == Level.WARP:
        w.saw("warp operation where warps differ")
    KINDS[statement.kind](w, (*statement.numbers, 0, 0, 0, 0), place)


def here(w: Writer, mask: str) -> str:
    """A register with those of the lanes in the mask that have not ended."""
    m, p = w.mask(), w.predicate()
    w.line(f"mov.pred {p}, 1;", f"vote.sync.ballot.b32 {m}, {p}, {mask};")
    return m


def _shuffle(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """From a lane that is there; another's answer is not taken."""
    mode = ("bfly", "down", "up", "idx")[n[0] % 4]
    target, value, distance = f"%v{n[1] % 8}", f"%v{n[2] % 8}", n[3] * 2 % 31
    if w.kernel.exact and place.lanes == FULL:
        clamp = (
            ((31 << 8 >> n[3] % 3 << n[3] % 3) & 0x1F00 | (0 if mode == "up" else 31))
            if n[2] & 1
            else 0
            if mode == "up"
            else 31
        )
        if n[1] & 1:
            w.line(f"shfl.sync.{mode}.b32 {target}|%q{n[3] % 4}, {value}, {distance}, {clamp}, {place.mask};")
        else:
            w.line(f"shfl.sync.{mode}.b32 {target}, {value}, {distance}, {clamp}, {place.mask};")
        return
    if w.kernel.exact and place.lanes is not None and mode == "bfly":
        distance = next(d for d in (distance, distance & 7, 1, 2, 4, 0) if _closed(place.lanes, d))
        w.line(f"shfl.sync.bfly.b32 {target}, {value}, {distance}, 31, {place.mask};")
        return
    shuffled, source, inside = w.word(), w.word(), w.predicate()
    members = here(w, place.mask)
    w.line(f"shfl.sync.{mode}.b32 {shuffled}, {value}, {distance}, {0 if mode == 'up' else 31}, {place.mask};")
    w.line({
        "bfly": f"xor.b32 {source}, %lane, {distance};",
        "down": f"add.u32 {source}, %lane, {distance};",
        "up": f"sub.u32 {source}, %lane, {distance};",
        "idx": f"mov.u32 {source}, {distance};",
    }[mode])  # fmt: skip
    w.line(f"shr.u32 {source}, {members}, {source};", f"and.b32 {source}, {source}, 1;")  # 0 beyond lane 31
    w.line(f"setp.ne.u32 {inside}, {source}, 0;", f"@{inside} mov.b32 {target}, {shuffled};")


def _closed(lanes: int, distance: int) -> bool:
    """Whether each lane has its partner among them."""
    return all(lanes >> (lane ^ distance) & 1 for lane in range(WARP) if lanes >> lane & 1)


def _vote(w: Writer, n: tuple[int, ...], place: Place) -> None:
    mode, negation = ("all", "any", "uni")[n[0] % 3], "!" if n[3] & 1 else ""
    w.line(f"vote.sync.{mode}.pred %q{n[1] % 4}, {negation}%q{n[2] % 4}, {place.mask};")


def _ballot(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"vote.sync.ballot.b32 %v{n[1] % 8}, %q{n[2] % 4}, {place.mask};")


def _match(w: Writer, n: tuple[int, ...], place: Place) -> None:
    target, value = f"%v{n[1] % 8}", f"%v{n[2] % 8}"
    few = w.below(value, 4)  # so that some agree
    w.line((
        f"match.any.sync.b32 {target}, {few}, {place.mask};",
        f"match.all.sync.b32 {target}|%q{n[3] % 4}, {few}, {place.mask};",
        f"match.any.sync.b64 {target}, %w{n[2] % 4}, {place.mask};",
        f"match.all.sync.b32 {target}, {value}, {place.mask};",
    )[n[0] % 4])  # fmt: skip


def _reduce(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"redux.sync.{REDUCTIONS[n[0] % 6]} %v{n[1] % 8}, %v{n[2] % 8}, {place.mask};")


def _elect(w: Writer, n: tuple[int, ...], place: Place) -> None:
    members = here(w, place.mask)
    w.line(f"elect.sync %v{n[1] % 8}|%q{n[2] % 4}, {members};")


def _sync(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"bar.warp.sync {place.mask};")


def _active(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"bar.warp.sync {place.mask};", f"activemask.b32 %v{n[1] % 8};")


def _guarded(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Executed under a predicate by the lanes for which it holds."""
    m, q, target, value = w.mask(), f"%q{n[0] % 4}", f"%v{n[1] % 8}", f"%v{n[2] % 8}"
    w.line(f"vote.sync.ballot.b32 {m}, {q}, {place.mask};")
    w.line((
        f"@{q} redux.sync.add.u32 {target}, {value}, {m};",
        f"@{q} match.any.sync.b32 {target}, {value}, {m};",
        f"@{q} vote.sync.ballot.b32 {target}, %q{n[2] % 4}, {m};",
        f"@{q} bar.warp.sync {m};",
    )[n[3] % 4])  # fmt: skip


def _neighbour(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Through shared memory, within the warp. Where threads may end, other warps read words of those that came to no
    barrier after the store."""
    other, first = w.word(), w.word()
    if w.kernel.counted or w.threads <= 32:
        w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};")
    w.line(f"bar.warp.sync {place.mask};")
    w.line(
        f"sub.u32 {first}, %rank, %lane;",
        f"xor.b32 {other}, %lane, {1 + n[0] * 2};",
        f"add.u32 {other}, {other}, {first};",
    )
    w.line(f"sub.u32 {first}, %present, 1;", f"min.u32 {other}, {other}, {first};")
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [{w.at(w.base('tile'), other, 4)}];", f"bar.warp.sync {place.mask};")


def _matrix(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Of integers, or of halves and floats that are small whole numbers, so that no sum is rounded."""

    def values(first: int, count: int) -> list[str]:
        return [f"%v{(first + i) % 8}" for i in range(count)]

    def twos(first: int, count: int) -> list[str]:
        made = [w.word() for _ in range(count)]
        w.line(*(f"and.b32 {t}, {v}, 0x40004000;" for t, v in zip(made, values(first, count), strict=True)))
        return made

    def group(registers: list[str]) -> str:
        return f"{{{', '.join(registers)}}}"

    d, kind = n[1], n[0] % 4
    if kind == 0:
        a, b, c = values(n[2], 4), values(n[3], 2), values(n[1] + 3, 4)
        operands = ", ".join(map(group, (values(d, 4), a, b, c)))
        w.line(f"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {operands};")
        return
    shape, rows, columns, type_ = (("m16n8k16", 4, 2, "f16"), ("m16n8k8", 2, 1, "f16"), ("m16n8k16", 4, 2, "bf16"))[
        kind - 1
    ]
    a, b = twos(n[2], rows), twos(n[3], columns)
    c = [w.word() for _ in range(4)]
    w.line(*(f"cvt.rn.f32.u32 {t}, {w.below(v, 256)};" for t, v in zip(c, values(d + 1, 4), strict=True)))
    w.line(f"mma.sync.aligned.{shape}.row.col.f32.{type_}.{type_}.f32 {group(c)}, {group(a)}, {group(b)}, {group(c)};")
    w.line(*(f"mov.b32 {v}, {t};" for v, t in zip(values(d, 4), c, strict=True)))


KINDS: dict[str, Kind] = {
    "shuffle": _shuffle,
    "vote": _vote,
    "ballot": _ballot,
    "match": _match,
    "redux": _reduce,
    "elect": _elect,
    "warp barrier": _sync,
    "activemask": _active,
    "guarded warp operation": _guarded,
    "neighbour in shared memory": _neighbour,
    "matrix": _matrix,
}
