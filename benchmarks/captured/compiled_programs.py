"""Programs in torch's own operations, compiled by torch.compile in several ways, and timed.

    python benchmarks/graph_programs.py --compile ...

A process for each program compiles it in one way after the other, and prints what it measured at once, so that what
was measured counts even if the process ends later. Processes compile at the same time. On the GPU, only one of them
works: it holds a lock on a file while it makes its data, while Inductor times its candidates, and while the program is
timed.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

WARMUPS = 3
FORMS: dict[str, dict[str, Any]] = {  # arguments of torch.compile by their name in the table, the quickest first
    "default": {},
    "reduce-overhead": {"mode": "reduce-overhead"},
    "default, captured": {},
    "combo kernels": {"options": {"combo_kernels": True}},
    "max-autotune": {"mode": "max-autotune-no-cudagraphs"},
    "max-autotune, Triton GEMMs": {
        "options": {"max_autotune": True, "coordinate_descent_tuning": True, "max_autotune_gemm_backends": "TRITON"}
    },
}
AS_CALLED = ("default", "reduce-overhead")  # timed as the program calls them; the others are captured in one graph
MARK = "COMPILED "  # before a result in the output of a process
LOCK = "GOPTX_GPU_LOCK"  # the environment variable with the path of the file
Go = Callable[[], Any]
Row = dict[str, Any]


# In the parent ---------------------------------------------------------------------------------------------


def compiled(wanted: Mapping[str, Sequence[str]], seconds: float, found: Callable[[str, Row], None]) -> None:
    """Measures these forms of each program, all at most for so many seconds. `found` takes a program and what was
    measured of a form: `how`, and `us` or `error`; it is called as soon as that is known."""
    with TemporaryDirectory() as folder:
        lock = Path(folder, "gpu.lock")
        lock.touch()
        threads = max(2, (os.cpu_count() or 4) // max(1, len(wanted)))
        more = {LOCK: str(lock), "TORCHINDUCTOR_COMPILE_THREADS": str(threads)}
        end = time.monotonic() + seconds
        runs = [
            threading.Thread(target=_watched, args=(name, forms, more, end, found)) for name, forms in wanted.items()
        ]
        for run in runs:
            run.start()
        for run in runs:
            run.join()


def _watched(
    name: str, forms: Sequence[str], more: Mapping[str, str], end: float, found: Callable[[str, Row], None]
) -> None:
    """Runs the process of a program until it is done or the time is over."""
    script = Path(__file__).parents[1] / "graph_programs.py"
    command = [sys.executable, str(script), "--program", name, "--by", *forms]
    left = dict.fromkeys(forms)
    with TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **more},
            start_new_session=True,
        )  # fmt: skip
        late: list[bool] = []
        watch = threading.Thread(target=lambda: late.append(_ended(child, end)))
        watch.start()
        for line in child.stdout or ():
            if line.startswith(MARK):
                row = json.loads(line.removeprefix(MARK))
                left.pop(row["how"], None)
                found(name, row)
        watch.join()
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"its process ended with {child.returncode}"])[-1]
    for how in left:
        found(name, {"how": how, "error": "the time was over" if late[0] else last})


def _ended(child: subprocess.Popen[str], end: float) -> bool:
    """Waits until the process has ended or the time is over, and ends all of its group then, for Inductor compiles in
    processes of its own. Gives whether the time was over."""
    try:
        child.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    else:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, SIGKILL)
        child.wait()


# In the process of a program -------------------------------------------------------------------------------


def measure(name: str, forms: Sequence[str]) -> None:
    """Prints what was measured of each form."""
    import torch

    from captured.plain_programs import PLAIN

    _lock_candidates()
    with the_gpu(), torch.no_grad():
        run, inputs = PLAIN[name]()
        torch.cuda.synchronize()
    for tensor in (*inputs, *tensors_of(run)):  # else replays of reduce-overhead would copy all weights
        torch._dynamo.mark_static_address(tensor)
    for how in forms:
        begin = time.perf_counter()
        try:
            row: Row = {"us": _time_of(run, inputs, how)}
        except Exception as error:  # one form ends no other
            row = {"error": (f"{type(error).__name__}: {error}".strip().splitlines() or [""])[0][:300]}
        print(MARK + json.dumps({"how": how, **row, "seconds": round(time.perf_counter() - begin, 1)}), flush=True)
        torch._dynamo.reset()


def _time_of(run: Any, inputs: Sequence[Any], how: str) -> float:
    """Microseconds of one run."""
    import torch
    from graph_programs import in_turn, timer

    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        made = torch.compile(run, **FORMS[how])
        if how in AS_CALLED:

            def go() -> None:
                torch.compiler.cudagraph_mark_step_begin()
                made(*inputs)
        else:
            go = _captured(lambda: made(*inputs), stream)
        for _ in range(WARMUPS):
            go()
        torch.cuda.synchronize()
        with the_gpu():
            return in_turn({how: go}, timer())[how]


def _captured(go: Go, stream: Any) -> Go:
    import torch

    for _ in range(WARMUPS):
        go()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        go()
    replay: Go = graph.replay
    return replay


def tensors_of(function: Any) -> Iterator[Any]:
    """The tensors that a function closes over, in lists and tuples, too."""
    import torch

    waiting = [cell.cell_contents for cell in function.__closure__ or ()]
    while waiting:
        one = waiting.pop()
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, list | tuple):
            waiting += one


_holding = threading.local()


@contextmanager
def the_gpu() -> Iterator[None]:
    """Nothing else of this benchmark works on the GPU meanwhile. A thread that has it may take it again."""
    path = os.environ.get(LOCK)
    if path is None or getattr(_holding, "it", False):
        yield
        return
    with Path(path).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # given up when the file is closed
        _holding.it = True
        try:
            yield
        finally:
            _holding.it = False


def _lock_candidates() -> None:
    """Lets Inductor time its candidates while it has the GPU. Its benchmarker has several ways to time, by version."""
    from torch._inductor.runtime.benchmarking import benchmarker

    for name in ("benchmark_gpu", "benchmark_gpu_with_cuda_graph"):
        if (timed := getattr(benchmarker, name, None)) is not None:
            setattr(benchmarker, name, _locked(timed))


def _locked(timed: Callable[..., Any]) -> Callable[..., Any]:
    def alone(*args: Any, **kwargs: Any) -> Any:
        with the_gpu():
            return timed(*args, **kwargs)

    return alone
