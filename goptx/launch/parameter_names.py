"""Names of kernels and of their parameters as users write them: `A`, `A:2` or `A:ptx_name`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from goptx.errors import InputError
from goptx.readable_names import short, short_parameter

if TYPE_CHECKING:
    from goptx.ptx.ir import Function


def letter_of(position: int) -> str:
    """The letter of the kernel at that position; there are at most 26 kernels."""
    return chr(ord("A") + position)


def parameter_named(
    name: str, kernels: Sequence[tuple[str, Function]], what: str, specified: Sequence[Sequence[str]] = ()
) -> tuple[int, int]:
    """The position of its kernel, and its own there; `what` names the purpose in messages. `specified`: the names in
    each kernel's launch specification, in order, which are known too. Raises `InputError`."""
    letter, _, own = str(name).partition(":")
    kernel = next((k for k, (known, _) in enumerate(kernels) if known == letter), None)
    if kernel is None or not own:
        raise InputError(
            f"{what} `{name}`: write the kernel's letter and the parameter's number or name, for example A:2 or "
            f"A:n; the kernels are {' and '.join(f'{known} (`{short(entry.name)}`)' for known, entry in kernels)}."
        )
    called = kernels[kernel][1].name
    names = [p.name for p in kernels[kernel][1].parameters]
    shortened = [short_parameter(name, called) for name in names]
    positions = (
        [int(own)]
        if re.fullmatch("[0-9]+", own)
        else _positions(own, names, shortened, *specified[kernel : kernel + 1])
    )
    if len(positions) > 1:
        raise InputError(
            f"{what} `{name}`: the PTX and the launch specification give that name to different parameters, numbers "
            f"{' and '.join(map(str, positions))}; give the number."
        )
    position = positions[0] if positions else -1
    if not 0 <= position < len(names):
        also = [f", {n}" for n in (specified[kernel] if specified else ())] or [""] * len(names)
        listed = ", ".join(f"{i} ({n}{more})" for i, (n, more) in enumerate(zip(names, also, strict=False))) or "none"
        raise InputError(
            f"{what} `{name}`: kernel {letter} (`{short(called)}`) has no such parameter; it has {listed}."
        )
    return kernel, position


def _positions(own: str, *lists: Sequence[str]) -> list[int]:
    """The positions of a name in lists, each once."""
    return sorted({names.index(own) for names in lists if own in names})
