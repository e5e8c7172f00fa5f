"""Which kernels to fuse: pairs and small groups of many kernels, ranked by the gain that the cost model expects.

Each kernel is analysed once. Groups are estimated from their kernels, as `auto` does before it makes any candidate
(judge.py); nothing is woven.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

from goptx.cost.assumptions import NOTHING, Known, with_arguments
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.display import as_html, as_text, brief, columns
from goptx.errors import CannotLink, CannotWeave, InputError
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.shape import Shape
from goptx.launch.specification import Launch, find_specification, read_specification
from goptx.options import Strategy, is_whole
from goptx.results.given_kernels import Source, chosen_from, in_own_shape
from goptx.sources.kernel_text import Chosen
from goptx.sources.read import read
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.prospects import LEAST, Prospect, is_choosable, separate_cycles
from goptx.strategies.separate import ANY
from goptx.weaving.link.target import common_target

FUSED: tuple[Strategy, ...] = ("weave", "interleave", "vertical")
SAME = 0.02  # a kernel joins a group if the group then gains at least this much more, as a share
TRIED = 20  # pairs, and groups, that are tried with one more kernel
LARGEST = 4  # kernels of a group
FALLS = 0.1  # of an SM's warps: a loss of occupancy that is worth mentioning
HEAD = ("kernels", "strategy", "gain", "least", "most", "why")
LIMITS = {
    "memory": "memory bandwidth", "arithmetic": "an arithmetic unit", "shared": "shared memory and L1",
    "latency": "latency", "instructions": "the instruction cache",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A group of kernels to fuse.

    kernels: their names. strategy: the one with the best estimate. gain: how many times as fast as separate launches
    the fused kernel is estimated to be. least, most: the same under all assumptions (docs/strategies.md). worthwhile:
    whether `auto` would accept such an estimate. reason: one sentence.
    """

    kernels: tuple[str, ...]
    strategy: str
    gain: float
    least: float
    most: float
    worthwhile: bool
    reason: str

    __repr__ = brief

    def __str__(self) -> str:
        return f"{' + '.join(self.kernels)}: {self.strategy}, estimated {self.gain:.2f}: {self.reason}"

    @property
    def cells(self) -> tuple[str, ...]:
        """Its row in a table with `HEAD`."""
        gains = (f"{gain:.2f}" for gain in (self.gain, self.least, self.most))
        return (" + ".join(self.kernels), self.strategy, *gains, self.reason)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"kernels": list(self.kernels)}


@dataclass(frozen=True, slots=True)
class Suggestions(Sequence[Suggestion]):
    """Groups of kernels, the one that is estimated to gain most first. limits: what limits each kernel alone. refused:
    why kernels, or groups, could not be estimated."""

    rows: tuple[Suggestion, ...]
    limits: Mapping[str, str]
    refused: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, item: Any) -> Any:
        return self.rows[item]

    __repr__ = brief

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        """A table."""
        return "\n".join([*columns([HEAD, *(row.cells for row in self.rows)]), *self.not_estimated])

    @property
    def not_estimated(self) -> list[str]:
        """A line for each kernel or group that could not be estimated."""
        return [f"not estimated: {name}: {reason}" for name, reason in self.refused.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "suggestions": [row.to_dict() for row in self.rows], "limits": dict(self.limits),
            "refused": dict(self.refused),
        }  # fmt: skip

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"


