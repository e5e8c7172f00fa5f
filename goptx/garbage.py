"""The garbage collector, disabled where much is made and little of it is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Disables the collector of cyclic garbage. Parsing a module and weaving a kernel make hardly any (some megabytes
    for a long kernel); the search for it would take a third of the time of a parse, and a tenth of that of weaving.
    What is not in a cycle is freed as ever."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
