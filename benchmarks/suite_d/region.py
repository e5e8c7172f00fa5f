"""The chain through a fusion region: the first, the second and the hundredth time, beside four separate launches."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import goptx
from suite_d import FOLDER, chain

TIMES = {"first": (1,), "second": (2,), "hundredth": tuple(range(91, 110))}  # medians of these
TEMPORARIES = ("t1", "t2", "t3")


@contextmanager
def empty_cache() -> Iterator[None]:
    """Nothing that was made before is found on disk."""
    before = os.environ.get("GOPTX_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GOPTX_CACHE_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["GOPTX_CACHE_DIR"]
            else:
                os.environ["GOPTX_CACHE_DIR"] = before


def timed(stream: Any, go: Callable[[], Any]) -> tuple[float, float, Any]:
    """Milliseconds on the host until `go` returns, those on the device from its first launch to its end, and what it
    gives. The stream has no work before."""
    stream.sync()
    begin = stream.record(options={"timing_enabled": True})
    stream.sync()
    now = perf_counter()
    given = go()
    host = 1e3 * (perf_counter() - now)
    end = stream.record(options={"timing_enabled": True})
    end.sync()
    return host, end - begin, given


def through_region(
    form: str, stream: Any, grid: int, block: int, arrays: dict[str, Any], arguments: Sequence[Sequence[Any]]
) -> goptx.Fusion:
    """The chain, its temporaries private."""
    source = FOLDER / "chain.sm_90.ptx"
    with goptx.fusion(stream) as f:
        for entry, own in zip(chain(form), arguments, strict=True):
            f.launch(source, grid, block, *own, entry=entry)
        f.private(*(arrays[name] for name in TEMPORARIES))
    return f


def measured(stream: Any, run: Callable[[], goptx.Fusion], prepare: Callable[[], Callable[[], None]]) -> dict[str, Any]:
    """Of each of `TIMES` through the region, and of the separate launches that `prepare` gives (medians of a hundred):
    `host_ms` until it returns, `elapsed_ms` from its begin until the device has ended it. `region_device_ms` and
    `separate_device_ms` are of the kernels alone, medians of 20."""
    rows: dict[str, Any] = {}
    runs: dict[int, dict[str, Any]] = {}
    for number in range(1, max(max(numbers) for numbers in TIMES.values()) + 1):
        host, elapsed, f = timed(stream, run)
        assert f.report
        runs[number] = {
            "host_ms": host,
            "elapsed_ms": elapsed,
            "preparing_ms": 1e3 * f.report.preparing,
            "launching_ms": 1e3 * f.report.launching,
            "strategy": f.report.strategy,
            "anew": f.report.anew,
        }
    for name, numbers in TIMES.items():
        found = [runs[number] for number in numbers]
        rows[name] = {key: _middle([one[key] for one in found]) for key in found[0]}
    separate = prepare()
    separate()
    for name, go in {"region": run, "separate": separate}.items():
        rows[f"{name}_device_ms"] = statistics.median(device_ms(stream, go) for _ in range(20))
    hosts = [timed(stream, separate)[:2] for _ in range(100)]
    rows["separate"] = {
        "host_ms": statistics.median(host for host, _ in hosts),
        "elapsed_ms": statistics.median(elapsed for _, elapsed in hosts),
    }
    return rows


def _middle(values: Sequence[Any]) -> Any:
    """The median of times; anything else is the same each time."""
    return statistics.median(values) if isinstance(values[0], float) else values[-1]


def device_ms(stream: Any, go: Callable[[], Any]) -> float:
    """Of what `go` launches while the stream still works on an earlier launch of it, which hides the host's part."""
    go()
    begin = stream.record(options={"timing_enabled": True})
    go()
    end = stream.record(options={"timing_enabled": True})
    end.sync()
    return float(end - begin)


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    if not any("region" in row for row in rows):
        return []
    lines = [
        "",
        "Through a fusion region with private temporaries, nothing being in the cache at first. Host: until the region "
        "or the last launch returns; elapsed: until the result is in memory; device: of the kernels alone. The "
        "hundredth time is the median of those from the 91st to the 109th.",
        "",
        "| form | | host ms | elapsed ms | device ms | elapsed, over separate |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        region = row.get("region")
        if not region:
            continue
        base = region["separate"]
        lines.append(
            f"| {row['form']} | four launches | {base['host_ms']:.3f} | {base['elapsed_ms']:.3f} | "
            f"{region['separate_device_ms']:.3f} | 1.00 |"
        )
        for name in TIMES:
            one = region[name]
            device = f"{region['region_device_ms']:.3f}" if name == "hundredth" else ""
            lines.append(
                f"| {row['form']} | region, {name} time | {one['host_ms']:.3f} | {one['elapsed_ms']:.3f} | {device} | "
                f"{base['elapsed_ms'] / one['elapsed_ms']:.2f} |"
            )
    return lines
