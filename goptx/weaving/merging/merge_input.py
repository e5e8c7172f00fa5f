"""What the merger merges: one kernel, or several that are merged already.

Requires: converged flows with barriers prepared, whose code has its provenance. Ensures: of merged kernels it stays
known where each of them stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goptx.analysis.cfg import EXIT, Code, Flow, original
from goptx.analysis.numbering import completed, provenance_of
from goptx.launch.parameter_names import letter_of
from goptx.options import Slicing
from goptx.ptx.ir import Provenance
from goptx.weaving.merging.product import Pairing, Product
from goptx.weaving.merging.sync_order import Order, Waits
from goptx.weaving.model import Choices, Converged


@dataclass(frozen=True, slots=True)
class ProductState:
    """Where each kernel stands at a merged block, by its number, `EXIT` where it has ended; and which of them run."""

    stands: Mapping[int, str]
    runs: frozenset[int]

    def joined(self, other: ProductState) -> ProductState:
        return ProductState({**self.stands, **other.stands}, self.runs | other.runs)


def merge_inputs(
    flows: Sequence[Flow], converged: Sequence[Converged], choices: Choices, duplicate: bool = False
) -> list[MergeInput]:
    """The converged kernels as the merger sees them; `flows` are theirs with barriers prepared, `duplicate` is that of
    all. Code that passes have made gets its provenance."""
    return [
        MergeInput(
            completed(flow, k), c.warp_branches, c.lanes_wait_apart, () if c.threads is None else (c.threads,),
            kernels=(k,), cycles=choices.cycles, last=c.last, duplicate=duplicate, slicing=choices.slicing,
        )
        for k, (flow, c) in enumerate(zip(flows, converged, strict=True))
    ]  # fmt: skip


NOWHERE = ProductState({}, frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInput(Waits):
    """One kernel, or several merged ones, as the merger sees it.

    kernels: their numbers, in the order in which they were merged.
    last: it begins when the first has ended.
    duplicate: its code stands on the sides of the other's regions wherever that is right.
    cells: of merged kernels, the cell of each block that does not only branch.
    placed: the provenance of what has its place in the order of waiting of those.
    copy: it is a copy of a kernel, or several of one, which no warp passes by without passing by the others.
    in_step: its branches are marked for the other copies (lockstep.py).
    slicing: how it was sliced, that of the last merge if it is merged.
    handed_on: registers that one kernel writes and others read.
    notes: how it was merged if not freely, and why; and what else was left out.
    """

    kernels: tuple[int, ...]
    cycles: Callable[[Code], int]
    last: bool = False
    duplicate: bool = False
    cells: Mapping[str, ProductState] | None = None
    placed: frozenset[Provenance] = frozenset()
    copy: bool = False
    in_step: bool = False
    slicing: Slicing = None
    handed_on: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return "".join(letter_of(k) if k < 26 else f"K{k}" for k in self.kernels)

    def cell(self, name: str, runs: bool = True) -> ProductState:
        """Of a block, or of a piece that was cut from it."""
        if name == EXIT:
            return ProductState(dict.fromkeys(self.kernels, EXIT), frozenset())
        if self.cells is None:
            return ProductState({self.kernels[0]: name}, frozenset(self.kernels if runs else ()))
        found = self.cells.get(original(name), NOWHERE)
        return found if runs else ProductState(found.stands, frozenset())


def united(first: MergeInput, second: MergeInput, product: Product, order: Order) -> MergeInput:
    """Both as one, merged to that product, whose barriers keep that order."""
    sides = (first, second)

    def cell(pairing: Pairing) -> ProductState:
        one, other = (s.cell(n, pairing.runs(i)) for i, (s, n) in enumerate(zip(sides, pairing.pair, strict=True)))
        return one.joined(other)

    def parts_warps(pairing: Pairing) -> bool:
        """Whether warps may go different ways behind it, those too many for a kernel among them (range_guard.py)."""
        return any(
            pairing.runs(i) and (name in s.warp_branches or (s.threads and name == s.flow.entry and not s.copy))
            for i, (s, name) in enumerate(zip(sides, pairing.pair, strict=True))
        )

    placed = [provenance_of(c) for i, s in enumerate(sides) for c in s.flow.codes() if order.has_place(i, c)]
    return MergeInput(
        product.flow,
        frozenset(name for name, pairing in product.pairings.items() if parts_warps(pairing)),
        first.lanes_apart or second.lanes_apart,
        first.threads + second.threads,
        merged=True,
        kernels=first.kernels + second.kernels,
        cycles=first.cycles,
        last=first.last or second.last,
        duplicate=first.duplicate or second.duplicate,
        cells={name: cell(pairing) for name, pairing in product.pairings.items()},
        placed=first.placed.union(second.placed, placed),
        copy=first.copy and second.copy,
        in_step=first.in_step and second.in_step,
        slicing=first.slicing,
        notes=(*first.notes, *second.notes),
    )
