"""What the checker takes for one value in a warp is one: computed for each thread of some launches."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product

import pytest

from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.placement.placement import Placements, placements_of
from goptx.proof.placement.uniform_terms import UniformTerms
from goptx.proof.terms import Terms
from goptx.proof.witness import FusedLaunch, Named, OwnLaunch, Witness

MOD = 1 << 32
Value = Callable[[tuple[int, ...], tuple[int, ...]], int]  # of a thread's %tid and %ctaid
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "shr.u32": lambda a, b: a >> min(b, 32),
    "shl.b32": lambda a, b: a << min(b, 32),
    "and.b32": lambda a, b: a & b,
    "div.u32": lambda a, b: a // b if b else MOD - 1,
    "xor.b32": lambda a, b: a ^ b,
}
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip


def placements(terms: Terms, grid: tuple[int, int, int], block: tuple[int, int, int]) -> Placements:
    named = Named("A", "a", "", ("a",), (), launch=OwnLaunch(grid, block))
    return placements_of(terms, Witness("weave", "w", (named,), launch=FusedLaunch(grid, block, "spread", common=True)))


def signed(n: int) -> int:
    return n - MOD if n >= MOD // 2 else n


class Drawing:
    """Terms with the numbers that they are for each thread."""

    def __init__(self, grid: tuple[int, int, int], block: tuple[int, int, int], seed: int) -> None:
        self.terms, self.random = Terms(), random.Random(seed)
        self.placements = placements(self.terms, grid, block)
        assert self.placements.integers is not None
        self.integers = self.placements.integers
        self.made: list[tuple[int, Value]] = []
        for i, axis in enumerate("xyz"):
            self.made.append((self.placements.special[f"%tid.{axis}"], lambda tid, _, i=i: tid[i]))  # type: ignore[misc]
            self.made.append((self.placements.special[f"%ctaid.{axis}"], lambda _, cta, i=i: cta[i]))  # type: ignore[misc]
        parameter = self.terms.make("ld.param.u32+0", self.terms.make("[{}]", self.terms.make("symbol n")))
        self.made.append((parameter, lambda _tid, _cta: 77))

    def operand(self) -> tuple[int, Value]:
        if self.random.random() < 0.4:
            n = self.random.choice([1, 2, 5, 31, 32, 33, 64, 96, 128, 255, 4, 8, MOD - 32, MOD - 1])
            return self.terms.make(str(n)), lambda _tid, _cta: n
        return self.random.choice(self.made)

    def draw(self) -> None:
        name, (a, first), (b, second) = self.random.choice([*OPERATIONS]), self.operand(), self.operand()
        found = self.integers.value(name, a, b)
        term = self.terms.make(name, a, b) if found is None else found
        self.made.append(
            (term, lambda tid, cta: OPERATIONS[name](first(tid, cta), second(tid, cta)) % MOD)
        )  # fmt: skip

    def comparison(self) -> tuple[int, Value]:
        relation, kind = self.random.choice([*RELATIONS]), self.random.choice(["u32", "s32"])
        (a, first), (b, second) = self.operand(), self.operand()
        found = self.integers.comparison(f"setp.{relation}.{kind}", a, b)
        formula = self.terms.atom(f"setp.{relation}.{kind}", a, b) if found is None else found
        own = signed if kind == "s32" else int
        return formula, lambda tid, cta: int(RELATIONS[relation](own(first(tid, cta)), own(second(tid, cta))))


def warps(block: Sequence[int]) -> list[list[tuple[int, ...]]]:
    threads: list[tuple[int, ...]] = [(x, y, z) for z, y, x in product(*(range(n) for n in reversed(block)))]
    return [threads[i : i + 32] for i in range(0, len(threads), 32)]


@pytest.mark.parametrize("block", [(256, 1, 1), (100, 1, 1), (16, 8, 1), (64, 2, 1), (32, 2, 2), (33, 3, 1)])
def test_what_is_uniform_is_one_value_in_each_warp(block: tuple[int, int, int]) -> None:
    found = varying = 0
    for seed in range(60):
        drawn = Drawing((5, 2, 1), block, seed)
        for _ in range(12):
            drawn.draw()
        uniform = UniformTerms(drawn.terms, drawn.placements)
        claimed = [value for term, value in drawn.made if uniform.term(term)]
        formulas = [drawn.comparison() for _ in range(12)]
        claimed += [value for formula, value in formulas if uniform.formula(formula) and formula not in (FALSE, TRUE)]
        found += len(claimed)
        for value in claimed:
            for warp, cta in product(warps(block), [(0, 0, 0), (3, 1, 0)]):
                assert len({value(tid, cta) for tid in warp}) == 1
        varying += len(drawn.made) + len(formulas) - len(claimed)
    assert found > 300 and varying > 300


@pytest.mark.parametrize(
    ("opcode", "number", "right"),
    [
        ("lt", 64, True), ("ge", 64, True), ("le", 63, True), ("gt", 63, True), ("lt", 0, True), ("lt", 65, False),
        ("le", 64, False), ("gt", 64, False), ("eq", 64, False), ("ne", 64, False), ("lt", 16, False),
    ],
)  # fmt: skip
def test_comparisons_of_the_threads_number(opcode: str, number: int, right: bool) -> None:
    drawn = Drawing((1, 1, 1), (256, 1, 1), 0)
    tid, term = drawn.placements.special["%tid.x"], drawn.terms.make(str(number))
    known = drawn.integers.comparison(f"setp.{opcode}.u32", tid, term)
    formula = drawn.terms.atom(f"setp.{opcode}.u32", tid, term) if known is None else known
    assert UniformTerms(drawn.terms, drawn.placements).formula(formula) == right


def test_without_launch_shapes_threads_numbers_are_not_known() -> None:
    terms = Terms()
    tid, warp = terms.make("%tid.x"), terms.make("64")
    uniform = UniformTerms(terms, Placements())
    assert not uniform.formula(terms.atom("setp.lt.u32", tid, warp))
    assert uniform.formula(terms.atom("setp.lt.u32", terms.make("%ctaid.x"), warp))
    assert not uniform.term(terms.make("%laneid")) and not uniform.term(terms.opaque("result 3.0", 0))
    assert not uniform.term(terms.make("mov.u32", terms.make("%clock")))
