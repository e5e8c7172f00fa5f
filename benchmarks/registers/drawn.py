"""The kernels whose registers are estimated: texts of many compilers, and what goptx makes of them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

from random_kernels.search import drawn
from weaving.large_kernels import tensor_kernel

import goptx
from goptx.launch.shape import Shape

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDERS = (
    "examples/kernels", "examples/triton", "benchmarks/suite_b/kernels", "benchmarks/suite_d",
    "benchmarks/suite_a/natural", "tests/constructs", "tests/corpus/ptx",
)  # fmt: skip
SEEDS, EACH = 12, 4  # of random pairs
STRATEGIES = ("weave", "vertical", "horizontal", "interleave")
ONE_IN = 19  # of the pairs of all kernels that may be fused is taken, by hash
SHAPE = Shape(4096, 256)
COLUMNS = (8, 16, 32, 64, 96, 128, 192, 256)  # of the tiles that tensor cores accumulate


@dataclass(frozen=True, slots=True)
class Drawn:
    """A kernel to estimate. `kind` is where it comes from, `make` gives its text and the name of its entry."""

    name: str
    kind: str
    make: Callable[[], tuple[str, str]]


def share(name: str, parts: int) -> int:
    """A number below `parts` that depends on the name only."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big") % parts


def is_fitted(name: str) -> bool:
    """Whether constants may be fitted on the kernel; else it is held out."""
    return sha256(name.encode()).digest()[0] % 2 == 0


def every() -> Iterator[Drawn]:
    """All of them, always in the same order."""
    yield from _given()
    yield from _random()
    yield from _fused()


def _given() -> Iterator[Drawn]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.ptx")):
            if "debug" not in path.name:  # texts for a debugger are not optimised
                text = path.read_text(encoding="utf-8")
                yield from _entries(f"{path.parent.name}/{path.name}", folder, text)
    for arch in ("sm_80", "sm_90"):
        yield from _entries(f"kernels.{arch}", "nvcc", compiled(arch))
    for columns in COLUMNS:
        yield Drawn(f"tensor {columns}", "tensor cores", partial(_tensor, columns))


def _entries(name: str, kind: str, text: str) -> Iterator[Drawn]:
    for entry in goptx.read(text).entries:
        yield Drawn(f"{name} {entry.name}", kind, partial(_as_given, text, entry.name))


def _as_given(text: str, entry: str) -> tuple[str, str]:
    return text, entry


def _tensor(columns: int) -> tuple[str, str]:
    return tensor_kernel(columns), "tensor"


@cache
def compiled(arch: str) -> str:
    """The PTX of kernels.cu."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.ptx")
        command = ["nvcc", f"-arch={arch}", "-ptx", "-O3", str(HERE / "kernels.cu"), "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True)
        return path.read_text(encoding="utf-8")


def _random() -> Iterator[Drawn]:
    for way in ("weave", "horizontal", "vertical"):
        for seed in range(SEEDS):
            yield from _random_of(way, seed)


def _random_of(way: str, seed: int) -> Iterator[Drawn]:
    from random_kernels.ways import trial

    for number, case in enumerate(drawn(seed, EACH, way, "new")):
        name = f"random {way} {seed}_{number}"
        for text in case.texts if way == "weave" else ():
            yield from _entries(name, "random kernels", text)

        def made(case: Any = case) -> tuple[str, str]:
            woven = trial(case).woven()
            return woven.ptx, woven.name

        yield Drawn(name, f"random kernels, {way}", made)


def _fused() -> Iterator[Drawn]:
    """Pairs of the example kernels and of those of kernels.cu, in every strategy, and single ones coarsened."""
    kernels: dict[str, tuple[Any, str]] = {}
    for path in sorted((ROOT / "examples" / "kernels").glob("*.sm_90.ptx")):
        text = path.read_text(encoding="utf-8")
        (entry,) = goptx.read(text).entries
        kernels[path.name.partition(".")[0]] = text, entry.name
    text = compiled("sm_90")
    module = goptx.read(text)
    kernels |= {entry.name: (text, entry.name) for entry in module.entries}
    for (a, b), strategy in product(combinations_with_replacement(kernels, 2), STRATEGIES):
        name = f"{strategy} {a} {b}"
        if not share(name, ONE_IN * 2):
            yield Drawn(name, strategy, partial(_made, [kernels[a], kernels[b]], strategy))
    for name, factor in product(kernels, (2, 4)):
        if not share(f"coarsen {name} {factor}", 3):
            yield Drawn(f"coarsen {name} {factor}", "coarsen", partial(_coarsened, *kernels[name], factor))


def _made(kernels: Sequence[tuple[str, str]], strategy: Any) -> tuple[str, str]:
    texts, entries = zip(*kernels, strict=True)
    made = goptx.fuse(*texts, strategy=strategy, entries=entries, shapes=[SHAPE] * len(texts))
    return made.ptx, made.name


def _coarsened(text: str, entry: str, factor: int) -> tuple[str, str]:
    made = goptx.fuse(goptx.coarsen(text, factor, entry=entry), strategy="weave", shapes=[SHAPE])
    return made.ptx, made.name
