"""The sizes of launches as terms: numbers that are known, hidden parameters, and the fused kernel's own registers.

The witness claims how all kernels are launched; docs/proof.md says what its words mean. Raises `NotProved` for a
claim that cannot hold: a kernel with more threads or CTAs than the fused kernel, or a size that nothing gives.
"""

from __future__ import annotations

from functools import reduce
from math import prod

from goptx.proof.code.kernel_code import NotProved
from goptx.proof.placement.integers import Integers
from goptx.proof.polynomials import Form, less, total, whole
from goptx.proof.terms import Terms
from goptx.proof.witness import OwnLaunch, Sizes, Witness

WARP = 32  # threads
MOST_CTAS, MOST_THREADS, MOST_SHARED = (1 << 31) - 1, 1024, 227 * 1024
_REGISTERS = {"grid": ("ctaid", "nctaid", MOST_CTAS), "block": ("tid", "ntid", MOST_THREADS)}


class LaunchSizes:
    """`special` are the fused kernel's registers as terms, `cta` and `thread` its numbers, counted along x first."""

    def __init__(self, terms: Terms, witness: Witness) -> None:
        if witness.launch is None or any(k.launch is None for k in witness.kernels):
            raise NotProved(1, "the witness does not say how the kernels are launched")
        self.terms, self.integers, self.launch = terms, Integers(terms), witness.launch
        terms.numbers = self.integers
        self.own: dict[str, OwnLaunch] = {k.letter: k.launch for k in witness.kernels if k.launch}
        self._check()
        self.special: dict[str, int] = {}
        for what, (place, count, most) in _REGISTERS.items():
            for axis, known in zip("xyz", self._fused(what), strict=True):
                size = known or most
                self._register(f"%{place}.{axis}", 0, size - 1)
                self._register(f"%{count}.{axis}", known or 1, size)
        for letter in self.own:
            for what, (_, _, most) in _REGISTERS.items():
                sizes = [r for r in self.launch.hidden if r.startswith(f"{letter}.{what}.")]
                self.integers.bound([self.hidden(r) for r in sizes], most * self.own[letter].factor)
        self.cta, self.thread = self._number("grid"), self._number("block")

    def _register(self, name: str, least: int, most: int) -> None:
        term = self.integers.atom(self.terms.make(name), least, most)
        self.special[name] = self.integers.number(least) if least == most else term

    def _fused(self, what: str) -> Sizes:
        return self.launch.grid if what == "grid" else self.launch.block

    def _own(self, letter: str, what: str) -> Sizes:
        return self.own[letter].grid if what == "grid" else self.own[letter].block

    def _number(self, what: str) -> int:
        place, count, _ = _REGISTERS[what]
        *_, found = (self.special[f"%{place}.{a}"] for a in "xyz")
        for axis in "yx":
            operands = found, self.special[f"%{count}.{axis}"], self.special[f"%{place}.{axis}"]
            found = self.integers.value("mad.lo.u32", *operands) or 0
        return found

    def hidden(self, role: str) -> int:
        """The term of the hidden parameter with that role."""
        letter, what, *_ = (*role.split("."), "")
        most = {"grid": MOST_CTAS, "block": MOST_THREADS, "shared": MOST_SHARED, "spread": (1 << 32) - 1}.get(what)
        if role not in self.launch.hidden or letter not in self.own or most is None:
            raise NotProved(1, f"the witness has no parameter that is {role}")
        address = self.terms.make("[{}]", self.terms.make(f"symbol hidden {role}"))
        term = self.terms.make("ld.param.u32+0", address)
        return self.integers.atom(term, int(what in ("grid", "block")), most)

    # what is claimed ---------------------------------------------------------------------------------

    def _check(self) -> None:
        sizes = [self.launch.grid, self.launch.block, *(s for o in self.own.values() for s in (o.grid, o.block))]
        if any(len(s) != 3 or any(n is not None and (type(n) is not int or n < 1) for n in s) for s in sizes):
            raise NotProved(1, "the witness has sizes that are none")
        for letter, own in self.own.items():
            numbers = (own.factor, own.axis, own.first, own.stride)
            whole = all(type(n) is int and n >= 0 for n in numbers)
            if not whole or own.factor < 1 or own.axis > 2 or own.first % WARP:
                raise NotProved(1, f"the witness' claim where kernel {letter} is cannot hold")
        if self.launch.ratio and (len(self.launch.ratio) != len(self.own) or min(self.launch.ratio) < 1):
            raise NotProved(1, "the witness' ratio is not one number above 0 for each kernel")
        if self.launch.interleaved and self.launch.common:
            raise NotProved(1, "kernels of interleaved CTAs have no common launch")
        if (self.launch.ratio and not self.launch.interleaved) or self.launch.placement not in ("front", "spread"):
            raise NotProved(1, "the witness' placement of CTAs is not known")
        self._check_enough("block", [self._threads_until(letter) for letter in self.own])
        self._check_enough("grid", [self.carried_ctas(letter) for letter in self.own])

    def _threads_until(self, letter: str) -> int | None:
        threads = _product(self._own(letter, "block"))
        return None if threads is None else self.own[letter].first + threads

    def _check_enough(self, what: str, counts: list[int | None]) -> None:
        """That the fused kernel has enough CTAs or threads: as the sizes say, or, where some are not known, by the rule
        how it is launched."""
        fused = self._fused(what)
        if all(self.is_exact(letter, what) for letter in self.own):
            return
        known = _product(fused)
        if None in counts:
            if fused != (None, 1, 1) or (what == "block" and any(own.first for own in self.own.values())):
                raise NotProved(1, f"the witness' {what} of the fused kernel does not follow from those of its kernels")
            return
        needed = (
            sum(n or 0 for n in counts) if what == "grid" and self.launch.interleaved else max(n or 0 for n in counts)
        )
        if known is None or known < needed or (what == "grid" and self.launch.interleaved and known != needed):
            raise NotProved(1, f"the witness' {what} of the fused kernel does not have those of its kernels")

    @property
    def _common_factor(self) -> tuple[int, int] | None:
        """How many CTAs of the one grid of all kernels are in a CTA of the fused kernel, and along which axis."""
        factors = {(o.factor, o.axis if o.factor > 1 else 0) for o in self.own.values()}
        least = min(factors)
        return least if self.launch.common and (least[0] == 1 or len(factors) == 1) else None

    def is_exact(self, letter: str, what: str) -> bool:
        """Whether the fused kernel's CTAs or threads are those that carry the kernel, with the same coordinates."""
        own = self.own[letter]
        if (what == "grid" and (self.launch.interleaved or own.stride)) or (what == "block" and own.first):
            return False
        carried, fused = self.carried(letter, what), self._fused(what)
        if None not in carried:
            return carried == fused
        common = what == "block" or self._common_factor == (own.factor, own.axis if own.factor > 1 else 0)
        return self.launch.common and common and carried == fused

    def carried(self, letter: str, what: str) -> Sizes:
        """How many CTAs of the fused kernel carry the kernel along each axis, or how many threads it has."""
        own, sizes = self.own[letter], list(self._own(letter, what))
        along = sizes[own.axis]
        if what == "grid" and along is not None:
            sizes[own.axis] = along // own.factor + along % own.factor
        return tuple(sizes)

    def carried_ctas(self, letter: str) -> int | None:
        return _product(self.carried(letter, "grid"))

    @property
    def fused_ctas(self) -> int | None:
        return _product(self.launch.grid)

    def has_all_ctas(self, letter: str) -> bool:
        """Whether each CTA of the fused kernel carries the kernel."""
        return self.is_exact(letter, "grid") or (None is not self.carried_ctas(letter) == self.fused_ctas)

    # terms -------------------------------------------------------------------------------------------

    def size(self, letter: str, what: str, axis: int) -> int:
        """Of the kernel's own grid or block."""
        known = self._own(letter, what)[axis]
        if known is not None:
            return self.integers.number(known)
        role = f"{letter}.{what}.{'xyz'[axis]}"
        if role in self.launch.hidden:
            return self.hidden(role)
        factor = self._common_factor
        common = self.launch.common if what == "block" else factor and (factor[0] == 1 or axis != factor[1])
        if not common or self._fused(what)[axis] is not None:
            raise NotProved(1, f"the witness has no parameter that is {role}")
        return self.special[f"%{_REGISTERS[what][1]}.{'xyz'[axis]}"]

    def groups(self, letter: str) -> int:
        """How many CTAs of the fused kernel along the axis carry as many of the kernel's as one can."""
        own = self.own[letter]
        operands = self.size(letter, "grid", own.axis), self.integers.number(own.factor)
        return self._value("div.u32", *operands)

    def along(self, letter: str, what: str, axis: int) -> int:
        """`carried` as a term."""
        own, size = self.own[letter], self.size(letter, what, axis)
        if what == "block" or axis != own.axis or own.factor == 1:
            return size
        left = self._value("rem.u32", size, self.integers.number(own.factor))
        return self._value("add.u32", self.groups(letter), left)

    def total(self, letter: str, what: str) -> int:
        """How many CTAs of the fused kernel carry the kernel, or how many threads it has."""
        return reduce(lambda a, b: self._value("mul.lo.u32", a, b), (self.along(letter, what, i) for i in range(3)))

    def shared(self, letter: str) -> int:
        """Bytes of the kernel's dynamic shared memory."""
        known = self.own[letter].shared
        return self.hidden(f"{letter}.shared") if known is None else self.integers.number(known)

    def is_of_cta(self, form: Form) -> bool:
        """Whether the form does not depend on the thread."""
        return self.integers.atoms(form).isdisjoint(self.special[f"%tid.{axis}"] for axis in "xyz")

    def is_uniform(self, form: Form) -> bool:
        """Whether all threads of a warp agree that the form is below 0: it does not depend on the thread, or compares
        its number with a multiple of 32."""
        number = self.integers.form(self.thread)
        rests = less(form, number), total(form, number, whole(1))
        return self.is_of_warp(form) or any(self.counts_warps(rest) for rest in rests)

    def is_of_warp(self, form: Form) -> bool:
        """Whether the form has one value for all threads of a warp. The quotient of the thread's number, moved by a
        multiple of 32, by a multiple of 32 has."""
        return all(self._is_atom_of_warp(atom) for product, _ in form for atom in product)

    def _is_atom_of_warp(self, atom: int) -> bool:
        fraction = self.integers.fraction(atom)
        if fraction is None:
            return atom not in (self.special[f"%tid.{axis}"] for axis in "xyz")
        top, bottom = fraction
        rest = less(top, self.integers.form(self.thread))
        of_warps = all(not p and n % WARP == 0 for p, n in bottom) and self.counts_warps(rest)
        return of_warps or (self.is_of_warp(top) and self.is_of_warp(bottom))

    def counts_warps(self, form: Form) -> bool:
        """Whether it is a multiple of 32 with one value for all threads of a warp."""
        return self.is_of_warp(form) and all(n % WARP == 0 for _, n in form)

    def _value(self, opcode: str, *operands: int) -> int:
        found = self.integers.value(opcode, *operands)
        if found is None:
            raise NotProved(1, f"the numbers of the witness are too large for `{opcode}`")
        return found


def _product(sizes: Sizes) -> int | None:
    return None if None in sizes else prod(n or 0 for n in sizes)
