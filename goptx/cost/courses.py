"""The paths of warps through what was made of several kernels, under any assumption.

Each instruction of a fused kernel counts as often as its kernel executes its line. What goptx inserted does not count
by itself. Where loops stand in several copies after each other, the path would count them several times: it is at most
as long as all blocks of the kernels one after the other. Analyses of the made code are done once; an assumption only
changes how often blocks are run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Code, Flow, depths, instructions_in
from goptx.analysis.numbering import numbered, provenance_of
from goptx.cost.assumptions import Behaviour
from goptx.cost.code_size import code_size
from goptx.cost.critical_path import critical_cycles, path_of
from goptx.cost.hardware import Machine, machine_of
from goptx.cost.kernels import Alone, Times
from goptx.cost.register_estimate import Pressure, pressure
from goptx.cost.work import Course
from goptx.latency.slots import slots
from goptx.latency.table import LatencyTable
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Instruction, Provenance, Scope
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Origin, Woven

Numbered = tuple[int, int]  # kernel and line
Line = tuple[int, int, int]  # the same, and the number of loops around the instruction


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the made module.

    origins: kernel and line of its instructions. lines: for each block, how many instructions, and slots of them, are
    of each line. depths: the numbers of loops around the instructions of each line.
    """

    flow: Flow
    pressure: Pressure
    table: LatencyTable
    machine: Machine
    origins: Mapping[Provenance, Numbered]
    lines: Mapping[str, Mapping[Line, tuple[int, int]]]
    depths: Mapping[tuple[int, int], frozenset[int]]


@dataclass(frozen=True, eq=False)
class Made:
    """What was made of kernels: its entries, one for a fused kernel, one for each of separate kernels.

    copies: of each kernel in a CTA.
    """

    kernels: tuple[Alone, ...]
    copies: tuple[int, ...]
    entries: tuple[_Entry, ...]
    _critical: dict[tuple[object, ...], dict[str, int]] = field(default_factory=dict, repr=False)
    _courses: dict[tuple[object, ...], Course] = field(default_factory=dict, repr=False)

    def course(self, behaviours: Sequence[Behaviour], which: Collection[int], entry: int = 0) -> Course:
        """The course of a warp through an entry, of which it executes these kernels, which behave so."""
        chosen = tuple(sorted(which))
        key = (entry, chosen, tuple((behaviours[k].trips, behaviours[k].divergent) for k in chosen))
        if key not in self._courses:
            times = {k: self.kernels[k].under(behaviours[k]).lines for k in chosen}
            left = {
                (k, line): own.all * self.kernels[k].lines[line] * self.copies[k]
                for k in chosen
                for line, own in times[k].items()
            }
            found = _course(self.entries[entry], self._cycles(entry, chosen), times, left)
            most = sum(self.kernels[k].everywhere(behaviours[k]) * self.copies[k] for k in chosen)
            self._courses[key] = replace(found, latency=min(found.latency, most))
        return self._courses[key]

    def _cycles(self, entry: int, which: tuple[int, ...]) -> dict[str, int]:
        """The critical paths of blocks without the code of other kernels, which a warp that has ended them skips."""
        if (entry, which) not in self._critical:
            own = self.entries[entry]

            def runs(code: Code) -> bool:
                several = instructions_in(code) if isinstance(code, Scope) else [code]
                return any(own.origins.get(provenance_of(i), (which[0], 0))[0] in which for i in several)

            def waits(code: Instruction) -> int | None:
                kernel, line = own.origins.get(provenance_of(code), (0, 0))
                return self.kernels[kernel].waits.get(line)

            self._critical[entry, which] = critical_cycles(own.flow, own.table, own.machine, waits, runs)
        return self._critical[entry, which]


def made_of(woven: Woven, kernels: Sequence[Alone], table: LatencyTable) -> Made:
    """Analyses what was made of the kernels."""
    copies = tuple(kernel.coarse.factor for kernel in woven.chosen)
    return Made(tuple(kernels), copies, tuple(_entries(woven, table)))


