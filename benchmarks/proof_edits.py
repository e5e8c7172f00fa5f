"""Random edits of fused kernels, put to the checker; what it accepts is judged by the emulator.

    python benchmarks/proof_edits.py --edits 10000 [--each 20] [--seed S] [--jobs N] [-o FILE.json] [--keep FOLDER]
    python benchmarks/proof_edits.py --draw 300 --cases CASES.json
    python benchmarks/proof_edits.py --cases CASES.json ...

Fuses pairs of examples/kernels, tests/constructs and random kernels, and edits each text --each times (proving/edits.py
has the kinds). The checker has to refuse an edit, or the edited text has to leave what the kernels leave alone, bit for
bit, on each of several launches and orders of warps of the strict emulator (proving/judging.py). An edit that is
accepted and does something else is a wrong certificate; the exit status is then 1. Seeds --seed, --seed + 1, ... are
each one fused kernel, until there are --edits edits (kernels that are not fused or not proved are not edited) or until
--seconds have passed; a kernel gets at most --patience seconds. With -o, what is done is stored every few seconds, and
a run with the same file goes on where it was stopped. --keep writes each accepted text, with its kernels, to a folder:
what the emulator does not see (caches, the memory model) has to be read. Random kernels are the regressions, or those
of a file of --cases, which --draw fills; only that needs Hypothesis. --strategy takes names with commas between.

The campaign of 10,000 edits, in 9 minutes on 16 cores:

    python benchmarks/proof_edits.py --draw 300 --cases build/cases.json
    python benchmarks/proof_edits.py --edits 12000 --seconds 520 --jobs 16 --cases build/cases.json \\
        --strategy weave,weave,vertical,horizontal,interleave -o build/proof_edits.json
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import host
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # for the random kernels

from proving.edits import EDITS, edited
from proving.judging import COUNTS, EQUAL, ILLEGAL, UNDEFINED, Judge, TooLong, within
from proving.subjects import EXAMPLES, Subject, drawn_cases, read_cases, stored_cases, subject, write_cases
from random_kernels.case import Case

from goptx.errors import GoptxError
from goptx.proof.certificate import Certificate
from goptx.proof.prove import prove_text

MAKING, PROVING, EMULATING = 60.0, 20.0, 60.0  # seconds
LAST = 30.0  # seconds before the end of a run in which no edit begins
EVERY = 10.0  # seconds from one writing of the results to the next
MOST = 10  # times as many seeds are tried at most as kernels are wanted
SLOW = ("sha256",)  # examples that are left out: their proofs take minutes
REFUSED, FAILED = "refused", "the checker fails"


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit; `diff` for one that is accepted."""

    kind: str
    outcome: str
    rule: str = ""
    diff: str = ""


