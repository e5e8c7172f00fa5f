"""Compares the results of instructions on arrays with those of a function on Python's integers, lane by lane."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

Reference = Callable[..., Any]

LANES = 160


def signed(bits: int, width: int) -> int:
    """The value of the lowest `width` bits as a two's complement number."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def width_of(t: str) -> int:
    return 1 if DTYPES[t].kind == "b" else 8 * DTYPES[t].itemsize


def corner_cases(t: str) -> list[int]:
    """Bits of values that go wrong first: ends, neighbours of powers of two, shift amounts, floats' specials."""
    width = width_of(t)
    near = {n + d for n in (0, 1 << (width - 1), 1 << width // 2, 1 << width // 4) for d in (-2, -1, 0, 1, 2)}
    amounts = {3, 4, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 62, 63, 64, 65, 128, 255, 256, 257, 300}
    patterns = {0x0123456789ABCDEF, 0x8080808080808080, 0x7F7F7F7F7F7F7F7F, 0xAAAAAAAAAAAAAAAA, 0x00FF00FF00FF00FF}
    floats = {"f32": (0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFF800001, 0x80000001, 0x807FFFFF, 0x80800000)}
    return sorted({n & ((1 << width) - 1) for n in near | amounts | patterns | set(floats.get(t, ()))})


def bits_for(t: str, count: int, source: random.Random) -> list[int]:
    """`count` of the type's values, half of them corner cases; small numbers are as likely as large ones."""
    corners, width = corner_cases(t), width_of(t)
    return [
        source.choice(corners) if source.random() < 0.5 else source.getrandbits(width) >> source.randrange(width)
        for _ in range(count)
    ]


def as_array(bits: Sequence[int] | int, t: str) -> Array:
    dtype = DTYPES[t]
    return np.array(bits, np.bool_ if dtype.kind == "b" else f"u{dtype.itemsize}").view(dtype)


def as_bits(values: Array, t: str) -> list[int]:
    dtype = DTYPES[t]
    assert values.dtype == dtype, f"a result of dtype {values.dtype}, not {dtype}"
    unsigned = values if dtype.kind == "b" else values.view(f"u{dtype.itemsize}")
    return [int(v) for v in np.atleast_1d(unsigned)]


def applied(instruction: Lanewise, sources: list[Array]) -> list[Array]:
    """The results, after checks that they do not share memory with the sources and that these have not changed."""
    before = [s.copy() for s in sources]
    with np.errstate(all="ignore"):
        given = instruction.apply(*sources)
    results = list(given) if len(instruction.results) > 1 else [given]
    assert len(results) == len(instruction.results)
    assert all(s.tobytes() == b.tobytes() for s, b in zip(sources, before, strict=True))
    assert not any(np.shares_memory(r, s) for r in results for s in sources)
    return results


def agree(instruction: Lanewise, reference: Reference, bits: Sequence[Sequence[int] | int], lanes: int) -> None:
    """Compares each lane of each result with `reference` of the lane's values; an int among `bits` is an immediate.

    The reference takes integers signed or not as their type is, of other types the bits, and may give any integer
    that is right in its lowest bits; for several results a tuple.
    """
    results = applied(instruction, [as_array(b, t) for b, t in zip(bits, instruction.sources, strict=True)])
    columns = [[b] * lanes if isinstance(b, int) else b for b in bits]
    rows = [
        [
            signed(v, width_of(t)) if t[0] == "s" and "x" not in t else v
            for v, t in zip(row, instruction.sources, strict=True)
        ]
        for row in zip(*columns, strict=True)
    ]
    expected = [reference(*row) for row in rows]
    for i, (result, t) in enumerate(zip(results, instruction.results, strict=True)):
        got = as_bits(result, t)
        got = got * lanes if np.ndim(result) == 0 else got
        mask = (1 << width_of(t)) - 1
        wanted = [int(e[i] if len(results) > 1 else e) & mask for e in expected]
        for row, g, w in zip(rows, got, wanted, strict=True):
            assert g == w, f"of {row}: result {i} is {g:#x}, not {w:#x}"


def check(
    instruction: Lanewise | None, reference: Reference, seed: str, immediates: dict[int, int] | None = None
) -> None:
    """`agree` on registers, with an immediate in place of each source in turn, and on immediates alone.

    immediates: sources that always are, with their value.
    """
    assert instruction is not None
    source = random.Random(seed)
    fixed = immediates or {}
    n = len(instruction.sources)

    def draw(lanes: int, alone: set[int]) -> None:
        bits: list[Sequence[int] | int] = [
            fixed[i] if i in fixed else bits_for(t, 1, source)[0] if i in alone else bits_for(t, lanes, source)
            for i, t in enumerate(instruction.sources)
        ]
        agree(instruction, reference, bits, lanes)

    draw(LANES, set())
    for i in range(n):
        draw(12, {i})
        draw(12, set(range(n)) - {i})
        draw(1, set(range(n)))
