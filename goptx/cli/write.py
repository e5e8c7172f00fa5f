"""Output, to standard output or whole into a file."""

from __future__ import annotations

import sys
from pathlib import Path

from goptx.files_written import write_whole


def write(path: str | None, content: str | bytes) -> None:
    """To standard output, or whole into a file or not at all."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.write(data.decode())
        sys.stdout.flush()
    else:
        write_whole(Path(path), data)
