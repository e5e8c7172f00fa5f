"""Writes files completely or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from goptx.errors import InputError


def write_whole(path: Path, data: bytes) -> None:
    """Makes `data` the file's content, or leaves the file unchanged. Writes the target of a link, not the link; a
    device (/dev/null) or a pipe (/dev/stdout) gets the bytes. Raises `InputError`."""
    if path.exists() and not path.is_file() and not path.is_dir():
        try:
            path.write_bytes(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}); give the path of a file.") from None
        return
    place = path.resolve()
    try:
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give a folder that exists.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp creates private files
        Path(temporary).replace(place)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({error.strerror}); give the path of a file.") from None
