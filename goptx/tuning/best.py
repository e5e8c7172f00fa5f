"""The result of tuning: a kernel, and a file from which the kernel is made again."""

from __future__ import annotations

import json
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os.path import relpath
from pathlib import Path
from typing import Any

from goptx.display import as_html, as_text, brief
from goptx.errors import InputError, NotAsMeasured
from goptx.files_read import content_of
from goptx.files_written import write_whole
from goptx.launch.native_code import NativeCode
from goptx.launch.shape import Shape
from goptx.measuring.bench.baselines import SEPARATE
from goptx.options import Objective
from goptx.proof.certificate import digest as text_digest
from goptx.results.expected_gain import unjudged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.fuse import options_of
from goptx.tuning.making import Job, fused
from goptx.tuning.space.space import ALONE
from goptx.tuning.trials import Table, Trial

FORMAT = 1
REPLAYED = {"way", "arch", "shapes", "tunable", "kernels"}


@dataclass(frozen=True, slots=True)
class Best:
    """The fastest candidate that was found.

    fused: the kernel, with the register cap in its PTX. Its `strategy` is "separate" if no candidate is faster than the
        unchanged kernels; these are then launched one after the other or side by side, whichever is faster.
    candidate: how the kernel was made.
    speedup: over the unchanged kernels in their fastest way, in that of the last two measurements in which it is lower;
        1.0 if the unchanged kernels were chosen. ms: medians of the last measurement, in milliseconds.
    table: all trials. about: GPU, driver, assembler, date, seconds.
    baseline: that fastest way: "separate" is one after the other, "streams" and "graph" are a stream or a branch of a
        CUDA graph for each, "reversed" from the last kernel to the first. Names in `ms` that end with "(assembled)" are
        these ways with machine code by goptx's assembler, where the framework's own is known.
    objective: of the tuning. launched_ms, host_us: of the result and the baselines, milliseconds from the first launch
        by the host on an idle device, and microseconds until the host had launched.
    """

    __repr__ = brief

    fused: Woven
    candidate: Candidate
    speedup: float
    ms: Mapping[str, float]
    table: Table
    about: Mapping[str, Any]
    job: Job = field(repr=False)
    baseline: str = SEPARATE
    objective: Objective = "device"
    launched_ms: Mapping[str, float] = field(default_factory=dict)
    host_us: Mapping[str, float] = field(default_factory=dict)

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
            "baseline": self.baseline,
            "objective": self.objective,
            "ms": dict(self.ms),
            "launched_ms": dict(self.launched_ms),
            "host_us": dict(self.host_us),
            **self.about,
            "arch": self.job.arch,
            "shapes": [_plain(shape) for shape in self.job.shapes],
            "tunable": list(self.job.tunable),
            "kernels": [_kernel(kernel, folder) for kernel in self.job.kernels],
            "ptx": text_digest(self.fused.ptx),
        }

    def save(self, path: str | Path) -> None:
        """Writes a file for `goptx.replay`. A kernel that came from a file is stored as its path and a digest of its
        code; any other kernel is stored as PTX. Machine code of its framework is stored, too."""
        target = Path(path)
        write_whole(target, (json.dumps(self.to_dict(target.parent), indent=1) + "\n").encode())

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        return f"{self.table}\n{self.candidate}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """How fast it is, in words."""
        if self.candidate.strategy == "separate" and self.candidate.plain:
            return f"no candidate was found that is faster than separate launches (the best of them: {self.baseline})"
        return f"{self.speedup:.2f} times as fast as separate launches (the best of them: {self.baseline})"


def replay(path: str | Path, *sources: Source) -> Woven:
    """Makes the kernel again that `Best.save` wrote to the file; measures nothing.

    sources: the kernels, if their files are not at the paths that the file names.

    Warns of `NotAsMeasured` if the kernel has other code than the one that was measured.

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
        content = content_of(path, "a result of tuning")
        try:
            held = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not JSON: {error}; give a file that `goptx tune -o` wrote.") from None
        if not isinstance(held, dict) or held.get("format") != FORMAT or not held.keys() >= REPLAYED:
            raise InputError(f"{path}: not a result of tuning (format {FORMAT}); write it with `goptx tune -o`.")
        problem = next(_problems(held), None)
        if problem:
            raise InputError(f"{path}: {problem}; write the file with `goptx tune -o`.")
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
        with unjudged():  # it was measured
            made = capped(fused(self.job(sources)), self.candidate)
        if self.held.get("ptx") not in (None, text_digest(made.ptx)):
            warnings.warn(
                f"{self.path}: `{made.name}` has other code than the kernel that was measured; tune it again.",
                NotAsMeasured,
                stacklevel=3,
            )
        return made

    def _kernels(self) -> Iterator[Chosen]:
        for tuned in self.held["kernels"]:
            source: Source = tuned["ptx"] if "ptx" in tuned else self.path.parent / tuned["file"]
            (kernel,) = kernels_of([source], [tuned["entry"]], least=1, what="replay()")
            yield replace(kernel, native=_native_code(tuned.get("native")))


