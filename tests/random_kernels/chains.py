"""Chains of random element-wise kernels: each reads what the one before wrote.

A case has the kernels and their launch; what is said of their buffers follows from the case and from its way.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from random_kernels.case import NAMES, Case
from random_kernels.trial import LETTERS, Array, Data, Trial
from strategies.dependent_kernels import elementwise, strided

import goptx
from goptx.shape import Shape

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
CTAS = (2, 2, 3)
LENGTH = 400  # of each buffer: more than twice the threads
ORDERS = 4  # of the warps: what is not kept in order shows in some only
KINDS = ("depends", "same", "private", "local")


def chain(seed: int, generator: str = "new") -> tuple[Case, set[str]]:
    """A case and, as for other cases, what constructs it has; by either of `drawing.GENERATORS`."""
    choose = Random(seed)
    simple = choose.choice([0, 0.8])  # else few can be one
    names = NAMES[: choose.choice([2, 2, 3])]
    texts = tuple(
        (_of_own_elements(choose) if choose.random() < simple else some_kernel(choose)).replace(" k(", f" {name}(")
        for name in names
    )
    shape = Shape(choose.choice(CTAS), 32 * choose.choice([1, 2]))
    n = choose.choice([7, 59, 64])
    stated = (shape,) * len(texts) if choose.random() < 0.4 else None
    count = len(texts)
    case = Case(texts, (shape,) * count, (n,) * count, (0,) * count, "concat", None, seed % 1000, stated=stated)
    return case, {f"{count} kernels"}


def _of_own_elements(choose: Random) -> str:
    """Each thread reads and writes its own."""
    return elementwise(choose.choice(["add.f32", "sub.f32"]), guard=GUARDS[choose.choice(["n", "none", "n"])])


def some_kernel(choose: Random) -> str:
    if choose.random() < 0.15:
        return strided(choose.choice(["add.f32", "mul.f32"]))
    read = OWN if choose.random() < 0.5 else choose.choice(list(INDICES))
    write = OWN if choose.random() < 0.7 else choose.choice(WRITTEN)
    guard = choose.choice(["n", "none"] if choose.random() < 0.6 else list(GUARDS))
    before = INDICES[read].format("%r10") + INDICES[write].format("%r11")
    if read == write == OWN:
        return elementwise("sub.f32", guard=GUARDS[guard])
    return elementwise("sub.f32", guard=GUARDS[guard], before=before, read="%r10", write="%r11")


def chained(case: Case, kind: str) -> Trial:
    """`kind`: what is said of the buffers that are handed on."""
    choose = Random(f"{kind} {case.seed}")
    modules = [goptx.parse(text, f"{name}.ptx") for text, name in zip(case.texts, NAMES, strict=False)]
    letters = LETTERS[: len(modules)]
    handed_on = [(f"{a}:2", f"{b}:0") for a, b in pairwise(letters)] if kind != "same" else []
    inputs = [("A:0", f"{letter}:1") for letter in letters]
    inputs += [("A:0", f"{letter}:0") for letter in letters[1:] if kind == "same"]
    inputs += [("A:3", f"{letter}:3") for letter in letters[1:]] if choose.random() < 0.8 else []
    options: dict[str, Any] = {"same": inputs}
    if kind == "depends":
        named = [*handed_on, *inputs]
        options = {"depends": True, "same": [pair for pair in named if choose.random() < 0.9]}
    elif kind != "same":
        options[kind] = handed_on
    stated = case.shapes if kind == "local" else case.stated
    woven = partial(goptx.fuse, *modules, strategy="vertical", shapes=stated, **options)
    launch = {"grid": case.shapes[0].grid, "block": case.shapes[0].block}
    return Trial(modules, case.shapes, launch, woven, partial(_data, case, kind), counted=False, orders=ORDERS)


def _data(case: Case, kind: str) -> Data:
    rng = np.random.default_rng(case.seed)
    first = rng.random(LENGTH, dtype=np.float32)
    first.setflags(write=False)
    written: list[Array] = [rng.random(LENGTH, dtype=np.float32) for _ in case.texts]
    read = [first, *written] if kind != "same" else [first] * len(written)
    own: list[list[object]] = [[x, first, out, n] for x, out, n in zip(read, written, case.n, strict=False)]
    left = {f"{letter}:out": out for letter, out in zip(LETTERS, written, strict=False)}
    if kind in ("private", "local"):  # what is handed on is undefined afterwards
        left = dict(list(left.items())[-1:])
    return Data(list(enumerate(own)), own, left)
