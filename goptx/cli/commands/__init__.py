"""The commands, one in each file (`fmt` by `show`): `add` adds a command's parser, with the function that runs it."""

from __future__ import annotations

from goptx.cli.commands import (
    batch,
    cache,
    check,
    coarsen,
    doctor,
    fuse,
    latency,
    profile,
    prove,
    replay,
    show,
    spec,
    sweep,
    tune,
    weave,
)
from goptx.cli.commands.programs import graph, suggest

COMMANDS = (
    weave.add, fuse.add, coarsen.add, batch.add, check.add, prove.add, sweep.add, tune.add, replay.add, profile.add,
    graph.add, suggest.add, show.add, spec.add, show.add_fmt, latency.add, cache.add, doctor.add,
)  # fmt: skip
