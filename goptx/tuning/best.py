"""The result of tuning: a kernel, and a file from which the kernel is made again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from os.path import relpath
from pathlib import Path
from typing import Any

from goptx.display import as_html, as_text, brief
from goptx.errors import InputError
from goptx.files_read import note_read
from goptx.files_written import write_whole
from goptx.launch.shape import Shape
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, fused
from goptx.tuning.trials import Table, Trial

FORMAT = 1
REPLAYED = {"way", "arch", "shapes", "tunable", "kernels"}


@dataclass(frozen=True, slots=True)
class Best:
    """The fastest candidate that was found.

    fused: the kernel, with the register cap in its PTX. Its `strategy` is "separate" if no candidate is faster than the
        unchanged kernels; these are then launched one after the other or side by side, whichever is faster.
    candidate: how the kernel was made.
    speedup: in the last measurement, over the unchanged kernels, launched one after the other or side by side,
        whichever is faster; 1.0 if the unchanged kernels were chosen. ms: medians of that measurement, in milliseconds.
    table: all trials. about: GPU, driver, assembler, date, seconds.
    """

    __repr__ = brief

    fused: Woven
    candidate: Candidate
    speedup: float
    ms: Mapping[str, float]
    table: Table
    about: Mapping[str, Any]
    job: Job = field(repr=False)

    @property
    def bugs(self) -> tuple[Trial, ...]:
        """Trials that wrote something wrong."""
        return tuple(t for t in self.table.trials if t.status == "wrong")

    def to_dict(self, folder: Path | None = None) -> dict[str, Any]:
        """Plain data, for JSON; paths of files are relative to `folder`."""
        return {
            "format": FORMAT,
            "way": self.candidate.to_dict(),
            "name": str(self.candidate),
            "speedup": round(self.speedup, 4),
            "ms": dict(self.ms),
            **self.about,
            "arch": self.job.arch,
            "shapes": [_plain(shape) for shape in self.job.shapes],
            "tunable": list(self.job.tunable),
            "kernels": [_kernel(kernel, folder) for kernel in self.job.kernels],
        }

    def save(self, path: str | Path) -> None:
        """Writes a file for `goptx.replay`. A kernel that came from a file is stored as its path and a digest of its
        code; any other kernel is stored as PTX."""
        target = Path(path)
        write_whole(target, (json.dumps(self.to_dict(target.parent), indent=1) + "\n").encode())

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        found = f"{self.candidate}: {self.speedup:.2f} times as fast as separate launches"
        if self.candidate.strategy == "separate" and self.candidate.plain:
            found = f"{self.candidate}: no candidate was found that is faster than separate launches"
        return f"{self.table}\n{found}"


def replay(path: str | Path, *sources: Source) -> Woven:
    """Makes the kernel again that `Best.save` wrote to the file; measures nothing.

    sources: the kernels, if their files are not at the paths that the file names.

    Raises `InputError` if the file cannot be read or a kernel is not the one that was tuned, and what the strategy
    raises. Another version of goptx may refuse what the version that wrote the file accepted.
    """
    return Replay.read(Path(path)).made(sources)


@dataclass(frozen=True, slots=True)
class Replay:
    """The content of such a file; `path` is the file that holds it, wholly or as one part."""

    path: Path
    held: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Replay:
        """Raises `InputError`."""
        note_read(path)
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
        except ValueError as error:
            raise InputError(f"{path}: not JSON: {error}.") from None
        if not isinstance(held, dict) or held.get("format") != FORMAT or not held.keys() >= REPLAYED:
            raise InputError(f"{path}: not a result of tuning (format {FORMAT}); write it with `goptx tune -o`.")
        return cls(path, held)

    @property
    def candidate(self) -> Candidate:
        return Candidate.from_dict(self.held["way"])

    def job(self, sources: Sequence[Source] = ()) -> Job:
        """The job that makes the kernel. Raises `InputError`."""
        held = self.held
        kernels = kernels_of(sources, least=1, what="replay()") if sources else list(self._kernels())
        if len(kernels) != len(held["kernels"]):
            raise InputError(f"{self.path}: {len(held['kernels'])} kernels were tuned, not {len(kernels)}.")
        for kernel, tuned in zip(kernels, held["kernels"], strict=True):
            if digest(kernel) != tuned["digest"]:
                raise InputError(
                    f"{kernel.module.source}: `{kernel.entry}` is not the kernel that was tuned ({self.path}); tune it "
                    "again."
                )
        shapes = tuple(Shape(**shape) for shape in held["shapes"])
        return Job(tuple(kernels), shapes, tuple(held["tunable"]), self.candidate, held["arch"])

    def made(self, sources: Sequence[Source] = ()) -> Woven:
        """The kernel, as `replay` makes it."""
        return capped(fused(self.job(sources)), self.candidate)

    def _kernels(self) -> Iterator[Chosen]:
        for tuned in self.held["kernels"]:
            source: Source = tuned["ptx"] if "ptx" in tuned else self.path.parent / tuned["file"]
            yield from kernels_of([source], [tuned["entry"]], least=1, what="replay()")


def capped(woven: Woven, candidate: Candidate) -> Woven:
    """The kernel with the candidate's register cap in its PTX."""
    return woven.capped(candidate.cap) if candidate.cap else woven


def digest(kernel: Chosen) -> str:
    """A digest of the kernel's code; comments and blanks do not change it."""
    return sha256(f"{kernel.entry}\n{kernel.module}".encode()).hexdigest()


def _kernel(kernel: Chosen, folder: Path | None) -> dict[str, str]:
    stored = {"entry": kernel.entry, "digest": digest(kernel)}
    if kernel.path is None or folder is None:
        return {**stored, "ptx": str(kernel.module)}
    path = kernel.path.resolve()
    with suppress(ValueError):  # on another drive of Windows
        path = Path(relpath(path, folder.resolve()))
    return {**stored, "file": path.as_posix()}


def _plain(shape: Shape) -> dict[str, Any]:
    return {"grid": shape.grid, "block": shape.block, "shared": shape.shared, "cluster": shape.cluster}
