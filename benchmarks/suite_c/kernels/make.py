#!/usr/bin/env python3
# mypy: disable-error-code="no-untyped-def,untyped-decorator,import-not-found,misc"
"""The kernels of suite C, in Triton, which compiles them to PTX without a GPU: NAME.sm_90a.ptx and NAME.toml.

    ./make.py [--check] [NAME ...]

With --check nothing is written: the exit status is 1 if a committed file differs. Needs Triton.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "unseen" / "kernels" / "triton"))

from make import Compiled, is_stale, made, tl, triton  # noqa: E402 - the module above, not this one


@triton.jit
def product(c, a, b, m, n, k, DOWN: tl.constexpr, ACROSS: tl.constexpr, INNER: tl.constexpr, BAND: tl.constexpr):
    """c = a b, in bands of BAND tiles from top to bottom."""
    tile = tl.program_id(0)
    columns = n // ACROSS
    band = tile // (BAND * columns)
    inside = tile % (BAND * columns)
    row = (band * BAND + inside % BAND) * DOWN + tl.arange(0, DOWN)
    column = inside // BAND * ACROSS + tl.arange(0, ACROSS)
    along = tl.arange(0, INNER)
    left = a + row[:, None] * k + along[None, :]
    right = b + along[:, None] * n + column[None, :]
    total = tl.zeros((DOWN, ACROSS), dtype=tl.float32)
    for _ in range(0, k, INNER):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += INNER
        right += INNER * n
    tl.store(c + row[:, None] * n + column[None, :], total.to(tl.float16))


@triton.jit
def attention(y, q, k, v, tokens, scale, ROWS: tl.constexpr, TILE: tl.constexpr, DIM: tl.constexpr):
    """Attention of one head, all tokens to all, for ROWS queries. `scale` has the factor log2(e)."""
    head = tl.program_id(1).to(tl.int64) * tokens * DIM
    row, dim, key = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, DIM), tl.arange(0, TILE)
    query = tl.load(q + head + row[:, None] * DIM + dim[None, :])
    at_k = k + head + dim[:, None] + key[None, :] * DIM
    at_v = v + head + key[:, None] * DIM + dim[None, :]
    most = tl.full([ROWS], -float("inf"), dtype=tl.float32)
    weight = tl.zeros([ROWS], dtype=tl.float32)
    total = tl.zeros([ROWS, DIM], dtype=tl.float32)
    for _ in range(0, tokens, TILE):
        score = tl.dot(query, tl.load(at_k)) * scale
        higher = tl.maximum(most, tl.max(score, axis=1))
        power = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(most - higher)
        weight = weight * shrink + tl.sum(power, axis=1)
        total = tl.dot(power.to(tl.float16), tl.load(at_v), total * shrink[:, None])
        most = higher
        at_k += TILE * DIM
        at_v += TILE * DIM
    tl.store(y + head + row[:, None] * DIM + dim[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def adam_step(p, g, m, v, n, rate, beta1, beta2, eps, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    there = at < n
    slope = tl.load(g + at, mask=there)
    first = tl.load(m + at, mask=there)
    first += (1 - beta1) * (slope - first)
    second = tl.load(v + at, mask=there)
    second += (1 - beta2) * (slope * slope - second)
    tl.store(m + at, first, mask=there)
    tl.store(v + at, second, mask=there)
    tl.store(p + at, tl.load(p + at, mask=there) - rate * first / (tl.sqrt(second) + eps), mask=there)


@triton.jit
def embedding(y, table, index, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    chosen = tl.load(index + row).to(tl.int64)
    at = tl.arange(0, WIDTH)
    tl.store(y + row * WIDTH + at, tl.load(table + chosen * WIDTH + at))


@triton.jit
def head_norm(x, weight, rows, eps, ROWS: tl.constexpr, DIM: tl.constexpr):
    """RMS norm, in place, of each head of DIM halves, as queries and keys have it before attention."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    dim = tl.arange(0, DIM)
    at = row[:, None] * DIM + dim[None, :]
    inside = row[:, None] < rows
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=1) / DIM + eps)
    w = tl.load(weight + dim).to(tl.float32)
    tl.store(x + at, (value * scale[:, None] * w[None, :]).to(tl.float16), mask=inside)