def _entries(woven: Woven, table: LatencyTable) -> Iterator[_Entry]:
    origins, machine = iter(woven.origins), machine_of(woven.module.target[0])
    for function in woven.module.entries:
        flat = flatten(function.body or (), lambda name: name)
        flow = control_flow(flat, woven.name)
        if not all(i.provenance for i in flow.instructions()):  # it was read from text
            flat = replace(flat, code=numbered(flat.code))
            flow = control_flow(flat, woven.name)
        instructions = (s for s in statements_in(flat.code) if isinstance(s, Instruction))
        each = zip(instructions, origins, strict=False)
        known = {i.provenance: o for i, o in each if o and o.line and i.provenance}  # a branch may have none
        depth = depths(flow)
        lines = {name: _lines(flow, name, depth[name], known) for name in flow.blocks}
        found: dict[tuple[int, int], set[int]] = {}
        for kernel, line, nest in (line for counts in lines.values() for line in counts):
            found.setdefault((kernel, line), set()).add(nest)
        nests = {line: frozenset(nest) for line, nest in found.items()}
        whose = {provenance: (_number(origin), origin.line) for provenance, origin in known.items()}
        counted = pressure(flow, flat.registers, woven.module.target[0], function.directives)
        if woven.needed is not None:
            counted = Pressure.of(woven.needed, counted.widest)
        yield _Entry(flow, counted, table, machine, whose, lines, nests)


def _number(origin: Origin) -> int:
    return ord(origin.kernel) - ord("A")


def _lines(flow: Flow, name: str, nest: int, known: Mapping[Provenance, Origin]) -> dict[Line, tuple[int, int]]:
    count, size = Counter[Line](), Counter[Line]()
    for instruction in flow.blocks[name].instructions():
        if origin := known.get(provenance_of(instruction)):
            line = _number(origin), origin.line, nest
            count[line] += 1
            size[line] += slots(instruction)
    return {line: (count[line], size[line]) for line in count}


def _course(
    entry: _Entry, critical: Mapping[str, int], times: Mapping[int, Mapping[int, Times]], left: Mapping[Numbered, float]
) -> Course:
    executed, run, often, weights = {}, {}, {}, {}
    for name, lines in entry.lines.items():
        weights[name] = {line: _weight(entry, line, times) for line in lines}
        executed[name] = sum(lines[line][0] * weight for line, weight in weights[name].items())
        run[name] = float(sum(lines[line][1] for line, weight in weights[name].items() if weight))
        empty = not entry.flow.blocks[name].instructions()
        often[name] = max(weights[name].values(), default=1.0 if empty else 0.0)
    _, path = path_of(entry.flow, critical, executed, often)
    often |= _along(entry, path, weights, left)
    latency = sum(critical[name] * often[name] for name in path)
    return Course(latency, entry.pressure, code_size(entry.flow, run, often, path))


def _along(
    entry: _Entry, path: Sequence[str], weights: Mapping[str, Mapping[Line, float]], budget: Mapping[Numbered, float]
) -> dict[str, float]:
    """How often a warp runs the blocks on its path. The loops of several kernels are there once beside each other and
    once for each that goes on alone: a warp leaves the common copy when one of them ends, and no instruction is run
    more often in all copies than its kernel runs it. `budget` says how often that is, for all copies of a CTA."""
    left = dict(budget)
    later: list[set[Numbered]] = [set()]
    for name in reversed(path):
        later.append(later[-1] | {line[:2] for line in weights[name]})
    found = {}
    for name, after in zip(path, later[-2::-1], strict=True):
        each: dict[int, tuple[float, Numbered]] = {}
        for line, weight in weights[name].items():
            number = line[:2]
            may = min(weight, left.get(number, 0.0) / entry.lines[name][line][0])
            each[number[0]] = max(each.get(number[0], (0.0, number)), (may, number))
        running = [(may, number) for may, number in each.values() if may > 0.0]
        if not running:
            if weights[name]:
                found[name] = 0.0
            continue
        ends = min(may for may, _ in running)
        found[name] = max(may if number not in after else ends for may, number in running)
        for line in weights[name]:
            left[line[:2]] = left.get(line[:2], 0.0) - found[name] * entry.lines[name][line][0]
    return found


def _weight(entry: _Entry, line: Line, times: Mapping[int, Mapping[int, Times]]) -> float:
    """How often an instruction is executed: as often as the kernel executes its line. If the first iteration of a loop
    was peeled, the peeled code counts once and the loop for the others."""
    kernel, number, depth = line
    found = times.get(kernel, {}).get(number)
    if found is None:
        return 0.0
    nests = entry.depths[kernel, number]
    if len(nests) == 1:
        return found.all
    return found.outside if depth == min(nests) else max(found.all - found.outside, 0.0)
