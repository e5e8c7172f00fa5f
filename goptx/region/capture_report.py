"""The report of a region with `capture=True`: what was captured, and how it was completed."""

from __future__ import annotations

from dataclasses import dataclass

from goptx.display import as_html, as_text, brief
from goptx.region.fusion import RegionReport


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was put on the stream. kind: "launch" (by the region's own `launch`), "kernel", "memcpy",
    "memset", "host" and so on; name: of its kernel, else ""; group: the number of its group of launches, from 0, None
    if goptx does not know it."""

    __repr__ = brief

    kind: str
    name: str
    group: int | None

    def __str__(self) -> str:
        named = f"{self.kind} `{self.name}`" if self.name else self.kind
        return named if self.group is None else f"{named} (group {self.group})"


@dataclass(frozen=True, slots=True)
class LaunchGroup:
    """Launches with nothing between them. launches: how many. done: how they were completed, None if they run as
    captured; reason: why they do, else ""."""

    __repr__ = brief

    launches: int
    done: RegionReport | None
    reason: str = ""

    def __str__(self) -> str:
        count = f"{self.launches} launch{'es' * (self.launches > 1)}"
        return f"{count}: {self.done or f'as captured: {self.reason}'}"


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """What a region with `capture=True` captured and launched.

    steps: what was put on the stream, in order. groups: how the launches that goptx knows were completed. notes: other
    facts, such as temporaries that stay in memory. preparing: seconds to fuse, assemble and load, or to find the cached
    result; launching: seconds to make the graph and to launch it.
    """

    __repr__ = brief

    steps: tuple[Step, ...]
    groups: tuple[LaunchGroup, ...]
    notes: tuple[str, ...]
    preparing: float
    launching: float

    _repr_pretty_ = as_text

    @property
    def recognised(self) -> tuple[Step, ...]:
        """The steps that goptx knows: launches of the region, and of kernels that goptx loaded."""
        return tuple(step for step in self.steps if step.group is not None)

    @property
    def foreign(self) -> tuple[Step, ...]:
        """All other steps, which run as they were captured."""
        return tuple(step for step in self.steps if step.group is None)

    @property
    def fused(self) -> tuple[LaunchGroup, ...]:
        """The groups of several launches that became one kernel."""
        return tuple(g for g in self.groups if g.done and not g.done.reason and g.done.strategy != "separate")

    def __str__(self) -> str:
        counts = f"{len(self.steps)} steps, {len(self.recognised)} recognised, {len(self.fused)} groups fused"
        times = f"{self.preparing:.3g} s to prepare, {self.launching:.3g} s to launch"
        groups = [f"group {i}: {group}" for i, group in enumerate(self.groups)]
        return "\n".join([f"{counts}: {times}", *map(str, self.steps), *groups, *self.notes])

    _repr_html_ = as_html
