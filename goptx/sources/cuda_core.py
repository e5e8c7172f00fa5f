"""cuda.core's object codes. The opposite direction is `Woven.load`, which returns a cuda.core kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.sources.kernel_text import Compiled


def compiled(code: Any) -> Compiled | None:
    """The kernel of an object code with PTX; None for anything else. Raises `InputError` for one without PTX."""
    kind = getattr(code, "code_type", None)
    if kind is None:
        return None
    if kind != "ptx":
        raise InputError(
            f'an ObjectCode of {kind} has no PTX, and goptx weaves that; compile to it: Program(...).compile("ptx").'
        )
    content = code.code
    if isinstance(content, str):  # the path of its file
        return Compiled(content, Path(content).read_bytes())
    return Compiled(f"{getattr(code, 'name', '') or 'ObjectCode'} (cuda.core)", bytes(content))
