"""Names of kernels and of their parameters as users write them: `A`, `A:2` or `A:ptx_name`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from goptx.errors import InputError

if TYPE_CHECKING:
    from goptx.ptx.ir import Function


def letter_of(position: int) -> str:
    """The letter of the kernel at that position; there are at most 26 kernels."""
    return chr(ord("A") + position)


def parameter_named(name: str, kernels: Sequence[tuple[str, Function]], what: str) -> tuple[int, int]:
    """The position of its kernel, and its own there; `what` names the purpose in messages. Raises `InputError`."""
    letter, _, own = name.partition(":")
    kernel = next((k for k, (known, _) in enumerate(kernels) if known == letter), None)
    if kernel is None or not own:
        raise InputError(
            f"{what} `{name}`: write the kernel's letter and the parameter's number or name, for example A:2 or "
            f"A:n; the kernels are {' and '.join(f'{known} (`{entry.name}`)' for known, entry in kernels)}."
        )
    names = [p.name for p in kernels[kernel][1].parameters]
    position = int(own) if re.fullmatch("[0-9]+", own) else names.index(own) if own in names else -1
    if not 0 <= position < len(names):
        listed = ", ".join(f"{i} ({n})" for i, n in enumerate(names)) or "none"
        entry = kernels[kernel][1].name
        raise InputError(f"{what} `{name}`: kernel {letter} (`{entry}`) has no such parameter; it has {listed}.")
    return kernel, position
