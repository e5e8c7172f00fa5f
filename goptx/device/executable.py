"""What becomes of a module on this machine: assembled for a register cap, loaded on a device, launched in a shape.

Requires: a module and how its entries are launched, both plain values. Ensures: everything is made once, whichever
thread asks first. Needs no GPU until something is loaded, and imports CUDA only then.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from goptx.device.launches.bound_launch import BoundLaunch
from goptx.device.launches.prepared_launch import PreparedLaunch
from goptx.device.launches.ticket_counters import drawing
from goptx.device.load import Launcher, Starter, current_device, device_number, in_turn, load_all
from goptx.device.loaded import remember
from goptx.device.recorded_streams import check_launch
from goptx.device.side_by_side import side_by_side
from goptx.errors import DependenceWarning, DeviceError
from goptx.launch.bind import Arguments
from goptx.launch.launch_plan import TICKETS
from goptx.launch.launching import Extent, Launch, Launching
from goptx.launch.native_code import NativeCode
from goptx.launch.shape import MOST_REGISTERS, Shape, check_cap
from goptx.memo import Memo
from goptx.ptx.ir import Module
from goptx.ptx.register_cap import register_cap, with_register_cap

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.device.assemble import Assembly

SHAPES = 256  # of launches that are cached

Assemblies = Memo[tuple[int | None, bool, str | None], "Assembly"]
"""By cap, whether multiplications and additions may be contracted, and assembler."""


class Executable:
    """The machine code of a module and its kernels on the devices of this machine.

    A pickle has what was assembled. What was loaded belongs to this process.
    """

    def __init__(self, module: Module, launching: Launching, assembled: Assemblies | None = None) -> None:
        self.module, self.launching = module, launching
        self._assembled = Assemblies() if assembled is None else assembled
        self._loaded: Memo[tuple[int, int | None], list[Kernel]] = Memo()
        self._starters: Memo[Hashable, Starter] = Memo(most=SHAPES)
        self._here = _Here()

    def __reduce__(self) -> tuple[Callable[..., Executable], tuple[object, ...]]:
        return Executable, (self.module, self.launching, self._assembled)

    @cached_property
    def ptx(self) -> str:
        """The text of the module."""
        return str(self.module)

    @cached_property
    def packing(self) -> Arguments:
        """What packs and compares the arguments of the kernels."""
        launching = self.launching
        return Arguments(launching.name, launching.letters, launching.params)

    def arguments(self, args: Sequence[Sequence[object]], shapes: Sequence[Shape] | None = None) -> list[list[Any]]:
        """Of each launch, as of `Woven.arguments`."""
        return self.launching.arguments(self.packing.packed(args, independent=True)[0], shapes)

    def assembly(
        self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None
    ) -> Assembly:
        """As of `Woven.assembly`."""
        cap = max_registers
        if isinstance(cap, Integral) and cap > MOST_REGISTERS:
            cap = None if register_cap(self.module) is None else MOST_REGISTERS
        if cap is not None:
            check_cap(cap)
        return self._assembled.made((cap, fmad, assembler), lambda: self._assemble(cap, fmad, assembler))

    def _assemble(self, cap: int | None, fmad: bool, assembler: str | None) -> Assembly:
        from goptx.device.assemble import RegisterCapWarning, assemble_all, most_of

        capped = None if cap is None else lambda: str(with_register_cap(self.module, cap))
        entries = [launch.entry for launch in self.launching.launches]
        made = most_of(
            assemble_all(self.ptx, entries=entries, max_registers=cap, capped=capped, fmad=fmad, assembler=assembler)
        )
        if cap is not None and made.registers > cap:
            warnings.warn(
                f"`{self.launching.name}` has {made.registers} registers although the cap is {cap} ({made.assembler})",
                RegisterCapWarning,
                stacklevel=7,
            )
        return made

    def kernels(self, max_registers: int | None = None) -> list[Kernel]:
        """Those of all entries, on the current device. Raises `AssemblyError`, `DeviceError`."""
        key = current_device().device_id, max_registers
        return self._loaded.made(key, lambda: self._load(max_registers))

    def _load(self, max_registers: int | None) -> list[Kernel]:
        launches, natives = self.launching.launches, self._natives(max_registers)
        ours = [launch.entry for launch, native in zip(launches, natives, strict=True) if not native]
        made = iter(load_all(self.assembly(max_registers).cubin, ours) if ours else [])
        kernels = [
            _loaded(launch, native) if native else next(made) for launch, native in zip(launches, natives, strict=True)
        ]
        remember(kernels, self.module, [launch.entry for launch in launches])
        return kernels

    def _natives(self, max_registers: int | None) -> list[NativeCode | None]:
        """The frameworks' machine code of the launches, which no register cap changes."""
        capped = max_registers is not None or register_cap(self.module) is not None
        return [None if capped else launch.native for launch in self.launching.launches]

    def launch(
        self,
        stream: Any,
        args: Sequence[Sequence[object]],
        grid: Extent | None,
        block: Extent | None,
        shared: int,
        shapes: Sequence[Shape] | None,
        max_registers: int | None,
        independent: bool,
    ) -> None:
        """As of `Woven.launch`."""
        check_launch(stream)
        here = self._here
        key = device_number(), max_registers, shared, grid, block, shapes
        known, latest = here.last
        if key == known:
            prepared = latest
        else:
            key = _fixed(key)
            prepared = here.known.get(key)
        independent = independent or self.launching.depends
        if prepared is None:
            start = partial(self.starter, grid, block, shared, shapes, max_registers)
            prepared = PreparedLaunch(self.packing, args, independent, start)
            doubt = prepared.doubt
            key = device_number(), *key[1:]  # preparing has made one current
            here.keep(key, prepared)
        else:
            doubt = prepared.give(args, independent)
            if prepared is not latest:
                here.last = key, prepared
        if doubt:
            warnings.warn(doubt, DependenceWarning, stacklevel=3)
        prepared.starter(stream, prepared.memory)

    def bound(
        self,
        args: Sequence[Sequence[object]],
        grid: Extent | None,
        block: Extent | None,
        shared: int,
        shapes: Sequence[Shape] | None,
        max_registers: int | None,
        independent: bool,
    ) -> BoundLaunch:
        """As of `Woven.bind`."""
        independent = independent or self.launching.depends
        start = partial(self.starter, grid, block, shared, shapes, max_registers)
        prepared = PreparedLaunch(self.packing, args, independent, start)
        if prepared.doubt:
            warnings.warn(prepared.doubt, DependenceWarning, stacklevel=3)
        return BoundLaunch(self, prepared, args, independent)

    def starter(
        self,
        grid: Extent | None,
        block: Extent | None,
        shared: int,
        shapes: Sequence[Shape] | None,
        max_registers: int | None,
    ) -> Starter:
        """What starts the kernels in that shape on the current device."""
        device = device_number()
        if device is None:  # this thread has none yet, or there is none
            self.launching.starts(grid, block, shared, shapes)  # what is wrong with the shape comes first
            device = current_device().device_id
        key = _fixed((device, max_registers, shared, grid, block, shapes))
        return self._starters.made(key, lambda: self._starter(grid, block, shared, shapes, max_registers))

    def _starter(
        self,
        grid: Extent | None,
        block: Extent | None,
        shared: int,
        shapes: Sequence[Shape] | None,
        max_registers: int | None,
    ) -> Starter:
        launchers = [
            Launcher(
                kernel,
                grid=start.shape.sizes("grid"),
                block=start.shape.sizes("block"),
                shared=start.shape.shared or 0,
                sizes=[p.size for p in start.params if p.is_passed],
                hidden=[*start.hidden, *(native.hidden if native else [])],
            )
            for start, kernel, native in zip(
                self.launching.starts(grid, block, shared, shapes),
                self.kernels(max_registers),
                self._natives(max_registers),
                strict=True,
            )
        ]
        if self._draws:
            return drawing(launchers[0], self.kernels(max_registers)[0])
        streams = self.launching.streams
        return side_by_side(launchers, backwards=streams == "reversed") if streams else in_turn(launchers)

    @cached_property
    def _draws(self) -> bool:
        """Whether the one kernel draws tickets."""
        return any(p.role == TICKETS for p in self.launching.params)


def _loaded(launch: Launch, native: NativeCode) -> Kernel:
    """The kernel of a framework's machine code. Raises `DeviceError` where it takes other parameters than its PTX."""
    (kernel,) = load_all(native.cubin, [native.entry])
    expected = len(launch.params) + native.scratch
    try:
        found = kernel.num_arguments
    except Exception:  # drivers before 12.4 cannot count them
        return kernel
    if found != expected:
        raise DeviceError(
            f"`{native.entry}` takes {found} parameters in its machine code and {expected} in its PTX; give both from "
            "one run of the compiler, or the PTX alone."
        )
    return kernel


class _Here(threading.local):
    """The launches that a thread has prepared, by what identifies them, and the last one."""

    def __init__(self) -> None:
        self.last: tuple[Hashable, PreparedLaunch | None] = None, None
        self.known: dict[Hashable, PreparedLaunch] = {}

    def keep(self, key: Hashable, prepared: PreparedLaunch) -> None:
        if len(self.known) >= SHAPES:
            self.known.clear()
        self.known[key] = prepared
        self.last = key, prepared


def _fixed(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key with tuples for the lists in it."""
    return tuple(tuple(part) if type(part) is list else part for part in key)