def _problems(held: Mapping[str, Any]) -> Iterator[str]:
    """What of the content is not as `Best.save` writes it, by key."""
    way, arch, shapes, tunable, kernels = (held[key] for key in ("way", "arch", "shapes", "tunable", "kernels"))
    try:
        candidate = Candidate.from_dict(way)
    except ValueError as error:
        yield f"`way`: {error}"
        return
    known = () if candidate.strategy == ALONE else options_of(candidate.strategy)
    if unknown := [name for name, _ in candidate.options if known and name not in known]:
        yield f"`way`: `{unknown[0]}` is not an option of {candidate.strategy}"
    if arch is not None and not isinstance(arch, str):
        yield "`arch` is not a text"
    if not isinstance(kernels, list) or not kernels or not all(isinstance(k, dict) for k in kernels):
        yield "`kernels` is not a list of tables"
        return
    for key, found in (("shapes", shapes), ("tunable", tunable), ("way.factors", candidate.factors)):
        if not isinstance(found, list | tuple) or len(found) != len(kernels):
            yield f"`{key}` is not a list with one item for each of the {len(kernels)} kernels"
            return
    if not all(isinstance(each, bool) for each in tunable):
        yield "`tunable` is not a list of true and false"
    for i, shape in enumerate(shapes):
        if not isinstance(shape, dict) or not shape.keys() <= {"grid", "block", "shared", "cluster"}:
            yield f"`shapes`, item {i}, is not a table of grid, block, shared and cluster"
            return
        try:
            Shape(**shape)
        except (InputError, TypeError, ValueError) as error:
            yield f"`shapes`, item {i}: {str(error).rstrip('.')}"
    for i, kernel in enumerate(kernels):
        texts = "entry", "digest", "ptx" if "ptx" in kernel else "file"
        if wrong := [key for key in texts if not isinstance(kernel.get(key), str)]:
            yield f"`kernels`, item {i}: `{wrong[0]}` is missing or not a text"
        try:
            _native_code(kernel.get("native"))
        except (ValueError, KeyError, TypeError, AttributeError):
            yield f"`kernels`, item {i}: `native` is not machine code as it is stored"


def capped(woven: Woven, candidate: Candidate) -> Woven:
    """The kernel with the candidate's register cap in its PTX."""
    return woven.capped(candidate.cap) if candidate.cap else woven


def digest(kernel: Chosen) -> str:
    """A digest of the kernel's code; comments and blanks do not change it."""
    return text_digest(f"{kernel.entry}\n{kernel.module}")


def _native_code(held: Mapping[str, Any] | None) -> NativeCode | None:
    return NativeCode(b64decode(held["cubin"]), held["entry"], held["scratch"]) if held else None


def _kernel(kernel: Chosen, folder: Path | None) -> dict[str, Any]:
    stored: dict[str, Any] = {"entry": kernel.entry, "digest": digest(kernel)}
    if native := kernel.native:
        cubin = b64encode(native.cubin).decode()
        stored["native"] = {"cubin": cubin, "entry": native.entry, "scratch": native.scratch}
    if kernel.path is None or folder is None:
        return {**stored, "ptx": str(kernel.module)}
    path = kernel.path.resolve()
    with suppress(ValueError):  # on another drive of Windows
        path = Path(relpath(path, folder.resolve()))
    return {**stored, "file": path.as_posix()}


def _plain(shape: Shape) -> dict[str, Any]:
    return {"grid": shape.grid, "block": shape.block, "shared": shape.shared, "cluster": shape.cluster}
