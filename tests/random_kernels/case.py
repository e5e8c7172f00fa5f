"""A pair of kernels as text, with all that is needed to launch and weave them; and the files that hold such pairs.

A file is the PTX of both kernels, one after the other, under comments: what goes wrong, and a line of JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from random_kernels.data import arguments
from random_kernels.tree import Extent

from goptx.weaving.divergence.converged import Choice

BETWEEN = "// the second kernel\n"
KEPT = Path(__file__).parent / "kept"


@dataclass(frozen=True, slots=True)
class Case:
    """`n` and `scale` are those of each kernel; for the rest see `tree.Kernel` and `tree.Pair`."""

    texts: tuple[str, str]
    grid: Extent
    block: Extent
    n: tuple[int, int]
    scale: tuple[int, int]
    policy: str
    slicing: str | int | None
    seed: int
    divergence: Choice | None = None

    @property
    def options(self) -> dict[str, Any]:
        """For `goptx.weave`."""
        return {"policy": self.policy, "slicing": self.slicing, "divergence": self.divergence}

    def arguments(self) -> list[list[object]]:
        """Of each kernel, fresh ones."""
        return [
            arguments(self.grid, self.block, n, scale, self.seed + i)
            for i, (n, scale) in enumerate(zip(self.n, self.scale, strict=True))
        ]

    def file(self, said: str) -> str:
        """The text of a file; `said` is what goes wrong."""
        launch = {name: value for name, value in asdict(self).items() if name != "texts"}
        head = "".join(f"// {line}".rstrip() + "\n" for line in [*said.splitlines(), json.dumps(launch)])
        return f"{head}{self.texts[0]}{BETWEEN}{self.texts[1]}"


def read(path: Path) -> Case:
    first, _, second = path.read_text(encoding="utf-8").partition(BETWEEN)
    launch: dict[str, Any] = json.loads(next(line for line in first.splitlines() if line.startswith("// {"))[3:])
    launch |= {name: tuple(launch[name]) for name in ("grid", "block", "n", "scale")}
    return Case((re.sub(r"\A(//.*\n)*", "", first), second), **launch)


def kept() -> list[Path]:
    """The files of pairs that have failed once."""
    return sorted(KEPT.glob("*.ptx"))
