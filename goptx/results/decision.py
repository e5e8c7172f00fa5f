"""Why a strategy was chosen: the candidates as plain data, and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from goptx.display import as_html, as_text, brief

IN_TABLE = 8  # candidates in the table
TITLE = "candidate"


@dataclass(frozen=True, slots=True)
class CandidateEstimate:
    """One candidate: a strategy with its options, as the cost model sees it.

    name: the strategy, the coarsening factor of each kernel, and the register cap if there is one.
    cycles: the estimate, in cycles of the GPU's clock.
    registers, occupancy: estimates of the registers of a thread, and of the share of an SM's warps.
    decided_by: what takes most of the time: "arithmetic", "shared" (memory and L1), "memory", "latency" or
        "instructions" (code that the instruction cache does not hold).
    gain, worst: how many times as fast as the best separate launches, under the middle assumption and under that which
        is worst for it (docs/strategies.md).
    made: whether the estimate is from the fused kernel itself, rather than from the kernels that it would be made of.
    """

    __repr__ = brief

    name: str
    cycles: float
    registers: int
    occupancy: float
    decided_by: str
    made: bool
    gain: float = 1.0
    worst: float = 1.0


@dataclass(frozen=True, slots=True)
class Decision:
    """All candidates, the chosen one first, the others from the fastest to the slowest. `decided` is the reason for the
    choice, `assumed` what the estimates assume because it was not known. `taken` describes the chosen candidate as
    plain data, from which it can be made again."""

    __repr__ = brief

    candidates: tuple[CandidateEstimate, ...]
    decided: str
    assumed: tuple[str, ...] = ()
    taken: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def chosen(self) -> CandidateEstimate:
        return self.candidates[0]

    def to_dict(self) -> dict[str, Any]:
        """For JSON. `strategy="auto"` takes it as `decision=`, and makes what was chosen then."""
        candidates = [asdict(c) for c in self.candidates]
        rest = {"decided": self.decided, "assumed": list(self.assumed), "taken": dict(self.taken)}
        return {"candidates": candidates, **rest}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Self:
        """The decision of such data. Raises `KeyError` or `TypeError` for data of another form."""
        candidates = tuple(CandidateEstimate(**candidate) for candidate in held["candidates"])
        return cls(candidates, held["decided"], tuple(held["assumed"]), held["taken"])

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        listed = self.candidates[:IN_TABLE]
        width = max(len(TITLE), *(len(c.name) for c in listed))
        lines = [
            f"chosen: {self.chosen.name}, {self.decided}",
            f"{TITLE:{width}}{'kilocycles':>12}{'gain':>7}{'least':>7}{'registers':>11}{'occupancy':>11}  most of it",
        ]
        lines += [
            f"{c.name:{width}}{c.cycles / 1000:>12.1f}{c.gain:>7.2f}{c.worst:>7.2f}{c.registers:>11}"
            f"{c.occupancy:>11.0%}  {c.decided_by}" + ("" if c.made else ", not made")
            for c in listed
        ]
        if left := len(self.candidates) - len(listed):
            lines.append(f"and {left} more")
        return "\n".join([*lines, *(f"assumed: {what}" for what in self.assumed)])
