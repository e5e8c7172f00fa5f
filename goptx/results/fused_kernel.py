"""The woven kernel: its PTX, parameters and report, and the way down to a GPU."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

from goptx.device.recorded_streams import check_launch
from goptx.display import as_html, brief
from goptx.errors import DependenceWarning, InputError
from goptx.launch.shape import MOST_REGISTERS, Limit, Shape
from goptx.memo import Memo

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.anatomy.activity import Activity
    from goptx.anatomy.blocks import Anatomy
    from goptx.anatomy.timeline import Timeline
    from goptx.device.assemble import Assembly
    from goptx.device.load import Starter
    from goptx.launch.arguments import Access
    from goptx.launch.bind import Arguments
    from goptx.launch.launch_plan import Plan
    from goptx.ptx.ir import Module
    from goptx.results.report import Report
    from goptx.sources.kernel_text import Chosen

LAUNCHES = 256  # shapes of launches that are remembered
Extent = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the woven entry.

    kernel: its letter; None of a hidden parameter.
    name: in W. original: in the kernel's own PTX.
    type: of PTX, without the dot. size: in bytes.
    role: of a hidden one what it holds, such as "A.grid.x" (see `Plan.roles`), else "".
    access: what the kernel does to the memory that it points to: "none" (also of what is no pointer), "read",
        "written", "both", or "unknown", which counts as both; see `pointer_accesses`.
    instead: None but where W lacks the parameter: it names the one that W reads instead, which gets an equal argument,
        or is "" where what is passed does not matter.
    inside: of a structure the offsets of pointers in it that are followed, and what the kernel does by them.
    """

    __repr__ = brief

    kernel: str | None
    name: str
    original: str
    type: str
    size: int
    role: str = ""
    access: Access = "none"
    instead: str | None = None
    inside: tuple[tuple[int, Access], ...] = ()


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel costs, by its machine code.

    registers, spill_bytes: of a thread; bytes are those stored and loaded.
    shared_bytes: static ones of a CTA.
    occupancy: the share of an SM's warps that fit, 0 to 1; None without a block.
    assembler: which one made it, with its version.
    """

    __repr__ = brief

    registers: int
    spill_bytes: int
    shared_bytes: int
    occupancy: float | None
    assembler: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an instruction comes from.

    kernel: its letter. source: its file, or what stands for it. line: there, from 1; 0 for what goptx inserted on that
        kernel's behalf.
    """

    __repr__ = brief

    kernel: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Start:
    """One launch: of which entry and in which shape; `params` are those for which it takes arguments and, behind them,
    hidden ones, which hold `hidden`."""

    entry: str
    shape: Shape
    params: tuple[Parameter, ...]
    hidden: list[bytes]


