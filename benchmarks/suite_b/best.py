"""The results of tuning for the pairs of suite B: best.json, which a run with `--best` makes anew."""

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


def tuned(pair: str) -> Replay:
    """Raises `InputError` for a pair that was not tuned."""
    held = json.loads(FILE.read_text()).get(pair)
    if held is None:
        raise goptx.InputError(f"{FILE.name} has nothing of {pair}; make it with --best.")
    return Replay(FILE, held)


def store(rows: Iterable[Mapping[str, Any]], file: Path = FILE) -> None:
    """Puts the results of tuning of these pairs into the file, beside those of other pairs."""
    known = json.loads(file.read_text()) if file.exists() else {}
    known |= {row["pair"]: held for row in rows if (held := row["ways"].get(TUNED, {}).get("held"))}
    file.write_text(json.dumps(known, indent=1) + "\n")
