"""What suites on a GPU have in common: data on the device, single kernels, the record."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import host

import goptx
from goptx.launch.specification import Argument, Launch

Record = dict[str, Any]


class Data:
    """The arguments of one launch on the device: unchanged inputs, and a working copy of the written arrays."""

    def __init__(self, launch: Launch, seed_shift: int) -> None:
        import cupy as cp
        import numpy as np

        self.launch = launch
        self.pristine: dict[str, Any] = {}
        self.arguments: list[Any] = []
        self.written: dict[str, Any] = {}
        for argument in launch.arguments:
            if not argument.is_array:
                self.arguments.append(np.dtype(argument.dtype).type(argument.value))
                continue
            array = generate(argument, seed_shift)
            if argument.role != "in":
                self.written[argument.name] = array
            if argument.role == "inout":
                self.pristine[argument.name] = cp.array(array)
            self.arguments.append(array)

    def reset(self, poison: int | None = None) -> None:
        """Fresh inputs; what is only written is filled with the byte `poison`."""
        import cupy as cp

        for name, array in self.written.items():
            if name in self.pristine:
                array[...] = self.pristine[name]
            elif poison is not None:
                array.view(cp.uint8)[...] = poison

    def outputs(self) -> dict[str, Any]:
        import cupy as cp

        return {name: cp.array(array) for name, array in self.written.items()}

    def difference(self, expected: dict[str, Any]) -> tuple[int, float]:
        """How many elements differ in their bits, and the largest absolute difference."""
        import cupy as cp

        count, largest = 0, 0.0
        for name, array in self.written.items():
            unsigned = {1: cp.uint8, 2: cp.uint16, 4: cp.uint32, 8: cp.uint64}[array.itemsize]
            differs = array.view(unsigned) != expected[name].view(unsigned)
            amount = int(cp.count_nonzero(differs))
            count += amount
            if amount:
                distance = cp.abs(array[differs].astype(cp.float64) - expected[name][differs].astype(cp.float64))
                largest = max(largest, float(cp.max(distance)))
        return count, largest


def generate(argument: Argument, seed_shift: int) -> Any:
    import cupy as cp

    length, dtype = argument.length, cp.dtype(argument.dtype)
    if argument.role == "out" or argument.generator == "zeros":
        return cp.zeros(length, dtype)
    if argument.generator == "arange":
        return cp.arange(length, dtype=dtype)
    random = cp.random.Generator(cp.random.XORWOW(argument.seed + seed_shift))
    array = cp.empty(length, dtype)
    step = 1 << 26  # bounds what the generator needs beside the array
    for begin in range(0, length, step):
        size = min(step, length - begin)
        if argument.generator == "integers":
            piece = random.integers(int(argument.low), int(argument.high), size=size)
        elif argument.generator == "normal":
            piece = random.standard_normal(size=size, dtype=cp.float32) * argument.high + argument.low
        else:
            piece = random.random(size=size, dtype=cp.float32) * (argument.high - argument.low) + argument.low
        array[begin : begin + size] = piece.astype(dtype)
    return array


class Single:
    """A kernel on its own, assembled like the woven ones."""

    def __init__(self, file: Path) -> None:
        from goptx.launch.parameter import Parameter

        module = goptx.read(file)
        self.text = str(module)
        entry = module.entries[0]
        self.name = entry.name
        self.params = [Parameter("A", p.name, p.name, p.type, p.size) for p in entry.parameters]

    def assembly(self, fmad: bool) -> Any:
        from goptx.device.assemble import assemble

        return assemble(self.text, entry=self.name, fmad=fmad)

    def pack(self, arguments: Sequence[Any]) -> list[Any]:
        from goptx.launch.arguments import pack_arguments

        return pack_arguments(self.params, arguments)


def environment(commit: str | None) -> dict[str, Any]:
    """GPU, driver, compiler and commit, for the record."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    if commit is None:
        commit = host.commit()
    short = name.lower().removeprefix("nvidia ").split()[0]
    return {"gpu": name, "gpu_short": short, "driver": driver, "commit": commit}


def command_line(output: Path | None, program: str = sys.argv[0]) -> str:
    """How this was run, wherever its results went."""
    words = ("benchmarks/results" if word == str(output) else shlex.quote(word) for word in sys.argv[1:])
    return " ".join(["python", program, *words])


def measure(
    name: str, description: str | None, rows: Callable[[], Iterator[Record]], table: Callable[[Record], str]
) -> None:
    """The program benchmarks/NAME.py, which measures rows and prints a table of them: `-o` stores both, the rows and
    where they come from as JSON."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    document = {
        "date": date.today().isoformat(), "command": command_line(options.output, f"benchmarks/{name}.py"),
        **environment(options.commit), "rows": list(rows()),
    }  # fmt: skip
    text = table(document)
    print(text)
    if options.output:
        path = options.output / f"{document['date']}-{document['gpu_short']}-{name}"
        path.with_suffix(".md").write_text(text)
        path.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
