"""Shared memory of several kernels: in W's own, as it is declared, or carved from one dynamic pool.

Requires: linked kernels, none of which uses another's variables. Ensures: no array of one kernel overlaps another's,
or `CannotLink` is raised. Arrays of unknown size all begin at one place, whichever kernel declares them, so two kernels
with such arrays need a pool, in which the sizes of `goptx.Shape` keep them apart; and so do static arrays that are more
than ptxas allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.errors import CannotLink
from goptx.launch.launch_plan import ALIGNMENT, aligned
from goptx.ptx.ir import Variable
from goptx.ptx.walk import mentioned
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.link.symbols import is_dynamic_shared
from goptx.weaving.model import Kernel, Linked

STATIC_LIMIT = 48 * 1024  # bytes; a ptxas limit on every architecture
DYNAMIC_BASE = 16  # bytes; the dynamic arrays of a kernel alone begin at a multiple of that at least


@dataclass(frozen=True, slots=True)
class Own:
    """The shared variables that one kernel uses, in the order of their declaration."""

    static: tuple[Variable, ...]
    dynamic: tuple[Variable, ...]

    @property
    def static_bytes(self) -> int:
        """Up to where the dynamic arrays begin, if there are any."""
        size = packed(self.static)[1]
        base = max([DYNAMIC_BASE, *(v.alignment for v in self.dynamic)]) if self.dynamic else 1
        return -(-size // base) * base

    def places(self) -> dict[str, int]:
        """The place of each variable in a pool that begins with the static ones."""
        places, size = packed(self.static)
        return places | dict.fromkeys((v.name for v in self.dynamic), aligned(size))


def packed(variables: Sequence[Variable]) -> tuple[dict[str, int], int]:
    """Where each lies, one behind the other, and where the last one ends; bytes."""
    places: dict[str, int] = {}
    size = 0
    for variable in variables:
        places[variable.name] = size + -size % variable.alignment
        size = places[variable.name] + variable.size
    return places, size


def shared_of(kernel: Kernel, linked: Linked) -> Own:
    shared = [d.variable for d in kernel.variables if d.variable.space == ".shared"]
    if of_module := [i for i in linked.items if isinstance(i, Variable) and i.space == ".shared"]:
        functions = called_functions(kernel, linked.items)
        named = {*mentioned(kernel.flow.codes()), *(name for f in functions for name in mentioned(f.body or ()))}
        shared = [*(v for v in of_module if v.name in named), *shared]
    return Own(tuple(v for v in shared if not is_dynamic_shared(v)), tuple(v for v in shared if is_dynamic_shared(v)))


def check_shared(linked: Linked) -> Linked:
    """Where nothing is known of how the kernels are launched: static memory must fit, and one of them only may use
    dynamic memory. Raises `CannotLink`."""
    own = [shared_of(k, linked) for k in linked.kernels]
    places = " and ".join(k.at(k.entry.line) for k in linked.given)
    total = static_total(own)
    if total > STATIC_LIMIT:
        sizes = ", ".join(f"{v.name} {v.size}" for o in own for v in o.static)
        raise CannotLink(
            f"{places} together declare {total} bytes of static shared memory, ptxas allows {STATIC_LIMIT} ({sizes}); "
            "say in which shapes they are launched (shapes=, --shape), make one of them dynamic or use separate "
            "launches.",
            rule="shared-memory-size",
        )
    if sum(bool(o.dynamic) for o in own) > 1:
        raise CannotLink(
            f"{places} both use dynamic shared memory, whose sizes are not known here, so their arrays would "
            "overlap; give the sizes (shapes=, --shape) or make one of them static.",
            rule="shared-memory-size",
        )
    return linked


def static_total(own: Sequence[Own]) -> int:
    """Bytes of static shared memory of all kernels."""
    return packed([v for o in own for v in o.static])[1]


def pool_variable(name: str) -> Variable:
    """W's one array of dynamic shared memory."""
    return Variable(".shared", (f".align {ALIGNMENT}", ".b8"), name, ("",), linkage=(".extern",))
