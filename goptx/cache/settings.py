"""Where results are cached, and how many bytes: read from the environment each time.

GOPTX_CACHE_DIR: the folder; by default the platform's folder for caches. Empty: results are cached in memory only.
GOPTX_CACHE_SIZE: how many MiB the folder may hold; 512 by default. 0: nothing is cached, in memory neither.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from goptx.errors import InputError

FOLDER, SIZE = "GOPTX_CACHE_DIR", "GOPTX_CACHE_SIZE"
DEFAULT_SIZE = 512  # MiB
MIB = 1 << 20


def limit() -> int:
    """Bytes that the folder may hold. Raises `InputError`."""
    stated = os.environ.get(SIZE) or str(DEFAULT_SIZE)
    if not re.fullmatch("[0-9]+", stated, re.ASCII):
        raise InputError(f"{SIZE}={stated} is not a number of MiB; give for example {SIZE}={DEFAULT_SIZE}, or 0.")
    return int(stated) * MIB


def folder() -> Path | None:
    """The absolute path of the folder, which may not exist yet; None where none is wanted, or none is known."""
    stated = os.environ.get(FOLDER)
    if stated is None:
        from platformdirs import user_cache_path

        found = user_cache_path("goptx", appauthor=False)
        return found if found.is_absolute() else None  # a user without a home
    return Path(stated).absolute() if stated else None
