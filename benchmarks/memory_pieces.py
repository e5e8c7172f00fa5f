"""How long an H200's memory takes for pieces of 4 to 128 bytes at random places, in the L2 and in DRAM.

    python benchmarks/memory_pieces.py [-o benchmarks/results] [--commit COMMIT]

Groups of lanes load, store or update neighbouring words; each piece lies at a random multiple of its size. The cost
model takes from it what a scattered access costs (goptx/cost/hardware.py). Beside each rate stands the time of a piece
over that in which DRAM streams 32 bytes, at 92 % of its peak. Needs CuPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from measuring import measure

CODE = r"""
__device__ unsigned place(unsigned &state, unsigned mask)
{
    state = state * 1664525u + 1013904223u;
    unsigned h = state ^ state >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    h *= 3266489917u;
    return (h ^ h >> 16) & mask;
}

extern "C" __global__ void KIND(unsigned *array, unsigned *out, unsigned mask, int words, int times)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % words, sum = 0;
    unsigned state = thread / words * 2654435761u + 12345u;
#pragma unroll 8
    for (int i = 0; i < times; i++) {
        unsigned *word = array + (size_t)place(state, mask) * words + lane;
        ACCESS;
    }
    out[thread] = sum;
}
"""
KINDS = {"load": "sum += *word", "store": "*word = state", "update": "atomicAdd(word, 1u)"}
WORDS = (1, 4, 8, 16, 32)
MEBIBYTES = {"the L2": 16, "DRAM": 4096}
CTAS, THREADS, TIMES, REPEATS = 132 * 16 * 8, 128, 128, 8
STREAMED = 0.92 * 4800 / 32  # sectors of 32 bytes in a nanosecond


def rows() -> Iterator[dict[str, Any]]:
    import cupy as cp

    out = cp.zeros(CTAS * THREADS, cp.uint32)
    for where, size in MEBIBYTES.items():
        array = cp.zeros(size << 18, cp.uint32)
        for kind, access in KINDS.items():
            kernel = cp.RawModule(code=CODE.replace("KIND", kind).replace("ACCESS", access)).get_function(kind)
            for words in WORDS:
                arguments = (array, out, cp.uint32((size << 18) // words - 1), cp.int32(words), cp.int32(TIMES))
                ms = min(_milliseconds(kernel, arguments) for _ in range(REPEATS))
                rate = CTAS * THREADS * TIMES / words / (ms * 1e6)
                yield {"where": where, "kind": kind, "bytes": 4 * words, "ms": ms, "pieces_per_ns": rate}
        del array
        cp.get_default_memory_pool().free_all_blocks()


def _milliseconds(kernel: Any, arguments: tuple[Any, ...]) -> float:
    import cupy as cp

    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    kernel((CTAS,), (THREADS,), arguments)
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end))


def table(document: dict[str, Any]) -> str:
    """In Markdown."""
    lines = [
        f"# Pieces of memory at random places, on {document['gpu']}", "",
        f"{document['date']}, commit {document['commit']}. `{document['command']}`. Pieces in a nanosecond, and in "
        "brackets the time of one over that of 32 bytes that DRAM streams.", "",
        f"| bytes | {' | '.join(f'{where}: {kind}' for where in MEBIBYTES for kind in KINDS)} |",
        f"|---|{'---|' * len(MEBIBYTES) * len(KINDS)}",
    ]  # fmt: skip
    for words in WORDS:
        each = [row["pieces_per_ns"] for row in document["rows"] if row["bytes"] == 4 * words]
        lines.append(f"| {4 * words} | {' | '.join(f'{rate:.1f} ({STREAMED / rate:.2f})' for rate in each)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    measure("memory_pieces", __doc__, rows, table)
