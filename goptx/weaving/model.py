"""The values that the passes of weaving share: a kernel, the linked kernels, a kernel whose branches have converged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from goptx.analysis.build_cfg import text_blocks
from goptx.analysis.cfg import Code, Flow
from goptx.latency.cost import cycles_of
from goptx.latency.table import LatencyTable
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import Limit
from goptx.options import Choice, Policy, Slicing
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import (
    Declaration,
    Directive,
    Function,
    Instruction,
    Item,
    Operand,
    Registers,
    Scope,
    Statement,
    Variable,
)
from goptx.ptx.walk import statements_in
from goptx.weaving.link.source_lines import Location, Tables


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry, flat and renamed, with its control flow. `letter` is A, B, ... in the order given, and of a coarsened
    kernel `copy` says which copy it is, from 0 on; `gate` is what keeps out the threads and CTAs of W that are none of
    the kernel's. `callees` says, by labels, what it may call through pointers, `left_out` what of it W lacks. `symbols`
    has the variables and functions of its module that it needs, by the names that they have there, `lines` where in its
    source the lines of its PTX come from."""

    letter: str
    prefix: str
    entry: Function
    parameters: tuple[Variable, ...]
    registers: tuple[Registers, ...]
    variables: tuple[Declaration, ...]
    flow: Flow
    source: str
    gate: RangeGuard | None = None
    callees: tuple[Statement, ...] = ()
    left_out: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[int, Location] = field(default_factory=dict)
    copy: int = 0

    def calling(self, names: Mapping[str, str]) -> dict[str, str]:
        """`symbols` where what had a name of `names` has a new one."""
        return {old: names.get(new, new) for old, new in self.symbols.items()}

    def at(self, line: int) -> str:
        """Names file, line and kernel, as messages begin."""
        return place(self.source, line, self.letter, self.entry)

    def text_blocks(self) -> list[tuple[Code, ...]]:
        """The basic blocks of its text, before any pass has changed its flow."""
        return text_blocks(self.entry.body, self.source)

    def register_names(self) -> list[str]:
        """Of its registers, those that are declared in the braces of calls among them."""
        scopes = (code for code in self.flow.codes() if isinstance(code, Scope))
        inner = (s for s in statements_in(scopes) if isinstance(s, Registers))
        return [name for declared in (*self.registers, *inner) for name, _ in declared.names]

    def parameter_sizes(self) -> dict[str, int]:
        """The bytes of its parameters, and of those that it passes to functions, by name."""
        passed = (d.variable for d in self.variables if d.variable.space == ".param")
        return {v.name: v.size for v in (*self.parameters, *passed)}

    def quote(self, statement: object) -> str:
        """A statement as its file has it, for messages."""
        return as_written(statement, self.prefix)


@dataclass(frozen=True, slots=True)
class Linked:
    """What the woven module holds beside the woven entry. `kernels` are those given, the copies of each in a row, as
    many as `coarse` says for it. `begin` is the code that the entry begins with (dependent_grids.py, remap.py),
    `clusters` what it states of clusters (clusters.py), `together` what the copies of a kernel, by its letter, have in
    common (copies.py). `hidden` are parameters of W behind those of the kernels, by their roles, `tables` what the
    kernels' lines refer to; `plan` says how W is launched where kernels have shapes of their own. `lacks` names
    parameters of kernels that W does not have, with the one that is read instead, or "". `limits` are those of the
    launches for which all this is right."""

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
    coarse: tuple[Coarse, ...] = ()
    together: Mapping[str, CopyPredicates] = field(default_factory=dict)
    limits: frozenset[Limit] = frozenset()

    @property
    def given(self) -> tuple[Kernel, ...]:
        """The kernels, one copy of each."""
        return tuple(k for k in self.kernels if not k.copy)

    def owner(self, code: Code) -> Kernel:
        """The kernel that code comes from."""
        assert code.kernel is not None
        return self.kernels[code.kernel]

    def is_copy(self, kernel: Kernel) -> bool:
        """Whether it is one of several copies."""
        return sum(k.letter == kernel.letter for k in self.kernels) > 1


@dataclass(frozen=True, slots=True)
class Choices:
    """How long instructions last, how blocks are sliced by that, and in which order they are woven. `presume`: whether
    loaded data that decides about barriers may be taken as the same for all threads of a CTA."""

    policy: Policy
    slicing: Slicing
    table: LatencyTable
    presume: bool = True

    def cycles(self, code: Code) -> int:
        """The latency of an instruction, or of all those in a call's braces."""
        return cycles_of(self.table, code)


@dataclass(frozen=True, slots=True)
class Divergence:
    """How the divergent branch on a line of the kernel's file is dealt with. A region is "park" until the merger
    puts the other kernel's code on its sides: its `regions` are the block that stands for it and copies of that."""

    line: int
    choice: Choice
    regions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Converged:
    """A kernel's flow with warp-uniform branches only, regions apart.

    `registers` are the fresh ones that it needs; `warp_branches` the blocks whose branch the warps of a CTA
    may take differently; `notes` what was presumed; `last` whether it may only run when the other kernel has
    ended; `lanes_wait_apart` whether lanes of one warp may come to a wait for other threads one by one
    (spin_regions.py); `threads` how many meet at its barriers where the woven kernel's CTA is larger (range_guard.py).
    `as_written`: nothing was rewritten, so lanes may be apart in any block.
    """

    flow: Flow
    registers: tuple[Registers, ...] = ()
    warp_branches: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    last: bool = False
    threads: Operand | None = None
    lanes_wait_apart: bool = False
    as_written: bool = False


def place(source: str, line: int, letter: str, entry: Function) -> str:
    return f"{source}:{line}: kernel {letter} (`{entry.name}`)"


@dataclass(frozen=True, slots=True)
class CopyPredicates:
    """Of the copies of one kernel, predicates that are set ahead of all code, None where nobody ends. `ended` has the
    threads that run no copy: all threads of a CTA, or whole warps; `left_over` the CTAs that run the last copy only;
    `beyond` the whole warps that the kernel lacks, where its CTAs have nothing else to do."""

    ended: str | None = None
    left_over: str | None = None
    beyond: str | None = None


@dataclass(frozen=True, slots=True)
class RangeGuard:
    """`code` sets the predicate `ended` of the threads that end at once: the same for all threads of a CTA, or, where
    `threads` is given, for those of a warp. `threads` (a multiple of 32) is for how many the kernel's barriers wait.
    A copy of a kernel, which does not end by itself (copies.py), has no `ended` but may have `threads`."""

    code: tuple[Instruction, ...]
    ended: str | None
    threads: Operand | None
