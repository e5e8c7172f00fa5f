"""What BLAKE and BLAKE2 have in common."""

from __future__ import annotations

from collections.abc import Sequence

from suite_b.references.words import Words, rotated

ORDER = [[int(digit, 16) for digit in row] for row in """
    0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d
    2c6a0b834d75fe19 c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0
""".split()]  # fmt: skip  # of the words of a message in each round


def mix(v: list[Words], added: Sequence[Words], rotations: Sequence[int]) -> None:
    """A round: mixes the columns of v as a square of 4 by 4, then its diagonals, with two words each."""
    for i in range(8):
        a, b, c, d = (4 * row + (i + row * (i // 4)) % 4 for row in range(4))
        for half in (0, 1):
            v[a] = v[a] + v[b] + added[2 * i + half]
            v[d] = rotated(v[d] ^ v[a], rotations[2 * half])
            v[c] = v[c] + v[d]
            v[b] = rotated(v[b] ^ v[c], rotations[2 * half + 1])
