"""Tuned results as plain files: machine code, launches and a description of the data, from which a program without
goptx can run them. Needs no GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import suite_b
from suite_a import PAIRS, SHAPES, specifications_of
from suite_a.best import tuned
from suite_b import best as best_of_b
from suite_d import BLOCK, FORMS, LOOP_CTAS, chain, fused
from suite_d import FOLDER as CHAIN

import goptx
from goptx.device.assemble import assemble
from goptx.launch.specification import Argument, read_specification
from goptx.sources.kernel_text import Chosen
from goptx.strategies.separate import separate
from goptx.tuning.measured import measured

SUITES = ("A", "B", "D")
SENTINEL = 0x7A00_0000_0000  # arrays have such addresses where arguments are packed
Launch = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A tuned result: of a pair of suite A in one of its shapes, of suite B, or of suite D in one of its forms."""

    suite: str
    shape: str
    name: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.suite, self.shape, self.name)))


def cases() -> Iterator[Case]:
    """All tuned results."""
    for shape in SHAPES:
        for pair in PAIRS:
            yield Case("A", shape, pair)
    for pair in best_of_b.tuned_pairs():
        yield Case("B", "", pair)
    for form in FORMS:
        yield Case("D", form, "chain")


def write(case: Case, folder: Path) -> Path:
    """Writes the files of the case; gives the path of the one that names the others. Raises `GoptxError`."""
    stored = _Stored(folder)
    described = stored.chain(case) if case.suite == "D" else stored.pair(case)
    path = folder / f"{sha256(str(case).encode()).hexdigest()[:16]}.json"
    path.write_text(json.dumps({"case": asdict(case), **described}))
    return path


class _Stored:
    """Writes machine code to a folder, and describes what is launched. `arrays` are descriptions, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrays: dict[str, dict[str, Any]] = {}

    def pair(self, case: Case) -> dict[str, Any]:
        if case.suite == "A":
            found, paths = tuned(case.name, case.shape), specifications_of(case.name, case.shape)
        else:
            found, paths = best_of_b.tuned(case.name), suite_b.specifications_of(case.name)
        what = measured([], spec=paths)
        made = found.made(what.kernels)
        arguments = [
            [self._value(f"{letter}:{i}", value) for i, value in enumerate(own)]
            for letter, own in zip("AB", what.workload.arguments, strict=True)
        ]
        kernels = [
            self._alone(kernel, shape, own)
            for kernel, shape, own in zip(what.kernels, what.shapes, arguments, strict=True)
        ]
        return {
            "found": str(found.candidate),
            "claimed": found.held["speedup"],
            "depends": False,
            "kernels": kernels,
            "tuned": self._launches(made, arguments),
            "streams": made.streams,
            "arrays": self.arrays,
        }

    def chain(self, case: Case) -> dict[str, Any]:
        launches = read_specification(CHAIN / "chain.toml")
        length = launches[0].arguments[0].length
        arguments = [
            [self._value(a.name, a if a.is_array else replace(a, value=length)) for a in launch.arguments]
            for launch in launches
        ]
        grid = -(-length // BLOCK) if case.shape == "element" else LOOP_CTAS
        shape = goptx.Shape(grid, BLOCK)
        module = goptx.read(CHAIN / "chain.sm_90.ptx")
        entries = chain(case.shape)
        kernels = [
            self._alone(Chosen(module, entry, CHAIN / "chain.sm_90.ptx"), shape, own)
            for entry, own in zip(entries, arguments, strict=True)
        ]
        return {
            "found": "vertical, internalised",
            "claimed": None,
            "depends": True,
            "compared": [launches[-1].arguments[2].name],
            "kernels": kernels,
            "tuned": self._launches(fused(case.shape, "internalised"), arguments, shape),
            "streams": False,
            "arrays": self.arrays,
        }

    def _value(self, name: str, value: object) -> object:
        """What is packed for an argument: an address that stands for an array, or a number."""
        assert isinstance(value, Argument)
        if not value.is_array:
            return np.dtype(value.dtype).type(value.value)
        self.arrays.setdefault(name, {**asdict(value), "address": SENTINEL + 4096 * len(self.arrays)})
        return int(self.arrays[name]["address"])

    def _alone(self, kernel: Chosen, shape: goptx.Shape, own: Sequence[object]) -> Launch:
        """The kernel as nvcc or its framework made it."""
        made = separate(kernel, shapes=[shape])
        (launch,) = self._launches(made, [own])
        native = made.launches[0].native
        if native:
            scratch = [{"bytes": content.hex()} for content in native.hidden]
            arguments = [*launch["arguments"], *scratch]
            return {**launch, "cubin": self._code(native.cubin), "entry": native.entry, "arguments": arguments}
        assert kernel.path
        cubin = assemble(kernel.path.read_text(), entry=kernel.entry).cubin
        return {**launch, "cubin": self._code(cubin), "entry": kernel.entry}

    def _launches(
        self, made: goptx.Woven, arguments: Sequence[Sequence[object]], common: goptx.Shape | None = None
    ) -> list[Launch]:
        """`common`: the shape of all kernels, for a kernel that was not made for known shapes."""
        packed = made.arguments(*arguments)
        starts = made.starts(common.sizes("grid"), common.sizes("block")) if common else made.starts(None, None)
        cubin = self._code(made.cubin())
        return [
            {
                "entry": start.entry,
                "cubin": cubin,
                "grid": start.shape.sizes("grid"),
                "block": start.shape.sizes("block"),
                "shared": start.shape.shared or 0,
                "arguments": [self._packed(value) for value in own],
            }
            for start, own in zip(starts, packed if made.is_separate else [packed], strict=True)
        ]

    def _packed(self, value: Any) -> dict[str, str]:
        for name, array in self.arrays.items():
            if value.itemsize == 8 and int(value) == array["address"]:
                return {"array": name}
        return {"bytes": value.tobytes().hex()}

    def _code(self, cubin: bytes) -> str:
        name = f"{sha256(cubin).hexdigest()[:24]}.cubin"
        (self.folder / name).write_bytes(cubin)
        return name
