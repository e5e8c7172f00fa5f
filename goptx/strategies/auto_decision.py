"""The decision of `auto`, cached or given by the caller: which of many candidates is best is not searched again.

The key in the cache is a digest of the kernels with their names and lines, the shapes, the options and goptx's own
code. A decision that the caller saved holds for any kernels of the same number, whatever has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from goptx.cache import keys, store
from goptx.errors import InputError
from goptx.files_read import content_of
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.results.decision import Decision
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Decided:
    """The candidate that was chosen, what it was compared with, and a note for each candidate that was refused."""

    candidate: Candidate
    decision: Decision
    refused: tuple[str, ...]


def key_of(
    kernels: Sequence[Chosen],
    shapes: Sequence[Shape] | None,
    target: str,
    options: Sequence[object],
    table: LatencyTable,
) -> str:
    """The key of a call, "" where nothing is cached. `options` are values that differ if their `repr` differs."""
    code = keys.code()
    if not code or not store.switched_on():
        return ""
    texts = [repr((k.module.version, k.module.target, k.module.items, k.module.source)) for k in kernels]
    chosen = repr([(k.entry, k.coarse, k.shape) for k in kernels])
    entries = [(key, astuple(entry)) for key, entry in sorted(table.entries.items())]
    latencies = repr((table.arch, entries, sorted(table.defaults.items())))
    return keys.digest("auto", code, repr(shapes), target, repr(options), latencies, chosen, *texts)


def cached(key: str) -> Decided | None:
    """The decision under this key."""
    return store.find(key, _read) if key else None


def cache(key: str, decided: Decided | None) -> None:
    """Caches the decision, if there is one."""
    if key and decided:
        held = {"decision": decided.decision.to_dict(), "refused": decided.refused}
        store.keep(key, json.dumps(held).encode())


def _read(content: bytes) -> Decided:
    held = json.loads(content)
    decision = Decision.from_dict(held["decision"])
    return Decided(Candidate.from_dict(decision.taken), decision, tuple(held["refused"]))


def given(decision: Mapping[str, Any] | str | Path, kernels: int) -> Decided:
    """The decision that a caller saved for so many kernels: what `Decision.to_dict` returned, or the path of a JSON
    file with that, or with the report in which it stands. Raises `InputError`."""
    where, held = "decision=", decision
    if isinstance(decision, str | Path):
        where = str(decision)
        try:
            held = json.loads(content_of(Path(decision), "a decision or report of `auto`, as JSON"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not JSON: {error}; give a decision or report of `auto`.") from None
    if isinstance(held, Mapping) and "decision" in held:
        held = held["decision"]
    try:
        if not isinstance(held, Mapping):
            raise TypeError(f"it is `{type(held).__name__}`, not an object")
        found = Decision.from_dict(held)
        candidate = Candidate.from_dict(found.taken)
        if not found.candidates:
            raise ValueError("`candidates` is empty")
    except (KeyError, TypeError, ValueError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise InputError(
            f"{where}: not a decision of `auto` ({reason}); give `report.decision.to_dict()`, or a file with it or "
            "with the report."
        ) from None
    if len(candidate.factors) != kernels:
        raise InputError(f"{where}: a decision about {len(candidate.factors)} kernels; {kernels} are given.")
    return Decided(candidate, found, ())