def suggest(
    kernels: Sequence[Source],
    *,
    entries: Sequence[str | None] | None = None,
    shapes: Sequence[Shape | None] | None = None,
    arch: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    largest: int = 2,
    most: int | None = None,
    every_entry: bool = False,
) -> Suggestions:
    """Pairs and small groups of independent kernels that are worth fusing, with the reason. It needs no GPU.

    kernels: what `weave` takes, any number; the path of a launch specification (.toml) stands for all kernels in it.
    entries, shapes: of each, or None. Without a shape, that of the specification beside a PTX file counts; without
        any, the grid is taken to fill the GPU many times.
    arch: the GPU whose times are estimated; by default the highest target of the kernels.
    latency: a latency table, as for `weave`.
    largest: kernels of the largest groups, 2 to 4. The best pairs are tried with each other kernel.
    most: how many groups are returned, by default all.
    every_entry: take all entries of a PTX file, instead of raising `InputError` where it has several.

    Estimates are relative to the best of separate launches, and as good as the cost model: measure the first ones by
    `goptx.tune`. Kernels that depend on each other cannot be recognized here. Raises `InputError`.
    """
    if not isinstance(kernels, Sequence) or isinstance(kernels, str | bytes):
        raise InputError(
            "suggest() takes a list of kernels, for example [pathlib.Path('a.ptx'), pathlib.Path('b.ptx')]."
        )
    if not is_whole(largest) or not 2 <= largest <= LARGEST:
        raise InputError(f"largest= is the number of kernels of the largest groups, 2 to {LARGEST}; got {largest}.")
    if most is not None and not (is_whole(most) and most > 0):
        raise InputError(f"most= is a number of groups, at least 1; got {most}.")
    given = list(_given(kernels, entries, shapes, every_entry))
    if len(given) < 2:
        raise InputError(f"suggest() ranks groups of two or more kernels; it got {len(given)}.")
    found = _Ranking(given, arch, latency)
    return Suggestions(tuple(found.groups(largest))[:most], found.limits, found.refused)


def _given(
    kernels: Sequence[Source],
    entries: Sequence[str | None] | None,
    shapes: Sequence[Shape | None] | None,
    every_entry: bool,
) -> Iterator[tuple[Chosen, Shape, Known]]:
    """The kernels, their shapes, and the arguments that specifications give. Raises `InputError`."""
    for name, each in (("entries", entries), ("shapes", shapes)):
        if each is not None and (isinstance(each, str | Shape) or len(each) != len(kernels)):
            raise InputError(f"{name}= takes a list with one for each of the {len(kernels)} kernels, or None.")
    nothing = [None] * len(kernels)
    for source, entry, shape in zip(kernels, entries or nothing, shapes or nothing, strict=True):
        if isinstance(source, Path) and source.suffix == ".toml":
            yield from _specified(source, entry, shape)
            continue
        wanted: Sequence[str | None] = [entry]
        if every_entry and entry is None and isinstance(source, Path):
            wanted = [e.name for e in read(source).entries]
        for one in wanted:
            kernel = chosen_from(source, one, "suggest()")
            launch = find_specification(kernel.path, kernel.entry) if kernel.path and shape is None else None
            own = Shape(launch.grid, launch.block, launch.shared) if launch else shape or ANY
            yield kernel, in_own_shape(kernel, own), _known(launch)


def _specified(path: Path, entry: str | None, shape: Shape | None) -> Iterator[tuple[Chosen, Shape, Known]]:
    """The kernels of a launch specification. Raises `InputError`."""
    launches = [launch for launch in read_specification(path) if entry in (None, launch.entry)]
    if not launches:
        raise InputError(f"{path}: it has no launch of an entry `{entry}`.")
    for launch in launches:
        kernel = chosen_from(launch.file, launch.entry, "suggest()")
        own = in_own_shape(kernel, shape or Shape(launch.grid, launch.block, launch.shared))
        yield kernel, own, _known(launch)


def _known(launch: Launch | None) -> Known:
    return with_arguments(NOTHING, launch.arguments) if launch else NOTHING


