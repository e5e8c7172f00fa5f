"""Inputs in common of kernels that do not depend on each other: one parameter for all kernels and, where threads run
several kernels, one load.

Requires: linked kernels, then the merged ones. Ensures: no kernel writes a buffer that is named; a load is left out
only where an earlier one of another kernel has loaded the element in every thread that would load it (to_registers.py).
What kernels do stays independent otherwise, so their instructions are interleaved as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Flow
from goptx.analysis.numbering import provenance_of
from goptx.analysis.sync.acquires import may_acquire, non_acquiring_functions
from goptx.analysis.values.access_sites import AccessSites
from goptx.analysis.values.footprint import UNKNOWN
from goptx.options import ParameterPairs
from goptx.ptx.ir import Provenance
from goptx.weaving.converge.unknown_instructions import first_unknown
from goptx.weaving.dependent.kernel_dependences import Dependences
from goptx.weaving.dependent.loop_fusion import in_lockstep
from goptx.weaving.dependent.shared_buffers import Buffer, as_one, buffers_of
from goptx.weaving.dependent.to_registers import Internalised, internalised
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import merged_blocks
from goptx.weaving.model import Linked
from goptx.weaving.schedule.schedule import units


@dataclass(frozen=True, slots=True)
class InCommon:
    """What kernels have in common: `buffers`, numbers among them, and the names of those that several kernels load."""

    buffers: tuple[Buffer, ...] = ()
    loaded: frozenset[str] = frozenset()

    @classmethod
    def found(cls, linked: Linked, same: ParameterPairs, strategy: str) -> tuple[Linked, InCommon]:
        """The kernels with one name for parameters that are one, and what these are. Raises `InputError` for parameters
        that do not exist, and `CannotWeave` where a kernel writes one of the buffers."""
        buffers = buffers_of(linked, {"same": same})
        if not buffers:
            return linked, cls()
        made = as_one(linked, buffers)
        remedy = f'strategy {strategy} takes independent kernels: use strategy="vertical" with depends=True'
        accesses = Dependences(made, buffers, depends=False, assume_local=False, say_so=remedy).of
        loading = {b.name: {o.kernel.letter for o in accesses if o.touches(b.name)} for b in buffers}
        return made, cls(buffers, frozenset(name for name, letters in loading.items() if len(letters) > 1))

    @staticmethod
    def in_lockstep(sides: Sequence[MergeInput]) -> list[MergeInput]:
        """The kernels, as one those whose loops go round equally often, so that each way around does that of all:
        bounds that are one show that. What was merged of copies keeps ways of its own."""
        groups: list[tuple[MergeInput, bool]] = []  # and whether others may join it
        for side in sides:
            single = side.states is None
            for k, (group, joins) in enumerate(groups):
                made = in_lockstep(group, side, _in_any_order) if joins and single else None
                if made is not None:
                    groups[k] = made, True
                    break
            else:
                groups.append((side, single))
        return [side for side, _ in groups]

    def loaded_once(self, linked: Linked, side: MergeInput, flows: Sequence[Flow]) -> Internalised:
        """The merged kernels, of which equal elements are loaded once wherever that can be shown; `flows` are those of
        the single kernels. The notes of the merged kernels name the buffers of which nothing is loaded once."""
        made = internalised(linked, side, flows, self.buffers, UNKNOWN, fixed=_fixed(linked, side))
        notes = [
            f"{named}: each kernel loads it for itself, for none has loaded an element before, and wherever another "
            "loads it; name bounds that are equal (same=) if there are some"
            for named in self._named(linked)
            if not any(note.startswith(f"{named}:") for note in made.notes)
        ]
        side = replace(made.side, forwarded=made.forwarded, notes=(*side.notes, *made.notes, *notes))
        return replace(made, side=side)

    def loaded_by_each(self, linked: Linked) -> list[str]:
        """Notes for strategies in which a thread runs one kernel only."""
        why = "are one parameter, and each kernel loads it for itself, for a thread runs one kernel only"
        return [f"{named} {why}" for named in self._named(linked)]

    def _named(self, linked: Linked) -> list[str]:
        """The buffers that several kernels load."""
        return [buffer.said(linked) for buffer in self.buffers if buffer.name in self.loaded]


def _in_any_order(places: AccessSites, first: MergeInput, second: MergeInput) -> bool:
    """Kernels that do not depend on each other may run so."""
    return True


def _fixed(linked: Linked, side: MergeInput) -> frozenset[Provenance]:
    """The provenance of code whose loads stay as they are: that of kernels that acquire, whose loads may not come from
    before that, and of kernels that are moved as a whole; carry chains, which are moved as one piece."""
    non_acquiring = non_acquiring_functions(linked.items)
    kernels = {
        k
        for k, kernel in enumerate(linked.kernels)
        if first_unknown(kernel.flow) or any(may_acquire(i, non_acquiring) for i in kernel.flow.instructions())
    }
    chained = (
        provenance_of(code)
        for block in merged_blocks(side).blocks.values()
        for part in block.parts
        for unit in units(part)
        for code in unit
        if len(unit) > 1
    )
    return frozenset((*chained, *(provenance_of(code) for code in side.flow.codes() if code.kernel in kernels)))
