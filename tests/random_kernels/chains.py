"""Chains of random element-wise kernels: each reads what the one before wrote, and the last may overwrite what the
first has read. Several threads may store one value to one element, indices may wrap in the bits that they have, and
pointers may be loaded from the copied address of a parameter, as those in structures are.

A case has the kernels and their launch; the options for their buffers follow from the case and from its way.
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
from goptx.launch.shape import Shape
from goptx.options import CHOICES, POLICIES
from goptx.ptx.parse import parse

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
WRAPPING = {  # which several threads have in common, in the launches of these cases
    "masked": "and.b32 {0}, %r4, 31;",
    "shifted out": "shl.b32 {0}, %r4, 26; shr.u32 {0}, {0}, 26;",
    "taken out": "bfe.u32 {0}, %r4, 0, 6;",
    "of 8 bits": "shl.b32 {0}, %r4, 1; cvt.u32.u8 {0}, {0};",
    "of 16 bits": "cvt.u16.u32 %rs1, %r4; mul.lo.u16 %rs1, %rs1, 4096; cvt.u32.u16 {0}, %rs1; shr.u32 {0}, {0}, 12;",
    "divided": "div.u32 {0}, %r4, 50;",
}
SHORT = "mov.u16 %rs1, %ctaid.x; mov.u16 %rs2, %ntid.x; mov.u16 %rs3, %tid.x; mad.lo.u16 %rs1, %rs1, %rs2, %rs3;"
FITTING = {  # a thread's own, though in few bits
    "counted in 16 bits": f"{SHORT} cvt.u32.u16 {{0}}, %rs1;",
    "multiplied in 32 bits": "shl.b32 {0}, %r4, 2; shr.u32 {0}, {0}, 2;",
}
IN_COMMON = {**{name: INDICES[name] for name in ("shared", "first", "of the CTA")}, **WRAPPING}
ONE_VALUE = "mov.f32 %f3, 0f41200000; st.global.f32"  # whatever was computed
OVERWRITES = "// overwrites what the first kernel has read"
BY_ADDRESS = "// with copied addresses of the parameters"  # where arguments are not compared
MORE = 0.35  # how many chains have what the others have not
GUARDS = {
    "n": "setp.ge.s32 %p1, %r4, %r5; @%p1 bra DONE;",
    "none": "",
    "odd": "and.b32 %r18, %r4, 1; setp.eq.s32 %p1, %r18, 1; @%p1 bra DONE;",
    "half": "shr.s32 %r18, %r5, 1; setp.ge.s32 %p1, %r4, %r18; @%p1 bra DONE;",
    "two": "setp.lt.s32 %p1, %r4, 5; setp.ge.s32 %p2, %r4, %r5; @%p1 bra DONE; @%p2 bra DONE;",
}
CTAS = (2, 2, 3)
LENGTH = 400  # of each buffer: more than twice the threads
ORDERS = 4  # of the warps: a wrong order shows in some only
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
    more = Random(f"more {seed}")
    drawn = {f"{len(names)} kernels"}
    if generator == "new" and more.random() < MORE:
        texts = tuple(
            text.replace(" k(", f" {name}(") for text, name in zip(_of_few(more, len(names)), names, strict=True)
        )
        drawn.add("elements in common")
    shape = Shape(choose.choice(CTAS), 32 * choose.choice([1, 2]))
    n = choose.choice([7, 59, 64])
    stated = (shape,) * len(texts) if choose.random() < 0.4 else None
    count = len(texts)
    case = Case(texts, (shape,) * count, (n,) * count, (0,) * count, "concat", None, seed % 1000, stated=stated)
    return case, drawn


def _of_few(choose: Random, count: int) -> list[str]:
    """Kernels that store one value to elements of several threads, and read such."""
    overwrites = choose.random() < 0.6
    found: list[str] = []
    first = OWN  # what the first one reads
    for i in range(count):
        read, write = OWN, OWN
        if choose.random() < 0.4 or (overwrites and not i):
            read = choose.choice([*IN_COMMON, *FITTING, *["of the CTA", OWN] * 4])
        if choose.random() < 0.2 or (overwrites and i == count - 1):
            write = choose.choice([*IN_COMMON, *FITTING, *["of the CTA", OWN] * 4])
        if overwrites and i == count - 1 and choose.random() < 0.7:
            write = first
        first = read if not i else first
        codes = {OWN: INDICES[OWN], **IN_COMMON, **FITTING}
        text = elementwise(
            "sub.f32", guard=GUARDS[choose.choice(["n", "none"])], read="%r10", write="%r11",
            store=ONE_VALUE if write in IN_COMMON else "st.global.f32",
            before=codes[read].format("%r10") + codes[write].format("%r11"),
        )  # fmt: skip
        found.append(f"{text}{BY_ADDRESS}\n" if choose.random() < 0.4 else text)
    return [*found[:-1], f"{found[-1]}{OVERWRITES}\n" if overwrites else found[-1]]


def _by_address(text: str) -> str:
    """Loads the pointers from the copied addresses of the parameters."""
    for i, name in enumerate(("x", "y", "out"), 1):
        text = text.replace(
            f"ld.param.u64 %rd{i}, [{name}];",
            f"mov.b64 %rd{12 + i}, {name}; add.s64 %rd{12 + i}, %rd{12 + i}, -8; ld.param.u64 %rd{i}, [%rd{12 + i}+8];",
        )
    return text


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


def chained(case: Case, kind: str, strategy: str = "vertical") -> Trial:
    """`kind`: the option for the buffers between the kernels; strategies other than vertical take only "same", for
    inputs."""
    choose = Random(f"{kind} {case.seed}")
    texts = [_by_address(text) if kind == "depends" and BY_ADDRESS in text else text for text in case.texts]
    modules = [parse(text, f"{name}.ptx") for text, name in zip(texts, NAMES, strict=False)]
    letters = LETTERS[: len(modules)]
    handed_on = [(f"{a}:2", f"{b}:0") for a, b in pairwise(letters)] if kind != "same" else []
    overwrites = _overwrites(case, kind)
    inputs = [("A:1" if overwrites else "A:0", f"{letter}:1") for letter in letters[1 if overwrites else 0 :]]
    handed_on += [("A:0", f"{letters[-1]}:2")] if overwrites else []
    inputs += [("A:0", f"{letter}:0") for letter in letters[1:] if kind == "same"]
    inputs += [("A:3", f"{letter}:3") for letter in letters[1:]] if choose.random() < 0.8 else []
    options: dict[str, Any] = {"same": inputs}
    if kind == "depends":
        named = [*handed_on, *inputs]
        options = {"depends": True, "same": [pair for pair in named if choose.random() < 0.9]}
    elif kind != "same":
        options[kind] = handed_on
    stated = case.shapes if kind == "local" or strategy == "interleave" else case.stated
    if strategy == "weave":
        options["policy"], options["divergence"] = choose.choice(POLICIES), choose.choice([None, *CHOICES])
    woven = partial(goptx.fuse, *modules, strategy=strategy, shapes=stated, **options)
    launch: dict[str, Any] = {"grid": case.shapes[0].grid, "block": case.shapes[0].block}
    if strategy == "interleave":
        launch = {"shapes": case.shapes}
    return Trial(modules, case.shapes, launch, woven, partial(_data, case, kind), counted=False, orders=ORDERS)


def _overwrites(case: Case, kind: str) -> bool:
    return kind == "depends" and OVERWRITES in case.texts[-1]


def _data(case: Case, kind: str) -> Data:
    rng = np.random.default_rng(case.seed)
    first = rng.random(LENGTH, dtype=np.float32)
    first.setflags(write=False)
    written: list[Array] = [rng.random(LENGTH, dtype=np.float32) for _ in case.texts]
    if _overwrites(case, kind):
        written[-1] = first.copy()
    begin = written[-1] if _overwrites(case, kind) else first
    read = [begin, *written] if kind != "same" else [first] * len(written)
    own: list[list[object]] = [[x, first, out, n] for x, out, n in zip(read, written, case.n, strict=False)]
    left = {f"{letter}:out": out for letter, out in zip(LETTERS, written, strict=False)}
    if kind in ("private", "local"):  # the buffers between the kernels are undefined afterwards
        left = dict(list(left.items())[-1:])
    return Data(list(enumerate(own)), own, left)
