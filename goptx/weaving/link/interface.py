"""What the woven entry takes, and what the module around it calls what its kernels brought along."""

from __future__ import annotations

from goptx.analysis.values.pointer_effects import reach
from goptx.launch.parameter import Parameter
from goptx.ptx.ir import Function, Module, Variable
from goptx.weaving.model import Linked


def parameters(linked: Linked) -> tuple[Parameter, ...]:
    reached = {k.letter: reach(k.entry, linked.address_size) for k in linked.given}
    own = []
    for k in linked.given:
        for old, new in zip(k.entry.parameters, k.parameters, strict=True):
            instead = linked.lacks.get(new.name)
            access = "none" if instead == "" else reached[k.letter].accesses[old.name]
            inside = tuple(reached[k.letter].inside.get(old.name, {}).items())
            own.append(
                Parameter(
                    k.letter, new.name, old.name, new.type, new.size, access=access, instead=instead, inside=inside
                )
            )
    return (*own, *(Parameter(None, p.name, p.name, p.type, p.size, role) for role, p in linked.hidden.items()))


def symbols(linked: Linked, module: Module) -> dict[str, dict[str, str]]:
    """As `Woven.symbols`."""
    held = {i.name for i in module.items if isinstance(i, Function | Variable)}
    return {k.letter: {old: new for old, new in k.symbols.items() if new in held} for k in linked.given}
