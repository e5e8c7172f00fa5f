"""Kernels as text, with all facts for launching and weaving them; and the files that hold such cases.

A file is the PTX of the kernels, one after the other, under comments: the failure, and a line of JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from random_kernels.data import arguments

from goptx.launch.shape import Shape
from goptx.options import Choice, Placement, Policy, Slicing

NAMES = ("first", "second", "third")  # of the entries
BETWEEN = "// the {} kernel\n"
REGRESSIONS = Path(__file__).parent / "regressions"


@dataclass(frozen=True, slots=True)
class Case:
    """For each kernel its text, `n` and `scale` (see `tree.Kernel`), the shape in which it is launched, and in `stated`
    the part of that shape that the weaver gets; None if all kernels have one shape, which the weaver does not get.
    `way` is a name among `ways.WAYS`. For the other fields see `tree.Pair`."""

    texts: tuple[str, ...]
    shapes: tuple[Shape, ...]
    n: tuple[int, ...]
    scale: tuple[int, ...]
    policy: Policy
    slicing: Slicing
    seed: int
    divergence: Choice | None = None
    stated: tuple[Shape, ...] | None = None
    placement: Placement = "spread"
    way: str = "weave"

    def arguments(self) -> list[list[object]]:
        """Fresh arguments for each kernel."""
        return [
            arguments(shape, n, scale, self.seed + i, text=text)
            for i, (shape, n, scale, text) in enumerate(zip(self.shapes, self.n, self.scale, self.texts, strict=True))
        ]

    def file(self, failure: str) -> str:
        """The text of a file; `failure` is what goes wrong."""
        launch = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "texts"}
        head = "".join(f"// {line}".rstrip() + "\n" for line in [*failure.splitlines(), json.dumps(launch)])
        rest = (BETWEEN.format(name) + text for name, text in zip(NAMES[1:], self.texts[1:], strict=False))
        return head + self.texts[0] + "".join(rest)


def _plain(value: Any) -> Any:
    """A value as JSON has it; shapes as text for `Shape.parse`."""
    return [str(v) if isinstance(v, Shape) else v for v in value] if isinstance(value, tuple) else value


def read(path: Path) -> Case:
    first, *rest = re.split(BETWEEN.format(f"(?:{'|'.join(NAMES[1:])})"), path.read_text(encoding="utf-8"))
    launch: dict[str, Any] = json.loads(next(line for line in first.splitlines() if line.startswith("// {"))[3:])
    launch |= {name: tuple(launch[name]) for name in ("n", "scale")}
    for name in ("shapes", "stated"):
        shapes = launch.get(name)
        launch[name] = None if shapes is None else tuple(map(Shape.parse, shapes))
    return Case((re.sub(r"\A(//.*\n)*", "", first), *rest), **launch)


def regressions() -> list[Path]:
    """The files of pairs that have failed once."""
    return sorted(REGRESSIONS.glob("*.ptx"))
