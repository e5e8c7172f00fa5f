"""A recorded launch: its kernel, its shape, and its arguments, as they were when it was recorded.

Ensures: a kernel is analysed once in a process, and arguments that a thread gives again are not packed again, so that
repeated launches are recorded quickly.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from goptx.analysis.values.pointer_effects import Reach, reach
from goptx.errors import InputError
from goptx.launch.arguments import Access, passed_by_value
from goptx.launch.bind import Arguments
from goptx.launch.device_arrays import Extent
from goptx.launch.parameter import Accesses, Parameter
from goptx.launch.repeated.repeated_arguments import RepeatedArguments
from goptx.launch.shape import Shape
from goptx.memo import Memo, Same, computed
from goptx.ptx.aliases import without_aliases
from goptx.results.given_kernels import Source, chosen_from, in_own_shape
from goptx.sources.kernel_text import Chosen, choose_entry

KERNELS = 256  # that are cached
Extents = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The facts about a kernel: `key` identifies it, `params` are its parameters.

    accessed: the numbers of pointers, each with how the kernel accesses what they point to. numbers: those of other
        parameters that are no blocks of bytes, each with whether it is floating.
    """

    key: Hashable
    chosen: Chosen
    params: tuple[Parameter, ...]
    reach: Reach
    accessed: tuple[tuple[int, Access], ...]
    numbers: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """`contents` and `extents` are those of its arguments, as of `Packing.pack`. A launch that is recorded again with
    the same arguments is the same object, so these are compared by identity. Arrays are not held."""

    known: Known
    shape: Shape
    contents: tuple[bytes, ...]
    extents: tuple[Extent | None, ...]


_KNOWN: Memo[Hashable, Known] = Memo(most=KERNELS)


def recorded(
    source: Source,
    entry: str | None,
    letter: str,
    launch: tuple[Extents, Extents | None, int],
    args: Sequence[object],
) -> Recorded:
    """`launch` is the grid, the block (None if the kernel was compiled for one), and the bytes of shared memory.

    Raises `PtxSyntaxError`, and `InputError` for what cannot be launched and for more than one kernel."""
    key = _key(source), entry
    repeated = _HERE.launches.get((key, letter, launch))
    if repeated is None:
        known = _KNOWN.made((key, letter), lambda: _known(key, source, entry, letter))
        repeated = _Repeated(known, _shape(Same(known.chosen) if known.chosen.shape else None, *launch))
        if len(_HERE.launches) >= KERNELS:
            _HERE.launches.clear()
        _HERE.launches[key, letter, launch] = repeated
    return repeated.recorded(args)


class _Repeated:
    """The launches of a kernel in one shape, by one thread: arguments that are unchanged are not packed again."""

    def __init__(self, known: Known, shape: Shape) -> None:
        self._known, self._shape = known, shape
        letter = known.params[0].kernel if known.params else None
        self._arguments = RepeatedArguments(Arguments(known.chosen.entry, [letter or "A"], known.params), sized=True)
        self._packed = [b""] * len(known.params)
        self._last: Recorded | None = None

    def recorded(self, args: Sequence[object]) -> Recorded:
        changed, _ = self._arguments.give([args], independent=True)
        if self._last is None or changed:
            contents, params = self._arguments.contents, self._known.params
            for i in changed:
                content = contents[i]
                self._packed[i] = content.to_bytes(params[i].size, "little") if isinstance(content, int) else content
            self._last = Recorded(self._known, self._shape, tuple(self._packed), tuple(self._arguments.extents))
        return self._last


class _Here(threading.local):
    """What this thread has recorded, by kernel and launch."""

    def __init__(self) -> None:
        self.launches: dict[Hashable, _Repeated] = {}


_HERE = _Here()


@lru_cache(maxsize=KERNELS)
def _shape(compiled: Same[Chosen] | None, grid: Extents, block: Extents | None, shared: int) -> Shape:
    """The shape of the launch. Raises `InputError` if it is invalid or not known."""
    shape = Shape(grid, block, shared)
    shape = in_own_shape(compiled.held, shape) if compiled else shape
    if not shape.known:
        raise InputError(f"a launch needs a grid and a block of known sizes; {shape} does not have them.")
    return shape


def _known(key: Hashable, source: Source, entry: str | None, letter: str) -> Known:
    chosen = chosen_from(source, entry, "the launch() of a fusion region")
    module = without_aliases(chosen.module)
    function = choose_entry(module, chosen.entry)
    reached = reach(function, module.address_size)
    params = tuple(
        Parameter(letter, p.name, p.name, p.type, p.size, accesses=computed(Accesses(reached.accesses[p.name])))
        for p in function.parameters
    )
    scalars = [(i, p) for i, p in enumerate(params) if not passed_by_value(p)]
    accessed = tuple((i, p.access) for i, p in scalars if p.access != "none")
    numbers = tuple((i, p.type.startswith("f")) for i, p in scalars if p.access == "none")
    return Known(key, chosen, params, reached, accessed, numbers)


def _key(source: Source) -> Hashable:
    """The key of a source: equal texts have one key, and so has a file while it is not written."""
    if isinstance(source, str | bytes):
        return source
    if isinstance(source, Path):
        try:
            found = source.stat()
        except OSError as error:
            raise InputError(f"{source}: cannot be read ({error.strerror}); give the path of a PTX file.") from None
        return source, found.st_mtime_ns, found.st_size
    return Same(source)
