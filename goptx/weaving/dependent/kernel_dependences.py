"""Which accesses of one kernel have to come before those of another, and how that order is preserved.

Requires: linked kernels in which parameters that are one buffer have one name. Two kernels *conflict* where both touch
one buffer and one of them writes it. Ensures, of each such pair of accesses, one of these:

    same thread    the element is the thread's own: no other touches it, the thread runs the kernels in their order
    same CTA       the element is the CTA's own: a barrier stands between the kernels, unless the caller asserts that
                   none is needed (`no_barriers`)
    else           `CannotWeave`, or a barrier if the caller says that a CTA's elements are its own

With `depends`, a parameter that the caller names with others is one buffer with those and with no other; any two that
are not named may be one, from its beginning on. Without it kernels may conflict at buffers named private or local only.
What belongs to a thread or CTA is proved for launches along x only (`along_x`), so the fused kernel has to be launched
in such a shape. Loads by the read-only path (`.nc`, `ldu`) of what another kernel writes become plain ones, since ptxas
lifts them over stores and barriers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.numbering import provenance_of
from goptx.analysis.terminators import Jump
from goptx.analysis.values.access_sites import Access, AccessSites, parameter_of
from goptx.analysis.values.expressions import Atoms
from goptx.analysis.values.footprint import Footprint, Size, footprint, piece_of_cta
from goptx.errors import CannotWeave, InputError
from goptx.launch.shape import Limit
from goptx.ptx.ir import Immediate, Instruction, Variable
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import free_name
from goptx.weaving.dependent.kernel_accesses import KernelAccesses
from goptx.weaving.dependent.shared_buffers import Buffer, in_words
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.model import Kernel, Linked

REMEDY = (
    "use separate launches, assume_local=True if each CTA touches elements of its own, or name what is another buffer "
    "(same=, noalias=)"
)


SAY_SO = "say so (depends=True, --depends)"


def check_promises(dependent: bool, assume_local: bool, no_barriers: bool, assume_private: bool) -> None:
    """Raises `InputError` for a promise about dependences where kernels are `dependent` in no way."""
    promises = {"assume_local": assume_local, "no_barriers": no_barriers, "assume_private": assume_private}
    for name in (name for name, is_given in promises.items() if is_given and not dependent):
        raise InputError(
            f"{name}= is a promise about kernels that depend on each other; give depends=, private= or local=, too, or "
            f"leave {name} out."
        )


class Dependences:
    """`say_so` is what to do where a kernel writes a buffer of inputs in common."""

    def __init__(
        self,
        linked: Linked,
        buffers: Sequence[Buffer],
        depends: bool,
        assume_local: bool,
        no_barriers: bool = False,
        say_so: str = SAY_SO,
    ) -> None:
        self.linked = linked
        self.depends = depends
        self.assume_local = assume_local
        self.no_barriers = no_barriers
        self.temporary = {b.name for b in buffers if b.kind in ("private", "local")}
        self.private = {b.name for b in buffers if b.kind == "private"}
        self.named = {b.name for b in buffers}
        self.alone = {b.name for b in buffers if b.kind == "noalias"}
        self.parameters = {p.name for k in linked.kernels for p in k.parameters}
        self.structures = {p.name for k in linked.kernels for p in k.parameters if p.dims}
        self.variables = _variables(linked)
        self.size = _size(linked)
        self.limits: frozenset[Limit] = frozenset()  # of the launches for which it was proved
        self.along_x = False  # whether what was proved holds for launches along x only
        self.ordered = depends or bool(self.temporary)
        atoms = Atoms()
        self.of = [KernelAccesses.of(k, atoms) for k in linked.kernels if buffers or depends]
        if self.ordered:
            self._check_shapes()
        if not depends:
            self._check_same(buffers, say_so)

    def _check_shapes(self) -> None:
        plan = self.linked.plan
        if plan is None:
            return
        extents = {(s.axes("grid"), s.axes("block")) for s in plan.shapes}
        if len(extents) > 1 or any(None in axes for extent in extents for axes in extent):
            described = ", ".join(f"{letter} {shape}" for letter, shape in zip(plan.letters, plan.shapes, strict=True))
            raise CannotWeave(
                f"{self._at(self.linked.kernels[0])}: kernels that depend on each other are fused where all have the "
                f"same grid and block, known or not stated ({described}), since one thread has to run them all; use "
                "separate launches.",
                rule="dependent-shapes",
            )

    def _check_same(self, buffers: Sequence[Buffer], say_so: str) -> None:
        for buffer in buffers:
            if buffer.kind == "same":
                for of in self.of:
                    for access in of.accesses:
                        if access.writes and self._is_written_for_others(of, access, buffer):
                            raise CannotWeave(
                                f"{of.describe(access)} writes the buffer {buffer.describe(self.linked)}, so "
                                f"the kernels depend on each other; {say_so}.",
                                rule="declared-dependences",
                            )

    def _is_written_for_others(self, of: KernelAccesses, access: Access, buffer: Buffer) -> bool:
        """Of a structure, whether another kernel goes by the same pointer in it."""
        if parameter_of(access.base) != buffer.name or buffer.name not in self.structures:
            return access.base == buffer.name
        others = [o for o in self.of if o.kernel.letter != of.kernel.letter]
        return any(a.base == access.base for o in others for a in o.accesses)

    # what is changed in the kernels ----------------------------------------------------------------------

    def enforced(self) -> Linked:
        """The kernels with loads and barriers as the dependences need them. Raises `CannotWeave`."""
        if not self.ordered:
            return self.linked
        flows = [self._without_nc(of) for of in self.of]
        waits: set[int] = set()
        notes = []
        for j in range(len(self.of)):
            for i in range(j):
                for first, second in self._aliasing(i, j):
                    reason = self._needs_barrier(i, j, first, second)
                    if reason and not any(i < k <= j for k in waits):
                        waits.add(j)
                        notes.append(self._note(self.of[j].kernel, reason))
        kernels = [
            replace(of.kernel, flow=_after_barrier(flow) if j in waits and not self.no_barriers else flow)
            for j, (of, flow) in enumerate(zip(self.of, flows, strict=True))
        ]
        limits = self.linked.limits | self.limits
        return replace(self.linked, kernels=tuple(kernels), notes=(*self.linked.notes, *notes), limits=limits)

    def _note(self, kernel: Kernel, reason: str) -> str:
        if self.no_barriers:
            return f"no barrier stands before kernel {kernel.letter}, by the word no_barriers=True: {reason}"
        return f"a barrier stands before kernel {kernel.letter}: {reason}"

    def _aliasing(self, i: int, j: int) -> Iterator[tuple[Access, Access]]:
        for first in self.of[i].accesses:
            for second in self.of[j].accesses:
                if (first.writes or second.writes) and self._may_alias(first, second):
                    yield first, second

    def _may_alias(self, one: Access, other: Access) -> bool:
        if one.base in self.private or other.base in self.private:
            return False
        if "" in (one.base, other.base) or one.by_handle or other.by_handle:
            return self.depends
        if one.base == other.base:
            return True
        bases = {one.base, other.base}
        return self.depends and not bases <= self.variables and all(map(self._may_be_any, bases))

    def _may_be_any(self, base: str) -> bool:
        """Whether it may be a buffer that others may be too: what a pointer leads to that is not named, a structure's
        among them, or a variable of the module."""
        name = parameter_of(base)
        named = self.alone if name in self.structures else self.named
        return base in self.variables or name in self.parameters - named

    def _needs_barrier(self, i: int, j: int, first: Access, second: Access) -> str:
        """Why, "" if the order is preserved without one. Raises `CannotWeave` where none would do."""
        one, other = self.of[i], self.of[j]
        described = f"{one.describe(first)} and {other.describe(second)}"
        buffers = " and ".join(dict.fromkeys((self._buffer(i, first), self._buffer(j, second))))
        for of, access in ((one, first), (other, second)):
            if not access.generic and not access.facts.calls:
                raise CannotWeave(
                    f"{described} may touch one buffer ({buffers}), and {of.describe(access)} goes another way "
                    "than loads and stores, which do not wait for it; use separate launches.",
                    rule="plain-accesses",
                )
        if "" in (first.base, second.base):
            unknown = one.describe(first) if not first.base else other.describe(second)
            raise CannotWeave(
                f"{described} may touch one buffer: where {unknown} goes is not known; use separate launches.",
                rule="known-addresses",
            )
        if self._same_thread(one, other, first, second):
            return ""
        pieces = [
            piece_of_cta(of.places.values, a.offset, self.size, a.width) for of, a in ((one, first), (other, second))
        ]
        if pieces[0] is not None and pieces[1] is not None and pieces[0] == pieces[1]:
            self.along_x = True
            self.limits |= pieces[0].limits | pieces[1].limits
            return f"{described} touch {buffers} within a CTA"
        if self.assume_local:
            return f"{described} touch {buffers}, assumed to be within a CTA"
        where = " and ".join(f"`{self._words(of, a)}`" for of, a in ((one, first), (other, second)))
        raise CannotWeave(
            f"{described} may touch the same element of {buffers} in different CTAs: {where} are not proved to belong "
            f"to one thread or CTA; {REMEDY}.",
            rule="dependence-within-cta",
        )

    def _same_thread(self, one: KernelAccesses, other: KernelAccesses, first: Access, second: Access) -> bool:
        one_foot, other_foot = (
            footprint(of.places.values, a.offset, self.size, of.places.condition(a.place))
            for of, a in ((one, first), (other, second))
        )
        if one_foot is None or other_foot is None or not _one_piece((one_foot, other_foot), (first, second)):
            return False
        self.along_x |= one_foot.axes == 1
        self.limits |= one_foot.limits | other_foot.limits
        return True

    def _without_nc(self, of: KernelAccesses) -> Flow:
        """Without the read-only path for what another kernel may write."""
        written = [a for o in self.of if o is not of for a in o.accesses if a.writes]
        changed = {
            provenance_of(a.instruction)
            for a in of.accesses
            if facts_of(a.instruction.opcode).uses_read_only_path and any(self._may_alias(a, w) for w in written)
        }

        def plain(code: Code) -> Code:
            return _plain(code) if isinstance(code, Instruction) and code.provenance in changed else code

        return of.kernel.flow.with_code(lambda code: map(plain, code)) if changed else of.kernel.flow

    # the order of fused code -----------------------------------------------------------------------------

    def check_order(self, order: Sequence[int]) -> None:
        """Raises `CannotWeave` where kernels that may depend on each other would run in another order."""
        if self.ordered and list(order) != sorted(order):
            last = self.linked.kernels[order[-1]]
            raise CannotWeave(
                f"{self._at(last)}: of an instruction of the kernel nothing is known, so it can only run last; "
                "kernels that depend on each other keep their order: use separate launches.",
                rule="known-instructions",
            )

    def orderly(self, places: AccessSites, first: MergeInput, second: MergeInput) -> bool:
        """Whether the flow of two sides, each iteration of a loop of both at once, keeps the order of conflicting
        accesses."""
        accesses = list(places.accesses())
        mine = [a for a in accesses if a.instruction.kernel in first.kernels]
        its = [a for a in accesses if a.instruction.kernel not in first.kernels]
        return all(
            self._in_order(places, a, b)
            for a in mine
            for b in its
            if (a.writes or b.writes) and (self._may_alias(a, b) or (a.base == b.base and a.base in self.private))
        )

    def _in_order(self, places: AccessSites, first: Access, second: Access) -> bool:
        if not places.precedes(first.place, second.place):
            return False
        if not (places.depth[first.place[0]] and places.depth[second.place[0]]):
            return True
        foot = footprint(places.values, first.offset, self.size)
        simple = places.depth[first.place[0]] == places.depth[second.place[0]] == 1
        return simple and foot is not None and foot.advances and first.offset == second.offset

    # words -----------------------------------------------------------------------------------------------

    @staticmethod
    def _at(kernel: Kernel) -> str:
        return kernel.at(kernel.entry.line)

    def _buffer(self, i: int, access: Access) -> str:
        names = {
            p.name: (f"{k.letter}:{n}", k.entry.parameters[n].name)
            for k in self.linked.kernels
            for n, p in enumerate(k.parameters)
        }
        number, name = names.get(parameter_of(access.base), ("", ""))
        within = access.base.removeprefix(parameter_of(access.base))
        return f"{number}{within} ({name})" if number else f"`{access.base}`"

    def _words(self, of: KernelAccesses, access: Access) -> str:
        return in_words(self.linked, of.places.values.atoms.render(access.offset))


def check_along_x(linked: Linked, what: str) -> None:
    """Raises `CannotWeave` where the launches are known to have more axes; `what` cannot be proved for those."""
    for kernel, shape in zip(linked.kernels, linked.plan.shapes if linked.plan else (), strict=False):
        if any(n not in (1, None) for which in ("grid", "block") for n in shape.axes(which)[1:]):
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: {what} is proved to stay with a thread or CTA in grids and blocks "
                f"along x only, and the shape {shape} has more axes; use separate launches.",
                rule="dependent-shapes",
            )


def _one_piece(feet: Sequence[Footprint], accesses: Sequence[Access]) -> bool:
    """Whether every thread has a piece of its own, in which all these accesses lie."""
    one, other = feet
    if not (one.exclusive and other.exclusive) or one.axes != other.axes:
        return False
    if (one.origin, one.pitch) != (other.origin, other.pitch) or not all(a.width for a in accesses):
        return False
    low = min(one.offset, other.offset)
    high = max(one.offset + accesses[0].width, other.offset + accesses[1].width)
    return high - low <= abs(one.pitch)


def _variables(linked: Linked) -> frozenset[str]:
    """Those in global memory."""
    own = [d.variable for k in linked.kernels for d in k.variables]
    items = [i for i in linked.items if isinstance(i, Variable)]
    return frozenset(v.name for v in (*own, *items) if v.space == ".global")


def _plain(load: Instruction) -> Instruction:
    """The load without the read-only path; hints of how long its line stays cached go with that."""
    words = load.opcode.split(".")
    dropped = ("L1::", "L2::cache_hint", "proxy::readonly")
    plain = ["ld", *(w for w in words[1:] if w != "nc" and not w.startswith(dropped))]
    operands = load.operands[:2] if any(w.startswith("L2::cache_hint") for w in words) else load.operands
    return replace(load, opcode=".".join(plain), operands=operands)


def _after_barrier(flow: Flow) -> Flow:
    barrier = Instruction("bar.sync", (Immediate("0"),))
    name = free_name("meet", set(flow.blocks))
    return Flow(name, {name: Block((barrier,), Jump(flow.entry)), **flow.blocks}).pruned()


def _size(linked: Linked) -> Size:
    shapes = linked.plan.shapes if linked.plan else ()
    threads = {s.axes("block") for s in shapes}
    grids = {s.axes("grid") for s in shapes}
    known = threads.pop() if len(threads) == 1 else (None, None, None)
    ctas = grids.pop() if len(grids) == 1 else (None, None, None)
    more = {f"%ntid.{a}": n for a, n in zip("yz", known[1:], strict=True)}
    more |= {f"%nctaid.{a}": n for a, n in zip("yz", ctas[1:], strict=True)}
    return Size(known[0], ctas[0], tuple((name, n) for name, n in more.items() if n is not None))
