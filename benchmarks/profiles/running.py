"""Runs the program under Nsight Compute, again without what hangs, until all else is counted."""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from goptx.errors import DeviceError
from goptx.measuring.profiling.counters import Reading
from goptx.measuring.profiling.ncu import NotPermitted, Profiler, counted
from profiles.counters import COUNTERS, Counts, counts_of
from profiles.work import Group, launched

Note = tuple[str, str, str]  # what the program did, with which form, and what went wrong
PROGRAM = "profiles.program"
FOLDER = Path(__file__).parents[1]
START, EACH = 60.0, 4.0  # seconds: for the process and its data, and for a form


@dataclass(frozen=True, slots=True)
class Answer:
    """By key, the counts of each launch of a form, or why a form could not be counted; the device."""

    counts: Mapping[str, list[tuple[str, Counts]]]
    problems: Mapping[str, str] = field(default_factory=dict)
    device: str = ""


def counted_groups(ncu: Profiler, groups: Sequence[Group]) -> Answer:
    """Counts all forms that neither hang nor fail. Raises `DeviceError` where the profiler fails, or the device without
    a form to blame."""
    problems: dict[str, str] = {}
    while True:
        left = [group.without(frozenset(problems)) for group in groups]
        forms = [one for group in left for one in group.counted]
        with TemporaryDirectory(prefix="goptx-profiles-") as folder:
            question, progress = Path(folder, "groups.pickle"), Path(folder, "progress")
            question.write_bytes(pickle.dumps(left))
            program = [sys.executable, "-m", PROGRAM, str(question), str(progress)]
            paths = [str(FOLDER), *(str(Path(p).absolute()) for p in sys.path)]
            failed = None
            found: list[Reading] = []
            try:
                limit = START + EACH * len(forms)
                found = counted(ncu, program, COUNTERS, limit, {"PYTHONPATH": os.pathsep.join(paths)})
            except NotPermitted:
                raise
            except DeviceError as error:
                failed = error
            notes = _notes(progress)
        if problem := problem_in(notes):
            problems |= problem
            continue
        if failed:
            raise failed
        device = next((name for what, name, _ in notes if what == "device"), "")
        return Answer(assigned(expected_of(left), found), problems, device)


def _notes(progress: Path) -> list[Note]:
    lines = progress.read_text(encoding="utf-8").splitlines() if progress.exists() else []
    return [(what, name, problem) for what, name, problem in map(json.loads, lines)]


def problem_in(notes: Sequence[Note]) -> dict[str, str]:
    """The form that the program ended with, and why: it failed, or it began and did not end. Empty if all ended."""
    what, name, problem = notes[-1] if notes else ("", "", "")
    return {name: problem or "hangs"} if what in ("begin", "failed") else {}


def expected_of(groups: Sequence[Group]) -> list[tuple[str, list[str]]]:
    """The key of each form, and the names of its launches, in order."""
    return [(one.key, launched(one.form)) for group in groups for one in group.counted]


def assigned(
    expected: Sequence[tuple[str, Sequence[str]]], found: Sequence[Reading]
) -> dict[str, list[tuple[str, Counts]]]:
    """The readings by the key of their form. Raises `DeviceError` if they are not those of the expected launches."""
    names = [name for _, entries in expected for name in entries]
    if [one.kernel for one in found] != names:
        raise DeviceError(
            f"Nsight Compute counted {len(found)} launches, of {', '.join(one.kernel for one in found[:20])}, not the "
            f"{len(names)} of {', '.join(names[:20])}"
        )
    rest = iter(found)
    return {key: [(name, counts_of(next(rest))) for name in entries] for key, entries in expected}
