"""The kernels of suite C in the sizes in which it runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from goptx.launch.specification import Argument, Launch, read_specification
from suite_c import specifications_of

HEADS, KEY_HEADS, DIM = 32, 8, 128  # of queries, of keys and values; elements of a head
WIDTH = HEADS * DIM
NARROW = KEY_HEADS * DIM
ROWS = 50_000  # of the table of an embedding


@dataclass(frozen=True, slots=True)
class Sized:
    """A kernel by the name of its launch specification, in another size than there where one is given: CTAs, elements
    of arrays, values of scalars, and ranges of random contents."""

    name: str
    grid: tuple[int, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def launch(self) -> Launch:
        """Raises `KeyError` for a size of an argument that the kernel does not have."""
        (path,) = specifications_of(self.name)
        (found,) = read_specification(path)
        names = {argument.name for argument in found.arguments}
        if unknown := sorted({*self.lengths, *self.values, *self.ranges} - names):
            raise KeyError(f"{self.name} has no argument {', '.join(unknown)}")
        return replace(found, grid=self.grid or found.grid, arguments=tuple(map(self._sized, found.arguments)))

    def _sized(self, argument: Argument) -> Argument:
        low, high = self.ranges.get(argument.name, (argument.low, argument.high))
        return replace(
            argument,
            length=self.lengths.get(argument.name, argument.length),
            value=self.values.get(argument.name, argument.value),
            low=low,
            high=high,
        )


def product(m: int, n: int, k: int, name: str = "product", tile: int = 128) -> Sized:
    """A matrix of m x k times one of k x n."""
    lengths = {"c": m * n, "a": m * k, "b": k * n}
    return Sized(name, (m // tile * (n // tile),), lengths, {"m": m, "n": n, "k": k})


def narrow_product(m: int, n: int = NARROW) -> Sized:
    """A product with few rows, in tiles of 64."""
    return product(m, n, WIDTH, "narrow_product", 64)


def softmax(rows: int, columns: int) -> Sized:
    n = rows * columns
    return Sized("softmax", (rows,), {"y": n, "x": n}, {"stride": columns, "columns": columns})


def decode_attention(sequences: int, heads: int, tokens: int) -> Sized:
    """All sequences have that many tokens."""
    own = sequences * heads * DIM
    lengths = {"y": own, "q": own, "k": own * tokens, "v": own * tokens, "lengths": sequences}
    ranges = {"lengths": (tokens, tokens + 1)}
    return Sized("decode_attention", (sequences, heads), lengths, {"heads": heads, "tokens": tokens}, ranges)


def head_norm(tokens: int, heads: int) -> Sized:
    rows = tokens * heads
    return Sized("head_norm", (-(-rows // 8),), {"x": rows * DIM}, {"rows": rows})


def rotary(tokens: int, heads: int) -> Sized:
    half = tokens * DIM // 2
    return Sized("rotary", (tokens,), {"q": tokens * heads * DIM, "cosine": half, "sine": half}, {"heads": heads})


def gemv(rows: int) -> Sized:
    lengths = {"y": rows, "w": rows * WIDTH, "x": WIDTH}
    return Sized("gemv", (rows // 4,), lengths, {"rows": rows, "columns": WIDTH})


def embedding_bag(bags: int, most: int) -> Sized:
    """Each bag adds up to `most` rows of a table."""
    lengths = {"y": bags * DIM, "table": ROWS * DIM, "index": bags * most, "length": bags}
    return Sized("embedding_bag", (bags,), lengths, {"most": most, "rows": ROWS}, {"length": (0, most + 1)})


def adam_step(n: int) -> Sized:
    return Sized("adam_step", (-(-n // 1024),), dict.fromkeys("pgmv", n), {"n": n})


SIZED: Mapping[str, Sized] = {
    "softmax": softmax(16384, 4096),
    "decode_attention": decode_attention(64, 16, 2048),
    "small_product": product(1024, 1024, 4096),
}
"""By the name in a pair; the others have the size of their specification."""
