"""What a careful user has without goptx: the unchanged kernels one after the other, on a stream for each, and as
branches of a CUDA graph, the last two in the given order and from the last kernel to the first.

The kernels run as the machine code of their framework, where it is known. The names of the same ways with machine code
by goptx's assembler end with `ASSEMBLED`.
"""

from __future__ import annotations

from collections.abc import Mapping

from goptx.options import Streams

SEPARATE, STREAMS, GRAPH = "separate", "streams", "graph"
STREAMS_REVERSED, GRAPH_REVERSED = "streams, reversed", "graph, reversed"
ASSEMBLED = " (assembled)"
GAIN = 1.005  # one after the other is the baseline unless another way is faster by this factor
WAYS: Mapping[str, Streams] = {  # those that goptx launches first, since they win where several are equal
    SEPARATE: False, GRAPH: True, GRAPH_REVERSED: "reversed", STREAMS: True, STREAMS_REVERSED: "reversed",
}  # fmt: skip


def baselines(kernels: int, assembled: bool = False) -> tuple[str, ...]:
    """The names of all ways to run so many kernels; `assembled`: those by goptx's assembler, too."""
    own = tuple(WAYS) if kernels > 1 else (SEPARATE,)
    return (*own, *(name + ASSEMBLED for name in own)) if assembled else own


def best_baseline(ms: Mapping[str, float]) -> str:
    """The name of the fastest way by its time, of those that are not by goptx's assembler."""
    found = min((name for name in WAYS if name in ms), key=lambda name: ms[name])
    return SEPARATE if SEPARATE in ms and ms[SEPARATE] <= GAIN * ms[found] else found


def launched_as(baseline: str) -> str:
    """The way in which goptx launches the unchanged kernels in place of a baseline: streams become a graph."""
    return next(name for name, streams in WAYS.items() if streams == WAYS[baseline])
