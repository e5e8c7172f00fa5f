"""The table of all pairs that were tuned."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from goptx.display import as_html, as_text, brief, columns
from goptx.tuning.best import Best

COLUMNS = ("pair", "speedup", "candidate", "ms", "baseline", "baseline_ms", "gpu", "trials", "reason")


@dataclass(frozen=True, slots=True)
class PairsTable:
    """A row for each pair, by `COLUMNS`, the largest speedup first, then pairs that were not tuned, with the reason.
    Times are in milliseconds."""

    __repr__ = brief

    rows: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> PairsTable:
        """Sorts the rows."""
        return cls(tuple(sorted(rows, key=lambda row: (-(row["speedup"] or 0.0), row["pair"]))))

    @staticmethod
    def row(pair: str, best: Best | None = None, reason: str = "") -> dict[str, Any]:
        """The row of a pair: its result, or why there is none."""
        row: dict[str, Any] = {**dict.fromkeys(COLUMNS), "pair": pair, "reason": reason}
        if best:
            ms = best.ms.get(str(best.candidate), best.ms.get(best.baseline))
            row |= {
                "speedup": round(best.speedup, 4), "candidate": str(best.candidate), "ms": ms,
                "baseline": best.baseline, "baseline_ms": best.ms.get(best.baseline), "gpu": best.about["gpu"],
                "trials": len(best.table.trials),
            }  # fmt: skip
        return row

    def to_csv(self) -> str:
        """The rows, with a first line of the column names."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def to_json(self) -> str:
        """The rows."""
        return json.dumps({"pairs": list(self.rows)}, indent=1) + "\n"

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        lines = [("pair", "speedup", "ms", "baseline", "candidate")]
        for row in self.rows:
            if row["speedup"]:
                ms = (row["ms"], row["baseline_ms"])
                own, baseline = (f"{each:.4f}" for each in ms)
                lines.append((row["pair"], f"{row['speedup']:.2f}", own, baseline, row["candidate"]))
        return "\n".join([*columns(lines), *(f"{row['pair']}: {row['reason']}" for row in self.rows if row["reason"])])
