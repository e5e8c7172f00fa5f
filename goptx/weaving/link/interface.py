"""The parameters of the woven entry, and the names in its module of the kernels' own symbols."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from goptx.analysis.values.pointer_effects import Reach, reach
from goptx.launch.parameter import Accesses, Parameter
from goptx.memo import Deferred
from goptx.ptx.ir import Function, Module, Variable
from goptx.weaving.model import Kernel, Linked


def parameters(linked: Linked) -> tuple[Parameter, ...]:
    """What the kernels do by them is found when it is asked for."""
    own = [p for k in linked.given for p in _of_kernel(linked, k)]
    return (*own, *(Parameter(None, p.name, p.name, p.type, p.size, role) for role, p in linked.hidden.items()))


def _of_kernel(linked: Linked, kernel: Kernel) -> Iterator[Parameter]:
    entry, address_size = kernel.entry, linked.address_size
    reached = Deferred(lambda: reach(entry, address_size))
    for old, new in zip(entry.parameters, kernel.parameters, strict=True):
        instead = linked.lacks.get(new.name)
        accesses = partial(_accesses, reached, old.name, instead)
        yield Parameter(
            kernel.letter, new.name, old.name, new.type, new.size, instead=instead, accesses=Deferred(accesses)
        )


def _accesses(reached: Deferred[Reach], name: str, instead: str | None) -> Accesses:
    access = "none" if instead == "" else reached.value.accesses[name]
    return Accesses(access, tuple(reached.value.inside.get(name, {}).items()))


def symbols(linked: Linked, module: Module) -> dict[str, dict[str, str]]:
    """As `Woven.symbols`."""
    held = {i.name for i in module.items if isinstance(i, Function | Variable)}
    return {k.letter: {old: new for old, new in k.symbols.items() if new in held} for k in linked.given}
