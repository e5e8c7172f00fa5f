"""Profiles each kernel alone, then the fused one: Nsight Compute runs profiled_program.py."""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from goptx.errors import DeviceError, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.workload import Workload
from goptx.measuring.profiling.counters import Reading
from goptx.measuring.profiling.ncu import NotPermitted, Profiler, counted
from goptx.results.fused_kernel import Woven

PROGRAM = "goptx.measuring.profiling.profiled_program"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is profiled: the kernels alone, each in its shape, and `fused`."""

    workload: Workload
    shapes: tuple[Shape, ...]
    fused: Woven

    @property
    def alone(self) -> list[str]:
        """The names of the kernels alone, in the order of their launches; those of `fused` come after them."""
        return [name for kernel in self.workload.each for name in _launched(kernel)]

    def runs(self, arguments: Sequence[list[object]]) -> Iterator[tuple[Woven, Sequence[list[object]], list[Shape]]]:
        """What is launched, with the arguments and the shapes of its kernels; `arguments` are those of all kernels."""
        for kernel, own, shape in zip(self.workload.each, arguments, self.shapes, strict=True):
            yield kernel, [own], [shape]
        yield self.fused, arguments, self.shapes_fused

    @property
    def shapes_fused(self) -> list[Shape]:
        """The shapes of the kernels within `fused`: a horizontal kernel may give them other numbers of threads."""
        if self.fused.plan is None or self.fused.strategy != "horizontal":
            return list(self.shapes)
        stated = self.fused.plan.shapes
        return [replace(own, block=s.block) if s.threads else own for own, s in zip(self.shapes, stated, strict=True)]

    def check(self) -> None:
        """Raises `InputError` if `fused` is made of other kernels, or for other shapes."""
        own = [(p.kernel, p.type, p.size) for p in self.workload.separate.params if p.kernel]
        if own != [(p.kernel, p.type, p.size) for p in self.fused.params if p.kernel]:
            raise InputError(
                f"fused=: `{self.fused.name}` is not made of the kernels {', '.join(self.alone)} in this order: its "
                "parameters differ."
            )
        self.fused.starts(None, None, shapes=self.shapes_fused)

    def assemble(self) -> None:
        """Makes the machine code, so that the profiled program need not make it."""
        for kernel in (*self.workload.each, self.fused):
            kernel.cubin()


def profiled(
    ncu: Profiler, subject: Subject, counters: Sequence[str], limit: float
) -> tuple[list[Reading], dict[str, Any]]:
    """The counters of each launch, in order, and `name` and `arch` of the device.

    limit: seconds for each run of the program. Raises `DeviceError`, and `InputError` for data that does not
    fit.
    """
    with TemporaryDirectory(prefix="goptx-profile-") as folder:
        question, answer = Path(folder, "subject.pickle"), Path(folder, "answer.json")
        question.write_bytes(pickle.dumps(subject))
        program = [sys.executable, "-P", "-m", PROGRAM, str(question), str(answer), str(limit)]
        found, failed = [], None
        try:
            found = counted(ncu, program, counters, limit, {"PYTHONPATH": os.pathsep.join(map(_whole, sys.path))})
        except NotPermitted:
            raise
        except DeviceError as error:
            failed = error
        result = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {}
    if "problem" in result:  # mostly the reason why nothing was counted
        besides = f" ({failed})" if failed and "==ERROR==" in str(failed) else ""
        raise (InputError if result["input"] else DeviceError)(
            f"the kernels cannot be run: {result['problem']}{besides}"
        )
    if failed:
        raise failed
    expected = [*subject.alone, *_launched(subject.fused)]
    if [one.kernel for one in found] != expected:
        raise DeviceError(
            f"{ncu} counted launches of {', '.join(one.kernel for one in found) or 'nothing'}, not of "
            f"{', '.join(expected)}"
        )
    return found, result


def _launched(woven: Woven) -> list[str]:
    """The entries that its launches run, in order: a framework's machine code has its own name."""
    return [launch.native.entry if launch.native else launch.entry for launch in woven.launches]


def _whole(folder: str) -> str:
    return str(Path(folder).absolute())
