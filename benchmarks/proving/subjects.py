"""Fused kernels whose certificates are put to the test, with data to run them on: pairs of examples/kernels, of
tests/constructs, and of random kernels.

Needs no Hypothesis, except `drawn_cases`: random kernels are read from a file of cases, or are the regressions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from random_kernels.case import NAMES, Case, regressions
from random_kernels.case import read as read_case

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument, find_specification
from goptx.options import Strategy
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "examples" / "kernels"
CONSTRUCTS = ROOT / "tests" / "constructs" / "constructs.sm_80.ptx"
EXAMPLES = tuple(sorted(p.name.removesuffix(".sm_90.ptx") for p in KERNELS.glob("*.sm_90.ptx")))
CTAS, BLOCK, INITIAL = 2, 256, -1  # of the launches of tests/constructs, and what their results are before
OWN_SHAPES = ("horizontal", "interleave")  # strategies that need the kernels' shapes
Values = list[list[object]]  # the arguments of each kernel


@dataclass(frozen=True, slots=True)
class Subject:
    """`entries` and `shapes` of each kernel; `launch` is how the fused kernel is launched, `inputs` the arguments of
    several launches."""

    name: str
    modules: Sequence[Module]
    entries: Sequence[str]
    shapes: Sequence[Shape]
    fused: Woven
    launch: dict[str, Any]
    inputs: Sequence[Values]


def subject(number: int, strategies: Sequence[Strategy], cases: Sequence[Case], examples: Sequence[str]) -> Subject:
    """The subject of a number: the same one each time. Raises `GoptxError` where the kernels are not fused."""
    choose = Random(f"subject {number}")
    strategy = choose.choice(list(strategies))
    kind = choose.random()
    if kind < 0.35:
        return of_examples([choose.choice(list(examples)) for _ in range(2)], strategy)
    if kind < 0.65 or not cases:
        names = [e.name for e in _constructs().entries]
        return of_constructs([choose.choice(names) for _ in range(2)], strategy)
    return of_case(choose.choice(list(cases)), strategy)


def _fused(name: str, modules: Sequence[Module], entries: Sequence[str], shapes: Sequence[Shape], strategy: Strategy,
           inputs: Sequence[Values], **options: Any) -> Subject:  # fmt: skip
    modules = [parse(str(m)) for m in modules]  # with the lines of a text that is stored
    alike = len({(s.grid, s.block) for s in shapes}) == 1 and strategy not in OWN_SHAPES
    most = max(s.shared or 0 for s in shapes)
    if alike and sum(bool(s.shared) for s in shapes) < 2:
        launch: dict[str, Any] = {"grid": shapes[0].grid, "block": shapes[0].block, "shared": most}
    else:
        options["shapes"] = list(shapes)
        launch = {"grid": None, "block": None, "shapes": list(shapes)}
    fused = goptx.fuse(*modules, entries=list(entries), strategy=strategy, **options)
    return Subject(f"{strategy} of {name}", modules, entries, shapes, fused, launch, inputs)


def of_examples(names: Sequence[str], strategy: Strategy) -> Subject:
    """In the sizes for checks, and with other numbers for the whole ones among the arguments."""
    paths = [KERNELS / f"{name}.sm_90.ptx" for name in names]
    modules = [goptx.read(path) for path in paths]
    entries = [m.entries[0].name for m in modules]
    launches = []
    for path, entry in zip(paths, entries, strict=True):
        found = find_specification(path, entry)
        assert found is not None
        launches.append(found.small())
    shapes = [Shape(s.grid, s.block, s.shared) for s in launches]
    arguments = [s.arguments for s in launches]
    inputs: list[Values] = [
        [[sample(_with(a, how), 7, k) for a in own] for k, own in enumerate(arguments)] for how in ("", "none", "odd")
    ]
    return _fused(" and ".join(names), modules, entries, shapes, strategy, inputs)


def _with(argument: Argument, how: str) -> Argument:
    """With another number: 0, or one that is no multiple of anything."""
    if not how or argument.is_array or np.dtype(argument.dtype).kind not in "iu":
        return argument
    return replace(argument, value=0 if how == "none" else max(int(argument.value or 0) * 2 // 3 - 1, 1))


def _constructs() -> Module:
    return goptx.read(CONSTRUCTS)


def of_constructs(names: Sequence[str], strategy: Strategy) -> Subject:
    """With fewer elements than threads, one, and more of them."""
    module = _constructs()
    inputs = []
    for numbers in ((300, 337), (1, 33), (512, 1000)):
        data = [np.random.default_rng(n).integers(0, 1024, max(n, 1)).astype(np.int32) for n in numbers]
        out = [np.full(CTAS * BLOCK, INITIAL, np.int32) for _ in numbers]
        inputs.append([[d, o, n] for d, o, n in zip(data, out, numbers, strict=True)])
    shapes = [Shape(CTAS, BLOCK, 0)] * 2
    return _fused(" and ".join(names), [module, module], names, shapes, strategy, inputs)


def of_case(case: Case, strategy: Strategy) -> Subject:
    """Random kernels, also with none of the elements and with a few."""
    modules = [parse(text, f"{name}.ptx") for text, name in zip(case.texts, NAMES, strict=False)]
    entries = [m.entries[0].name for m in modules]
    options: dict[str, Any] = {"divergence": case.divergence} if strategy in ("weave", "vertical") else {}
    if strategy == "weave":
        options |= {"policy": case.policy, "slicing": case.slicing}
    sizes = (case.n, tuple(0 for _ in case.n), tuple(max(n * 2 // 3 - 1, 1) for n in case.n))
    inputs = [replace(case, n=n, seed=case.seed + i).arguments() for i, n in enumerate(sizes)]
    name = f"random kernels {case.seed} {case.shapes[0]}"
    return _fused(name, modules, entries, case.shapes, strategy, inputs, **options)


# files of cases -------------------------------------------------------------------------------------------


def stored_cases() -> list[Case]:
    """The regressions of random kernels of which weaving is tried, in one launch shape."""
    return [c for c in map(read_case, regressions()) if _is_usable(c)]


def _is_usable(case: Case) -> bool:
    return case.way == "weave" and len(case.texts) <= 3


def drawn_cases(seed: int, count: int) -> Iterator[Case]:
    """Drawn by Hypothesis."""
    from random_kernels.search import drawn

    each = 50
    for i in range(-(-count // each)):
        yield from drawn(seed + i, min(each, count - i * each))


def write_cases(path: Path, cases: Sequence[Case]) -> None:
    rows = [asdict(case) | {"shapes": [str(s) for s in case.shapes], "stated": None} for case in cases]
    path.write_text(json.dumps(rows))


def read_cases(path: Path) -> list[Case]:
    found = []
    for row in json.loads(path.read_text()):
        plural = {k: tuple(row[k]) for k in ("texts", "n", "scale")}
        found.append(Case(**{**row, **plural, "shapes": tuple(map(Shape.parse, row["shapes"]))}))
    return found
