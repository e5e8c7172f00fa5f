"""The results of suite C as Markdown and as a chart."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unseen.agreement import baseline, speedup
from unseen.making import TUNED

from goptx.measuring.bench.baselines import SEPARATE
from goptx.view.bars import Bars, Group
from suite_c import FITTED
from suite_c.cases import AUTO_LEAST, BARS, GROUP_MEAN, LEAST, NAMED, PAIR_MEAN, SHARE, bar_of
from suite_c.combo_kernels import median
from suite_c.forms import AUTO, KNOWN, PLAIN
from suite_c.runs import GROUP, PAIR

Row = Mapping[str, Any]
CHOSEN = (AUTO, KNOWN, TUNED)
NEAR = 0.97  # of the fastest plain strategy, which a tuned group should reach
OVER = "speedup over the best separate launches"
LEGEND = (
    f"{OVER.capitalize()}: one after the other, two streams, a CUDA graph with a branch for each kernel, the last two "
    "in both orders; all but streams as CUDA graphs (medians, in turn). Right: what is fused writes what separate "
    "launches write, bit for bit, but for contraction. Green contexts: the best partition of the SMs, a part for each "
    "kernel. Combo kernels: torch's own operations, compiled by Inductor. By hand: the best of the forms below, of "
    "groups the best plain strategy. Sizes known: what `auto` chooses if it is given the integer arguments. Registers "
    "and spills are those of the tuned kernel."
)
HEAD = (
    "| | right | best separate, ms | which | green contexts | combo kernels | by hand | auto | auto is | sizes known "
    "| tuned | tuned is | auto of tuned | bar | registers | spills, bytes |"
)


def table(document: Mapping[str, Any]) -> str:
    pairs, groups = ([row for row in document["rows"] if row["kind"] == kind] for kind in (PAIR, GROUP))
    lines = [
        f"# Suite C on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document.get('seconds')} s.",
        "",
        LEGEND,
        "",
        *_summary("Pairs", pairs, PAIR_MEAN),
        *_parts(pairs),
        *_summary("Groups", groups, GROUP_MEAN),
        *_peers(document),
    ]
    for title, own in (("Pairs", pairs), ("Groups", groups)):
        if own:
            lines += ["", f"## {title}", "", HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
            lines += [f"| {' | '.join(_cells(row, document))} |" for row in own]
    return "\n".join([*lines, *_forms(document["rows"]), *_problems(document["rows"])]) + "\n"


def line(row: Row) -> str:
    """For a terminal."""
    if "ms" not in row:
        return f"{row['name']}: NOT MEASURED {row.get('problem', '')[-600:]}"
    best = statistics.median(row["ms"][baseline(row)])
    ways = ", ".join(f"{way} {_number(speedup(row, way))}" for way in row["ways"])
    state = "right" if row["right"] else "NOT RIGHT"
    return f"{row['name']}: {best:.4f} ms {baseline(row)}; {ways}; {state}, {row['seconds']} s"


def is_good(row: Row) -> bool:
    """Whether it is right, and what tuning found, if anything was tuned, reaches the bar and, of a group, is not slower
    than a plain strategy."""
    gain = speedup(row, TUNED)
    if not row["right"] or TUNED not in row["ways"]:
        return bool(row["right"])
    plain = [found for way in PLAIN if row["kind"] == GROUP and (found := speedup(row, way))]
    return gain is not None and gain >= bar_of(row["name"]) and all(gain >= NEAR * found for found in plain)


def green(row: Row) -> float | None:
    """The speedup of the best partition by green contexts over the best separate launches. Both were compared with one
    after the other."""
    ms = {way: statistics.median(times) for way, times in row.get("green_ms", {}).items()}
    if not ms:
        return None
    over_separate = ms.pop(SEPARATE) / min(ms.values())
    return float(over_separate / (speedup(row, baseline(row), SEPARATE) or 1))


def _combo(row: Row, document: Mapping[str, Any]) -> float | None:
    found = median(document.get("combo", {}).get(row["name"], {}))
    return statistics.median(row["ms"][baseline(row)]) / found if found and "ms" in row else None


def chart(document: Mapping[str, Any]) -> Bars:
    """Of each pair and group: the peers, what `auto` chooses, and what tuning finds."""
    groups = [
        Group(
            row["name"], "", (green(row), _combo(row, document), speedup(row, AUTO), speedup(row, TUNED)), None,
            ("separate", 1.0),
        )
        for row in document["rows"]
        if "ms" in row
    ]  # fmt: skip
    series = ("green contexts", "Inductor's combo kernels", AUTO, TUNED)
    return Bars(f"Suite C on {document['gpu']}: {OVER}", series, 2, tuple(groups), OVER, digits=2)


def _summary(title: str, rows: Sequence[Row], mean: float) -> Iterator[str]:
    """A line for each way, with its bars."""
    for way in CHOSEN:
        found = _gains(rows, way)
        if not found:
            continue
        lowest = min(found, key=lambda name: found[name])
        text = (
            f"* {title}, {way}: geometric mean {statistics.geometric_mean(found.values()):.3f} of {len(found)} of "
            f"{len(rows)}, least {found[lowest]:.3f} ({lowest})"
        )
        bars = {TUNED: f"; bars {mean:.2f}, {LEAST:.2f}", AUTO: f"; bar of the least {AUTO_LEAST:.2f}"}
        yield f"{text}{bars.get(way, '')}."


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    """Of the pairs: those that rules may be fitted on and the others, the bars of their own, and `auto`'s share."""
    for title, own in (
        ("Pairs that rules may be fitted on", [row for row in rows if row["name"] in FITTED]),
        ("Pairs that are only ever measured", [row for row in rows if row["name"] not in FITTED]),
    ):
        means = [
            f"{way} {statistics.geometric_mean(found.values()):.3f}" for way in CHOSEN if (found := _gains(own, way))
        ]
        if means:
            yield f"* {title}, {len(own)}: geometric mean {', '.join(means)}."
    named = {name: gain for name, gain in _gains(rows, TUNED).items() if name in BARS}
    if named:
        reached = sum(gain >= BARS[name] for name, gain in named.items())
        yield f"* Bars of their own: {reached} of {len(named)} reached; of five, {NAMED} have to be."
    shares = [share for row in rows if (share := _share(row)) is not None]
    if shares:
        high = sum(share >= SHARE for share in shares)
        yield f"* `auto` reaches {SHARE:.0%} of tuned on {high} of {len(shares)} pairs; half of them have to be."


