"""What tuning has found, as a kernel and as a file from which that is made again."""

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
    """The fastest way that was found to run the kernels.

    fused: the kernel, with the register cap in its PTX; `strategy` is "separate" where none is faster than the kernels
        as they are, which are then launched one after the other or side by side, whichever is faster. way: how it was
        made.
    speedup: of the last measurement, in turn: over the kernels as they are, in the faster of the two ways; 1.0 where
        they stay so. ms: medians of it, in milliseconds.
    table: all trials. about: GPU, driver, assembler, date, seconds.
    """

    __repr__ = brief

    fused: Woven
    way: Candidate
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
        """Plain data, for JSON; files are named as seen from `folder`."""
        return {
            "format": FORMAT,
            "way": self.way.to_dict(),
            "name": str(self.way),
            "speedup": round(self.speedup, 4),
            "ms": dict(self.ms),
            **self.about,
            "arch": self.job.arch,
            "shapes": [_plain(shape) for shape in self.job.shapes],
            "tunable": list(self.job.tunable),
            "kernels": [_kernel(kernel, folder) for kernel in self.job.kernels],
        }

    def save(self, path: str | Path) -> None:
        """Writes what `goptx.replay` reads. Kernels that came from files are named with a digest of what they hold;
        others stand in it."""
        target = Path(path)
        write_whole(target, (json.dumps(self.to_dict(target.parent), indent=1) + "\n").encode())

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        said = f"{self.way}: {self.speedup:.2f} times as fast as separate launches"
        if self.way.strategy == "separate" and self.way.plain:
            said = f"{self.way}: no way was found that is faster than separate launches"
        return f"{self.table}\n{said}"


def replay(path: str | Path, *sources: Source) -> Woven:
    """The kernel that `Best.save` wrote to the file, made again; nothing is measured.

    sources: the kernels, where they are not found at the places that the file names.

    Raises `InputError` where the file cannot be read, or a kernel is not the one that was tuned; and what the strategy
    raises, for which this goptx may have other reasons than that which wrote the file.
    """
    return Replay.read(Path(path)).made(sources)


@dataclass(frozen=True, slots=True)
class Replay:
    """What such a file says, from one that lies at `path` or is a part of it."""

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
            raise InputError(f"{path}: not what tuning saves (format {FORMAT}); write it with `goptx tune -o`.")
        return cls(path, held)

    @property
    def way(self) -> Candidate:
        return Candidate.from_dict(self.held["way"])

    def job(self, sources: Sequence[Source] = ()) -> Job:
        """What is to be made. Raises `InputError`."""
        held = self.held
        kernels = kernels_of(sources, least=1, what="replay()") if sources else list(self._kernels())
        if len(kernels) != len(held["kernels"]):
            raise InputError(f"{self.path}: {len(held['kernels'])} kernels were tuned, not {len(kernels)}.")
        for kernel, said in zip(kernels, held["kernels"], strict=True):
            if digest(kernel) != said["digest"]:
                raise InputError(
                    f"{kernel.module.source}: `{kernel.entry}` is not the kernel that was tuned ({self.path}); tune it "
                    "again."
                )
        shapes = tuple(Shape(**shape) for shape in held["shapes"])
        return Job(tuple(kernels), shapes, tuple(held["tunable"]), self.way, held["arch"])

    def made(self, sources: Sequence[Source] = ()) -> Woven:
        """As `replay`."""
        return capped(fused(self.job(sources)), self.way)

    def _kernels(self) -> Iterator[Chosen]:
        for said in self.held["kernels"]:
            source: Source = said["ptx"] if "ptx" in said else self.path.parent / said["file"]
            yield from kernels_of([source], [said["entry"]], least=1, what="replay()")


def capped(woven: Woven, way: Candidate) -> Woven:
    """The kernel with the way's cap in its PTX."""
    return woven.capped(way.cap) if way.cap else woven


def digest(kernel: Chosen) -> str:
    """Of the kernel's code, from a file or not: comments and blanks do not count."""
    return sha256(f"{kernel.entry}\n{kernel.module}".encode()).hexdigest()


def _kernel(kernel: Chosen, folder: Path | None) -> dict[str, str]:
    said = {"entry": kernel.entry, "digest": digest(kernel)}
    if kernel.path is None or folder is None:
        return {**said, "ptx": str(kernel.module)}
    path = kernel.path.resolve()
    with suppress(ValueError):  # on another drive of Windows
        path = Path(relpath(path, folder.resolve()))
    return {**said, "file": path.as_posix()}


def _plain(shape: Shape) -> dict[str, Any]:
    return {"grid": shape.grid, "block": shape.block, "shared": shape.shared, "cluster": shape.cluster}
