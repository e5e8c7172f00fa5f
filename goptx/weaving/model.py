"""The values that the passes of weaving share: a kernel, the linked kernels, a converged kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goptx.analysis.build_cfg import text_blocks
from goptx.analysis.cfg import Code, Flow
from goptx.latency.cost import cycles_of
from goptx.latency.table import LatencyTable
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import Limit, Shape
from goptx.options import Choice, Policy, Slicing
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import (
    Declaration,
    Directive,
    Function,
    Instruction,
    Item,
    Name,
    Operand,
    Provenance,
    Registers,
    Scope,
    Statement,
    Variable,
)
from goptx.ptx.walk import statements_in
from goptx.weaving.link.source_lines import Location, Tables


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry, flat and renamed, with its control flow. `letter` is A, B, ... in the order given; `copy` is the
    number
    of the copy of a coarsened kernel, from 0 on. `range_guard` excludes the threads and CTAs of the fused kernel that
    do not run this one. `callees` lists, by labels, the functions that it may call through pointers. `left_out` names
    what the fused kernel lacks of it. `symbols` has the new names of the variables and functions of its module that it
    needs, by their names there. `lines` has the locations in its source of the lines of its PTX. `pooled` has, for its
    shared variables that are in the dynamic array `pool`, at which byte they begin."""

    letter: str
    prefix: str
    entry: Function
    parameters: tuple[Variable, ...]
    registers: tuple[Registers, ...]
    variables: tuple[Declaration, ...]
    flow: Flow
    source: str
    range_guard: RangeGuard | None = None
    callees: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[int, Location] = field(default_factory=dict)
    copy: int = 0
    pool: str = ""
    pooled: Mapping[str, int] = field(default_factory=dict)

    def calling(self, names: Mapping[str, str]) -> dict[str, str]:
        """`symbols` after those with a name in `names` are renamed again."""
        return {old: names.get(new, new) for old, new in self.symbols.items()}

    def at(self, line: int) -> str:
        """Names file, line and kernel: the beginning of a message."""
        return place(self.source, line, self.letter, self.entry)

    def text_blocks(self) -> list[tuple[Code, ...]]:
        """The basic blocks of its text, as they are before any pass changes its flow."""
        return text_blocks(self.entry.body, self.source)

    def register_names(self) -> list[str]:
        """The names of its registers, including those that are declared in the braces of calls."""
        scopes = (code for code in self.flow.codes() if isinstance(code, Scope))
        inner = (s for s in statements_in(scopes) if isinstance(s, Registers))
        return [name for declared in (*self.registers, *inner) for name, _ in declared.names]

    def parameter_sizes(self) -> dict[str, int]:
        """The sizes in bytes of its parameters, and of those that it passes to functions, by name."""
        passed = (d.variable for d in self.variables if d.variable.space == ".param")
        return {v.name: v.size for v in (*self.parameters, *passed)}

    def quote(self, statement: object) -> str:
        """A statement as its file has it, for messages."""
        return as_written(statement, self.prefix)


@dataclass(frozen=True, slots=True)
class Linked:
    """The linked kernels, and the fused module without its entry. `kernels` are the given ones, the copies of each side
    by side, as many as its `coarse` says. `begin` is the code at the beginning of the entry
    (dependent_grids.py, remap.py), `clusters` its directives for clusters (clusters.py). `together` has the predicates
    of the copies of each kernel, by its letter (copies.py), `loops` the loop over
    its CTAs where grids are folded (virtual_ctas.py), `binding` what decides which of them a CTA runs (sm_binding.py),
    if that is not its number. `hidden` are the parameters of the fused kernel after those
    of the kernels, by their roles. `tables` is what the kernels' lines refer to. `plan` says how the fused kernel is
    launched where kernels have shapes of their own. `lacks` names the parameters of kernels that the fused kernel does
    not have, each with the one that is read instead, or "". `one` has the parameters of which the caller says what they
    are one with, each with the buffer's name. `trips` says how often loops run, for the code of those of which that is
    known. `limits` are those of the launches for which this is
    right."""

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    name: str
    items: tuple[Item, ...]
    kernels: tuple[Kernel, ...]
    notes: tuple[str, ...]
    begin: tuple[Instruction, ...] = ()
    clusters: tuple[Directive, ...] = ()
    hidden: Mapping[str, Variable] = field(default_factory=dict)
    tables: Tables = field(default_factory=Tables)
    plan: Plan | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    one: Mapping[str, str] = field(default_factory=dict)
    coarse: tuple[Coarse, ...] = ()
    together: Mapping[str, CopyPredicates] = field(default_factory=dict)
    limits: frozenset[Limit] = frozenset()
    trips: Mapping[Provenance, float] = field(default_factory=dict)
    loops: Mapping[str, CtaLoop] = field(default_factory=dict)
    binding: SmBinding | None = None

    @property
    def given(self) -> tuple[Kernel, ...]:
        """The kernels, one copy of each."""
        return tuple(k for k in self.kernels if not k.copy)

    def own_shapes(self, shapes: Sequence[Shape] | None) -> dict[str, Shape]:
        """The launches in which the given kernels would run alone, by their letters, as far as they are known."""
        return {given.letter: shape for given, shape in zip(self.given, shapes or (), strict=bool(shapes))}

    def owner(self, code: Code) -> Kernel:
        """The kernel that code comes from."""
        assert code.kernel is not None
        return self.kernels[code.kernel]

    def is_copy(self, kernel: Kernel) -> bool:
        """Whether the kernel is one of several copies."""
        return sum(k.letter == kernel.letter for k in self.kernels) > 1


