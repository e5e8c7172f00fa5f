"""What the caller declares of the buffers of kernels that are fused: which parameters are one, and which of those are
only temporaries between the kernels.

Requires: linked kernels. Ensures: parameters that are one have one name in all kernels, so that their addresses are
equal expressions. Parameters that are not pointers may be one too: bounds, for example.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from goptx.analysis.cfg import Code
from goptx.errors import InputError
from goptx.launch.parameter_names import parameter_named
from goptx.options import ParameterNames, ParameterPairs
from goptx.ptx.flatten import renamed_statement
from goptx.ptx.ir import Instruction, Scope, Variable
from goptx.weaving.model import Kernel, Linked

Parameter = tuple[int, int]  # the number of its kernel, and its own there
KINDS = ("same", "private", "local")


@dataclass(frozen=True, slots=True)
class Buffer:
    """Parameters that are one, in order, and what they are: "same", "private" (a temporary of a thread), "local" (one
    of a CTA), or "noalias" (one with no other). `name` is what all kernels call it: the first parameter's."""

    kind: str
    members: tuple[Parameter, ...]
    name: str

    def describe(self, linked: Linked, kernel: int | None = None) -> str:
        """For messages: `A:2 (x), B:0 (y)`, or what it is in one kernel."""
        return ", ".join(self.called(linked, kernel))

    def called(self, linked: Linked, kernel: int | None = None) -> tuple[str, ...]:
        """Its parameters, each by itself."""
        return tuple(
            f"{linked.kernels[k].letter}:{i} ({linked.kernels[k].entry.parameters[i].name})"
            for k, i in self.members
            if kernel in (None, k)
        )


def buffers_of(
    linked: Linked, declared: Mapping[str, ParameterPairs], noalias: ParameterNames = ()
) -> tuple[Buffer, ...]:
    """From what is declared by kind, and from the parameters declared to be one with those alone. Raises
    `InputError` for unknown parameters, and for what contradicts itself."""
    groups: list[tuple[set[Parameter], set[str]]] = []
    for kind, given in {**declared, "noalias": noalias}.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            example = '["A:1"]' if kind == "noalias" else '[("A:2", "B:0")]'
            raise InputError(f"{kind}= takes a list, for example {kind}={example}; it is {given!r}.")
    for kind in KINDS:
        for pair in declared.get(kind, ()):
            group, kinds = set(_pair(linked, kind, pair)), {kind}
            for other in [g for g in groups if g[0] & group]:
                groups.remove(other)
                group, kinds = group | other[0], kinds | other[1]
            groups.append((group, kinds))
    found = []
    for group, kinds in groups:
        members = tuple(sorted(group))
        buffer = Buffer(next(k for k in reversed(KINDS) if k in kinds), members, _variable(linked, members[0]).name)
        if {"private", "local"} <= kinds:
            raise InputError(f"{buffer.describe(linked)}: a buffer is either private or local; say one of them.")
        found.append(buffer)
    named = {member for buffer in found for member in buffer.members}
    kernels = [(k.letter, k.entry) for k in linked.kernels]
    alone = {parameter_named(name, kernels, "noalias") for name in noalias} - named
    found += [Buffer("noalias", (member,), _variable(linked, member).name) for member in sorted(alone)]
    return tuple(sorted(found, key=lambda b: b.members))


def _pair(linked: Linked, kind: str, pair: tuple[str, str] | str) -> list[Parameter]:
    given: Any = pair.split("=") if isinstance(pair, str) else pair
    names = tuple(given) if isinstance(given, Iterable) else ()
    if len(names) != 2 or not all(isinstance(n, str) for n in names):
        raise InputError(f'{kind}= takes pairs of parameters such as ("A:2", "B:0") or "A:2=B:0", not {pair!r}.')
    found = [parameter_named(n, [(k.letter, k.entry) for k in linked.kernels], kind) for n in names]
    one, other = (_variable(linked, p) for p in found)
    if (one.size, bool(one.dims)) != (other.size, bool(other.dims)):
        raise InputError(
            f"{kind} `{names[0]}`, `{names[1]}`: parameters of {one.size} and of {other.size} bytes cannot be one."
        )
    if kind != "same" and (one.size != linked.address_size // 8 or one.dims):
        raise InputError(f"{kind} `{names[0]}`, `{names[1]}`: these are not pointers.")
    if found[0] == found[1]:
        raise InputError(f"{kind} `{names[0]}`, `{names[1]}` is one parameter; name it and that of another kernel.")
    return found


def in_words(linked: Linked, text: str) -> str:
    """With parameters as the caller names them."""
    names = {p.name: f"{k.letter}:{i}" for k in linked.kernels for i, p in enumerate(k.parameters)}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    return text


def _variable(linked: Linked, parameter: Parameter) -> Variable:
    return linked.kernels[parameter[0]].parameters[parameter[1]]


def as_one(linked: Linked, buffers: Sequence[Buffer]) -> Linked:
    """The kernels with one name for what is one; the fused kernel lacks the other names."""
    names = {_variable(linked, p).name: b.name for b in buffers for p in b.members}
    new = {old: name for old, name in names.items() if old != name}
    if not new:
        return replace(linked, one=names)
    kernels = tuple(renamed(k, new) for k in linked.kernels)
    temporary = {b.name for b in buffers if b.kind in ("private", "local")}
    lacks = {old: "" if name in temporary else name for old, name in new.items()}
    return replace(linked, kernels=kernels, lacks={**linked.lacks, **lacks}, one=names)


def renamed(kernel: Kernel, new: Mapping[str, str]) -> Kernel:
    """With other names in its code."""

    def code(old: Code) -> Code:
        made = renamed_statement(old, lambda name: new.get(name, name))
        assert isinstance(made, Instruction | Scope)
        return old if made == old else made

    return replace(kernel, flow=kernel.flow.with_code(lambda codes: map(code, codes)))
