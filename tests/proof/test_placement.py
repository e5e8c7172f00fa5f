"""Certificates of kernels with launch shapes of their own: where threads and CTAs are, and edits that change it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest

import goptx
from goptx.checking.certify import prove
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import Plan
from goptx.options import Placement
from goptx.proof.certificate import Certificate, digest
from goptx.proof.code.kernel_code import NotProved
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.placement.integers import Integers
from goptx.proof.placement.placement import Placements, placements_of
from goptx.proof.prove import prove_text
from goptx.proof.terms import NO_FORMULA, Terms
from goptx.proof.witness import Named, Witness
from goptx.ptx.ir import Variable
from goptx.ptx.parse import parse
from goptx.weaving.emit.write_witness import fused_launch, own_launch
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.partitioned import partitioned

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


def fused(names: str, shapes: str, strategy: str = "weave", **options: Any) -> goptx.Woven:
    parsed = [goptx.Shape.parse(s) for s in shapes.split()]
    return goptx.fuse(*map(kernel, names.split()), strategy=strategy, shapes=parsed, **options)  # type: ignore[call-overload, no-any-return]


def certificate(text: str, names: str) -> Certificate:
    return prove_text(text, [goptx.read(kernel(n)) for n in names.split()])


class Numbers:
    """The numbers that terms and formulas are, for numbers of the special registers."""

    def __init__(self, terms: Terms, known: Mapping[str, int]) -> None:
        self.terms, self.known = terms, known
        self.done: dict[int, int] = {}

    def __getitem__(self, number: int) -> int:
        if number not in self.done:
            self.done[number] = self._of(number)
        return self.done[number]

    def _of(self, number: int) -> int:
        term = self.terms[number]
        if term.head == "choice":
            return self[term.parts[0] if self.holds(term.formula) else term.parts[1]]
        assert term.formula == NO_FORMULA
        if term.head.startswith("integer"):
            _, bits, *factors = term.head.split()
            parts, total = list(term.parts), 0
            for factor in factors:
                n, count = map(int, factor.split("*"))
                for _ in range(count):
                    n *= self[parts.pop(0)]
                total += n
            return total % (1 << int(bits)) if int(bits) else total
        if term.head == "quotient":
            return self[term.parts[0]] // self[term.parts[1]]
        if term.head == "negative":
            return int(self[term.parts[0]] < 0)
        if term.head in OPCODES:
            return OPCODES[term.head](*(self[p] & MASK for p in term.parts)) & MASK
        if term.head.startswith("setp."):
            return RELATIONS[term.head.split(".")[1]](*(self[p] & MASK for p in term.parts))
        name = term.head
        while self.terms[number].parts:
            (number,) = self.terms[number].parts
            name = self.terms[number].head
        return self.known[name] if name in self.known else int(name)

    def holds(self, formula: int) -> bool:
        while formula not in (FALSE, TRUE):
            variable, low, high = self.terms.formulas._nodes[formula]
            formula = high if self[variable] else low
        return formula == TRUE


MASK = (1 << 32) - 1
OPCODES: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "div.u32": lambda a, b: a // b,
    "rem.u32": lambda a, b: a % b,
    "min.u32": min,
    "shr.u32": lambda a, b: a >> b,
    "shl.b32": lambda a, b: a << b,
    "and.b32": lambda a, b: a & b,
    "high": lambda a, b: (a * b + a) >> 32,
    "low": lambda a, b: a * b + a,
}
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b, "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b, "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip


def computed(integers: Integers, opcode: str, a: int, b: int) -> int | None:
    if opcode not in ("high", "low"):
        return integers.value(opcode, a, b)
    wide = integers.value("mad.wide.u32", a, b, c) if (c := integers.value("cvt.u64.u32", a)) is not None else None
    halves = None if wide is None else integers.halves(wide)
    return None if halves is None else halves[opcode == "high"]


@pytest.mark.parametrize("seed", range(30))
def test_normal_forms_are_the_numbers_that_instructions_compute(seed: int) -> None:
    rng = random.Random(seed)
    terms = Terms()
    integers = Integers(terms)
    most = {"%a": rng.choice([1, 7, 31, 1023]), "%b": rng.choice([2, 63]), "%c": (1 << 31) - 1}
    pool = [integers.atom(terms.make(name), 0, high) for name, high in most.items()]
    pool += [integers.number(n) for n in (0, 1, 5, 12, 32, 357913942, 858993460, 1717986919, 4294967264, 15)]
    numbers = [{n: rng.choice([0, high, rng.randint(0, high)]) for n, high in most.items()} for _ in range(20)]
    found = 0
    for _ in range(60):
        opcode, (a, b) = rng.choice(list(OPCODES)), rng.choices(pool, k=2)
        values = [Numbers(terms, known) for known in numbers]
        if opcode in ("div.u32", "rem.u32") and any(value[b] == 0 for value in values):
            continue
        made, relation = computed(integers, opcode, a, b), rng.choice(list(RELATIONS))
        test = integers.comparison(f"setp.{relation}.u32", a, b)
        for value in values:
            if made is not None:
                assert value[made] & MASK == OPCODES[opcode](value[a] & MASK, value[b] & MASK) & MASK, opcode
            if test is not None:
                assert value.holds(test) == RELATIONS[relation](value[a] & MASK, value[b] & MASK)
        found += made is not None
        pool += [] if made is None else [made]
    assert found > 20


def random_shape(rng: random.Random, known: bool) -> tuple[goptx.Shape, goptx.Shape]:
    """A shape as it is claimed, and in full."""
    grid = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    block = rng.choice([[32], [40], [7], [64], [8, 8], [16, 3], [4, 4, 4], [5, 2, 3]])
    if known:
        return (goptx.Shape(grid, block),) * 2
    some_grid, some_block = ([None if rng.random() < 0.5 else n for n in sizes] for sizes in (grid, block))
    return goptx.Shape(some_grid, some_block), goptx.Shape(grid, block)


def random_plan(rng: random.Random) -> tuple[Plan, tuple[goptx.Shape, ...]]:
    count, kind = rng.randint(2, 3), rng.choice(["weave", "interleave", "ratio", "horizontal"])
    count = rng.randint(1, count) if kind == "weave" else count
    pairs = [random_shape(rng, kind == "horizontal" or rng.random() < 0.5) for _ in range(count)]
    coarse = [Coarse(rng.choice([1, 1, 2, 3]), rng.randint(0, 2)) for _ in range(count)]
    shapes = tuple(claimed for claimed, _ in pairs)
    factors = tuple(c.within(s) for c, s in zip(coarse, shapes, strict=True))
    placement: Placement = "spread" if kind == "ratio" else rng.choice(["spread", "front"])
    plan = Plan(tuple("ABC"[:count]), shapes, placement, (0,) * count, factors)
    match kind:
        case "interleave":
            plan = Interleaved.of(plan)
        case "ratio":
            plan = Interleaved.of(plan, ratio=tuple(rng.randint(1, 3) for _ in range(count)))
        case "horizontal":
            plan = partitioned(plan)
    return plan, tuple(full for _, full in pairs)


def placed(plan: Plan) -> tuple[Terms, Placements]:
    kernels = tuple(Named(x, x, "", ("",), (), launch=own_launch(plan, x)) for x in plan.letters)
    hidden = {role: Variable(".param", (".u32",), role) for role in plan.roles}
    terms = Terms()
    return terms, placements_of(terms, Witness("", "", kernels, launch=fused_launch(plan, hidden)))


def places(sizes: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """All, x fastest."""
    return ((x, y, z) for z, y, x in product(*map(range, reversed(sizes))))


def registers(name: str, numbers: Sequence[int]) -> dict[str, int]:
    return {f"%{name}.{axis}": n for axis, n in zip("xyz", numbers, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_each_thread_of_a_kernel_is_one_of_the_fused_kernel(seed: int) -> None:
    """For all threads of random launches, with the sizes and hidden parameters of the launcher."""
    plan, shapes = random_plan(random.Random(seed))
    try:
        placed(plan)
    except NotProved as error:
        assert "too large for `" in str(error) and {*plan.coarse} != {Coarse()}
        return
    check_places(plan, shapes)


def strided_plan(rng: random.Random, stride: int) -> Plan:
    """Some kernels of two or three have their CTAs in strides."""
    count = rng.randint(2, 3)
    coarse = tuple(Coarse(rng.choice([1, 1, 2, 3])) for _ in range(count))
    shapes = tuple(goptx.Shape(stride * c.factor * rng.randint(1, 4), rng.choice([32, 64])) for c in coarse)
    placement: Placement = rng.choice(["spread", "front"])
    which = frozenset(rng.sample(range(count), rng.randint(1, count)))
    return Plan(tuple("ABC"[:count]), shapes, placement, (0,) * count, coarse, strided=which)


@pytest.mark.parametrize("seed", range(20))
def test_each_thread_of_a_strided_kernel_is_one_of_the_fused_kernel(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    stride = rng.choice([2, 4, 8])
    monkeypatch.setattr("goptx.weaving.emit.write_witness.STRIDE", stride)
    plan = strided_plan(rng, stride)
    check_places(plan, plan.shapes)


@pytest.mark.parametrize("stride", [3, 64, -4])
def test_strides_that_do_not_divide_a_grid_are_not_proved(stride: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.weaving.emit.write_witness.STRIDE", stride)
    shapes = (goptx.Shape(96, 32), goptx.Shape(96, 32))
    with pytest.raises(NotProved, match=r"cannot (have|hold)"):
        placed(Plan(("A", "B"), shapes, "spread", (0, 0), (Coarse(), Coarse()), strided=frozenset({1})))


def check_places(plan: Plan, shapes: Sequence[goptx.Shape]) -> None:
    """That each thread of each kernel is one of the fused kernel, in these shapes."""
    terms, found = placed(plan)
    launched = plan.launched(shapes)
    fixed = {f"symbol hidden {role}": n for role, n in plan.values(shapes).items()}
    fixed |= registers("nctaid", launched.sizes("grid")) | registers("ntid", launched.sizes("block"))
    seen: dict[str, list[tuple[int, ...]]] = {letter: [] for letter in plan.letters}
    for cta, (lane, thread) in product(places(launched.sizes("grid")), enumerate(places(launched.sizes("block")))):
        value = Numbers(terms, fixed | registers("ctaid", cta) | registers("tid", thread))
        assert value.holds(found.facts)
        for name, placement in found.kernels.items():
            assert all(value[t] == value.known[r] for r, t in found.special.items())
            if value.holds(placement.belongs):
                shape = shapes[plan.letters.index(name[0])]
                names = [f"%{r}.{a}" for r in ("ctaid", "tid", "nctaid", "ntid") for a in "xyz"]
                own = {name: value[placement.special[name]] for name in names}
                seen[name[0]].append(tuple(own[f"%{r}.{a}"] for r in ("ctaid", "tid") for a in "xyz"))
                sizes = [own[f"%{r}.{a}"] for r in ("nctaid", "ntid") for a in "xyz"]
                assert sizes == [*shape.sizes("grid"), *shape.sizes("block")]
                bx, by, _ = shape.sizes("block")
                assert (own["%tid.x"] + bx * (own["%tid.y"] + by * own["%tid.z"]) - lane) % 32 == 0
                assert placement.count is None or value[placement.count] == -(-(shape.threads or 0) // 32) * 32
    for letter, shape in zip(plan.letters, shapes, strict=True):
        every = [(*c, *t) for c in places(shape.sizes("grid")) for t in places(shape.sizes("block"))]
        assert sorted(seen[letter]) == sorted(every), letter


@pytest.mark.parametrize(
    ("names", "shapes"),
    [
        ("harris lud", "?:256 ?:256"),
        ("harris harris", "7:256 9:100"),
        ("wmma harris", "?:128 ?:256"),
        ("harris transpose", "5:128 9x3:32x8"),
        ("harris harris", "?x?:16x16 ?:?"),
        ("harris lud", "?:256 ?:128"),
        ("lud layernorm", "?:256 ?:128"),
        ("lud lud", "?:256 ?:128"),
        ("softmax scan", "20:256 30:128"),
    ],
)
def test_kernels_with_shapes_of_their_own_are_proved(names: str, shapes: str) -> None:
    made = prove(fused(names, shapes))
    assert made, str(made)
    claimed = ", ".join(f"{letter}={shape}" for letter, shape in zip("AB", shapes.split(), strict=True))
    assert f"every launch of {claimed}, as " in made.launches


EDITS = [
    ("mov.b64 {%b_shape4, %b_shape5}, %b_shape3;", "mov.b64 {%b_shape5, %b_shape4}, %b_shape3;"),
    ("setp.gt.u32 %b_shape6, %b_shape4, %b_shape1;", "setp.ge.u32 %b_shape6, %b_shape4, %b_shape1;"),
    ("setp.ge.u32 %b_shape8, %b_shape7, 128;", "setp.ge.u32 %b_shape8, %b_shape7, 96;"),
    ("mad.wide.u32 %b_shape3, %b_shape0, %b_shape1, %b_shape2;", "mad.wide.u32 %b_shape3, %b_shape0, %b_shape1, 0;"),
    ("[harris_woven_B_spread];", "[harris_woven_A_spread];"),
    ("or.pred %b_shape9, %b_shape6, %b_shape8;", "and.pred %b_shape9, %b_shape6, %b_shape8;"),
    ("mov.u32 %b_shape0, %ctaid.x;", "mov.u32 %b_shape0, %ctaid.y;"),
    (", 100;", ", 101;"),
    (", 100;", ", 99;"),
    ("mov.u32 %b_r5, 100;", "mov.u32 %b_r5, 128;"),
]


@pytest.mark.parametrize(("part", "by"), EDITS)
def test_edits_of_placements_are_not_proved(part: str, by: str) -> None:
    text = fused("harris harris", "?:256 ?:100").text()
    assert part in text and certificate(text, "harris harris")
    assert not certificate(text.replace(part, by, 1), "harris harris")


@pytest.mark.parametrize(
    ("part", "by", "why"),
    [
        ('"block": [100, 1, 1]', '"block": [101, 1, 1]', ""),
        ('"block": [256, 1, 1], "placement"', '"block": [64, 1, 1], "placement"', "does not have those of its kernels"),
        ('"first": 0', '"first": 32', ""),
        ('"first": 0', '"first": 8', "where kernel A is cannot hold"),
        ('"grid": [null, 1, 1]', '"grid": [null, 2, 1]', ""),
        ('"grid": [null, 1, 1]', '"grid": [null, 1, 0]', "has sizes that are none"),
        ('"factor": 1', '"factor": 2', "has other copies than its launch says"),
        ('"spread"', '"front"', ""),
        ('"spread"', '"random"', "placement of CTAs is not known"),
        ('"ratio": []', '"ratio": [1, 1]', "placement of CTAs is not known"),
        ('"ratio": []', '"ratio": [1]', "is not one number above 0 for each kernel"),
        ('"common": false', '"common": true', ""),
        ('"interleaved": false', '"interleaved": true', ""),
        ('"clusters": false', '"clusters": true', "no rules for clusters"),
        ('"A.spread": "harris_woven_A', '"A.spread": "harris_woven_B', "two sizes of launches are one parameter"),
        ('"A.spread": "harris_woven_A_spread"', '"A.spread": "harris_woven_a_param_5"', "not a parameter of 32 bits"),
        ('"A.spread":', '"A.grid.y":', "has no parameter that is A.spread"),
        ('"A.spread":', '"C.spread":', "has no parameter that is"),
        ('"launch": {"grid": [null, 1, 1], "block": [100, 1, 1]', '"launch": null, "x": {"y": []', "does not say how"),
    ],
)
def test_wrong_claims_of_launches_are_not_proved(part: str, by: str, why: str) -> None:
    text = fused("harris harris", "?:256 ?:100").text()
    assert part in text
    made = certificate(text.replace(part, by, 1), "harris harris")
    assert not made and why in str(made)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["horizontal", "interleave"])
@pytest.mark.parametrize(
    ("names", "shapes"),
    [
        ("harris transpose", "?:256 ?x?:32x8"),
        ("harris lud", "?:256 ?:256"),
        ("harris wmma", "77:128 40:256"),
        ("lud harris harris", "?:256 ?:100 ?x5:8x8"),
    ],
)
def test_kernels_side_by_side_are_proved(strategy: str, names: str, shapes: str) -> None:
    made = prove(fused(names, shapes, strategy))
    assert made, str(made)


@pytest.mark.slow
@pytest.mark.parametrize("shapes", ["100:256 77:128", "?:256 ?:100"])
def test_ratios_are_proved(shapes: str) -> None:
    woven = fused("harris lud", shapes, "interleave", ratio=(2, 3))
    assert prove(woven)
    text = woven.text()
    assert '"ratio": [2, 3]' in text
    assert not certificate(text.replace('"ratio": [2, 3]', '"ratio": [3, 2]'), "harris lud")


@pytest.mark.parametrize("name", ["harris", "lud", "transpose"])
@pytest.mark.parametrize("shape", [None, "?:256", "9:256"])
def test_coarsened_kernels_are_proved(name: str, shape: str | None) -> None:
    made = prove(goptx.coarsen(kernel(name), 2, shape=goptx.Shape.parse(shape) if shape else None))
    assert made, str(made)


@pytest.mark.parametrize(
    ("strategy", "shapes", "part", "by"),
    [
        ("weave", "?:256 ?:128", "bar.sync 0, 128;", "bar.sync 0, 96;"),
        ("weave", "?:256 ?:128", "bar.sync 0, 128;", "bar.sync 0, 160;"),
        ("horizontal", "?:256 ?:128", "sub.u32 %b_shape8, %b_shape7, 256;", "sub.u32 %b_shape8, %b_shape7, 224;"),
        ("horizontal", "?:256 ?:128", "bar.sync 0, 128;", "bar.sync 0, 256;"),
        ("interleave", "?:256 ?:128", "sub.u32 %b_shape19, %b_shape10, %b_shape18;", "mov.u32 %b_shape19, %b_shape10;"),
        ("interleave", "?:256 ?:128", "add.u32 %b_shape18, %b_shape16, 1;", "add.u32 %b_shape18, %b_shape16, 2;"),
    ],
)  # fmt: skip
def test_edits_of_counts_and_offsets_are_not_proved(strategy: str, shapes: str, part: str, by: str) -> None:
    text = fused("harris lud", shapes, strategy).text()
    assert certificate(text, "harris lud")
    assert part in text
    assert not certificate(text.replace(part, by), "harris lud")


EARLY = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 p, .param .u32 n)
{
    .reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra OUT;
    st.global.u32 [%rd1], %r1;
    bar.sync 0;
    st.global.u32 [%rd1+4], %r1;
OUT:
    ret;
}
"""