@dataclass(slots=True)
class Row:
    """Of one seed: why its kernel was not tried, or what became of its edits."""

    seed: int
    name: str = ""
    skipped: str = ""
    seconds: float = 0.0
    edits: list[Edited] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Options:
    """`end` is when the last edit begins, `patience` the seconds that one fused kernel gets."""

    each: int
    strategies: tuple[str, ...]
    examples: tuple[str, ...]
    cases: tuple[Case, ...]
    kinds: tuple[str, ...]
    keep: Path | None
    patience: float = math.inf
    end: float = math.inf


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=400, help="that are made in all")
    parser.add_argument("--each", type=int, default=20, help="edits of one fused kernel")
    parser.add_argument("--seed", type=int, default=0, help="of the first fused kernel")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no more is waited for")
    parser.add_argument("--patience", type=float, default=60, help="seconds for the edits of one fused kernel")
    parser.add_argument("--strategy", default="weave")
    parser.add_argument("--kind", default="", help="only edits whose kind has this text")
    parser.add_argument("--examples", default="", help="with commas between; by default all whose proofs are quick")
    parser.add_argument("--cases", type=Path, help="file of random kernels")
    parser.add_argument("--draw", type=int, default=0, help="so many random kernels to --cases, and end")
    parser.add_argument("--keep", type=Path, help="folder for texts that are accepted")
    parser.add_argument("-o", "--output", type=Path, help="file of results, JSON; a table is written beside it")
    given = parser.parse_args()
    if given.draw:
        write_cases(given.cases, list(drawn_cases(given.seed, given.draw)))
        return 0
    begin = time.monotonic()
    end = begin + given.seconds
    options = Options(
        given.each,
        tuple(given.strategy.split(",")),
        tuple(given.examples.split(",")) if given.examples else tuple(n for n in EXAMPLES if n not in SLOW),
        tuple(read_cases(given.cases) if given.cases else stored_cases()),
        tuple(kind for kind in EDITS if given.kind in kind),
        given.keep,
        given.patience,
        end - LAST,
    )
    os.environ["GOPTX_CACHE_SIZE"] = "0"
    rows = stored(given.output)
    written, wanted = begin, given.edits - sum(len(row.edits) for row in rows.values())
    first = range(given.seed, given.seed + MOST * -(-given.edits // given.each))
    for row in results(options, (s for s in first if s not in rows), given.jobs, end):
        rows[row.seed] = row
        wanted -= len(row.edits)
        report(row)
        if given.output and time.monotonic() > written + EVERY:
            written = time.monotonic()
            write(given.output, rows, written - begin)
            print(f"{written - begin:.0f} s: {given.edits - wanted} edits", flush=True)
        if wanted <= 0:
            break
    if given.output:
        write(given.output, rows, time.monotonic() - begin)
    print(table(rows))
    return 1 if any(is_wrong(e.outcome) for row in rows.values() for e in row.edits) else 0


def results(options: Options, seeds: Iterable[int], jobs: int, end: float) -> Iterator[Row]:
    """In the order in which they are done, until the clock shows `end`."""
    with multiprocessing.get_context("fork").Pool(
        jobs, initializer=_begin, initargs=(options,), maxtasksperchild=8
    ) as pool:
        found = pool.imap_unordered(run, seeds)
        while True:
            left = max(end - time.monotonic(), 0.1)
            try:
                yield found.next(timeout=None if math.isinf(left) else left)
            except (StopIteration, multiprocessing.TimeoutError):
                return


_options: list[Options] = []


def _begin(options: Options) -> None:
    _options[:] = [options]


def run(seed: int) -> Row:
    """Fuses one pair, and tries edits of its text."""
    begin = time.monotonic()
    row = Row(seed)
    try:
        with np.errstate(all="ignore"):
            _fill(row, _options[0])
    except TooLong as error:
        row.skipped = str(error)
    except GoptxError as error:
        row.skipped = f"not fused: {type(error).__name__}"
    except Exception as error:  # of the machinery: to be seen, not to end the run
        row.skipped = f"{type(error).__name__}: {error}"
    row.seconds = round(time.monotonic() - begin, 2)
    return row


def _fill(row: Row, options: Options) -> None:
    with within(MAKING):
        one = subject(row.seed, options.strategies, options.cases, options.examples)  # type: ignore[arg-type]
        row.name = one.name
        text = one.fused.text()
        made = prove(text, one)
    if not made:
        row.skipped = f"not proved: {made.gaps[0].rule}"
        return
    with within(MAKING):
        judge = Judge(one)
    if judge.trouble:
        row.skipped = judge.trouble
        return
    stop = min(options.end, time.monotonic() + options.patience)
    for number in range(options.each):
        if time.monotonic() > stop:
            break
        row.edits.append(_tried(row, number, text, judge, options))


def prove(text: str, one: Subject) -> Certificate:
    return prove_text(text, [c.module for c in one.fused.chosen])


def _tried(row: Row, number: int, text: str, judge: Judge, options: Options) -> Edited:
    choose = Random(f"edit {row.seed} {number}")
    kind, changed = edited(text, choose, options.kinds)
    try:
        with within(PROVING):
            made = prove(changed, judge.subject)
    except GoptxError as error:
        return Edited(kind, REFUSED, f"{type(error).__name__}")
    except TooLong:
        return Edited(kind, FAILED, f"more than {PROVING:g} s")
    except Exception as error:
        return Edited(kind, FAILED, f"{type(error).__name__}: {error}")
    if not made:
        return Edited(kind, REFUSED, made.gaps[0].rule)
    try:
        with within(EMULATING):
            outcome = judge.verdict(changed)
    except TooLong as error:
        outcome = f"not judged: {error}"
    diff = "\n".join(
        line for line in difflib.unified_diff(text.splitlines(), changed.splitlines(), "made", "edited", "", "", 2, "")
    )
    if options.keep:
        _keep(options.keep / f"{row.seed}_{number}", changed, diff, kind, outcome, judge.subject)
    return Edited(kind, outcome, "", diff)


def _keep(folder: Path, changed: str, diff: str, kind: str, outcome: str, one: Subject) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "edited.ptx").write_text(changed)
    (folder / "diff.txt").write_text(f"{one.name}\n{kind}: {outcome}\n{diff}\n")
    for i, module in enumerate(one.modules):
        (folder / f"kernel_{i}.ptx").write_text(str(module))


def is_wrong(outcome: str) -> bool:
    """Whether an edit was accepted, and does something else."""
    return outcome not in (REFUSED, FAILED, EQUAL, COUNTS, UNDEFINED, ILLEGAL) and not outcome.startswith("not judged")


def report(row: Row) -> None:
    for e in row.edits:
        if is_wrong(e.outcome):
            print(f"WRONG: seed {row.seed}, {row.name}, {e.kind}: {e.outcome[:300]}\n{e.diff}", flush=True)
        elif e.outcome == FAILED:
            print(f"seed {row.seed}, {row.name}, {e.kind}: the checker fails: {e.rule[:300]}", flush=True)


# results --------------------------------------------------------------------------------------------------


def stored(path: Path | None) -> dict[int, Row]:
    """The rows of an earlier run."""
    if path is None or not path.exists():
        return {}
    return {
        r["seed"]: Row(**{**r, "edits": [Edited(**e) for e in r["edits"]]})
        for r in json.loads(path.read_text())["rows"]
    }


def write(path: Path, rows: Mapping[int, Row], seconds: float) -> None:
    document = {
        "suite": "edits of fused kernels",
        "commit": host.commit(),
        "cpu": host.processor(),
        "seconds": round(seconds),
        "kinds": {kind: dict(counts) for kind, counts in by_kind(rows).items()},
        "rows": [asdict(rows[seed]) for seed in sorted(rows)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".part")  # so that a run that is ended leaves a whole file
    whole.write_text(json.dumps(document, indent=1) + "\n")
    whole.replace(path)
    path.with_suffix(".md").write_text(table(rows))


def by_kind(rows: Mapping[int, Row]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in rows.values():
        for e in row.edits:
            outcome = "different" if is_wrong(e.outcome) else e.outcome.partition(":")[0]
            found.setdefault(e.kind, Counter())[outcome] += 1
    return dict(sorted(found.items()))


def table(rows: Mapping[int, Row]) -> str:
    kinds = by_kind(rows)
    total = sum(kinds.values(), Counter[str]())
    columns = (REFUSED, EQUAL, COUNTS, UNDEFINED, "different", ILLEGAL, "not judged", FAILED)
    skipped = Counter(row.skipped.partition(" (")[0][:60] for row in rows.values() if row.skipped)
    lines = [
        "# Edits of fused kernels, and what the checker makes of them", "",
        f"{total.total()} edits of {sum(not r.skipped for r in rows.values())} fused kernels: {total[REFUSED]} are "
        f"refused, {total[EQUAL] + total[COUNTS] + total[UNDEFINED]} are accepted and leave what the kernels leave, "
        f"{total['different']} are accepted and do not (wrong certificates).", "",
        *_rows("edit", columns, [*kinds.items(), ("all", total)]),
    ]  # fmt: skip
    if skipped:
        lines += ["", "Kernels that were not edited:", "", *(f"* {n}: {why}" for why, n in skipped.most_common())]
    return "\n".join(lines) + "\n"


def _rows(first: str, columns: Sequence[str], rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    head = [f"| {first} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return head + [f"| {name} | {' | '.join(str(counts.get(c, 0)) for c in columns)} |" for name, counts in rows]


if __name__ == "__main__":
    sys.exit(main())
