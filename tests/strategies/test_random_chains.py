"""Chains of random element-wise kernels: whatever is fused does what the kernels do one after the other."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import elementwise, strided

import goptx
from goptx.errors import CannotWeave

OWN = "own"
INDICES = {  # of the element that is read, from the thread's numbers; what is written by threads is never shared
    OWN: "mov.u32 {}, %r4;",
    "next": "add.s32 {0}, %r4, 1;",
    "opposite": "sub.s32 {0}, %r2, %r3; sub.s32 {0}, {0}, 1; mad.lo.s32 {0}, %r1, %r2, {0};",
    "neighbour": "xor.b32 {0}, %r3, 1; mad.lo.s32 {0}, %r1, %r2, {0};",
    "twice": "shl.b32 {0}, %r4, 1;",
    "around": "add.s32 {0}, %r3, 1; and.b32 {0}, {0}, 31; mad.lo.s32 {0}, %r1, 32, {0};",
    "shared": "shr.u32 {0}, %r4, 1;",
    "first": "mov.u32 {0}, 0;",
    "of the CTA": "mov.u32 {0}, %r1;",
}
WRITTEN = list(INDICES)[:5]
GUARDS = {
    "n": "setp.ge.s32 %p1, %r4, %r5; @%p1 bra DONE;",
    "none": "",
    "odd": "and.b32 %r18, %r4, 1; setp.eq.s32 %p1, %r18, 1; @%p1 bra DONE;",
    "half": "shr.s32 %r18, %r5, 1; setp.ge.s32 %p1, %r4, %r18; @%p1 bra DONE;",
    "two": "setp.lt.s32 %p1, %r4, 5; setp.ge.s32 %p2, %r4, %r5; @%p1 bra DONE; @%p2 bra DONE;",
}
LENGTH, CTAS = 300, 2


def some_kernel(chance: random.Random) -> str:
    if chance.random() < 0.15:
        return strided(chance.choice(["add.f32", "mul.f32"]))
    read = OWN if chance.random() < 0.5 else chance.choice(list(INDICES))
    write = OWN if chance.random() < 0.7 else chance.choice(WRITTEN)
    guard = chance.choice(["n", "none"] if chance.random() < 0.6 else list(GUARDS))
    before = INDICES[read].format("%r10") + INDICES[write].format("%r11")
    if read == write == OWN:
        return elementwise("sub.f32", guard=GUARDS[guard])
    return elementwise("sub.f32", guard=GUARDS[guard], before=before, read="%r10", write="%r11")


def chain(kernels: int) -> tuple[list[list[Any]], list[Any]]:
    """The arguments of each kernel, which reads what the one before wrote, and what they write."""
    rng = np.random.default_rng(0)
    first = rng.random(LENGTH, dtype=np.float32)
    written = [rng.random(LENGTH, dtype=np.float32) for _ in range(kernels)]
    return [[read, first, out] for read, out in zip([first, *written], written, strict=False)], written


@pytest.mark.parametrize("kind", ["same", "private", "local"])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_of_random_kernels(kind: str, seed: int) -> None:
    chance = random.Random(f"{kind}{seed}")
    accepted = 0
    for _ in range(40):
        kernels = [some_kernel(chance) for _ in range(chance.choice([2, 2, 3]))]
        letters = [chr(ord("A") + k) for k in range(len(kernels))]
        handed_on = [(f"{a}:2", f"{b}:0") for a, b in pairwise(letters)]
        one = [("A:0", f"{letter}:1") for letter in letters]
        one += [("A:3", f"{letter}:3") for letter in letters[1:]] if chance.random() < 0.8 else []
        block, n = 32 * chance.choice([1, 2]), chance.choice([7, 59, 64])
        known = kind == "local" or chance.random() < 0.3
        shapes = [goptx.Shape(CTAS, block)] * len(kernels) if known else None
        options: dict[str, Any] = {"same": [*handed_on, *one], "depends": True}
        if kind != "same":
            options = {kind: handed_on, "same": one}
        try:
            woven = goptx.fuse(*kernels, strategy="vertical", shapes=shapes, **options)
        except CannotWeave:
            continue
        accepted += 1
        own, expected = chain(len(kernels))
        for source, given in zip(kernels, own, strict=True):
            goptx.emulate(source, CTAS, block, [*given, n])
        for order in range(2):
            own, found = chain(len(kernels))
            goptx.emulate(woven, CTAS, block, [[*given, n] for given in own], seed=order)
            compared = slice(None) if kind == "same" else slice(-1, None)
            for alone, fused in zip(expected[compared], found[compared], strict=True):
                assert (alone.view(np.uint32) == fused.view(np.uint32)).all(), kernels
    assert accepted
