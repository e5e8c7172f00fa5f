"""What a kernel touches, and where its flow does so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.analysis.values.access_sites import Access, AccessSites
from goptx.analysis.values.expressions import Atoms
from goptx.analysis.values.value_numbering import Values
from goptx.weaving.model import Kernel


@dataclass(frozen=True, slots=True)
class KernelAccesses:
    """A kernel, the places of its flow, and its accesses."""

    kernel: Kernel
    places: AccessSites
    accesses: Sequence[Access]

    @classmethod
    def of(cls, kernel: Kernel, atoms: Atoms, buffer: str | None = None) -> KernelAccesses:
        """Its accesses to a buffer by that name, or all."""
        places = AccessSites(Values(kernel.flow, atoms))
        return cls(kernel, places, [a for a in places.accesses() if buffer in (None, a.base)])

    def touches(self, buffer: str) -> bool:
        """Whether it has an access that is counted from the buffer by that name."""
        return any(a.base == buffer for a in self.accesses)

    def describe(self, access: Access) -> str:
        """For messages."""
        return f"{self.kernel.at(access.instruction.line)}: `{self.kernel.quote(access.instruction)}`"
