"""Branches whose sides become one: the kernel computes the same bits, in every strategy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from random_kernels.alike import alike

import goptx
from goptx import Shape
from goptx.emulator.instructions.lanewise import Array
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.weaving.link.link import link
from goptx.weaving.simplify.simplify import simplify

Assembles = Callable[[Woven], None]
PASSES = Path(__file__).parents[1] / "passes" / "meld"
FILES = {p.stem: p for p in sorted(PASSES.glob("*.ptx")) if p.stem != "store_in_a_side"}  # which stores for others
REFUSED = (
    "fast_quotient_after_the_branch",
    "lanes_in_a_side", "one_expensive_side", "product_after_the_branch", "product_before_the_branch",
    "product_with_another_sign", "too_little_saved", "two_expensive_sides", "uniform_branch",
)  # fmt: skip
THREADS = 256
FEW, MANY = 12, 100  # random branches
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, -1e-38, 3e38, -3e38, 8.5e37, -8.51e37],
    np.float32,
)


def numbers(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.normal(0, 4, 100), rng.integers(0, 1 << 32, THREADS, np.uint32).view(np.float32)])
    return np.concatenate([SPECIAL, drawn.astype(np.float32)])[:THREADS]


def run(kernel: str | Woven, *seeds: int) -> list[Array]:
    """What each kernel leaves, as bits."""
    arrays = [numbers(seed) for seed in seeds]
    with np.errstate(all="ignore"):
        goptx.emulate(kernel, 1, THREADS, [*arrays] if isinstance(kernel, str) else [[a] for a in arrays], races=True)
    return [a.view(np.uint32) for a in arrays]


def is_melded(text: str) -> bool:
    module = parse(text)
    (kernel,) = simplify(link([Chosen(module, module.entries[0].name)]), None).kernels
    return any("_meld" in str(r) for r in kernel.registers)


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_the_pass_compute_the_same_bits(name: str, assembles: Assembles) -> None:
    text = FILES[name].read_text()
    woven = goptx.weave(text, text)
    assert ("_meld" in woven.ptx) == is_melded(text) == (name not in REFUSED)
    found, expected = run(woven, 1, 2), [*run(text, 1), *run(text, 2)]
    assert all(map(np.array_equal, found, expected))
    assembles(woven)


ALONE = [Shape(1, 256), Shape(1, 256)]
STRATEGIES: dict[str, Callable[[str], Woven]] = {
    "weave": lambda text: goptx.weave(text, text),
    "interleave": lambda text: goptx.fuse(text, text, strategy="interleave", shapes=ALONE),
    "horizontal": lambda text: goptx.fuse(text, text, strategy="horizontal", shapes=ALONE),
    "vertical": lambda text: goptx.fuse(text, text, strategy="vertical"),
    "coarsen": lambda text: goptx.coarsen(text, factor=2, shape=Shape(2, 256)),
}


# Both sides have one choice of numbers for registers of two types.
NUMBERS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_x)
{
    .reg .pred %p<2>;
    .reg .f32 %f<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [k_x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd1];
    setp.lt.f32 %p1, %f1, 0f00000000;
    @%p1 bra NEGATIVE;
    mov.b32 %f2, 5;
    mov.b32 %r2, 5;
    div.rn.f32 %f3, %f2, %f1;
    add.u32 %r3, %r1, %r2;
    bra JOIN;
NEGATIVE:
    mov.b32 %f4, 6;
    mov.b32 %r4, 6;
    div.rn.f32 %f3, %f4, %f1;
    add.u32 %r3, %r1, %r4;
JOIN:
    mov.b32 %r5, %f3;
    add.u32 %r5, %r5, %r3;
    st.global.u32 [%rd1], %r5;
    ret;
}
"""


def test_equal_numbers_in_registers_of_two_types(assembles: Assembles) -> None:
    """An assembler takes no register of a floating-point type for a sum of integers."""
    woven = goptx.weave(NUMBERS, NUMBERS)
    assert woven.ptx.count("selp.b32") == 4 and "_meld" in woven.ptx
    found, expected = run(woven, 1, 2), [*run(NUMBERS, 1), *run(NUMBERS, 2)]
    assert all(map(np.array_equal, found, expected))
    assembles(woven)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_melds(strategy: str, assembles: Assembles) -> None:
    woven = STRATEGIES[strategy](FILES["sigmoid"].read_text())
    assert woven.ptx.count("div.rn.f32") == 2 and "rcp.rn" not in woven.ptx
    assembles(woven)


def test_the_published_merge_is_given_the_branches() -> None:
    text = FILES["sigmoid"].read_text()
    with pytest.warns(goptx.errors.ConvergenceWarning):
        woven = goptx.weave(text, text, merge="paper")
    assert "rcp.rn.f32" in woven.ptx and "_meld" not in woven.ptx


# random branches ------------------------------------------------------------------------------------------------

