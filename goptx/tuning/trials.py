"""Trials: what became of each way to run the kernels, and the table of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any, Literal

from goptx.display import as_html, as_text, brief
from goptx.strategies.candidate import Candidate

Status = Literal["timed", "refused", "pruned", "wrong", "failed", "left out"]
SHOWN = 16  # timed ways in a table on a terminal


@dataclass(frozen=True, slots=True)
class Trial:
    """One way.

    status: "timed"; "refused" by goptx or the assembler; "pruned" before it was timed; "wrong": it does not write what
        the kernels alone write, which is a bug of goptx or of the assembler; "failed": it hung or broke the device;
        "left out" for lack of time. `reason` says why, if it is not timed.
    registers, spill_bytes: of a thread. occupancy: of an SM's warps, 0 to 1; of kernels that are not fused, unknown.
    ms: median, least and most of `repeats` runs in milliseconds; against: the median of the kernels as they are, each
        on a stream of its own, run in turn with it.
    contracted: what differs where multiplications and additions may be joined, and only there.
    code: a digest of what was made, of a way without a cap; ways of equal code are one.
    """

    __repr__ = brief

    way: Candidate
    status: Status
    reason: str = ""
    registers: int | None = None
    spill_bytes: int | None = None
    occupancy: float | None = None
    ms: tuple[float, float, float] | None = None
    against: float | None = None
    repeats: int = 0
    contracted: str = ""
    code: str = ""

    @property
    def speedup(self) -> float:
        """Over the kernels as they are, on streams; 0 where it was not timed."""
        return self.against / self.ms[0] if self.ms and self.against else 0.0

    def rank(self) -> tuple[Any, ...]:
        """By which trials are sorted: the fastest first, of equals the one that was made of less."""
        return -self.speedup, self.way.factors, str(self.way)

    def timed(self, runs: Sequence[float], against: Sequence[float]) -> Trial:
        """With the times of these runs, in milliseconds."""
        ms = median(runs), min(runs), max(runs)
        return replace(self, status="timed", ms=ms, against=median(against), repeats=len(runs))

    def contracting(self, contracted: str) -> Trial:
        """With what differs where multiplications and additions may be joined."""
        return replace(self, contracted=contracted)

    def failed(self, status: Status, reason: str) -> Trial:
        """Without times."""
        return replace(self, status=status, reason=reason, ms=None, against=None, repeats=0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "way": self.way.to_dict(), "name": str(self.way), "speedup": round(self.speedup, 4)}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Trial:
        """Of what `to_dict` gave; fields that this version does not know are passed over."""
        known = {name: value for name, value in held.items() if name in cls.__dataclass_fields__}
        ms = known["ms"] and tuple(known["ms"])
        return cls(**{**known, "way": Candidate.from_dict(known["way"]), "ms": ms})


COLUMNS = (
    "name", "status", "speedup", "ms", "ms_min", "ms_max", "repeats", "registers", "spill_bytes", "occupancy", "reason",
    "contracted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """All trials, the fastest first, then those that were not timed; `str()` shows the fastest and counts the rest.
    `chosen` is the way that was taken; `turns` says of each trial when its turn was, from 0 on, and is empty where that
    is not known."""

    __repr__ = brief

    trials: tuple[Trial, ...]
    chosen: Candidate
    baselines: Mapping[str, float] = field(default_factory=dict)
    turns: tuple[int, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Plain data by the names of `COLUMNS`; milliseconds, bytes."""
        for trial in self.trials:
            ms = trial.ms or (None, None, None)
            row = {**trial.to_dict(), "ms": ms[0], "ms_min": ms[1], "ms_max": ms[2]}
            yield {column: row[column] for column in COLUMNS}

    def to_csv(self) -> str:
        """`rows` under a line of their names."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()

    def to_json(self) -> str:
        """`rows` and the baselines, in milliseconds."""
        return json.dumps({"baselines": dict(self.baselines), "trials": list(self.rows())}, indent=1) + "\n"

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        timed = [t for t in self.trials if t.status == "timed"]
        head = ("way", "ms", "speedup", "registers", "spills", "occupancy", "")
        lines: list[tuple[str, ...]] = [head]
        lines += [(name, f"{ms:.4f}", "", "", "", "", "") for name, ms in self.baselines.items()]
        lines += [self._cells(t) for t in timed[:SHOWN]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                cell.ljust(w) if i in (0, len(head) - 1) else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*shown, *self._rest(timed)])

    def _cells(self, trial: Trial) -> tuple[str, ...]:
        assert trial.ms
        return (
            str(trial.way),
            f"{trial.ms[0]:.4f}",
            f"{trial.speedup:.2f}",
            "" if trial.registers is None else str(trial.registers),
            "" if trial.spill_bytes is None else str(trial.spill_bytes),
            "" if trial.occupancy is None else f"{trial.occupancy:.0%}",
            "*" if trial.way == self.chosen else "",
        )

    def _rest(self, timed: Sequence[Trial]) -> Iterator[str]:
        counts = {}
        if len(timed) > SHOWN:
            counts["timed and slower"] = len(timed) - SHOWN
        for trial in self.trials:
            if trial.status not in ("timed", "wrong", "failed"):
                counts[trial.status] = counts.get(trial.status, 0) + 1
        if counts:
            yield ", ".join(f"{n} {what}" for what, n in counts.items())
        for trial in self.trials:
            if trial.status in ("wrong", "failed"):
                yield f"{trial.status}: {trial.way}: {trial.reason}"