@dataclass(frozen=True, slots=True)
class Choices:
    """The latencies of instructions, how blocks are sliced by them, and the order in which they are woven. `presume`:
    whether loaded data that decides about barriers may be presumed equal for all threads of a CTA."""

    policy: Policy
    slicing: Slicing
    table: LatencyTable
    presume: bool = True

    def cycles(self, code: Code) -> int:
        """The latency of an instruction, or of all those in a call's braces."""
        return self.table.cycles_of(code) if isinstance(code, Instruction) else cycles_of(self.table, code)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The choice for the divergent branch on a line of the kernel's file. It is "park" for a region until the merger
    puts
    the other kernel's code on its sides. `regions` are the block that stands for the region, and copies of that."""

    line: int
    choice: Choice
    regions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Converged:
    """A kernel's flow whose branches are warp-uniform, except within regions.

    registers: the fresh ones that it needs.
    warp_branches: the blocks whose branch the warps of a CTA may take differently.
    notes: what was presumed.
    last: whether it may only run after the other kernel has ended.
    threads: how many arrive at its barriers where the fused kernel's CTA is larger (range_guard.py).
    lanes_wait_separately: whether lanes of one warp may come to a wait for other threads one by one (spin_regions.py).
    as_written: nothing was rewritten, so the lanes of a warp may have diverged in any block.
    skipped: whether warps pass over the rest of it once all their threads have ended (skip_ended.py).
    """

    flow: Flow
    registers: tuple[Registers, ...] = ()
    warp_branches: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    last: bool = False
    threads: Operand | None = None
    lanes_wait_separately: bool = False
    as_written: bool = False
    skipped: bool = False


def place(source: str, line: int, letter: str, entry: Function) -> str:
    return f"{source}:{line}: kernel {letter} (`{entry.name}`)"


@dataclass(frozen=True, slots=True)
class CopyPredicates:
    """Predicates of the copies of one kernel, which are set before all code; None if they hold for no thread. `ended`
    holds for the threads that run no copy: all threads of a CTA, or whole warps. `left_over` holds in the CTAs that run
    the last copy only. `beyond` holds for the whole warps that the kernel lacks, where its CTAs have nothing else to
    do."""

    ended: str | None = None
    left_over: str | None = None
    beyond: str | None = None


@dataclass(frozen=True, slots=True)
class RangeGuard:
    """`code` sets the predicate `ended` of the threads that end at once: it is equal for all threads of a CTA or, where
    `threads` is given, for those of a warp. `threads` (a multiple of 32) is the number of threads that the kernel's
    barriers wait for. A copy of a kernel does not end by itself (copies.py): it has no `ended` but may have
    `threads`."""

    code: tuple[Instruction, ...]
    ended: str | None
    threads: Operand | None


@dataclass(frozen=True, slots=True)
class TeamRegisters:
    """Registers of a kernel in folded grids: the number of the present CTA; where a CTA of the fused kernel has several
    teams of the kernel, the number of the thread's team among them, and the stem of those of its barrier ids; where
    CTAs draw which kernel they run, the number that was drawn, and the predicate that it is another kernel's."""

    number: Name
    team: Name
    barrier: Name
    place: Name
    absent: Name


@dataclass(frozen=True, slots=True)
class SmBinding:
    """The code with which a CTA gets its role before all other code: `before` sets the predicate `waiting` of all
    threads but one, which runs `drawn`; `after` is that of all threads when it has done so."""

    before: tuple[Instruction, ...]
    waiting: str
    drawn: tuple[Instruction, ...]
    after: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class CtaLoop:
    """The loop in which the threads of a CTA run several CTAs of one kernel. `before` moves registers and computes the
    number of the first; `none` holds where there is no such CTA. `begin` is code at the beginning of each, `step` gets
    the next number, and then `more` holds if there is one. All of it is equal for all threads of the kernel in a
    CTA. Where one thread gets the number for all, that is `drawn`, and `threads` are those that meet between it and
    `step`. Where `step` gets the numbers of several CTAs, `again` gets the next of these, if `within` holds then, and
    `head` is code before the first. `teams` CTAs of the kernel run side by side, with these `registers`. Teams that
    help come by `joining` to `drawn`."""

    before: tuple[Instruction, ...]
    none: str
    begin: tuple[Instruction, ...]
    step: tuple[Instruction, ...]
    more: str
    drawn: tuple[Instruction, ...] = ()
    threads: int = 0
    teams: int = 1
    registers: TeamRegisters | None = None
    joining: tuple[Instruction, ...] = ()
    again: tuple[Instruction, ...] = ()
    within: str = ""
    head: tuple[Instruction, ...] = ()
