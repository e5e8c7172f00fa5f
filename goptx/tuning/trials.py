"""Trials: the outcome of each candidate, and the table of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any, Literal

from goptx.display import as_html, as_text, brief, columns
from goptx.strategies.candidate import Candidate
from goptx.tuning.metric import Measure, Timing

Status = Literal["timed", "refused", "pruned", "wrong", "failed", "left out"]
MOST_ROWS = 16  # timed candidates in a table on a terminal


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one candidate.

    status: "timed"; "refused" by goptx or the assembler; "pruned" before it was timed; "wrong": it does not write what
        the kernels alone write, which is a bug of goptx or of the assembler; "failed": it hung or broke the device;
        "left out" for lack of time. `reason`: why it was not timed.
    registers, spill_bytes: per thread. occupancy: the share of an SM's warps, 0 to 1; unknown for separate kernels.
    ms: median, least and most of `repeats` runs in milliseconds; against: the median of the unchanged kernels in their
        fastest way, in interleaved runs.
    contracted: what differs because multiplications and additions may be contracted.
    code: a digest of the candidate's code without a cap; of candidates with equal code only one is tried.
    score: what the caller's metric gives for the candidate, and for the unchanged kernels in their fastest way.
    """

    __repr__ = brief

    candidate: Candidate
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
    score: tuple[float, float] | None = None

    @property
    def speedup(self) -> float:
        """Over the unchanged kernels in their fastest way, by the caller's metric if there is one; 0 if it was not
        timed."""
        if self.score:
            return self.score[1] / self.score[0]
        return self.against / self.ms[0] if self.ms and self.against else 0.0

    def rank(self) -> tuple[Any, ...]:
        """The sort key of trials: the fastest first, of equals the less coarsened."""
        return -self.speedup, self.candidate.factors, str(self.candidate)

    def timed(
        self, runs: Sequence[float], against: Sequence[float], measure: Measure | None = None, way: str = ""
    ) -> Trial:
        """The trial with the times of these runs, in milliseconds; `way` is the name of the unchanged kernels' way."""
        ms, score = (median(runs), min(runs), max(runs)), None
        if measure and measure.metric:
            score = measure(self.timing(runs)), measure.of_unchanged(way, against)
        return replace(self, status="timed", ms=ms, against=median(against), repeats=len(runs), score=score)

    def timing(self, runs: Sequence[float]) -> Timing:
        """What a metric is given of these runs, in milliseconds."""
        return Timing(str(self.candidate), tuple(runs), self.registers, self.spill_bytes, self.occupancy)

    def contracting(self, contracted: str) -> Trial:
        """The trial with what differs because of contraction."""
        return replace(self, contracted=contracted)

    def failed(self, status: Status, reason: str) -> Trial:
        """The trial without times, with this status and reason."""
        return replace(self, status=status, reason=reason, ms=None, against=None, repeats=0, score=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = asdict(self)
        del plain["candidate"]
        name, speedup = str(self.candidate), round(self.speedup, 4)
        return {"way": self.candidate.to_dict(), **plain, "name": name, "speedup": speedup}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Trial:
        """The trial of which `to_dict` gave this; fields that this version does not know are ignored."""
        known = {name: value for name, value in held.items() if name in cls.__dataclass_fields__}
        ms, score = (known.get(name) and tuple(known[name]) for name in ("ms", "score"))
        return cls(**{**known, "candidate": Candidate.from_dict(held["way"]), "ms": ms, "score": score})


COLUMNS = (
    "name", "status", "speedup", "ms", "ms_min", "ms_max", "repeats", "registers", "spill_bytes", "occupancy", "reason",
    "contracted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """All trials, the fastest first, then those that were not timed; `str()` lists the fastest and counts the rest.
    `chosen` is the candidate that was taken; `order` is the position of each trial in the order of trying, from 0 on,
    and empty if that is not known."""

    __repr__ = brief

    trials: tuple[Trial, ...]
    chosen: Candidate
    baselines: Mapping[str, float] = field(default_factory=dict)
    order: tuple[int, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each trial as plain data by the names of `COLUMNS`, in milliseconds and bytes."""
        for trial in self.trials:
            ms = trial.ms or (None, None, None)
            row = {**trial.to_dict(), "ms": ms[0], "ms_min": ms[1], "ms_max": ms[2]}
            yield {column: row[column] for column in COLUMNS}

    def to_csv(self) -> str:
        """`rows`, with a first line of the column names."""
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
        head = ("candidate", "ms", "speedup", "registers", "spills", "occupancy", "")
        lines: list[tuple[str, ...]] = [head]
        lines += [(name, f"{ms:.4f}", "", "", "", "", "") for name, ms in self.baselines.items()]
        lines += [self._cells(t) for t in timed[:MOST_ROWS]]
        return "\n".join([*columns(lines, right=range(1, len(head) - 1)), *self._rest(timed)])

    def _cells(self, trial: Trial) -> tuple[str, ...]:
        assert trial.ms
        return (
            str(trial.candidate),
            f"{trial.ms[0]:.4f}",
            f"{trial.speedup:.2f}",
            "" if trial.registers is None else str(trial.registers),
            "" if trial.spill_bytes is None else str(trial.spill_bytes),
            "" if trial.occupancy is None else f"{trial.occupancy:.0%}",
            "*" if trial.candidate == self.chosen else "",
        )

    def _rest(self, timed: Sequence[Trial]) -> Iterator[str]:
        counts = {}
        if len(timed) > MOST_ROWS:
            counts["timed and slower"] = len(timed) - MOST_ROWS
        for trial in self.trials:
            if trial.status not in ("timed", "wrong", "failed"):
                counts[trial.status] = counts.get(trial.status, 0) + 1
        if counts:
            yield ", ".join(f"{n} {what}" for what, n in counts.items())
        for trial in self.trials:
            if trial.status in ("wrong", "failed"):
                yield f"{trial.status}: {trial.candidate}: {trial.reason}"
