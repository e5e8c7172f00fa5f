"""What the merger merges: one kernel, or several that are merged already.

Requires: converged flows with barriers prepared, whose code has its provenance. Ensures: for each merged block the
state of each kernel is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from goptx.analysis.cfg import EXIT, Code, Flow, original
from goptx.analysis.numbering import completed, provenance_of
from goptx.launch.parameter_names import letter_of
from goptx.options import Slicing
from goptx.ptx.ir import Provenance
from goptx.weaving.merging.product import Pairing, Product
from goptx.weaving.merging.sync_order import Order, Waits
from goptx.weaving.model import Choices, Converged, Linked


@dataclass(frozen=True, slots=True)
class ProductState:
    """The block at which each kernel stands in a merged block, by its number, `EXIT` if it has ended; and which run."""

    stands: Mapping[int, str]
    runs: frozenset[int]

    def joined(self, other: ProductState) -> ProductState:
        return ProductState({**self.stands, **other.stands}, self.runs | other.runs)


def merge_inputs(
    linked: Linked, flows: Sequence[Flow], converged: Sequence[Converged], choices: Choices, duplicate: bool = False
) -> list[MergeInput]:
    """The converged kernels as inputs of the merger; `flows` are their flows with barriers prepared, `duplicate`
    applies to all. Code that passes have made gets its provenance."""
    return [
        MergeInput(
            completed(flow, k), c.warp_branches, c.lanes_wait_separately, () if c.threads is None else (c.threads,),
            kernels=(k,), cycles=choices.cycles, last=c.last, duplicate=duplicate, slicing=choices.slicing,
            trips=linked.trips,
        )
        for k, (flow, c) in enumerate(zip(flows, converged, strict=True))
    ]  # fmt: skip


NOWHERE = ProductState({}, frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInput(Waits):
    """One kernel, or several merged ones: an input of the merger.

    kernels: their numbers, in the order in which they were merged.
    last: it begins when the first has ended.
    duplicate: its code stands on the sides of the other's regions wherever that is correct.
    states: of merged kernels, the state of each block that does more than branch.
    placed: the provenance of the code of merged kernels that is in the synchronization order.
    copy: it is a copy of a kernel, or several of one; a warp skips it only with all others.
    in_lockstep: its branches are marked for the other copies (lockstep.py).
    trips: how often loops run, for the code of those of which that is known.
    slicing: how it was sliced; for merged kernels, the slicing of the last merge.
    forwarded: registers that one kernel writes and others read.
    notes: how and why it was not merged freely; and what else was left out.
    """

    kernels: tuple[int, ...]
    cycles: Callable[[Code], int]
    last: bool = False
    duplicate: bool = False
    states: Mapping[str, ProductState] | None = None
    placed: frozenset[Provenance] = frozenset()
    copy: bool = False
    in_lockstep: bool = False
    trips: Mapping[Provenance, float] = field(default_factory=dict)
    slicing: Slicing = None
    forwarded: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return "".join(letter_of(k) if k < 26 else f"K{k}" for k in self.kernels)

    def state(self, name: str, runs: bool = True) -> ProductState:
        """The state of a block, or of a piece that was cut from it."""
        if name == EXIT:
            return ProductState(dict.fromkeys(self.kernels, EXIT), frozenset())
        if self.states is None:
            return ProductState({self.kernels[0]: name}, frozenset(self.kernels if runs else ()))
        found = self.states.get(original(name), NOWHERE)
        return found if runs else ProductState(found.stands, frozenset())


def united(first: MergeInput, second: MergeInput, product: Product, order: Order) -> MergeInput:
    """Both as one: the product, whose barriers keep the order."""
    sides = (first, second)

    def state(pairing: Pairing) -> ProductState:
        one, other = (s.state(n, pairing.runs(i)) for i, (s, n) in enumerate(zip(sides, pairing.pair, strict=True)))
        return one.joined(other)

    def warps_may_differ(pairing: Pairing) -> bool:
        """Whether warps may branch differently at its end, or some of them skip a kernel there (range_guard.py)."""
        return any(
            pairing.runs(i) and (name in s.warp_branches or (s.threads and name == s.flow.entry and not s.copy))
            for i, (s, name) in enumerate(zip(sides, pairing.pair, strict=True))
        )

    placed = [provenance_of(c) for i, s in enumerate(sides) for c in s.flow.codes() if order.has_place(i, c)]
    return MergeInput(
        product.flow,
        frozenset(name for name, pairing in product.pairings.items() if warps_may_differ(pairing)),
        first.lanes_wait_separately or second.lanes_wait_separately,
        first.threads + second.threads,
        merged=True,
        kernels=first.kernels + second.kernels,
        cycles=first.cycles,
        last=first.last or second.last,
        duplicate=first.duplicate or second.duplicate,
        states={name: state(pairing) for name, pairing in product.pairings.items()},
        placed=first.placed.union(second.placed, placed),
        copy=first.copy and second.copy,
        in_lockstep=first.in_lockstep and second.in_lockstep,
        slicing=first.slicing,
        notes=(*first.notes, *second.notes),
    )
