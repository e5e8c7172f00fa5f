"""Random kernels of nested branches and loops in which the lanes of a mask vote and shuffle wherever they are together,
and what a warp of them computes, each lane a coroutine."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass

WARP = 32
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Statement:
    """`kind` with two numbers and, for what holds others, its parts. `mask` names the lanes that execute it together;
    0 where that depends on data."""

    kind: str
    mask: int
    a: int = 0
    b: int = 0
    parts: tuple[tuple[Statement, ...], ...] = ()


def random_code(source: random.Random, mask: int, depth: int = 0) -> tuple[Statement, ...]:
    kinds = ["set", "if", "half", "loop", "repeat"] if depth < 3 else ["set"]
    kinds += ["vote", "shuffle", "sync"] * bool(mask)
    return tuple(
        _random_statement(source, source.choice(kinds), mask, depth + 1) for _ in range(source.randrange(1, 5))
    )


def _random_statement(source: random.Random, kind: str, mask: int, depth: int) -> Statement:
    def code(mask: int) -> tuple[Statement, ...]:
        return random_code(source, mask, depth)

    a, b = source.randrange(28), source.randrange(28)
    match kind:
        case "set":
            return Statement(kind, mask, source.getrandbits(32) | 1, source.getrandbits(32))
        case "if":
            return Statement(kind, mask, a, 0, (code(0), code(0)))
        case "half":  # the lanes whose number has a certain bit, and the others
            bit = source.randrange(5)
            lanes = sum(1 << lane for lane in range(WARP) if lane >> bit & 1)
            return Statement(kind, mask, bit, 0, (code(mask & lanes), code(mask & ~lanes)))
        case "loop":
            return Statement(kind, mask, a, 0, (code(0),))
        case "repeat":
            return Statement(kind, mask, source.randrange(1, 4), 0, (code(mask),))
        case "shuffle":
            return Statement(kind, mask, source.choice([d for d in range(WARP) if _closed(mask, d)]))
    return Statement(kind, mask, a, b)


def _closed(mask: int, distance: int) -> bool:
    """Whether each lane of the mask finds another of it at the distance, as `shfl.bfly` counts."""
    return all(mask >> (lane ^ distance) & 1 for lane in range(WARP) if mask >> lane & 1)


class Writer:
    """The PTX of code that goes from %r5 to %r5. `registers` declares what it uses beside %r6 to %r8 and %p1."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.labels = self.counters = 0

    @property
    def registers(self) -> str:
        return f".reg .b32 count<{self.counters + 1}>;"

    def write(self, code: Sequence[Statement]) -> None:
        for statement in code:
            self.lines += getattr(self, f"_{statement.kind}")(statement) or ()

    def _set(self, s: Statement) -> list[str]:
        return [f"mad.lo.u32 %r5, %r5, {s.a}, {s.b};"]

    def _vote(self, s: Statement) -> list[str]:
        return [
            f"bfe.u32 %r6, %r5, {s.a}, 1; setp.eq.u32 %p1, %r6, 1;",
            f"vote.sync.ballot.b32 %r6, %p1, {s.mask}; xor.b32 %r5, %r5, %r6;",
        ]

    def _shuffle(self, s: Statement) -> list[str]:
        return [f"shfl.sync.bfly.b32 %r6, %r5, {s.a}, 31, {s.mask}; mad.lo.u32 %r5, %r5, 3, %r6;"]

    def _sync(self, s: Statement) -> list[str]:
        return [f"bar.warp.sync {s.mask};"]

    def _if(self, s: Statement) -> None:
        self._branch(f"bfe.u32 %r6, %r5, {s.a}, 1;", s)

    def _half(self, s: Statement) -> None:
        self._branch(f"bfe.u32 %r6, %r2, {s.a}, 1;", s)

    def _branch(self, test: str, s: Statement) -> None:
        self.labels += 1
        otherwise, join = f"ELSE{self.labels}", f"JOIN{self.labels}"
        self.lines.append(f"{test} setp.eq.u32 %p1, %r6, 0; @%p1 bra {otherwise};")
        self.write(s.parts[0])
        self.lines.append(f"bra {join};\n{otherwise}:")
        self.write(s.parts[1])
        self.lines.append(f"{join}:")

    def _loop(self, s: Statement) -> None:
        self._repeated(f"bfe.u32 {{}}, %r5, {s.a}, 2;", s)

    def _repeat(self, s: Statement) -> None:
        self._repeated(f"mov.u32 {{}}, {s.a};", s)

    def _repeated(self, begin: str, s: Statement) -> None:
        self.labels += 1
        loop, out, left = f"LOOP{self.labels}", f"OUT{self.labels}", f"count{self.counters}"
        self.counters += 1
        self.lines.append(f"{begin.format(left)}\n{loop}: setp.eq.u32 %p1, {left}, 0; @%p1 bra {out};")
        self.write(s.parts[0])
        self.lines.append(f"sub.u32 {left}, {left}, 1; bra {loop};\n{out}:")


Lane = Generator[tuple[Statement, int], int, int]  # where it meets others, and what it brings


def lane_of(code: Sequence[Statement], lane: int, value: int) -> Lane:
    for s in code:
        match s.kind:
            case "set":
                value = (value * s.a + s.b) & MASK
            case "if":
                value = yield from lane_of(s.parts[1 - (value >> s.a & 1)], lane, value)
            case "half":
                value = yield from lane_of(s.parts[1 - (lane >> s.a & 1)], lane, value)
            case "loop" | "repeat":
                for _ in range(value >> s.a & 3 if s.kind == "loop" else s.a):
                    value = yield from lane_of(s.parts[0], lane, value)
            case "vote":
                value ^= yield s, value >> s.a & 1
            case "shuffle":
                value = (value * 3 + (yield s, value)) & MASK
    return value


def run_warp(code: Sequence[Statement], values: Sequence[int]) -> list[int]:
    """The final value of each lane of the mask that is active."""
    lanes = [lane_of(code, i, v) for i, v in enumerate(values)]
    ends: dict[int, int] = {}
    wait: dict[int, tuple[Statement, int]] = {}

    def resume(lane: int, result: int | None) -> None:
        try:
            wait[lane] = lanes[lane].send(result)  # type: ignore[arg-type]
        except StopIteration as stop:
            ends[lane] = stop.value

    for lane in range(len(lanes)):
        resume(lane, None)
    while wait:
        s = next(s for s, _ in wait.values() if {i for i in range(len(lanes)) if s.mask >> i & 1} <= {
            i for i, (at, _) in wait.items() if at is s
        })  # fmt: skip
        brought = {i: wait.pop(i)[1] for i in list(wait) if wait[i][0] is s}
        ballot = sum(bit << i for i, bit in brought.items()) if s.kind == "vote" else 0
        for i, own in brought.items():
            resume(i, ballot if s.kind == "vote" else brought.get(i ^ s.a, own))
    return [ends[i] for i in range(len(lanes))]
