"""goptx cache: what is cached, and where."""

from __future__ import annotations

import argparse

from goptx.cli.command import NewParser
from goptx.cli.output import write
from goptx.errors import InputError


def add(new: NewParser) -> None:
    parser = new(
        "cache",
        help="list what is cached, or remove it",
        description="Machine code and decisions of auto are cached in a folder, which the environment variable "
        "GOPTX_CACHE_DIR names (empty: none), up to GOPTX_CACHE_SIZE MiB; 512 by default (0: nothing is cached).",
    )
    parser.add_argument("what", nargs="?", choices=("clear",), metavar="clear", help="remove all that is cached")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from goptx.cache import settings, store

    disk = store.disk()
    if disk is None:
        off = not store.switched_on()
        reason = f"{settings.SIZE} is 0" if off else f"{settings.FOLDER} is empty, or there is no home"
        write(None, f"nothing is cached on disk: {reason}\n")
        return
    if options.what == "clear":
        try:
            removed = disk.clear()
        except OSError as error:
            raise InputError(f"{disk.folder}: cannot be cleared ({error.strerror}); remove it by hand.") from None
        write(None, f"{disk.folder}\nremoved {removed}\n")
        return
    entries, trouble = disk.entries(), disk.trouble()
    held = sum(size for _, size, _ in entries)
    lines = [f"{disk.folder}", f"entries {len(entries)}", f"bytes   {held} of {disk.limit}"]
    lines += [f"nothing more can be cached there: {trouble}"] if trouble else []
    write(None, "\n".join([*lines, ""]))
