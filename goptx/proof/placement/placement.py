"""Where the threads and CTAs of each kernel are in the fused kernel, by the witness' claim of how all are launched.

A placement says which threads of the fused kernel are threads of a kernel, as a formula, and what the kernel's special
registers are there, as terms. Ensures: each thread of the kernel is one thread of the fused kernel, with the same lane;
threads of one warp or CTA are in one warp or CTA. docs/proof.md shows that for each kind of placement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations

from goptx.proof.code.kernel_code import NotProved
from goptx.proof.formulas import FALSE, TRUE, Formulas
from goptx.proof.placement.integers import Integers
from goptx.proof.placement.sizes import WARP, LaunchSizes
from goptx.proof.polynomials import Form, less, total
from goptx.proof.terms import Terms
from goptx.proof.witness import OwnLaunch, Witness

_FOREIGN = (  # registers whose value another kernel's launch decides, and which have no rule
    "%tid", "%ntid", "%ctaid", "%nctaid", "%warpid", "%nwarpid", "%gridid", "%dynamic_smem_size", "%total_smem_size",
    "%aggr_smem_size", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank",
    "%cluster_nctarank", "%is_explicit_cluster",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placement:
    """`belongs`: whether a thread of the fused kernel is one of the kernel's; `warps`: whether its warp has such a one.
    `special`: the terms of its special registers there. `count`: its threads in whole warps, None where it has as many
    as the fused kernel. `first`: the thread that is its thread 0."""

    belongs: int
    special: Mapping[str, int]
    count: int | None = None
    first: int = 0
    warps: int = TRUE


EVERYWHERE = Placement(TRUE, {})


@dataclass(frozen=True)
class Placements:
    """By the name of a kernel, or of a copy ("A.1"). `special` are the fused kernel's own registers as terms; `facts`
    holds of all its threads. Empty where all kernels have the fused kernel's own threads."""

    kernels: Mapping[str, Placement] = field(default_factory=dict)
    special: Mapping[str, int] = field(default_factory=dict)
    facts: int = TRUE
    sizes: LaunchSizes | None = None

    @property
    def integers(self) -> Integers | None:
        """What is known of numbers that come from launch shapes."""
        return self.sizes.integers if self.sizes else None

    def of(self, name: str) -> Placement:
        """Of a kernel, or a copy of one."""
        return self.kernels.get(name, EVERYWHERE)

    @property
    def comparisons(self) -> frozenset[int]:
        """The variables of formulas that depend on launch shapes and thread numbers alone."""
        return frozenset(self.integers.comparisons) if self.integers else frozenset()

    @property
    def formulas(self) -> Formulas:
        """The store of formulas."""
        assert self.sizes is not None
        return self.sizes.terms.formulas

    def is_uniform(self, formula: int) -> bool:
        """Whether such a formula has one value for all threads of a warp."""
        return self._all(formula, LaunchSizes.is_uniform)

    def is_of_cta(self, formula: int) -> bool:
        """Whether such a formula has one value for all threads of a CTA."""
        return self._all(formula, LaunchSizes.is_of_cta)

    def _all(self, formula: int, test: Callable[[LaunchSizes, Form], bool]) -> bool:
        if self.sizes is None:
            return False
        return all(test(self.sizes, self.sizes.integers.comparisons[v]) for v in self.formulas.support(formula))


def placements_of(terms: Terms, witness: Witness) -> Placements:
    """Raises `NotProved` where the claim is not one of a placement."""
    return _Layout(LaunchSizes(terms, witness)).placements()


