"""Two latency tables side by side: what the one has more or less of, and which numbers nobody measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from goptx.display import brief, columns
from goptx.latency.table import KINDS, Entry, LatencyTable


@dataclass(frozen=True, slots=True)
class Pair:
    """One row: `part` is "cycles", "named" or "default". A side without the row is None; of a key, another row of the
    same table may stand for it (`borrowed`), as it would when an instruction is looked up."""

    __repr__ = brief

    part: str
    key: str
    left: int | None
    right: int | None
    left_source: str = ""
    right_source: str = ""
    borrowed: str = ""  # "left" or "right": the side that has no row of its own

    @property
    def ratio(self) -> float | None:
        """The right number by the left one; None without both, or with a left one of 0."""
        return self.right / self.left if self.left and self.right is not None else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows of two tables."""

    __repr__ = brief

    left: LatencyTable
    right: LatencyTable
    rows: tuple[Pair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        fields = ("part", "key", "left", "right", "left_source", "right_source", "ratio", "borrowed")
        return {
            "left": {"arch": self.left.arch, "name": self.left.name, "sources": dict(self.left.sources)},
            "right": {"arch": self.right.arch, "name": self.right.name, "sources": dict(self.right.sources)},
            "rows": [{name: getattr(row, name) for name in fields} for row in self.rows],
        }

    def __str__(self) -> str:
        heads = [f"{table.name} ({table.arch})" for table in (self.left, self.right)]
        lines = [("", heads[0], "source", heads[1], "source", "ratio")]
        for row in self.rows:
            key = f"[default] {row.key}" if row.part == "default" else row.key
            ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
            own = (_number(row.left), _mark(row, "left"), _number(row.right), _mark(row, "right"))
            lines.append((key, *own, ratio))
        text = "\n".join(columns(lines, right=(1, 3, 5)))
        guessed = [sum(_mark(row, side).startswith("assumed") for row in self.rows) for side in ("left", "right")]
        return (
            f"{text}\n\n{len(self.rows)} rows; assumed: {guessed[0]} of {heads[0]}, {guessed[1]} of {heads[1]}; "
            "`*`: no row of its own, but what is taken for it"
        )


def compare(left: LatencyTable, right: LatencyTable) -> Comparison:
    """Each key that one of the tables has a row for, what has a name there, and the defaults."""
    return Comparison(left, right, tuple(_rows(left, right)))


def _rows(left: LatencyTable, right: LatencyTable) -> Iterator[Pair]:
    for key in dict.fromkeys([*left.entries, *right.entries]):
        a, b = left.cycles(key), right.cycles(key)
        lacking = "left" if key not in left.entries else "right" if key not in right.entries else ""
        yield Pair("cycles", key, a, b, left.source_of(key), right.source_of(key), lacking)
    for name in dict.fromkeys([*left.named, *right.named]):
        one, other = left.named.get(name), right.named.get(name)
        yield Pair(
            "named", name, _cycles(one), _cycles(other), one.source if one else "", other.source if other else ""
        )
    for kind in KINDS:
        yield Pair("default", kind, left.defaults[kind], right.defaults[kind], "assumed", "assumed")


def _cycles(entry: Entry | None) -> int | None:
    return entry.cycles if entry else None


def _number(cycles: int | None) -> str:
    return "-" if cycles is None else str(cycles)


def _mark(row: Pair, side: str) -> str:
    source = row.left_source if side == "left" else row.right_source
    return f"{source}*" if row.borrowed == side else source