class _Ranking:
    """The estimates of all pairs, and of larger groups made from the best."""

    def __init__(
        self, given: Sequence[tuple[Chosen, Shape, Known]], arch: str | None, latency: str | Path | LatencyTable | None
    ) -> None:
        self.kernels = [kernel for kernel, _, _ in given]
        self.shapes = [shape for _, shape, _ in given]
        self.refused: dict[str, str] = {}
        self.arch = arch or max((k.module.target[0] for k in self.kernels), key=_capability)
        self.names = list(_names(self.kernels))
        machine, table = machine_of(self.arch), load_table(latency, self.arch)
        self.alone: dict[int, Alone] = {}  # by number, those that can be estimated
        self.limit: dict[int, str] = {}  # what limits each of them alone
        one = unchanged(1)
        for k, (kernel, shape, known) in enumerate(given):
            try:
                self.alone[k] = alone(kernel, machine, table, known, shape)
            except CannotWeave as reason:
                self.refused[self.names[k]] = str(reason)
                continue
            estimate = self.judge([k]).under_all(one)[one][0]
            if estimate.cycles == inf:
                del self.alone[k]
                self.refused[self.names[k]] = f"{kernel.module.source}: no CTA of it fits on an SM of {self.arch}"
            else:
                self.limit[k] = estimate.decided_by

    def judge(self, group: Sequence[int]) -> Judge:
        """The estimates of these kernels."""
        kernels, shapes = [self.alone[k] for k in group], [self.shapes[k] for k in group]
        return Judge(kernels, [self.kernels[k].coarse.factor for k in group], shapes, self.arch)

    @property
    def limits(self) -> dict[str, str]:
        return {self.names[k]: limit for k, limit in self.limit.items()}

    def groups(self, largest: int) -> list[Suggestion]:
        """All pairs and the larger groups, the best first."""
        pairs: Iterator[tuple[int, ...]] = combinations(self.alone, 2)
        every = {pair: found for pair in pairs if (found := self.suggestion(pair))}
        last = every
        for _ in range(2, largest):
            grown: dict[tuple[int, ...], Suggestion] = {}
            for group in sorted(last, key=lambda g: _rank(last[g]))[:TRIED]:
                for k in self.alone:
                    more = tuple(sorted((*group, k)))
                    if k in group or more in grown:
                        continue
                    found = self.suggestion(more)
                    parts = (every[part] for part in combinations(more, len(group)) if part in every)
                    if found and found.gain >= (1 + SAME) * max(part.gain for part in parts):
                        grown[more] = found
            every, last = every | grown, grown
        return sorted(every.values(), key=_rank)

    def suggestion(self, group: tuple[int, ...]) -> Suggestion | None:
        """The best strategy for a group; None where nothing can be estimated."""
        names = tuple(self.names[k] for k in group)
        try:
            common_target([self.kernels[k].module for k in group], self.arch)
        except CannotLink as refusal:
            self.refused[" + ".join(names)] = str(refusal)
            return None
        judge = self.judge(group)
        separate = separate_cycles(judge)
        found: dict[Candidate, Prospect] = {}
        for strategy in FUSED:
            under_all = judge.under_all(Candidate(strategy, (1,) * len(group)))
            found |= {c: Prospect(each, separate) for c, each in under_all.items() if each[0].cycles < inf}
        if not found:
            return None
        best = max(found, key=lambda c: (is_choosable(c, found[c]), found[c].gain))
        prospect = found[best]
        plain = unchanged(len(group))
        lost = judge.under_all(plain)[plain][0].occupancy - prospect.middle.occupancy
        reason = _reason([self.limit[k] for k in group], names, prospect.gain)
        return Suggestion(
            names,
            str(best),
            round(prospect.gain, 4),
            round(prospect.worst[0], 4),
            round(max(prospect.gains), 4),
            is_choosable(best, prospect),
            reason + (f"; occupancy falls by {lost:.0%}" if lost >= FALLS else ""),
        )


def _rank(suggestion: Suggestion) -> tuple[float, float, tuple[str, ...]]:
    return (-suggestion.gain, -suggestion.least, suggestion.kernels)


def _reason(limits: Sequence[str], names: Sequence[str], gain: float) -> str:
    """What limits the kernels, and what follows for an estimated gain."""
    by_limit: dict[str, list[str]] = {}
    for limit, name in zip(limits, names, strict=True):
        by_limit.setdefault(limit, []).append(name)
    if len(by_limit) == 1:
        text = f"{'both are' if len(limits) == 2 else 'all are'} limited by {LIMITS[limits[0]]}"
    else:
        each = (f"{' and '.join(own)} by {LIMITS[limit]}" for limit, own in by_limit.items())
        text = f"limited {', '.join(each)}"
    if gain < 1 - LEAST:
        return f"{text}; slower as one kernel"
    if gain < 1 + LEAST:
        return f"{text}; nothing to gain"
    return f"{text}; " + ("they complement each other" if len(by_limit) > 1 else "each fills the other's stalls")


def _names(kernels: Sequence[Chosen]) -> Iterator[str]:
    """A name for each kernel: that of its entry, with its file where several have one name."""
    entries = [kernel.entry for kernel in kernels]
    taken: dict[str, int] = {}
    for kernel in kernels:
        name = kernel.entry
        if entries.count(name) > 1 and kernel.path:
            name = f"{kernel.path.name}:{name}"
        taken[name] = taken.get(name, 0) + 1
        yield name if taken[name] == 1 else f"{name} ({taken[name]})"


def _capability(target: str) -> tuple[int, str]:
    return int("".join(c for c in target if c.isdigit()) or 0), target