@dataclass(frozen=True)
class Woven:
    """One module with one entry, which runs all kernels. See `goptx.weave`.

    module: what was made; `ptx` is its text.
    name: of the entry.
    params: its parameters, kernel by kernel, hidden ones last.
    report: what weaving did.
    origins: of each instruction of the entry, in the order of the text, where it comes from; None for what belongs to
        no kernel.
    symbols: by each kernel's letter the variables and functions of its module that W holds: their names in W by those
        that they have there.
    plan: how the kernels' shapes become W's; there if they were given shapes.
    strategy: how it was made (`goptx.fuse`).
    chosen: the kernels, for fusing them again with others.
    depends: they may depend on each other, so that their arguments are not compared.
    along_x: they are right in grids and blocks of one dimension only.
    limits: they are right in launches that keep to these only.
    streams: several entries are launched side by side.

    Threads may share one. A pickle has what was assembled, and not the kernels that were loaded.
    """

    __repr__ = brief

    module: Module
    name: str
    params: tuple[Parameter, ...]
    report: Report
    origins: tuple[Origin | None, ...] = field(repr=False)
    symbols: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    plan: Plan | None = None
    strategy: str = "weave"
    chosen: tuple[Chosen, ...] = field(default_factory=tuple, repr=False, compare=False)
    depends: bool = False
    along_x: bool = False
    limits: tuple[Limit, ...] = ()
    streams: bool = False
    _assembled: Memo[tuple[int | None, bool, str | None], Assembly] = field(
        default_factory=Memo, repr=False, compare=False
    )
    _loaded: Memo[tuple[int, int | None], list[Kernel]] = field(default_factory=Memo, repr=False, compare=False)
    _launchers: Memo[Hashable, Starter] = field(default_factory=partial(Memo, most=LAUNCHES), repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is loaded on a device."""
        return {name: value for name, value in vars(self).items() if name not in ("_loaded", "_launchers")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _loaded=Memo(), _launchers=Memo(most=LAUNCHES))

    @cached_property
    def ptx(self) -> str:
        """The text of the module."""
        return str(self.module)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names of what is launched, one after the other: one, but where kernels stay separate."""
        return tuple(entry.name for entry in self.module.entries)

    def anatomy(self) -> Anatomy:
        """The control flow of the kernels and of what was made of them: whose blocks stand where, who waits, and
        the barriers."""
        from goptx.anatomy.chart import anatomy

        return anatomy(self)

    def timeline(self, block: str | None = None) -> Timeline:
        """When each instruction of a block is issued and has its result, by the cost model, and how that would be if
        the kernels ran one after the other. `block` is named as in `anatomy()`, "entry/block" where kernels are apart;
        by default it is, of those with code of several kernels, the one with the most estimated cycles, ten times as
        many for each loop around it. Raises `InputError` where there is no such block."""
        from goptx.anatomy.issue import timeline

        return timeline(self, block)

    def activity(self) -> Activity:
        """What the threads of a launch do: which warps of which CTAs run which kernels, and about when."""
        from goptx.anatomy.working import activity

        return activity(self)

    @property
    def max_registers(self) -> int | None:
        """The most registers of a thread that the PTX itself allows (`.maxnreg`), as `fuse(strategy="auto")` may have
        chosen; None where it says nothing."""
        caps = [int(d.values[0]) for e in self.module.entries for d in e.directives if d.name == ".maxnreg"]
        return max(caps, default=None)

    def capped(self, max_registers: int) -> Self:
        """With `max_registers` (of a thread) written into its PTX, so that it is the cap wherever no other is asked
        for."""
        from goptx.ptx.register_cap import with_register_cap

        module = with_register_cap(self.module, max_registers)
        return replace(self, module=module, _assembled=Memo(), _loaded=Memo(), _launchers=Memo(most=LAUNCHES))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"{self.name}, {self.strategy}\n{self.report}")

    _repr_html_ = as_html

    @property
    def shape(self) -> Shape | None:
        """How to launch this kernel, with None for what is known at launch only; None if the kernels were woven for one
        common shape, whatever it is."""
        return self.plan.shape if self.plan else None

    @property
    def launches(self) -> tuple[tuple[str, tuple[Parameter, ...], Plan | None], ...]:
        """Of each entry that is launched, in turn: its name, all its parameters, and how it is to be launched, None
        where that is as each of the kernels would be."""
        return ((self.name, self.params, self.plan),)

    def cubin(self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None) -> bytes:
        """Machine code for the module's target, by ptxas or nvJitLink; needs no GPU.

        max_registers: cap per thread; above 255 for none, None for that of the PTX (`max_registers`), if there is one.
        It is written as `.maxnreg` into the PTX, because ptxas ignores its own option beside launch bounds; a cap
        that was not kept is warned of.
        fmad=False forbids contracting mul and add to fma. Raises `AssemblyError`.
        """
        return self.assembly(max_registers, fmad=fmad, assembler=assembler).cubin

    def assembly(
        self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None
    ) -> Assembly:
        """As `cubin`, with what the assembler said of it; of several entries the most that any of them costs."""
        from goptx.device.assemble import RegisterCapWarning, assemble_all, most_of

        cap = max_registers
        if cap is not None and cap > MOST_REGISTERS:
            cap = None if self.max_registers is None else MOST_REGISTERS
        if cap is not None and cap < 1:
            raise InputError(f"max_registers={max_registers} is no cap; give 1 to {MOST_REGISTERS}, or None.")

        def make() -> Assembly:
            made = most_of(
                assemble_all(
                    self.ptx,
                    entries=self.entries,
                    max_registers=cap,
                    capped=None if cap is None else partial(self._capped, cap),
                    fmad=fmad,
                    assembler=assembler,
                )
            )
            if cap is not None and made.registers > cap:
                warnings.warn(
                    f"`{self.name}` has {made.registers} registers although the cap is {cap} ({made.assembler})",
                    RegisterCapWarning,
                    stacklevel=5,
                )
            return made

        return self._assembled.made((cap, fmad, assembler), make)

    def _capped(self, cap: int) -> str:
        from goptx.ptx.register_cap import with_register_cap

        return str(with_register_cap(self.module, cap))

    def resources(self, max_registers: int | None = None, block: Extent | None = None, shared: int = 0) -> Resources:
        """Registers, spills, shared memory; occupancy too when `block` (threads) is given. `shared` is the
        dynamic shared memory in bytes. Both are those of `shape` where that knows them. Needs no GPU. Raises
        `AssemblyError`."""
        from goptx.device.occupancy import occupancy

        made = self.assembly(max_registers)
        share = None
        if block is None and self.shape:
            block, shared = self.shape.threads, self.shape.shared or shared
        if block is not None:
            threads = block if isinstance(block, int) else math.prod(block)
            total = made.shared_bytes + shared
            share = occupancy(made.arch, made.registers, total, threads, barriers=made.barriers).fraction
        spills = made.spill_store_bytes + made.spill_load_bytes
        return Resources(made.registers, spills, made.shared_bytes, share, made.assembler)

    def load(self, max_registers: int | None = None) -> Kernel:
        """A cuda.core kernel on the current device, kept for the next call. To be called before a CUDA graph is
        captured; whoever launches that keeps this object as long. Raises `AssemblyError`, `DeviceError`."""
        return self._kernels(max_registers)[0]

    def _kernels(self, max_registers: int | None) -> list[Kernel]:
        """Those of all entries."""
        from goptx.device.load import current_device

        key = current_device().device_id, max_registers
        return self._loaded.made(key, lambda: self._load_all(max_registers))

    def _load_all(self, max_registers: int | None) -> list[Kernel]:
        from goptx.device.load import load_all
        from goptx.device.loaded import remember

        kernels = load_all(self.cubin(max_registers), self.entries)
        remember(kernels, self.module, self.entries)
        return kernels

    def arguments(self, *args: Sequence[object], shapes: Sequence[Shape] | None = None) -> list[Any]:
        """The launch arguments of W from one sequence for each kernel, each of its parameter's own width, and the
        hidden ones, which follow from `shapes` (those of the kernels, where weaving did not know them). Nothing is
        compared. Raises `InputError`."""
        from goptx.launch.arguments import scalars

        hidden = self._hidden(self.plan.filled(shapes)) if self.plan else []
        held = [p for p in self.params if p.instead is None]
        return scalars(held, self._arguments.packed(args, independent=True)[0] + hidden)

    @cached_property
    def _arguments(self) -> Arguments:
        from goptx.launch.bind import Arguments

        return Arguments(self.name, self.report.kernels, self.params)

    def _hidden(self, shapes: Sequence[Shape]) -> list[bytes]:
        return self._arguments.hidden.pack(list(self.plan.values(shapes).values()))[0] if self.plan else []

    def launched(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> tuple[Shape, list[bytes]]:
        """The shape in which W is launched for these, as `launch` has them, and the bytes of its hidden
        arguments. Raises `InputError`."""
        if self.plan:
            told = self.plan.common and shapes is None  # all of it by these, and no bytes are none
            filled = self.plan.filled(shapes, grid, block, shared if told else shared or None)
            return self._checked(self.plan.launched(filled)), self._hidden(filled)
        if shapes is not None:
            raise InputError(
                f"`{self.name}` was woven for one common shape; give `weave` the shapes, or grid and block."
            )
        if grid is None or block is None:
            raise InputError(f"`{self.name}` needs a grid and a block; or give `weave` the kernels' shapes.")
        return self._checked(Shape(grid, block, shared)), []

    def starts(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> list[Start]:
        """What `launch` starts for these, one after the other. Raises `InputError`."""
        shape, hidden = self.launched(grid, block, shared, shapes)
        return [Start(self.name, shape, self.params, hidden)]

    def _checked(self, shape: Shape) -> Shape:
        if self.along_x and any(n != 1 for what in ("grid", "block") for n in shape.sizes(what)[1:]):
            raise InputError(
                f"`{self.name}` was fused of kernels that depend on each other, which was shown for grids and blocks "
                f"along x only, not for {shape}; launch the kernels separately."
            )
        broken = next((limit for limit in self.limits if not limit.admits(shape)), None)
        if broken is not None:
            raise InputError(
                f"`{self.name}` was fused of kernels that depend on each other, which was shown for launches with "
                f"{broken} only, not for {shape}: beyond, indices wrap; launch the kernels separately."
            )
        return shape

    def launch(
        self,
        stream: Any,
        *args: Sequence[object],
        grid: Extent | None = None,
        block: Extent | None = None,
        shared: int = 0,
        shapes: Sequence[Shape] | None = None,
        max_registers: int | None = None,
        independent: bool = False,
    ) -> None:
        """Starts W and does not wait: one argument sequence for each kernel; `grid` (CTAs), `block` (threads) and
        `shared` (bytes of dynamic shared memory) are the kernels' own, common to all. `stream` is a cuda.core Stream,
        any object with `__cuda_stream__` (torch, CuPy), or None for the default stream; it may be capturing a CUDA
        graph if `load` was called before.

        Where the kernels were woven for shapes of their own these need not be given. What weaving did not know comes
        from `shapes`, one for each kernel, or from `grid`, `block` and `shared` if that is common to all of them.

        independent: the caller's word that no kernel writes what another accesses. Without it, `params[i].access` says
        which arguments must not have memory in common: arrays are compared by their extents, raw pointers by their
        values; a raw pointer into an array is a `DependenceWarning`.

        Raises `DependentKernels`, `InputError` for arguments that do not fit, for shapes that contradict those woven,
        and while a fusion region records the stream, `DeviceError` where there is no GPU.
        """
        check_launch(stream)
        contents, doubt = self._arguments.packed(args, independent or self.depends)
        if doubt:
            warnings.warn(doubt, DependenceWarning, stacklevel=2)
        self._launcher(grid, block, shared, shapes, max_registers)(stream, contents)

    def _launcher(
        self,
        grid: Extent | None,
        block: Extent | None,
        shared: int,
        shapes: Sequence[Shape] | None,
        max_registers: int | None,
    ) -> Starter:
        """What starts W in that shape on the current device."""
        shapes = shapes if shapes is None else tuple(shapes)
        device = self._device_number()
        if device is None:  # this thread has none yet, or there is none
            from goptx.device.load import current_device

            self.starts(grid, block, shared, shapes)  # what is wrong with the shape comes first
            device = current_device().device_id

        def make() -> Starter:
            from goptx.device.load import Launcher, in_turn, side_by_side

            starts = self.starts(grid, block, shared, shapes)
            launchers = [
                Launcher(
                    kernel,
                    grid=start.shape.sizes("grid"),
                    block=start.shape.sizes("block"),
                    shared=start.shape.shared or 0,
                    sizes=[p.size for p in start.params if p.kernel is not None and p.instead is None],
                    hidden=start.hidden,
                )
                for kernel, start in zip(self._kernels(max_registers), starts, strict=True)
            ]
            return side_by_side(launchers) if self.streams else in_turn(launchers)

        return self._launchers.made((device, max_registers, _fixed(grid), _fixed(block), shared, shapes), make)

    @cached_property
    def _device_number(self) -> Callable[[], int | None]:
        from goptx.device.load import device_number

        return device_number


def _fixed(given: Extent | None) -> Hashable:
    """An extent as a key."""
    return tuple(given) if type(given) is list else given
