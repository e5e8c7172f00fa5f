"""Records: the trials of a run in a file, each appended when it is known, so that an interrupted run can be resumed.

One line of JSON each. The first line describes what was tuned and on what; a later trial of a candidate replaces an
earlier one. A line with the one key `finished` has the result of the whole run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from goptx.errors import InputError
from goptx.strategies.candidate import Candidate
from goptx.tuning.trials import Trial

FORMAT = 1


class Records:
    """The trials of a run. `about` describes the run; `path` is the file, None for none. Threads may share one.

    finished: the result of the run if it is known, plain data.

    Raises `InputError` if the file describes another run, or cannot be read or written.
    """

    def __init__(self, about: Mapping[str, Any], path: Path | None = None) -> None:
        self.trials: dict[Candidate, Trial] = {}
        self.finished: dict[str, Any] | None = None
        self._path, self._lock = path, Lock()
        head = json.loads(json.dumps({"format": FORMAT, **about}))
        try:
            if path and path.exists() and path.stat().st_size:
                self._resume(path, head)
            elif path:
                self._append(head)
        except OSError as error:
            raise InputError(f"{path}: cannot be used for the records of a run ({error.strerror}).") from None

    def add(self, trial: Trial) -> None:
        """Records the trial."""
        with self._lock:
            self.trials[trial.candidate] = trial
            self._append(trial.to_dict())

    def finish(self, result: Mapping[str, Any]) -> None:
        """Records the result of the whole run."""
        with self._lock:
            self.finished = dict(result)
            self._append({"finished": self.finished})

    def all(self) -> list[Trial]:
        """The trials recorded so far."""
        with self._lock:
            return list(self.trials.values())

    def lack(self, candidate: Candidate) -> bool:
        """Whether the candidate is still to be tried."""
        known = self.trials.get(candidate)
        return known is None or known.status == "left out"

    def _append(self, content: Mapping[str, Any]) -> None:
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(content) + "\n")

    def _resume(self, path: Path, head: Mapping[str, Any]) -> None:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # without the line that an interrupted run was writing
        try:
            found, *others = map(json.loads, whole.decode().splitlines())
            ends = [held["finished"] for held in others if held.keys() == {"finished"}]
            trials = [Trial.from_dict(held) for held in others if held.keys() != {"finished"}]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"{path}: these are not records of a run; give another file (records=, --records)."
            ) from None
        if other := [key for key in head if not isinstance(found, dict) or found.get(key) != head[key]]:
            raise InputError(
                f"{path}: these are records of another run, with another {', '.join(other)}; give another file "
                "(records=, --records), or delete it to begin anew."
            )
        if whole != content:
            path.write_bytes(whole)
        self.trials = {trial.candidate: trial for trial in trials}
        self.finished = ends[-1] if ends else None
