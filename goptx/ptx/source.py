"""A PTX file that was read: its text stays what it was, whatever becomes of the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TEXT = "<ptx>"  # what text is called that comes from no file


@dataclass(frozen=True, slots=True)
class PtxFile:
    """`content` is what the file at `path` held."""

    path: Path
    content: bytes
