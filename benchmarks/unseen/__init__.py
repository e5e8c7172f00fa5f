"""Kernels to judge by: written for several compilers in the shapes of real programs, the first thirty without looking
at what goptx does with them (README.md), and a second writing of suite A. Some of their pairs may be fitted on, rules
were found with the later and the newest ones, and the others are only ever measured."""

from __future__ import annotations

import tomllib
from itertools import combinations_with_replacement
from pathlib import Path

from goptx.launch.specification import Launch, read_specification

FOLDER = Path(__file__).parent
SECOND, FITTED, HELD_OUT, LATER, NEWEST = GROUPS = ("second", "fitted", "held_out", "later", "newest")
SECOND_FOLDER = FOLDER.parent / "suite_a" / "second"


def _by_name(paths: list[Path]) -> dict[str, Path]:
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


SPECIFICATIONS = _by_name([*FOLDER.glob("kernels/*/*.toml")])
SECOND_SPECIFICATIONS = _by_name([*SECOND_FOLDER.glob("*.toml")])
PAIRS: dict[str, tuple[str, ...]] = {
    SECOND: tuple(map("+".join, combinations_with_replacement(SECOND_SPECIFICATIONS, 2))),
    **{group: tuple(own) for group, own in tomllib.loads((FOLDER / "pairs.toml").read_text()).items()},
}
"""By group."""


def specifications_of(group: str, pair: str) -> list[Path]:
    """Of the kernels of a pair of a group, such as "adam+matmul"; or of one kernel."""
    by_name = SECOND_SPECIFICATIONS if group == SECOND else SPECIFICATIONS
    return [by_name[name] for name in pair.split("+")]


def launches_of(group: str, pair: str) -> list[Launch]:
    """How the kernels of a pair are launched."""
    return [read_specification(path)[0] for path in specifications_of(group, pair)]
