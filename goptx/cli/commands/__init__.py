"""The commands, one a file: `add` adds a command's parser, with the function that runs it."""

from __future__ import annotations

from goptx.cli.commands import batch, cache, check, coarsen, fmt, fuse, latency, profile, show, weave

COMMANDS = (
    weave.add, fuse.add, coarsen.add, batch.add, check.add, show.add, fmt.add, profile.add, latency.add, cache.add,
)  # fmt: skip
