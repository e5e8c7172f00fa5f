"""Output, to standard output or whole into a file."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from goptx.errors import InputError
from goptx.files_written import write_whole


def write(path: str | None, content: str | bytes) -> None:
    """To standard output, or whole into a file or not at all."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.write(data.decode())
        sys.stdout.flush()
    else:
        write_whole(Path(path), data)


def check_outputs(outputs: Sequence[str], inputs: Collection[Path] = ()) -> None:
    """Before anything is written: raises `InputError` where two outputs are one file, one is an input, or one cannot be
    written."""
    places = [Path(output).resolve() for output in outputs]
    read = {path.resolve() for path in inputs}
    for output, place in zip(outputs, places, strict=True):
        if places.count(place) > 1:
            raise InputError(f"{output}: two outputs cannot be one file.")
        if place in read:
            raise InputError(f"{output}: an input, which would be written over; give another file.")
        if output != "-" and not place.parent.is_dir():
            raise InputError(f"{output}: cannot be written (no such folder); give a folder that exists.")
        if output != "-" and place.is_dir():
            raise InputError(f"{output}: cannot be written (it is a folder); give the path of a file.")
