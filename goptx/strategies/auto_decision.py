"""The decision of `auto`, cached: which of many candidates is best is not searched again for the same kernels.

The key is a digest of the kernels with their names and lines, the shapes, the options and goptx's own code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from goptx.cache import keys, store
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.results.decision import CandidateEstimate, Decision
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
        held = {"way": decided.candidate.to_dict(), "decision": decided.decision.to_dict(), "refused": decided.refused}
        store.keep(key, json.dumps(held).encode())


def _read(content: bytes) -> Decided:
    held = json.loads(content)
    candidates = tuple(CandidateEstimate(**candidate) for candidate in held["decision"]["candidates"])
    decision = Decision(candidates, held["decision"]["decided"], tuple(held["decision"]["assumed"]))
    return Decided(Candidate.from_dict(held["way"]), decision, tuple(held["refused"]))
