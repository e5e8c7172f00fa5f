"""Whether a kernel begins on an H200's SMs while another one with less shared memory still runs there.

    python benchmarks/shared_memory_waits.py [-o benchmarks/results] [--commit COMMIT]

Two kernels that only spin are launched on two streams: a long one with one CTA on each SM, and a short one. An SM
divides its memory between the L1 and shared memory as the first one wants, so the second one waits where it wants more
(goptx/strategies/estimates/launches.py). The table has the most shared memory with which the second one begins beside
the first. Needs CuPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from measuring import measure

CODE = r"""
extern "C" __global__ void NAME(int *out, long long cycles)
{
    extern __shared__ int tile[];
    long long begin = clock64();
    while (clock64() - begin < cycles);
    if (out == (int *)1) out[0] = tile[0];
}
"""
SMS, LONG, SHORT = 132, 500_000, 50_000  # cycles
THREADS = (32, 96, 256, 1024)
FIRST = (0, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)  # bytes of shared memory of a CTA
SECOND = (0, 512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 16384, 24576, 32768, 49152, 65536)
PER_CTA, LARGEST = 1024, 228 << 10  # bytes that each CTA takes besides; of an SM
REPEATS = 4


def rows() -> Iterator[dict[str, Any]]:
    import cupy as cp

    out = cp.zeros(1, cp.int32)
    kernels = [cp.RawModule(code=CODE.replace("NAME", name)).get_function(name) for name in ("first", "second")]
    for kernel in kernels:
        kernel.max_dynamic_shared_size_bytes = max(FIRST)
    streams = [cp.cuda.Stream(non_blocking=True) for _ in kernels]
    for own in THREADS:
        for other in THREADS:
            for bytes_ in FIRST:
                fitting = [n for n in SECOND if bytes_ + n + 2 * PER_CTA <= LARGEST]
                waits = [n for n in fitting if _waits(kernels, streams, out, (own, bytes_), (other, n))]
                begins = [n for n in fitting if n not in waits]
                yield {"threads": [own, other], "first": bytes_, "begins": begins, "waits": waits}


def _waits(kernels: Any, streams: Any, out: Any, *launches: tuple[int, int]) -> bool:
    """Whether the second kernel ends after the first, in all repetitions but one to warm up."""
    import cupy as cp

    late = 0
    for _ in range(REPEATS):
        cp.cuda.Device().synchronize()
        ends = [cp.cuda.Event() for _ in streams]
        for kernel, stream, end, (threads, shared), cycles in zip(
            kernels, streams, ends, launches, (LONG, SHORT), strict=True
        ):
            with stream:
                kernel((SMS,), (threads,), (out, cp.int64(cycles)), shared_mem=shared)
            end.record(stream)
        for end in ends:
            end.synchronize()
        late += cp.cuda.get_elapsed_time(*ends) > 0
    return late >= REPEATS - 1


def _most(row: dict[str, Any]) -> str:
    """The most with which it begins, though it does with all that is less."""
    first = min(row["waits"], default=LARGEST)
    return str(max((n for n in row["begins"] if n < first), default="never"))


def table(document: dict[str, Any]) -> str:
    """In Markdown."""
    lines = [
        f"# Shared memory with which a kernel begins beside another one, on {document['gpu']}", "",
        f"{document['date']}, commit {document['commit']}. `{document['command']}`. The most bytes of shared memory "
        "of a CTA with which the second kernel begins before the first has ended, by the threads of a CTA of each.", "",
        f"| threads | {' | '.join(f'first: {n}' for n in FIRST)} |", f"|---|{'---|' * len(FIRST)}",
    ]  # fmt: skip
    for own in THREADS:
        for other in THREADS:
            each = [_most(row) for row in document["rows"] if row["threads"] == [own, other]]
            lines.append(f"| {own}, {other} | {' | '.join(each)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    measure("shared_memory_waits", __doc__, rows, table)