def test_a_barrier_must_not_count_threads_that_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [EARLY.replace("NAME", name) for name in ("first", "second")]
    shapes = [goptx.Shape(None, 64), goptx.Shape(None, 96)]
    made = goptx.fuse(*kernels, strategy="horizontal", shapes=shapes)
    assert prove(made), str(prove(made))
    monkeypatch.setattr("goptx.strategies.horizontal.is_barrier_uniform", lambda flow: True)
    wrong = goptx.fuse(*kernels, strategy="horizontal", shapes=shapes)
    assert "counts threads that may have ended" in str(prove(wrong))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "names", "shapes"),
    [
        ("interleave", "scan transpose", "?:256 ?x?:32x8"),
        ("interleave", "lud lud", "?:256 ?:128"),
        ("weave", "histogram histogram", "?:256:1024 ?:256:2048"),
    ],
)
def test_shared_arrays_in_one_dynamic_array_are_proved(strategy: str, names: str, shapes: str) -> None:
    made = prove(fused(names, shapes, strategy))
    assert made, str(made)


@pytest.mark.parametrize(
    ("part", "by", "why"),
    [
        ("shared+1024;", "shared+0;", ""),
        ('"pooled": [{"a_', '"pooled": [{"a', ""),
        ('row": 1024', 'row": 512', ""),
        ('row": 1024', 'row": 1026', "would not be aligned"),
        ('row": 1024', 'row": -4', "cannot be in the dynamic array"),
        ('"pool": "lud_woven_shared"', '"pool": "none"', "is in a dynamic array, which is not declared"),
        (".extern .shared .align 1024", ".extern .shared .align 2", "would not be aligned"),
    ],
)
def test_edits_of_shared_arrays_are_not_proved(part: str, by: str, why: str) -> None:
    text = fused("lud lud", "?:256 ?:128", "interleave").text()
    assert part in text and certificate(text, "lud lud")
    made = certificate(text.replace(part, by, 1), "lud lud")
    assert not made and why in str(made)


