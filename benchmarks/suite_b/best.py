"""The results of tuning for the pairs of suite B, or in another file of another suite: best.json, which a run with
`--best` makes anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unseen.making import TUNED

import goptx
from goptx.tuning.best import Replay

FILE = Path(__file__).parent / "best.json"


def tuned_pairs() -> list[str]:
    """Those that were tuned."""
    return list(json.loads(FILE.read_text()))


def tuned(pair: str, file: Path = FILE) -> Replay:
    """Raises `InputError` for a pair that was not tuned."""
    held = json.loads(file.read_text()).get(pair) if file.exists() else None
    if held is None:
        raise goptx.InputError(f"{file.name} has nothing of {pair}; make it with --best.")
    return Replay(file, held)


def store(rows: Iterable[Mapping[str, Any]], file: Path = FILE) -> None:
    """Puts the results of tuning of these pairs into the file, beside those of other pairs."""
    known = json.loads(file.read_text()) if file.exists() else {}
    known |= {row.get("pair") or row["name"]: held for row in rows if (held := row["ways"].get(TUNED, {}).get("held"))}
    file.write_text(json.dumps(known, indent=1) + "\n")
