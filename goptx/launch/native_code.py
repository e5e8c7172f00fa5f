"""Machine code of a kernel as its framework made it, which separate launches use unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field

from goptx.display import brief

POINTER = 8  # bytes


@dataclass(frozen=True, slots=True)
class NativeCode:
    """A `cubin`, and the name of the kernel's entry in it.

    scratch: how many scratch parameters the entry has after the parameters of the PTX; launches pass null pointers.
    """

    __repr__ = brief

    cubin: bytes = field(repr=False)
    entry: str
    scratch: int = 0

    @property
    def hidden(self) -> list[bytes]:
        """The contents of the scratch parameters."""
        return [bytes(POINTER)] * self.scratch
