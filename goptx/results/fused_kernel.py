"""What fusing gives: a module, how it is launched, and what was done to make it.

All of it is plain values. Assembling, launching and displaying are functions of other folders; the methods for the user
call them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from goptx.analysis.registers.register_demand import Demand
from goptx.device.executable import Executable
from goptx.device.launches.bound_launch import BoundLaunch
from goptx.device.resources import Resources, resources
from goptx.display import as_html, as_text, brief
from goptx.errors import InputError
from goptx.launch.launch_plan import Plan
from goptx.launch.launching import Extent, Launch, Launching, Start
from goptx.launch.parameter import Parameter
from goptx.launch.shape import Limit, Shape, check_cap
from goptx.memo import Deferred
from goptx.options import Streams
from goptx.proof.certificate import digest
from goptx.proof.witness import Witness
from goptx.ptx.ir import Module
from goptx.ptx.register_cap import register_cap, with_register_cap
from goptx.results.report import Report

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.anatomy.activity import Activity
    from goptx.anatomy.blocks import Anatomy
    from goptx.anatomy.timeline import Timeline
    from goptx.device.assemble import Assembly
    from goptx.sources.kernel_text import Chosen


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an instruction comes from.

    kernel: its letter. source: its file, or a name in place of one. line: in it, from 1; 0 for what goptx inserted for
        that kernel.
    """

    __repr__ = brief

    kernel: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Woven:
    """One module that runs all kernels: a fused kernel, which is one launch, or kernels that stay separate launches.
    See `goptx.weave` and `goptx.fuse`.

    module: what was made; `ptx` is its text.
    name: of the entry; for separate kernels, their name in messages.
    launches: what `launch` starts: one launch for a fused kernel, one launch for each of separate kernels, in order.
    report: what fusing did.
    origins: where each instruction of the entries comes from, in the order of the text; None for what belongs to no
        kernel.
    symbols: for each kernel's letter, the variables and functions of its module that this module has: their names here
        by their names there.
    plan: how the kernels' shapes become those of the launches; None if no shapes were given.
    strategy: how it was made (`goptx.fuse`).
    chosen: the kernels, for fusing them again with others.
    depends: the kernels may depend on each other, so that their arguments are not compared.
    along_x: the result is right only in grids and blocks of one dimension.
    limits: the result is right only in launches within these limits.
    streams: separate kernels are launched side by side, as branches of a CUDA graph: after what was on the stream
        before and before what comes on it later; "reversed" begins with the last. False: one after the other.
    needed: the registers that a thread is estimated to need, where weaving has counted them.
    witness: what `goptx prove` needs to know about how it was made; None where the checker has no rules.
    replaceable: whether `weave` may give the kernels another form, because no option speaks against it.
    executable: what the module became on this machine: assembled, loaded, ready to be launched.

    Each separate kernel is launched in its own shape. One after the other, each reads what those before it have
    written. `resources` is the most that any of them takes, `max_registers` applies to each, `load` gives the first.

    Threads may share one. A pickle holds what was assembled, but not the kernels that were loaded.
    """

    __repr__ = brief

    module: Module
    name: str
    launches: tuple[Launch, ...]
    report: Report
    origins: tuple[Origin | None, ...] = field(repr=False)
    symbols: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    plan: Plan | None = None
    strategy: str = "weave"
    chosen: tuple[Chosen, ...] = field(default_factory=tuple, repr=False, compare=False)
    depends: bool = False
    along_x: bool = False
    limits: tuple[Limit, ...] = ()
    streams: Streams = False
    needed: Demand | None = field(default=None, repr=False, compare=False)
    witness: Deferred[Witness] | None = field(default=None, repr=False, compare=False)
    replaceable: bool = field(default=False, repr=False, compare=False)
    executable: Executable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        certificate = self.report.certificate
        if certificate is not None and certificate.fused != digest(
            self.text()
        ):  # that of the kernel which this one is made of
            object.__setattr__(self, "report", replace(self.report, certificate=None))
        launching = Launching(
            self.name, tuple(self.report.kernels), self.launches, self.plan, self.depends, self.along_x, self.limits,
            self.streams,
        )  # fmt: skip
        object.__setattr__(self, "executable", Executable(self.module, launching))

    # What it is ---------------------------------------------------------------------------------------

    @property
    def ptx(self) -> str:
        """The text of the module."""
        return self.executable.ptx

    def text(self, witness: bool = True) -> str:
        """The text of the module; with the witness by which `goptx prove` proves it later, in comments."""
        return self.witness.value.written(self.module) if witness and self.witness else self.ptx

    @property
    def params(self) -> tuple[Parameter, ...]:
        """What the launches take, kernel by kernel, hidden parameters last."""
        return self.executable.launching.params

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of what is launched, in order: one name, unless kernels stay separate."""
        return tuple(launch.entry for launch in self.launches)

    @property
    def is_separate(self) -> bool:
        """Whether the kernels stay separate launches."""
        return self.strategy == "separate"

    @property
    def shape(self) -> Shape | None:
        """How to launch this kernel, with None for what is known only at launch; None if the kernels were woven for one
        common shape that is not known, and if they stay separate."""
        return None if self.plan is None or self.is_separate else self.plan.shape

    @property
    def max_registers(self) -> int | None:
        """The most registers of a thread that the PTX itself allows (`.maxnreg`), as `fuse(strategy="auto")` may have
        chosen; None where it has no such directive."""
        return register_cap(self.module)

    def capped(self, max_registers: int) -> Self:
        """With `max_registers` (of a thread) written into its PTX, so that it is the cap unless another is asked
        for. Raises `InputError` for what is no cap."""
        check_cap(max_registers)
        return replace(self, module=with_register_cap(self.module, max_registers))

    def side_by_side(self, streams: Streams = True) -> Self:
        """Separate kernels with `streams`; they must be independent. Raises `InputError` for a fused kernel."""
        if not self.is_separate:
            raise InputError(
                f"`{self.name}` is one launch, which has no other beside it; fuse the kernels with "
                'strategy="separate", streams=True.'
            )
        return replace(self, streams=streams, depends=False)

    def reported(self, report: Report) -> Self:
        """The same with another report; both share what is assembled and loaded."""
        made = replace(self, report=report)
        object.__setattr__(made, "executable", self.executable)
        return made

    # What became of the kernels -----------------------------------------------------------------------

    def anatomy(self) -> Anatomy:
        """The control flow of the kernels and of what was made of them: whose blocks stand where, which kernels wait,
        and the barriers."""
        from goptx.anatomy.chart import anatomy

        return anatomy(self)

    def timeline(self, block: str | None = None) -> Timeline:
        """When each instruction of a block is issued and has its result, by the cost model, and how that would be if
        the kernels ran one after the other. `block` is named as in `anatomy()`, "entry/block" where kernels are
        separate. The default is, of the blocks with code of several kernels, the one with the most estimated cycles,
        times ten for each loop around it. Raises `InputError` where there is no such block."""
        from goptx.anatomy.issue import timeline

        return timeline(self, block)

    def activity(self) -> Activity:
        """What the threads of a launch do: which warps of which CTAs run which kernels, and about when."""
        from goptx.anatomy.working import activity

        return activity(self)

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        kernels = ", ".join(f"{letter} {counts.name}" for letter, counts in self.report.kernels.items())
        head = f"{self.name}: {self.strategy} of {kernels}"
        starts = [f"{launch.entry}: {_described(launch)}" for launch in self.launches]
        launches = starts if self.is_separate else list(map(_described, self.launches))
        expected = [str(self.report.expected)] if self.report.expected else []
        return "\n".join([*expected, head, *launches, self.report.details()])

    # Machine code -------------------------------------------------------------------------------------

    def cubin(self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None) -> bytes:
        """Machine code for the module's target, by ptxas or nvJitLink; needs no GPU.

        max_registers: cap per thread; above 255 for no cap, None for that of the PTX (`max_registers`), if there is
        one. It is written as `.maxnreg` into the PTX, because ptxas ignores its own option beside launch bounds. There
        is a warning if the machine code exceeds the cap.
        fmad=False forbids contracting mul and add to fma. Raises `AssemblyError`.
        """
        return self.assembly(max_registers, fmad=fmad, assembler=assembler).cubin

    def assembly(
        self, max_registers: int | None = None, *, fmad: bool = True, assembler: str | None = None
    ) -> Assembly:
        """As `cubin`, with what the assembler reports; for several entries, the most that any of them costs."""
        return self.executable.assembly(max_registers, fmad=fmad, assembler=assembler)

    def resources(self, max_registers: int | None = None, block: Extent | None = None, shared: int = 0) -> Resources:
        """Registers, spills, shared memory; occupancy too when `block` (threads) is given. `shared` is the
        dynamic shared memory in bytes. Both are those of `shape` where it has them. Needs no GPU. Raises
        `AssemblyError`."""
        return resources(self.assembly(max_registers), self.shape, block, shared)

    def load(self, max_registers: int | None = None) -> Kernel:
        """A cuda.core kernel on the current device, cached for the next call. To be called before a CUDA graph is
        captured; keep this object as long as the graph is launched. Raises `AssemblyError`, `DeviceError`."""
        return self.executable.kernels(max_registers)[0]

    # Launching ----------------------------------------------------------------------------------------

    def arguments(self, *args: Sequence[object], shapes: Sequence[Shape] | None = None) -> list[Any]:
        """The launch arguments from one sequence for each kernel, each in its parameter's own width, then the hidden
        ones, which follow from `shapes` (those of the kernels, where weaving did not know them). Separate kernels have
        a list for each. Arguments are not compared. Raises `InputError`."""
        found = self.executable.arguments(args, shapes)
        return found if self.is_separate else found[0]

    def launched(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> tuple[Shape, list[bytes]]:
        """The shape of the one launch for arguments as those of `launch`, and the bytes of its hidden arguments. Raises
        `InputError`, also where there are several launches."""
        return self.executable.launching.launched(grid, block, shared, shapes)

    def starts(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> list[Start]:
        """What `launch` starts for such arguments, one after the other. Raises `InputError`."""
        return self.executable.launching.starts(grid, block, shared, shapes)

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
        """Starts it and does not wait. `args` has one sequence for each kernel. `grid` (CTAs), `block` (threads) and
        `shared` (bytes of dynamic shared memory) are the kernels' own, common to all. `stream` is a cuda.core Stream,
        any object with `__cuda_stream__` (torch, CuPy), or None for the default stream; it may be capturing a CUDA
        graph if `load` was called before.

        Where the kernels were woven for shapes of their own these need not be given. What weaving did not know comes
        from `shapes`, one for each kernel, or from `grid`, `block` and `shared` if that is common to all of them.

        independent: the caller promises that no kernel writes what another accesses. Without it, `params[i].access`
        says which arguments must not have memory in common: arrays are compared by their extents, raw pointers by their
        values; a raw pointer into an array is a `DependenceWarning`.

        Raises `DependentKernels`, `InputError` for arguments that do not fit, for shapes that contradict those woven,
        and while a fusion region records the stream, `DeviceError` where there is no GPU.
        """
        self.executable.launch(stream, args, grid, block, shared, shapes, max_registers, independent)

    def bind(
        self,
        *args: Sequence[object],
        grid: Extent | None = None,
        block: Extent | None = None,
        shared: int = 0,
        shapes: Sequence[Shape] | None = None,
        max_registers: int | None = None,
        independent: bool = False,
    ) -> BoundLaunch:
        """A launch with these arguments, which are packed and compared once: `launch(stream)` of the result starts it,
        `update("A:4", value)` changes an argument, `graph()` makes a CUDA graph. Arguments and errors are those of
        `launch`. Loads the kernels on the current device. Holds the arrays as long as they are bound."""
        return self.executable.bound(args, grid, block, shared, shapes, max_registers, independent)


def _described(launch: Launch) -> str:
    """The shape of a launch and its parameters, in one line."""
    counts = Counter(p.kernel for p in launch.params)
    hidden = counts.pop(None, 0)
    given = ", ".join(f"{n} for {kernel}" for kernel, n in counts.items()) or "none"
    plan = launch.plan
    how = "in the shape that launch() is given" if plan is None or plan.common else f"as {plan.shape}"
    return f"launched {how}; arguments: {given}" + (f"; {hidden} hidden" if hidden else "")
