"""A parameter of an entry that goptx makes: whose it is, its type and size, and what its kernel does with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from goptx.display import brief
from goptx.launch.arguments import Access
from goptx.memo import Deferred, computed


class Accesses(NamedTuple):
    """What a kernel does by one parameter, as `Parameter` has it."""

    access: Access = "none"
    inside: tuple[tuple[int, Access], ...] = ()


NO_ACCESS = computed(Accesses())


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an entry.

    kernel: its letter; None of a hidden parameter.
    name: in the entry. original: in the kernel's own PTX.
    type: of PTX, without the dot. size: in bytes.
    role: of a hidden one what it holds, such as "A.grid.x" (see `Plan.roles`), else "".
    instead: None unless the entry lacks the parameter: then it names the one that the entry reads instead, which gets
        an equal argument, or is "" where what is passed does not matter.
    accesses: `access` and `inside`, which are found when they are asked for.
    """

    __repr__ = brief

    kernel: str | None
    name: str
    original: str
    type: str
    size: int
    role: str = ""
    instead: str | None = None
    accesses: Deferred[Accesses] = field(default=NO_ACCESS, compare=False, repr=False)

    @property
    def access(self) -> Access:
        """What the kernel does to the memory that it points to: "none" (also of what is no pointer), "read", "written",
        "both", or "unknown", which counts as both; see `pointer_accesses`."""
        return self.accesses.value.access

    @property
    def inside(self) -> tuple[tuple[int, Access], ...]:
        """Of a structure the offsets of pointers in it that are followed, and what the kernel does by them."""
        return self.accesses.value.inside

    @property
    def is_passed(self) -> bool:
        """Whether a launch takes an argument for it and passes that to the entry."""
        return self.kernel is not None and self.instead is None