POOLS = {"v": ("b32", 8), "w": ("b64", 4), "f": ("f32", 4), "d": ("f64", 2), "h": ("b16", 4), "q": ("pred", 4)}
FRESH = {"t": "b32", "a": "b64", "p": "pred"}
WORDS = 8  # that a thread loads and stores


@dataclass
class Body:
    """Writes lines, as `alike` needs it."""

    lines: list[str] = field(default_factory=list)
    count: itertools.count[int] = field(default_factory=itertools.count)

    def line(self, *lines: str) -> None:
        self.lines += lines

    def mark(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def label(self, stem: str) -> str:
        return f"{stem}_{next(self.count)}"

    def word(self) -> str:
        return f"%t{next(self.count)}"

    def wide(self) -> str:
        return f"%a{next(self.count)}"

    def predicate(self) -> str:
        return f"%p{next(self.count)}"


def random_branches(seed: int) -> str:
    """A kernel that loads its registers, runs some branches, and stores all of its registers; NaNs of 64 bits, which
    have no certain bits, as one of them."""
    body = Body()
    for k in range(1 + seed % 3):
        alike(body, (seed, k))
    load = [f"ld.global.u32 %v{i}, [%at+{4 * i}];" for i in range(WORDS)]
    load += [f"mov.b64 %w{i}, {{%v{i}, %v{i + 4}}};" for i in range(4)] + [
        f"mov.b32 %f{i}, %v{7 - i};" for i in range(4)
    ]
    load += [f"cvt.f64.f32 %d{i}, %f{i};" for i in range(2)] + [f"cvt.u16.u32 %h{i}, %v{i};" for i in range(4)]
    load += [f"setp.lt.s32 %q{i}, %v{i}, %v{i + 1};" for i in range(4)]
    store = [f"selp.u32 %t0, 1, 0, %q{i};\nxor.b32 %v{i}, %v{i}, %t0;" for i in range(4)]
    store += [f"mov.b32 %t0, %f{i};\nxor.b32 %v{i}, %v{i}, %t0;" for i in range(4)]
    store += [
        f"mov.b64 {{%t0, %t1}}, %w{i};\nxor.b32 %v{i}, %v{i}, %t0;\nxor.b32 %v{i + 4}, %v{i + 4}, %t1;"
        for i in range(4)
    ]
    store += [
        f"setp.num.f64 %q0, %d{i}, %d{i};\nselp.f64 %d{i}, %d{i}, 0d7FF8000000000000, %q0;\n"
        f"mov.b64 {{%t0, %t1}}, %d{i};\nxor.b32 %v{i}, %v{i}, %t0;\nxor.b32 %v{i + 4}, %v{i + 4}, %t1;"
        for i in range(2)
    ]
    store += [f"cvt.u32.u16 %t0, %h{i};\nxor.b32 %v{i}, %v{i}, %t0;" for i in range(4)]
    store += [f"st.global.u32 [%at+{4 * i}], %v{i};" for i in range(WORDS)]
    declared = [f".reg .{t} %{stem}<{n}>;" for stem, (t, n) in POOLS.items()]
    declared += [f".reg .{t} %{stem}<{next(body.count) + 2}>;" for stem, t in FRESH.items()]
    code = "\n".join([*load, *body.lines, *store])
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_x)
{{
.reg .b64 %at; .reg .b32 %thread;
{" ".join(declared)}
ld.param.u64 %at, [k_x]; mov.u32 %thread, %tid.x; mad.wide.u32 %at, %thread, {4 * WORDS}, %at;
{code}
ret;
}}
"""


def words(seed: int) -> Array:
    """Few different words, so that comparisons go both ways and some are equal; among them special numbers. None is a
    signalling NaN, which numpy treats otherwise in vectors than alone."""
    rng = np.random.default_rng(seed)
    some = np.concatenate(
        [SPECIAL.view(np.uint32), np.arange(8, dtype=np.uint32), rng.integers(0, 1 << 32, 20, np.uint32)]
    )
    some[np.isnan(some.view(np.float32))] |= 0x400000
    return rng.choice(some, 64 * WORDS)


def compared(seeds: Sequence[int]) -> int:
    """How many of these kernels are melded. Beside itself, each does what it does alone."""
    melded = 0
    for seed in seeds:
        text = random_branches(seed)
        woven = goptx.weave(text, text)
        melded += "_meld" in woven.ptx
        data = [words(seed), words(seed + 1)]
        alone = [d.copy() for d in data]
        with np.errstate(all="ignore"):
            goptx.emulate(woven, 1, 64, [[d] for d in data])
            for d in alone:
                goptx.emulate(text, 1, 64, [d])
        assert all(map(np.array_equal, data, alone)), f"seed {seed}:\n{text}\n{woven.ptx}"
    return melded


@pytest.mark.parametrize("first", range(0, FEW, 4))
def test_random_branches(first: int) -> None:
    compared(range(first, first + 4))


@pytest.mark.slow(all_cases=True)
def test_many_random_branches() -> None:
    assert compared(range(FEW, FEW + MANY)) > MANY // 4
