"""The dependencies of an output as a rule for Make, as compilers write it: Ninja and CMake read it too."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from goptx.errors import InputError


def rule(output: str, read: Collection[Path]) -> str:
    """The rule `out.ptx: a.ptx b.ptx`, with the paths as given, in alphabetical order."""
    return " \\\n  ".join([f"{_escaped(Path(output))}:", *sorted(map(_escaped, read))]) + "\n"


def _escaped(path: Path) -> str:
    """The path escaped as GCC does it: Make takes backslashes literally, except before a blank or `#`. Raises
    `InputError` for a path with a line break, which no rule can name."""
    if re.search(r"[\r\n]", str(path)):
        raise InputError(f"--depfile cannot name {str(path)!r}, a path with a line break; rename it.")
    text = re.sub(r"(\\*)([ \t#])", r"\1\1\\\2", path.as_posix())
    return text.replace("$", "$$")
