"""Kernels as text, with all that is needed to launch and weave them; and the files that hold such cases.

A file is the PTX of the kernels, one after the other, under comments: what goes wrong, and a line of JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from random_kernels.data import arguments

from goptx.shape import Shape
from goptx.weaving.divergence.converged import Choice
from goptx.weaving.launching import Placement

NAMES = ("first", "second", "third")  # of the entries
BETWEEN = "// the {} kernel\n"
KEPT = Path(__file__).parent / "kept"


@dataclass(frozen=True, slots=True)
class Case:
    """Of each kernel: its text, `n` and `scale` (see `tree.Kernel`), the shape in which it is launched, and in `stated`
    what the weaver is told of that: nothing of any if it is None, because all have the same. `strategy` is that of
    `goptx.fuse`. For the rest see `tree.Pair`."""

    texts: tuple[str, ...]
    shapes: tuple[Shape, ...]
    n: tuple[int, ...]
    scale: tuple[int, ...]
    policy: str
    slicing: str | int | None
    seed: int
    divergence: Choice | None = None
    stated: tuple[Shape, ...] | None = None
    placement: Placement = "spread"
    strategy: str = "weave"

    @property
    def options(self) -> dict[str, Any]:
        """For `goptx.fuse`: the strategy's own."""
        own: dict[str, Any] = {} if self.stated is None else {"shapes": self.stated, "placement": self.placement}
        if self.strategy == "separate":
            own.pop("placement", None)
        if self.strategy in ("weave", "vertical", "auto"):
            own["divergence"] = self.divergence
        if self.strategy in ("weave", "auto"):
            own |= {"policy": self.policy, "slicing": self.slicing}
        if self.strategy == "interleave" and self.seed % 3 == 0:
            own |= {"placement": "spread", "ratio": [1 + (self.seed + k) % 3 for k in range(len(self.texts))]}
        return {"strategy": self.strategy, **own}

    def by(self, strategy: str) -> Case:
        """Fused by that strategy, which may have to know more of the shapes."""
        stated = self.stated
        if strategy in ("horizontal", "interleave") and (stated is None or strategy == "horizontal"):
            stated = self.shapes
        return replace(self, strategy=strategy, stated=stated)

    @property
    def launch(self) -> dict[str, Any]:
        """For `goptx.emulate`, of the woven kernel."""
        if self.stated is not None:
            return {"shapes": self.shapes}
        shape = self.shapes[0]
        return {"grid": shape.grid, "block": shape.block, "shared": max(s.shared or 0 for s in self.shapes)}

    def arguments(self) -> list[list[object]]:
        """Of each kernel, fresh ones."""
        return [
            arguments(shape, n, scale, self.seed + i)
            for i, (shape, n, scale) in enumerate(zip(self.shapes, self.n, self.scale, strict=True))
        ]

    def file(self, said: str) -> str:
        """The text of a file; `said` is what goes wrong."""
        launch = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "texts"}
        head = "".join(f"// {line}".rstrip() + "\n" for line in [*said.splitlines(), json.dumps(launch)])
        rest = (BETWEEN.format(name) + text for name, text in zip(NAMES[1:], self.texts[1:], strict=False))
        return head + self.texts[0] + "".join(rest)


def _plain(value: Any) -> Any:
    """Without shapes, which are written as `Shape.parse` takes them."""
    return [str(v) if isinstance(v, Shape) else v for v in value] if isinstance(value, tuple) else value


def read(path: Path) -> Case:
    first, *rest = re.split(BETWEEN.format(f"(?:{'|'.join(NAMES[1:])})"), path.read_text(encoding="utf-8"))
    launch: dict[str, Any] = json.loads(next(line for line in first.splitlines() if line.startswith("// {"))[3:])
    launch |= {name: tuple(launch[name]) for name in ("n", "scale")}
    for name in ("shapes", "stated"):
        shapes = launch.get(name)
        launch[name] = None if shapes is None else tuple(map(Shape.parse, shapes))
    return Case((re.sub(r"\A(//.*\n)*", "", first), *rest), **launch)


def kept() -> list[Path]:
    """The files of pairs that have failed once."""
    return sorted(KEPT.glob("*.ptx"))
