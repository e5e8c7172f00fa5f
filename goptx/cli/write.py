"""Output, to standard output or whole into a file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from goptx.errors import InputError


def write(path: str | None, content: str | bytes) -> None:
    """To standard output, or whole into a file or not at all."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.write(data.decode())
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give a folder that exists.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes files private
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}); give the path of a file.") from None