class _Layout:
    def __init__(self, sizes: LaunchSizes) -> None:
        self.sizes, self.launch, self.integers = sizes, sizes.launch, sizes.integers
        self.formulas, self.terms = sizes.terms.formulas, sizes.terms
        self.inside: list[int] = []  # that a kernel's number of a CTA is below their count

    def placements(self) -> Placements:
        found = {}
        for (letter, own), (number, carries) in zip(self.sizes.own.items(), self._carrying(), strict=True):
            for copy in range(own.factor):
                name = f"{letter}.{copy}" if copy else letter
                found[name] = self._placement(letter, own, number, carries, (copy + 1) % own.factor)
        self.integers.learning = False
        return Placements(found, self.sizes.special, self._facts(), self.sizes)

    # arithmetic --------------------------------------------------------------------------------------

    def _value(self, opcode: str, *operands: int) -> int:
        found = self.integers.value(opcode, *operands)
        if found is None:
            raise NotProved(1, f"the numbers of the witness are too large for `{opcode}`")
        return found

    def _is(self, relation: str, first: int, second: int) -> int:
        found = self.integers.comparison(f"setp.{relation}.u32", first, second)
        if found is None:
            raise NotProved(1, "the numbers of the witness are too large to be compared")
        return found

    def _both(self, *formulas: int) -> int:
        return reduce(self.formulas.both, formulas, TRUE)

    def _sum(self, *parts: int) -> int:
        return reduce(lambda a, b: self._value("add.u32", a, b), parts, self.integers.number(0))

    # CTAs --------------------------------------------------------------------------------------------

    def _carrying(self) -> list[tuple[int, int]]:
        """For each kernel the number of the CTA that a CTA of the fused kernel carries, of those that are in one; and
        the formula that there is one."""
        letters = list(self.sizes.own)
        if self.launch.ratio:
            return [self._in_groups(k) for k in range(len(letters))]
        number, found, earlier = self.sizes.cta, [], FALSE
        for k, letter in enumerate(letters):
            if self.launch.interleaved and k + 1 == len(letters):
                own, carries, rest = number, TRUE, number
            else:
                own, carries, rest = self._one(letter, number, letters[k:])
            found.append((own, self._both(carries, self.formulas.negation(earlier))))
            if self.launch.interleaved:
                number, earlier = rest, self.formulas.either(earlier, carries)
        return found

    def _one(self, letter: str, number: int, letters: list[str]) -> tuple[int, int, int]:
        """For the CTA at this number: its number in the kernel, whether it is one of the kernel's, and its number among
        the others."""
        sizes, known = self.sizes, self.sizes.carried_ctas(letter)
        if not self.launch.interleaved and sizes.has_all_ctas(letter):
            return number, TRUE, number
        if self.launch.placement == "front":
            ctas = sizes.total(letter, "grid")
            return number, self._is("lt", number, ctas), self._value("sub.u32", number, ctas)
        counts = [sizes.carried_ctas(i) for i in letters]
        among = sum(n or 0 for n in counts) if self.launch.interleaved else sizes.fused_ctas
        if known is None or None in counts or among is None:
            step = sizes.hidden(f"{letter}.spread")
        else:
            step = self.integers.number(_spread(known, among))
        wide = self._value("mad.wide.u32", number, step, self._value("cvt.u64.u32", number))
        low, high = self.integers.halves(wide) or (None, None)
        if low is None or high is None:
            raise NotProved(1, "the numbers of the witness are too large to spread CTAs")
        after = self._sum(high, self.integers.number(1))
        return high, self._is("le", low, step), self._value("sub.u32", number, after)

    def _in_groups(self, k: int) -> tuple[int, int]:
        """As many CTAs of each kernel as the ratio says follow each other, as often as there are so many; the rest is
        kernel by kernel."""
        ratio, number, constant = self.launch.ratio, self.sizes.cta, self.integers.number
        ctas = [self.sizes.total(letter, "grid") for letter in self.sizes.own]
        each = [self._value("div.u32", n, constant(r)) for n, r in zip(ctas, ratio, strict=True)]
        groups = reduce(lambda a, b: self._value("min.u32", a, b), each)
        parts = [self._value("mul.lo.u32", groups, constant(r)) for r in ratio]
        rests = [self._value("sub.u32", n, part) for n, part in zip(ctas, parts, strict=True)]
        size = constant(sum(ratio))
        grouped = self._value("mul.lo.u32", groups, size)
        within = self._is("lt", number, grouped)
        group, place = self._value("div.u32", number, size), self._value("rem.u32", number, size)
        place = self._value("sub.u32", place, constant(sum(ratio[:k])))
        place = self.terms.choice(within, place, self._value("sub.u32", number, self._sum(grouped, *rests[:k])))
        first = self.terms.choice(within, self._value("mul.lo.u32", group, constant(ratio[k])), parts[k])
        carries = self._is("lt", place, self.terms.choice(within, constant(ratio[k]), rests[k]))
        return self._sum(first, place), carries

    # kernels -----------------------------------------------------------------------------------------

    def _placement(self, letter: str, own: OwnLaunch, number: int, carries: int, place: int) -> Placement:
        sizes = self.sizes
        names = [f"{name}{axis}" for name in _FOREIGN for axis in ("", ".x", ".y", ".z", ".w")]
        special = {name: self.terms.make(f"{letter} {name}") for name in names}
        belongs, number = carries, self._strided(letter, own, number)
        if not sizes.is_exact(letter, "grid"):
            self.inside.append(self.formulas.implies(carries, self._is("lt", number, sizes.total(letter, "grid"))))
        for axis, at in enumerate(self._coordinates(letter, "grid", number)):
            if axis == own.axis and own.factor > 1:
                at, copies = self._own_cta(letter, own, at, place)
                belongs = self._both(belongs, copies)
            special[f"%ctaid.{'xyz'[axis]}"] = at
        count, warps = None, belongs
        if not sizes.is_exact(letter, "block"):
            threads = sizes.total(letter, "block")
            up = self._value("add.u32", threads, self.integers.number(WARP - 1))
            count = self._value("and.b32", up, self.integers.number(-WARP))
            number = self._value("sub.u32", sizes.thread, self.integers.number(own.first))
            warps = self._both(belongs, self._is("lt", number, count))
            belongs = self._both(belongs, self._is("lt", number, threads))
        for axis, at in enumerate(self._coordinates(letter, "block", number)):
            special[f"%tid.{'xyz'[axis]}"] = at
        for axis in range(3):
            special[f"%ntid.{'xyz'[axis]}"] = sizes.size(letter, "block", axis)
            special[f"%nctaid.{'xyz'[axis]}"] = sizes.size(letter, "grid", axis)
        if own.shared is not None or f"{letter}.shared" in self.launch.hidden:
            special["%dynamic_smem_size"] = sizes.shared(letter)
        decided = {name: self.terms.resolved(term, belongs) for name, term in special.items()}
        return Placement(belongs, decided, count, own.first, warps)

    def _strided(self, letter: str, own: OwnLaunch, number: int) -> int:
        """The number of the kernel's CTA at this place among those that carry the kernel: with a stride that is a power
        of two and divides their count, those at the places 0, stride, 2 stride, ... come first."""
        if not own.stride:
            return number
        ctas = self.sizes.carried_ctas(letter)
        if self.launch.interleaved or not ctas or own.stride & (own.stride - 1) or ctas % own.stride:
            raise NotProved(1, f"the CTAs of kernel {letter} cannot have strides of {own.stride}")
        part = self._value("and.b32", number, self.integers.number(own.stride - 1))
        row = self._value("shr.u32", number, self.integers.number(own.stride.bit_length() - 1))
        return self._value("mad.lo.u32", part, self.integers.number(ctas // own.stride), row)

    def _coordinates(self, letter: str, what: str, number: int) -> list[int]:
        """Along x, y and z, of a number that counts along x first."""
        sizes = self.sizes
        if sizes.is_exact(letter, what):
            return [sizes.special[f"%{'ctaid' if what == 'grid' else 'tid'}.{a}"] for a in "xyz"]
        along = [sizes.along(letter, what, axis) for axis in range(3)]
        last = max([axis for axis in range(3) if sizes.carried(letter, what)[axis] != 1], default=0)
        found, below = [], self.integers.number(1)
        for axis, size in enumerate(along):
            outer = self._value("div.u32", number, below)
            if sizes.carried(letter, what)[axis] == 1:
                found.append(self.integers.number(0))
            else:
                found.append(outer if axis == last else self._value("rem.u32", outer, size))
            below = self._value("mul.lo.u32", below, size) if axis < last else below
        return found

    def _own_cta(self, letter: str, own: OwnLaunch, at: int, place: int) -> tuple[int, int]:
        """The kernel's CTA along the axis in which `factor` CTAs are in one, for the copy at this place in the CTA `at`
        along it, and whether there is one: CTAs left over are the first place's."""
        factor, groups = self.integers.number(own.factor), self.sizes.groups(letter)
        whole = self._sum(self._value("mul.lo.u32", at, factor), self.integers.number(place))
        known = own.grid[own.axis]
        if known is not None and known % own.factor == 0:
            return whole, TRUE
        within = self._is("lt", at, groups)
        if place:
            return whole, within
        less_one = self._value("mul.lo.u32", groups, self.integers.number(own.factor - 1))
        return self.terms.choice(within, whole, self._sum(less_one, at)), TRUE

    # facts -------------------------------------------------------------------------------------------

    def _facts(self) -> int:
        """What comparisons have to do with each other: forms are below 0 if larger ones are."""
        integers, formulas = self.integers, self.formulas
        facts = list(self.inside)
        for (v, f), (w, g) in combinations(integers.comparisons.items(), 2):
            a, b = formulas.variable(v), formulas.variable(w)
            (low, high), (least, most) = integers.range(less(f, g)), integers.range(total(f, g))
            facts += [formulas.implies(a, b)] * (low >= 0) + [formulas.implies(b, a)] * (high <= 0)
            facts += [formulas.negation(formulas.both(a, b))] * (least >= -1)
            facts += [formulas.either(a, b)] * (most <= -1)
        return self._both(*facts)


def _spread(ctas: int, among: int) -> int:
    """The number s by which `ctas` CTAs are spread over others, or None: docs/proof.md says for which s that is so."""
    ratio = -(-(ctas << 32) // among)
    ratio = min(ratio, ((ctas << 32) - 1) // (among - 1)) if among > 1 else ratio
    if not (1 <= ratio <= 1 << 32 and (ctas - 1) << 32 <= (among - 1) * ratio < ctas << 32):
        raise NotProved(1, f"{ctas} CTAs cannot be spread over {among}")
    return ratio - 1