@pytest.mark.slow
def test_shared_arrays_of_two_kernels_must_not_overlap() -> None:
    text = fused("histogram histogram", "?:256:1024 ?:256:2048").text()
    assert certificate(text, "histogram histogram")
    places = [int(n) for n in re.findall(r'"pooled": \[\{"\w+": (\d+)', text)]
    assert places == [0, 1024]
    wrong = text.replace(": 1024}]", ": 512}]", 1).replace("_shared+1024", "_shared+512")
    assert "may overlap" in str(certificate(wrong, "histogram histogram"))


OWN = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 out) BOUND
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, REGISTER;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def alone(name: str, register: str = "%nsmid", bound: str = "") -> str:
    return OWN.replace("NAME", name).replace("REGISTER", register).replace("BOUND", bound)


def beside_another(kernel: str, strategy: Literal["horizontal", "interleave"]) -> str:
    shapes = [goptx.Shape(64, 128), goptx.Shape(32, 256)]
    return goptx.fuse(kernel, alone("second"), strategy=strategy, shapes=shapes).text()


@pytest.mark.parametrize("strategy", ["horizontal", "interleave"])
@pytest.mark.parametrize("register", ["%clusterid.x", "%nclusterid.x", "%cluster_ctaid.x", "%cluster_nctaid.y"])
def test_what_clusters_are_is_another_thing(strategy: Literal["horizontal", "interleave"], register: str) -> None:
    """A CTA is a cluster of its own where none is asked for, and its number is the fused kernel's."""
    first, other = parse(alone("first")), parse(alone("first", register))
    text = beside_another(alone("first"), strategy)
    assert prove_text(text, [first, parse(alone("second"))])
    text = text.replace("%nsmid; // A", f"{register}; // A").replace(digest(str(first)), digest(str(other)))
    assert "has other operands than" in str(prove_text(text, [other, parse(alone("second"))]))


@pytest.mark.parametrize("bound", [".maxntid 128, 1, 1", ".reqntid 128, 1, 1"])
def test_bounds_of_a_kernel_are_not_those_of_both(bound: str) -> None:
    text = beside_another(alone("first", bound=bound), "horizontal")
    kernels = [parse(alone("first", bound=bound)), parse(alone("second"))]
    assert ".reqntid 384, 1, 1" in text and prove_text(text, kernels)
    made = prove_text(text.replace(".reqntid 384, 1, 1", bound), kernels)
    assert "excludes launches that the kernels allow" in str(made)
