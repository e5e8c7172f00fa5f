"""The woven kernel: its PTX, parameters and report, and the way down to a GPU."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goptx.errors import InputError
from goptx.ptx.ir import Directive, Function, Module
from goptx.shape import Shape
from goptx.weaving.launching import Plan
from goptx.weaving.link import Linked
from goptx.weaving.origins import Origin
from goptx.weaving.report import Report

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.device.assemble import Assembly

MOST_REGISTERS = 255  # of one thread; a cap above it is none
Extent = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the woven entry: the kernel's letter, its name in W and in the kernel's own PTX, its PTX
    type without the dot, and its size in bytes. A hidden one has no kernel but a role, such as "A.grid.x": see
    `Plan.roles`."""

    kernel: str | None
    name: str
    original: str
    type: str
    size: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel costs: registers and bytes per thread, static shared bytes per CTA, and the share of an
    SM's warps that fit (None without a block)."""

    registers: int
    spill_bytes: int
    shared_bytes: int
    occupancy: float | None
    assembler: str


@dataclass(frozen=True)
class Woven:
    """One module with one entry, which runs all kernels. See `goptx.weave`.

    `origins` says of each instruction of that entry, in the order of the text, where it comes from; None for
    what belongs to no kernel. `plan` is there if the kernels were given shapes.
    """

    module: Module
    name: str
    params: tuple[Parameter, ...]
    report: Report
    origins: tuple[Origin | None, ...] = field(repr=False)
    plan: Plan | None = None
    _assembled: dict[tuple[int | None, bool, str | None], Assembly] = field(
        default_factory=dict, repr=False, compare=False
    )
    _loaded: dict[tuple[int, int | None], Kernel] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def ptx(self) -> str:
        return str(self.module)

    @property
    def shape(self) -> Shape | None:
        """How to launch this kernel, with None for what is known at launch only; None if the kernels were woven for one
        common shape, whatever it is."""
        return self.plan.shape if self.plan else None

    def cubin(self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None) -> bytes:
        """Machine code for the module's target, by ptxas or nvJitLink; needs no GPU.

        max_registers: cap per thread, None or above 255 for none. It is written as `.maxnreg` into the PTX,
        because ptxas ignores its own option beside launch bounds; a cap that was not kept is warned of.
        fmad=False forbids contracting mul and add to fma. Raises `AssemblyError`.
        """
        return self.assembly(max_registers, fmad=fmad, assembler=assembler).cubin

    def assembly(
        self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None
    ) -> Assembly:
        """As `cubin`, with what the assembler said of it."""
        from goptx.device.assemble import RegisterCapWarning, assemble

        cap = None if max_registers is None or max_registers > MOST_REGISTERS else max_registers
        if cap is not None and cap < 1:
            raise InputError(f"max_registers={max_registers} is no cap; give 1 to {MOST_REGISTERS}, or None.")
        key = (cap, fmad, assembler)
        if key not in self._assembled:
            text = self.ptx if cap is None else str(with_register_cap(self.module, self.name, cap))
            made = assemble(
                text,
                entry=self.name,
                arch=self.module.target[0],
                max_registers=cap,
                fmad=fmad,
                assembler=assembler,
            )
            if cap is not None and made.registers > cap:
                warnings.warn(
                    f"`{self.name}` has {made.registers} registers although the cap is {cap} ({made.assembler})",
                    RegisterCapWarning,
                    stacklevel=3,
                )
            self._assembled[key] = made
        return self._assembled[key]

    def resources(self, max_registers: int | None = None, block: Extent | None = None, shared: int = 0) -> Resources:
        """Registers, spills, shared memory; occupancy too when `block` (threads) is given. `shared` is the
        dynamic shared memory in bytes. Both are those of `shape` where that knows them. Needs no GPU."""
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
        """A cuda.core kernel on the current device, kept for the next call."""
        from goptx.device.launch import current_device, load

        key = (current_device().device_id, max_registers)
        if key not in self._loaded:
            self._loaded[key] = load(self.cubin(max_registers), self.name)
        return self._loaded[key]

    def arguments(self, *args: Sequence[object], shapes: Sequence[Shape] | None = None) -> list[Any]:
        """The launch arguments of W from one sequence for each kernel, each of its parameter's own width, and the
        hidden ones, which follow from `shapes` (those of the kernels, where weaving did not know them)."""
        return [*self._packed(args), *self._hidden(self.plan.filled(shapes) if self.plan else ())]

    def _packed(self, args: Sequence[Sequence[object]]) -> list[Any]:
        from goptx.arguments import pack_arguments

        letters = list(self.report.kernels)
        if len(args) != len(letters):
            raise InputError(f"`{self.name}` takes one argument sequence for each of the kernels {', '.join(letters)}.")
        packed = []
        for letter, own in zip(letters, args, strict=True):
            packed += pack_arguments([p for p in self.params if p.kernel == letter], own)
        return packed

    def _hidden(self, shapes: Sequence[Shape]) -> list[Any]:
        from goptx.arguments import pack_arguments

        values = self.plan.values(shapes) if self.plan else {}
        return list(pack_arguments([p for p in self.params if p.kernel is None], list(values.values())))

    def launched(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> tuple[Shape, list[Any]]:
        """The shape in which W is launched for these, as `launch` has them, and its hidden arguments."""
        if self.plan:
            filled = self.plan.filled(shapes, grid, block, shared or None)
            return self.plan.launched(filled), self._hidden(filled)
        if shapes is not None:
            raise InputError(
                f"`{self.name}` was woven for one common shape; give `weave` the shapes, or grid and block."
            )
        if grid is None or block is None:
            raise InputError(f"`{self.name}` needs a grid and a block; or give `weave` the kernels' shapes.")
        return Shape(grid, block, shared), []

    def launch(
        self,
        stream: Any,
        *args: Sequence[object],
        grid: Extent | None = None,
        block: Extent | None = None,
        shared: int = 0,
        shapes: Sequence[Shape] | None = None,
        max_registers: int | None = None,
    ) -> None:
        """Starts W and does not wait: one argument sequence for each kernel; `grid` (CTAs), `block` (threads) and
        `shared` (bytes of dynamic shared memory) are the kernels' own, common to all.

        Where the kernels were woven for shapes of their own these need not be given. What weaving did not know comes
        from `shapes`, one for each kernel, or from `grid`, `block` and `shared` if that is common to all of them.

        Raises `InputError` for arguments that do not fit and for shapes that contradict those woven, `DeviceError`
        where there is no GPU.
        """
        from goptx.device.launch import launch

        shape, hidden = self.launched(grid, block, shared, shapes)
        packed = [*self._packed(args), *hidden]
        extents = {what: shape.sizes(what) for what in ("grid", "block")}
        launch(self.load(max_registers), stream, packed, **extents, shared=shape.shared or 0)


def parameters(linked: Linked) -> tuple[Parameter, ...]:
    own = [
        Parameter(k.letter, new.name, old.name, new.type, new.size)
        for k in linked.kernels
        for old, new in zip(k.entry.parameters, k.parameters, strict=True)
    ]
    return (*own, *(Parameter(None, p.name, p.name, p.type, p.size, role) for role, p in linked.hidden.items()))


def with_register_cap(module: Module, entry: str, cap: int) -> Module:
    """The module with `.maxnreg cap` on its entry, in place of what contradicts it."""
    dropped = (".maxnreg", ".minnctapersm", ".maxnctapersm")
    items = []
    for item in module.items:
        if isinstance(item, Function) and item.name == entry:
            kept = tuple(d for d in item.directives if d.name not in dropped)
            item = replace(item, directives=(*kept, Directive(".maxnreg", (str(cap),))))
        items.append(item)
    return replace(module, items=tuple(items))
