"""A kernel alone: its work under an assumption of how it behaves.

What does not depend on assumptions (the work of each block, registers, branches) is found once; the work under an
assumption is a weighted sum of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import Flow, facts_among, loops
from goptx.analysis.early_ends import early_end
from goptx.analysis.loops.launch_trips import launch_trips
from goptx.analysis.loops.trips import loop_trips, trips, unknown_depth
from goptx.analysis.registers.register_demand import Demand
from goptx.analysis.values.thread_values import Elements
from goptx.cost.assumptions import NOTHING, Behaviour, Known, Unknown, with_arguments
from goptx.cost.branches import Fork, forks, shares
from goptx.cost.code_size import code_size
from goptx.cost.critical_path import critical_cycles, path_of
from goptx.cost.hardware import L2_SPEED, Machine
from goptx.cost.register_estimate import Pressure, pressure
from goptx.cost.sampled_kernel import HIT, SampledKernel, sampled_kernel, waits_of_loads
from goptx.cost.units.cached_loads import lines_of_tables
from goptx.cost.work import Course, Work, total, units_of
from goptx.emulator.sampled.sample_counts import MOST_WORK, SampledRun
from goptx.errors import InputError
from goptx.latency.slots import slots
from goptx.latency.table import LatencyTable
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.launch.specification import launch_of
from goptx.memo import Deferred, Same
from goptx.ptx.aliases import without_aliases
from goptx.ptx.flatten import flat_as_written
from goptx.ptx.ir import Label, Module
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.walk import mentioned
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.converge.predicate import LONG_SIDE
from goptx.weaving.folding.divided_ctas import first_obstacle
from goptx.weaving.folding.divided_products import possible_pieces
from goptx.weaving.folding.folded_demand import demand_when_folded
from goptx.weaving.link.inline import inlined
from goptx.weaving.shapes.shared_pool import packed

FORK = 6  # slots of a branch whose sides are not: it, and what reconverges the lanes; set by MICND of suite A


@dataclass(frozen=True, slots=True)
class Times:
    """How often a warp of a fused kernel executes a line of the file in all, and in one run of the innermost loop
    around it. The side of a branch counts by the share of the warps that run it."""

    all: float
    outside: float


@dataclass(frozen=True, slots=True)
class Acts:
    """A kernel that behaves as assumed.

    work: of a warp of a CTA that does not end at once, alone. fused: the cycles of each unit for the same warp in a
    fused kernel. ended, fused_ended: of a warp of a CTA that ends at once. lines: how often each line is executed.
    """

    work: Work
    fused: Mapping[str, float]
    ended: Mapping[str, float]
    fused_ended: Mapping[str, float]
    lines: Mapping[int, Times]


@dataclass(frozen=True, eq=False)
class Alone:
    """A kernel alone, and what is unknown of it. shared: the static shared memory of a CTA in bytes. heads: the lines
    by which the caller may name each loop, that of its label and that of its first instruction. waits: the cycles
    of loads, by their lines, where they are known. pieces: into how many each `wgmma` may be divided.
    folded: the registers that it needs on folded grids. sampled: what some of its CTAs do. launched:
    whether its arguments are known."""

    flow: Flow
    units: Mapping[str, Mapping[str, float]]
    critical: Mapping[str, int]
    pressure: Pressure
    loops: Mapping[str, float | None]
    forks: tuple[Fork, ...]
    early: frozenset[str] | None
    shared: int
    heads: Mapping[str, tuple[int, ...]]
    waits: Mapping[int, int]
    folded: Deferred[Demand]
    pieces: tuple[int, ...] = (1,)
    live: float | None = None
    sampled: SampledKernel | None = None
    launched: bool = False
    _acts: dict[Behaviour, Acts] = field(default_factory=dict, repr=False)

    @cached_property
    def unknown_loops(self) -> int:
        """The deepest nest of loops with unknown trip counts."""
        return unknown_depth(self.flow, self.loops)

    @cached_property
    def unknown(self) -> Unknown:
        names = {
            "trips": None in self.loops.values() and self.sampled is None,
            "live": self.early is not None and self.live is None,
            "divergent": bool(self.forks) and self.sampled is None,
            "cached": any(units["memory"] for units in self.units.values()),
        }
        middle = Behaviour() if self.live is None else Behaviour(live=self.live)
        return Unknown(frozenset(name for name, is_unknown in names.items() if is_unknown), middle)

    @property
    def is_known(self) -> bool:
        """Whether it is known how long its warps run in its launch."""
        return self.launched and "trips" not in self.unknown.fields

    @cached_property
    def has_barriers(self) -> bool:
        """Whether its threads wait for all of their CTA."""
        return any(facts.row.scope > Convergence.WARP for facts in facts_among(self.flow))

    @cached_property
    def warps_are_free(self) -> bool:
        """Whether the warps of a CTA need nothing of each other, but for dynamic shared memory."""
        return not self.shared and first_obstacle(self.flow) is None

    @property
    def work(self) -> Work:
        """Its work under the middle assumption."""
        return self.under(self.unknown.middle).work

    @cached_property
    def lines(self) -> Mapping[int, int]:
        """The lines of its instructions, and how many are in each."""
        return Counter(i.line for i in self.flow.instructions())

    def everywhere(self, behaviour: Behaviour) -> float:
        """Cycles of a warp that executes all blocks, whatever their order."""
        passes = self._passes(behaviour)
        return sum(cycles * passes[name] for name, cycles in self.critical.items())

    def under(self, behaviour: Behaviour) -> Acts:
        """What it does if it behaves so."""
        if behaviour not in self._acts:
            self._acts[behaviour] = self._under(behaviour)
        return self._acts[behaviour]

    def _under(self, behaviour: Behaviour) -> Acts:
        passes, seen = self._passes(behaviour), self.sampled.sides if self.sampled else None
        branches = [fork for fork in self.forks if not fork.predicated]
        alone = shares(self.flow, branches, behaviour.divergent, 0, seen)
        together = shares(self.flow, self.forks, behaviour.divergent, LONG_SIDE, seen)
        often = {name: times * alone[name] for name, times in passes.items()}
        own = {**total(self.units, often), **(self.sampled.occupied if self.sampled else {})}
        own = self._cached(own, behaviour)
        own["issue"] += FORK * sum(often[f.block] for f in branches if not f.inner)
        fused = dict(own)
        for unit, cycles in total(self.units, {name: n * together[name] for name, n in passes.items()}).items():
            if unit not in ("shared", "memory"):  # an access under a predicate that does not hold takes an issue slot
                fused[unit] = cycles
        fused["issue"] += FORK * sum(often[f.block] for f in self.forks if max(f.lengths) > LONG_SIDE)
        blocks = self.flow.blocks.items()
        executed = {name: len(block.instructions()) * passes[name] for name, block in blocks}
        run = {name: float(sum(map(slots, block.instructions()))) for name, block in blocks}
        latency, path = path_of(self.flow, self.critical, executed, often)
        latency += self._other_sides(path, often)
        course = Course(latency, self.pressure, code_size(self.flow, run, passes, path))
        ended = total(self.units, {name: float(name in (self.early or ())) for name in self.flow.blocks})
        ended = {unit: min(cycles, own[unit]) for unit, cycles in ended.items()}
        fused_ended = {**ended, "issue": min(fused["issue"], ended["issue"] + LONG_SIDE)}
        return Acts(Work(own, course), fused, ended, fused_ended, self._lines(passes, together))

    def _passes(self, behaviour: Behaviour) -> Mapping[str, float]:
        """How often a warp that goes everywhere executes each block."""
        return self.sampled.passes if self.sampled else trips(self.flow, self.loops, behaviour.trips)

    def _other_sides(self, path: Sequence[str], often: Mapping[str, float]) -> float:
        """Cycles of the sides of branches that are not on the path of a warp: lanes that diverge run one side after the
        other. Sides under predicates run together."""
        taken = {*path}
        long = (f for f in self.forks if f.block in taken and not f.predicated)
        others = {name for fork in long for side in fork.sides for name in side} - taken
        return sum(self.critical[name] * often[name] for name in others)

    @staticmethod
    def _cached(units: dict[str, float], behaviour: Behaviour) -> dict[str, float]:
        return units | {"memory": units["memory"] / (L2_SPEED if behaviour.cached else 1.0)}

    def _lines(self, passes: Mapping[str, float], share: Mapping[str, float]) -> dict[int, Times]:
        bodies = loops(self.flow)
        found: dict[int, Times] = {}
        for name, block in self.flow.blocks.items():
            around = min((h for h, body in bodies.items() if name in body), key=lambda h: len(bodies[h]), default="")
            outside = passes[name] if not around else _outside(self.flow, around, passes)
            for i in block.instructions():
                before = found.get(i.line)
                if before is None or before.all < passes[name] * share[name]:
                    found[i.line] = Times(passes[name] * share[name], outside * share[name])
        return found


def _outside(flow: Flow, header: str, passes: Mapping[str, float]) -> float:
    """How often a loop is entered."""
    bodies = loops(flow)
    outer = [h for h, body in bodies.items() if bodies[header] < body]
    return passes[min(outer, key=lambda h: len(bodies[h]))] if outer else 1.0


def alone(
    kernel: Chosen, machine: Machine, table: LatencyTable, known: Known = NOTHING, shape: Shape | None = None,
    letter: str = "A",
) -> Alone:  # fmt: skip
    """The kernel, of which `known` is known, in its launch shape. Raises `CannotWeave` if its control flow is not
    known, `InputError` if `known` has a line where no loop begins, or a specification without the kernel."""
    found = _analysed(Same(kernel.module), kernel.entry, Same(machine), Same(table), kernel.max_inlined)
    if known == NOTHING:
        return _in_shape(Same(found), shape) if shape and None in found.loops.values() else found
    where = f"{kernel.module.source}: kernel {letter} ({kernel.entry})"
    _check_arguments(known, kernel, where)
    known, launch = _specified(known, kernel, shape, where)
    counted = _counted(found, kernel, launch, known) if launch else {}
    ctas, live = launch.ctas if launch else None, None
    if known.live_ctas is not None:
        live = min(known.live_ctas / (ctas or max(known.live_ctas, 1)), 1.0)
    launched = known.arguments is not None
    found = replace(found, loops={**found.loops, **counted}, live=live, launched=launched, _acts={})
    if launch and ctas and not known.trips and (run := _run(found, kernel, launch, known)):
        found = _as_sampled(found, run, ctas, machine, table)
    return replace(found, loops=_with_known(found.loops, found.heads, known, where))


@lru_cache(maxsize=64)
def _in_shape(kernel: Same[Alone], shape: Shape) -> Alone:
    """With the loops counted that depend on nothing but the launch shape, such as those over the threads of a CTA."""
    counted = _trips(kernel, shape)
    return replace(kernel.held, loops={**kernel.held.loops, **counted}, _acts={}) if counted else kernel.held


def _specified(known: Known, kernel: Chosen, shape: Shape | None, where: str) -> tuple[Known, Shape | None]:
    """What is known with the arguments of the launch specification, if one is named, and the shape of the launch:
    that of the specification where no other is known. Raises `InputError`."""
    if known.specification is None:
        return known, shape
    launch = launch_of(known.specification, kernel.entry)
    if launch is None:
        raise InputError(f"{where}: {known.specification} does not describe its launch; name another, or leave it out.")
    own, known = Shape(launch.grid, launch.block, launch.shared), with_arguments(known, launch.arguments)
    if shape is None or not shape.known:
        return known, own
    same = all(own.axes(what) == shape.axes(what) for what in ("grid", "block"))
    return known if same else replace(known, described=()), shape


def _run(found: Alone, kernel: Chosen, shape: Shape, known: Known) -> SampledRun | None:
    """What some of its CTAs do on the data that the specification describes, if it does and they are not too long."""
    passes = trips(found.flow, found.loops, 1.0)
    least = sum(len(block.instructions()) * passes[name] for name, block in found.flow.blocks.items())
    if not known.described or not shape.known or least > MOST_WORK:
        return None
    from goptx.emulator.sampled.sampled_run import sampled_run  # only where a launch is described: it needs numpy

    return sampled_run(Same(kernel.module), kernel.entry, known.described, shape)


def _as_sampled(found: Alone, run: SampledRun, ctas: int, machine: Machine, table: LatencyTable) -> Alone:
    """With what a run says of the kernel: if nearly all CTAs end at once, only that they do."""
    sampled = sampled_kernel(found.flow, found.forks, found.early, run, ctas, machine)
    live = found.live
    if live is None:
        live = sampled.live if sampled else 0.5 / len(run.steps)
    if sampled is None:
        return replace(found, sampled=None, live=live, launched=False)
    waits, critical = _waiting(Same(found.flow), Same(run), ctas, Same(machine), Same(table))
    return replace(found, sampled=sampled, live=live, waits=waits, critical=critical)


@lru_cache(maxsize=64)
def _waiting(
    flow: Same[Flow], run: Same[SampledRun], ctas: int, machine: Same[Machine], table: Same[LatencyTable]
) -> tuple[Mapping[int, int], Mapping[str, int]]:
    """The cycles of loads, and of blocks with these: the choice among candidates and the report ask for the same."""
    waits = waits_of_loads(run.held, ctas, machine.held, table.held)
    return waits, critical_cycles(flow.held, table.held, machine.held, lambda i: waits.get(i.line))


def _counted(found: Alone, kernel: Chosen, shape: Shape, known: Known) -> Mapping[str, float]:
    names = [parameter.name for parameter in choose_entry(kernel.module, kernel.entry).parameters]
    numbers = tuple((names[i], number) for i, number in (known.arguments or {}).items() if i < len(names))
    elements = tuple((names[i], own) for i, own in known.elements.items() if i < len(names))
    return _trips(Same(found), shape, numbers, elements)


@lru_cache(maxsize=64)
def _trips(
    kernel: Same[Alone],
    shape: Shape,
    numbers: tuple[tuple[str, int], ...] = (),
    elements: tuple[tuple[str, Elements], ...] = (),
) -> Mapping[str, float]:
    """As `launch_trips`: the choice among candidates and the report ask for the same."""
    return launch_trips(kernel.held.flow, shape, dict(numbers), dict(elements))


@lru_cache(maxsize=64)
def _analysed(
    kernel: Same[Module], entry: str, machine: Same[Machine], table: Same[LatencyTable], max_inlined: int
) -> Alone:
    """A kernel of which nothing is known but its code."""
    module = inlined(without_aliases(kernel.held), max_inlined)
    body = choose_entry(module, entry).body
    flat, flow = flat_as_written(body), flow_as_written(body, module.source)
    labels = {statement.name: statement.line for statement in flat.code if isinstance(statement, Label)}
    heads = {header: _head(flow, header, labels) for header in loops(flow)}
    named = set(mentioned(flow.codes()))
    variables = [v for v in module.variables if v.name in named] + [d.variable for d in flat.variables]
    waits = dict.fromkeys(lines_of_tables(flow), table.held.cycles(HIT))
    return Alone(
        flow,
        units_of(flow, machine.held),
        critical_cycles(flow, table.held, machine.held, lambda i: waits.get(i.line)),
        pressure(flow, flat.registers),
        loop_trips(flow),
        forks(flow),
        early_end(flow),
        packed([v for v in variables if v.space == ".shared"])[1],
        heads,
        waits,
        Deferred(lambda: demand_when_folded(flow, flat.registers, table.held)),
        possible_pieces(flow),
    )


def each_alone(
    kernels: Sequence[Chosen], machine: Machine, table: LatencyTable, known: Sequence[Known], shapes: Sequence[Shape]
) -> list[Alone]:
    """As `alone`, of kernels that are called A, B and so on."""
    each = enumerate(zip(kernels, known, shapes, strict=True))
    return [alone(kernel, machine, table, own, shape, letter_of(k)) for k, (kernel, own, shape) in each]


def _head(flow: Flow, header: str, labels: Mapping[str, int]) -> tuple[int, ...]:
    first = next((i.line for i in flow.blocks[header].instructions()), 0)
    return tuple(dict.fromkeys(line for line in (labels.get(header, 0), first) if line))


def _check_arguments(known: Known, kernel: Chosen, where: str) -> None:
    """Raises `InputError` for an argument of a parameter that the kernel lacks."""
    count = len(choose_entry(kernel.module, kernel.entry).parameters)
    for position in known.arguments or {}:
        if not 0 <= position < count:
            raise InputError(f"{where}: assume= gives the argument {position}; it has the parameters 0 to {count - 1}.")


def _with_known(
    found: Mapping[str, float | None], heads: Mapping[str, tuple[int, ...]], known: Known, where: str
) -> dict[str, float | None]:
    trips = dict(found)
    for line, times in known.trips.items():
        named = [header for header, lines in heads.items() if line in lines]
        if not named:
            own = sorted(lines[0] for lines in heads.values() if lines)
            there = f"loops begin in lines {', '.join(map(str, own))}" if own else "it has no loops"
            raise InputError(f"{where}: assume= gives trips of a loop in line {line}, where none begins; {there}.")
        trips |= dict.fromkeys(named, times)
    return trips
