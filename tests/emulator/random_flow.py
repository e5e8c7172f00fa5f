"""Random kernels of blocks that jump anywhere, and what one thread of them does, in Python."""

from __future__ import annotations

import random
from dataclasses import dataclass

MASK = 0xFFFFFFFF
FUEL = 40  # blocks that a thread runs at most


@dataclass(frozen=True)
class Block:
    """value = value * factor + addend, then to one of `targets`, chosen by bits of the value from `shift` on. `kind` is
    "jump", "branch", "negated", "switch" or "leave", which ends the thread where the bit is set."""

    factor: int
    addend: int
    kind: str
    shift: int
    targets: tuple[int, ...]

    def next(self, value: int) -> int | None:
        bit = value >> self.shift & 1
        match self.kind:
            case "branch":
                return self.targets[1 - bit]
            case "negated":
                return self.targets[bit]
            case "switch":
                return self.targets[value >> self.shift & 3]
            case "leave" if bit:
                return None
        return self.targets[0]

    def text(self, number: int) -> str:
        condition = f"bfe.u32 %r7, %r5, {self.shift}, 1; setp.eq.u32 %p1, %r7, 1;"
        first, *others = [f"B{t}" for t in self.targets]
        end = {
            "jump": lambda: f"bra {first};",
            "branch": lambda: f"{condition} @%p1 bra {first}; bra.uni {others[0]};",
            "negated": lambda: f"{condition} @!%p1 bra {first}; bra {others[0]};",
            "switch": lambda: f"bfe.u32 %r7, %r5, {self.shift}, 2; brx.idx %r7, T{number};",
            "leave": lambda: f"{condition} @%p1 st.global.u32 [%rd2], %r5; @%p1 ret; bra {first};",
        }[self.kind]()
        table = f"T{number}: .branchtargets {', '.join([first, *others])};\n" if self.kind == "switch" else ""
        return (
            f"{table}B{number}: sub.u32 %r6, %r6, 1; setp.eq.u32 %p2, %r6, 0; @%p2 bra LAST;\n"
            f"    mad.lo.u32 %r5, %r5, {self.factor}, {self.addend};\n    {end}\n"
        )


@dataclass(frozen=True)
class Flow:
    """Blocks, of which the first is the entry. A thread that has run out of fuel goes on after all of them."""

    blocks: tuple[Block, ...]

    def ends(self, value: int) -> tuple[int, bool]:
        """The value that a thread ends with, and whether it comes to the last block."""
        number: int | None = 0
        for _ in range(FUEL - 1):
            assert number is not None
            block = self.blocks[number]
            value = (value * block.factor + block.addend) & MASK
            number = block.next(value)
            if number is None:
                return value, False
        return value, True

    def text(self) -> str:
        """From %r5 to %r5."""
        return f"mov.u32 %r6, {FUEL};\n" + "".join(b.text(i) for i, b in enumerate(self.blocks)) + "LAST:\n"


def random_flow(seed: int) -> Flow:
    source = random.Random(seed)
    count = source.randrange(2, 9)
    kinds = {"jump": 1, "branch": 2, "negated": 2, "switch": 4, "leave": 1}
    blocks = []
    for _ in range(count):
        kind = source.choices(list(kinds), [1, 4, 4, 2, 1])[0]
        targets = tuple(source.randrange(count) for _ in range(kinds[kind]))
        blocks.append(Block(source.getrandbits(32) | 1, source.getrandbits(32), kind, source.randrange(30), targets))
    return Flow(tuple(blocks))
