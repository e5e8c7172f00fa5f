"""Writes output to standard output or to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from goptx.errors import InputError
from goptx.files_written import write_whole


def write(path: str | None, content: str | bytes) -> None:
    """Writes to standard output, or to a file; a file is written whole or not at all."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        try:
            sys.stdout.write(data.decode())
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not written at the end
            raise InputError(f"standard output cannot be written ({error.strerror}); give a file with -o.") from None
    else:
        write_whole(Path(path), data)


def check_outputs(outputs: Sequence[str], inputs: Collection[Path] = ()) -> None:
    """Raises `InputError` if two outputs are one file, one is an input, or one cannot be written. Call it before
    writing."""
    paths = [Path(output).resolve() for output in outputs]
    read = {path.resolve() for path in inputs}
    for output, path in zip(outputs, paths, strict=True):
        if paths.count(path) > 1:
            raise InputError(f"{output}: two outputs cannot be one file.")
        if path in read:
            raise InputError(f"{output}: an input, which would be overwritten; give another file.")
        if output != "-" and not path.parent.is_dir():
            raise InputError(f"{output}: cannot be written (no such folder); give a folder that exists.")
        if output != "-" and path.is_dir():
            raise InputError(f"{output}: cannot be written (it is a folder); give the path of a file.")