def _peers(document: Mapping[str, Any]) -> Iterator[str]:
    if why := document.get("green_problem"):
        yield f"* Green contexts are not offered here: {_short(why)}"
    for row in document["rows"]:
        if why := row.get("green_problem"):
            yield f"* Green contexts, {row['name']} and all pairs after it: {_short(why)}"
    for name, found in document.get("combo", {}).items():
        if median(found) is None:
            yield f"* Combo kernels, {name}: {_short(found.get('failed', 'not near to what torch gives'))}"


def _cells(row: Row, document: Mapping[str, Any]) -> list[str]:
    head = [row["name"], "yes" if row["right"] else "NO"]
    if "ms" not in row:
        return [*head, _short(row.get("problem", "")), *[""] * (HEAD.count("|") - 4)]
    best = baseline(row)
    auto, tuned = (row["ways"].get(way, {}) for way in (AUTO, TUNED))
    by_hand = [gain for way in row["ways"] if way not in CHOSEN and (gain := speedup(row, way))]
    return [
        *head,
        f"{statistics.median(row['ms'][best]):.4f}",
        best,
        _number(green(row)),
        _number(_combo(row, document)),
        _number(max(by_hand, default=None)),
        _number(speedup(row, AUTO)),
        _short(auto.get("chosen", "")),
        _number(speedup(row, KNOWN)),
        _number(speedup(row, TUNED)) + ("" if is_good(row) else " BELOW"),
        _short(tuned.get("chosen", "")),
        _number(_share(row), 2),
        f"{bar_of(row['name']):.2f}",
        str(tuned.get("registers", "-")),
        str(tuned.get("spill_bytes", "-")),
    ]


def _forms(rows: Sequence[Row]) -> Iterator[str]:
    """The folded forms that were made by hand, and the plain strategies of groups."""
    own = [(row, way) for row in rows for way in row["ways"] if way not in CHOSEN]
    if own:
        yield from (
            "",
            "## By hand",
            "",
            "Folded forms: registers of a thread of each kernel, virtual CTAs that are woven.",
            "",
        )
        yield from ("| | form | speedup | registers | spills, bytes |", "|---" * 5 + "|")
    for row, way in own:
        facts = row["ways"][way]
        resources = (str(facts.get(key, "-")) for key in ("registers", "spill_bytes"))
        yield f"| {row['name']} | {way} | {_number(speedup(row, way))} | {' | '.join(resources)} |"


def _problems(rows: Sequence[Row]) -> Iterator[str]:
    found = [
        f"* {row['name']}, {way}: {key}: {_short(facts[key])}"
        for row in rows
        for way, facts in row["ways"].items()
        for key in ("refused", "failed", "wrong")
        if key in facts
    ]
    yield from ["", "## Refused or wrong", "", *found] if found else []


def _gains(rows: Sequence[Row], way: str) -> dict[str, float]:
    """By name, of those that were timed."""
    return {row["name"]: gain for row in rows if (gain := speedup(row, way)) is not None}


def _share(row: Row) -> float | None:
    """The speed of `auto` over that of what tuning found."""
    return speedup(row, AUTO, TUNED) if TUNED in row.get("ms", {}) else None


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _short(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:160]
