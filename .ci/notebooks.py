#!/usr/bin/env python3
"""Executes the notebooks of examples/, each in a process of its own; fails where a cell does.

    .ci/notebooks.py [NOTEBOOK...]             tries them, and leaves the files as they are
    .ci/notebooks.py --write [NOTEBOOK...]     puts the outputs into them, with where and when they were made

Committed outputs come from a GPU, except those of code that needs none; `tests/test_notebooks.py` asserts that they
are those of the code. Without a GPU the notebooks run on the emulator, and Triton, where it is installed, compiles for
a GPU that is not there. A notebook may take 20 seconds of processor time. Needs nbclient and ipykernel.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples"
LIMIT = 300  # seconds of one cell
MOST = 20.0  # seconds of processor time of one notebook
QUIET = ["--IPKernelApp.log_level=40"]  # else each kernel warns that it listens on a local port
RUN = "goptx_run"  # what the notebook's metadata say of its outputs


def digest(notebook: Any) -> str:
    """Of the code, as far as it runs where there is a GPU."""
    code = [on_a_gpu(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def on_a_gpu(source: str) -> str:
    """The source of a cell without what `if gpu:` and `if GPU:` do otherwise."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.If) and node.orelse and ast.unparse(node.test) in ("gpu", "GPU"):
            del lines[node.body[-1].end_lineno : node.orelse[-1].end_lineno]
    return "\n".join(lines)


def executed(path: Path) -> tuple[Any, str, float]:
    """The notebook with its outputs, what went wrong, and how many seconds of processor time it took."""
    before = processor_time()
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=LIMIT, resources=place, extra_arguments=QUIET, coalesce_streams=True)
    try:
        client.execute(env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])})
    except CellExecutionError as error:
        return notebook, str(error), processor_time() - before
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell began: no two runs are alike in that
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":  # a warning names the file that the cell was run from
                output.text = re.sub(r"^/\S*/ipykernel_\d+/\d+\.py:", "line ", output.text, flags=re.MULTILINE)
    return notebook, "", processor_time() - before


def processor_time() -> float:
    """Of the processes that this one has started and that have ended, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def where() -> dict[str, str]:
    """Where outputs are made: GPU and driver, "none" where there is no GPU; and the date."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
        gpu, driver = said.split(", ")
    except (OSError, subprocess.CalledProcessError):
        gpu = driver = "none"
    return {"gpu": gpu, "driver": driver, "date": datetime.now(UTC).date().isoformat()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    paths = options.notebooks or sorted(FOLDER.glob("*.ipynb"))
    failed = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for path, (notebook, problem, seconds) in zip(paths, pool.map(executed, paths), strict=True):
            print(f"{path.name}: {'FAILED' if problem else 'ran'} in {seconds:.1f} s of processor time", flush=True)
            if problem or (seconds > MOST and not options.write):
                failed += 1
                print(problem or f"more than {MOST:g} s of processor time")
            elif options.write:
                notebook.metadata[RUN] = where() | {"cells": digest(notebook)}
                nbformat.write(notebook, path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