@triton.jit
def dequantise(y, packed, scale, zero, columns, GROUP: tl.constexpr, WORDS: tl.constexpr):
    """Weights of 4 bits, 8 in a word, as halves: (weight - zero) scale, with a zero and a scale for GROUP columns."""
    row = tl.program_id(0).to(tl.int64)
    word = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    place = tl.arange(0, 8)
    bits = tl.load(packed + row * (columns // 8) + word)
    group = row * (columns // GROUP) + word * 8 // GROUP
    s = tl.load(scale + group).to(tl.float32)
    z = tl.load(zero + group).to(tl.float32)
    weight = ((bits[:, None] >> (place * 4)[None, :]) & 15).to(tl.float32)
    value = (weight - z[:, None]) * s[:, None]
    tl.store(y + row * columns + word[:, None] * 8 + place[None, :], value.to(tl.float16))


Argument = tuple[str, str, str]  # name, dtype, and either a value or a length, role and what fills it
PRODUCT, TOKENS, HEADS, ADAM, ROWS, TABLE = 4096, 2048, 64, 1 << 25, 32768, 32000
WIDTH = 4096
NARROW, LONG = 1024, 4096  # columns and inner size of the projection to keys or values
WEIGHTS, GROUP = (28672, 8192), 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched(Compiled):
    """How a kernel is compiled and launched. `check`: the lines of that table."""

    grid: Sequence[int]
    arguments: Sequence[Argument]
    check: Sequence[str]
    about: str

    @property
    def entry(self) -> str:
        return str(self.kernel.__name__)


def _in(name: str, dtype: str, length: int, filled: str = "uniform", low: float = -1.0, high: float = 1.0) -> Argument:
    return name, dtype, f'length = {length}\ngenerator = "{filled}"\nrange = [{low}, {high}]\nrole = "in"'


def _out(name: str, dtype: str, length: int) -> Argument:
    return name, dtype, f'length = {length}\nrole = "out"'


def _changed(name: str, length: int, low: float = -1.0, dtype: str = "float32") -> Argument:
    kind, dtype, text = _in(name, dtype, length, low=low)
    return kind, dtype, text.replace('"in"', '"inout"')


def _value(name: str, value: float, dtype: str = "int32") -> Argument:
    return name, dtype, f"value = {value}"


def _product(size: tuple[int, int, int], tile: int, *, band: int, check: tuple[int, int, int], about: str) -> Launched:
    """In square tiles; `size` and `check` are rows, columns and inner size."""
    (m, n, k), (few, less, short) = size, check
    return Launched(
        product,
        "*fp16 *fp16 *fp16 i32:16 i32:16 i32:16",
        {"DOWN": tile, "ACROSS": tile, "INNER": 64, "BAND": band},
        grid=[m // tile * (n // tile)],
        arguments=[
            _out("c", "float16", m * n),
            _in("a", "float16", m * k),
            _in("b", "float16", k * n),
            *(_value(name, one) for name, one in zip("mnk", size, strict=True)),
        ],
        check=[
            f"grid = [{few // tile * (less // tile)}]",
            f"lengths = {{ c = {few * less}, a = {few * short}, b = {short * less} }}",
            f"values = {{ m = {few}, n = {less}, k = {short} }}",
        ],
        about=about,
    )


KERNELS: Mapping[str, Launched] = {
    "product": _product(
        (PRODUCT, PRODUCT, PRODUCT),
        128,
        band=8,
        check=(1024, 256, 128),
        about="A product of two matrices of halves, 4,096 x 4,096 each: 128 x 128 x 64, 4 warps, 3 stages.",
    ),
    "attention": Launched(
        attention,
        "*fp16 *fp16 *fp16 *fp16 i32:16 fp32",
        {"ROWS": 128, "TILE": 64, "DIM": 64},
        grid=[TOKENS // 128, HEADS],
        arguments=[
            _out("y", "float16", HEADS * TOKENS * 64),
            *(_in(n, "float16", HEADS * TOKENS * 64) for n in "qkv"),
            _value("tokens", TOKENS),
            _value("scale", 0.18033688, "float32"),
        ],
        check=[
            "grid = [2, 2]",
            "lengths = { y = 32768, q = 32768, k = 32768, v = 32768 }",
            "values = { tokens = 256 }",
        ],
        about="Attention of 64 heads, 2,048 tokens, 64 dimensions, all to all.",
    ),
    "adam_step": Launched(
        adam_step,
        "*fp32 *fp32 *fp32 *fp32 i32:16" + " fp32" * 4,
        {"TILE": 1024},
        grid=[ADAM // 1024],
        arguments=[
            _changed("p", ADAM),
            _in("g", "float32", ADAM),
            _changed("m", ADAM),
            _changed("v", ADAM, 0.0),
            _value("n", ADAM),
            _value("rate", 0.001, "float32"),
            _value("beta1", 0.9, "float32"),
            _value("beta2", 0.999, "float32"),
            _value("eps", 1e-8, "float32"),
        ],
        check=["grid = [2]", "lengths = { p = 1600, g = 1600, m = 1600, v = 1600 }", "values = { n = 1600 }"],
        about="A step of Adam: 33,554,432 floats.",
    ),
    "embedding": Launched(
        embedding,
        "*fp16 *fp16 *i32",
        {"WIDTH": WIDTH},
        grid=[ROWS],
        arguments=[
            _out("y", "float16", ROWS * WIDTH),
            _in("table", "float16", TABLE * WIDTH),
            _in("index", "int32", ROWS, "integers", 0, TABLE),
        ],
        check=["grid = [3]", f"lengths = {{ y = {3 * WIDTH}, table = {TABLE * WIDTH}, index = 3 }}"],
        about="Embeddings of 32,768 tokens: rows of 4,096 halves out of 32,000.",
    ),
    "narrow_product": _product(
        (256, NARROW, LONG),
        64,
        band=1,
        check=(64, 128, 128),
        about="A product of few rows, 256 x 4,096 times 4,096 x 1,024 halves: 64 x 64 x 64, 4 warps, 3 stages.",
    ),
    "head_norm": Launched(
        head_norm,
        "*fp16 *fp16 i32 fp32",
        {"ROWS": 8, "DIM": 128},
        grid=[2048 * 32 // 8],
        arguments=[
            _changed("x", 2048 * 32 * 128, dtype="float16"),
            _in("weight", "float16", 128, low=0.5, high=1.5),
            _value("rows", 2048 * 32),
            _value("eps", 1e-6, "float32"),
        ],
        check=["grid = [2]", "lengths = { x = 1408 }", "values = { rows = 11 }"],
        about="RMS norm of the 32 query heads of 2,048 tokens, 128 halves each.",
    ),
    "dequantise": Launched(
        dequantise,
        "*fp16 *i32 *fp16 *fp16 i32:16",
        {"GROUP": GROUP, "WORDS": 512},
        grid=[WEIGHTS[0], WEIGHTS[1] // 8 // 512],
        arguments=[
            _out("y", "float16", WEIGHTS[0] * WEIGHTS[1]),
            _in("packed", "int32", WEIGHTS[0] * WEIGHTS[1] // 8, "integers", -(1 << 31), (1 << 31) - 1),
            _in("scale", "float16", WEIGHTS[0] * WEIGHTS[1] // GROUP, low=0.01, high=0.1),
            _in("zero", "float16", WEIGHTS[0] * WEIGHTS[1] // GROUP, low=6.0, high=10.0),
            _value("columns", WEIGHTS[1]),
        ],
        check=[
            "grid = [2, 1]",
            "lengths = { y = 8192, packed = 1024, scale = 64, zero = 64 }",
            "values = { columns = 4096 }",
        ],
        about="Weights of 4 bits as halves, 28,672 x 8,192, with a scale and a zero for 128.",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed files, write nothing")
    parser.add_argument("names", nargs="*", help="only these kernels")
    options = parser.parse_args()
    stale = 0
    for name, compiled in KERNELS.items():
        if options.names and name not in options.names:
            continue
        text, specification = launched(name, compiled)
        stale += is_stale(FOLDER / f"{name}.sm_90a.ptx", text, options.check)
        stale += is_stale(FOLDER / f"{name}.toml", specification, options.check)
    return 1 if stale else 0


def launched(name: str, compiled: Launched) -> tuple[str, str]:
    """The PTX, and the launch specification."""
    ptx, about = made(compiled)
    lines = [f"# {compiled.about}", "", "[[kernel]]", f'file = "{name}.sm_90a.ptx"', f'entry = "{compiled.entry}"']
    lines += [f"grid = {list(compiled.grid)}", f"block = [{32 * compiled.warps}]"]
    lines += [f"shared = {about.shared}", "tunable = false"]
    scratch = (("global_scratch", "uint64", "value = 0"), ("profile_scratch", "uint64", "value = 0"))
    for seed, (argument, dtype, text) in enumerate((*compiled.arguments, *scratch)):
        lines += ["", "[[kernel.argument]]", f'name = "{argument}"', f'dtype = "{dtype}"', text]
        lines += [f"seed = {700 + seed}"] if "generator" in text else []
    return ptx, "\n".join([*lines, "", "[check]", *compiled.check]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
