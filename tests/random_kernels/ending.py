"""The stores of threads that end early, so that it matters which threads do."""

from __future__ import annotations

from random_kernels.data import LEFT
from random_kernels.writer import Writer


def left(w: Writer, number: int) -> str:
    """The store of a register in one of the words for that."""
    if not w.kernel.exact:
        w.lanes_end = True
    w.departures += 1
    return f"st.global.u32 [%out+{left_at(w.departures - 1)}], %v{number % 8};"


def left_at(departure: int) -> int:
    return 4 * LEFT + 4 * (departure % 8)
