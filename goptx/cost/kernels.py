"""The work of a kernel alone, and the paths of warps through a kernel made of several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Flow, depths
from goptx.analysis.numbering import numbered, provenance_of
from goptx.analysis.registers.register_estimate import pressure
from goptx.cost.code_size import Weight, code_size
from goptx.cost.hardware import Machine
from goptx.cost.trips import UNKNOWN, trips
from goptx.cost.work import Course, Work, path_of, units_of
from goptx.latency.table import LatencyTable
from goptx.ptx.aliases import without_aliases
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Instruction, Provenance
from goptx.ptx.walk import mentioned, statements_in
from goptx.results.fused_kernel import Origin, Woven
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.link.inline import inlined
from goptx.weaving.shapes.shared_pool import packed


@dataclass(frozen=True, slots=True)
class Alone:
    """A kernel alone: the work of one warp, how often it executes each line of the file, the static shared memory of a
    CTA in bytes, and the deepest nest of loops with unknown trip counts."""

    work: Work
    lines: Mapping[int, float]
    shared: int
    unknown_loops: int = 0


def alone(kernel: Chosen, machine: Machine, table: LatencyTable) -> Alone:
    """The work of the kernel. Raises `CannotWeave` if its control flow is not known."""
    module = inlined(without_aliases(kernel.module))
    flat = flatten(choose_entry(module, kernel.entry).body or (), lambda name: name)
    flow = control_flow(replace(flat, code=numbered(flat.code)), module.source)
    often, unknown = trips(flow)
    times = {provenance_of(i): often[name] for name, block in flow.blocks.items() for i in block.instructions()}
    lines: dict[int, float] = {}
    for name, block in flow.blocks.items():
        for i in block.instructions():
            lines[i.line] = max(often[name], lines.get(i.line, 0.0))

    def weight(instruction: Instruction) -> float:
        return times[provenance_of(instruction)]

    latency, path = path_of(flow, weight, table)
    course = Course(latency, pressure(flow, flat.registers, module.target[0]), code_size(flow, weight, path))
    named = set(mentioned(flow.codes()))
    variables = [v for v in module.variables if v.name in named] + [d.variable for d in flat.variables]
    work = Work(units_of(flow, weight, machine), course)
    return Alone(work, lines, packed([v for v in variables if v.space == ".shared"])[1], unknown)


def courses_of(woven: Woven, kernels: Sequence[Alone], table: LatencyTable) -> list[Course]:
    """The course of a warp through each entry of `woven`; for each kernel one, if each warp runs only one of them. How
    often instructions are executed follows from the kernels."""
    found: list[Course] = []
    origins = iter(woven.origins)
    for entry in woven.module.entries:
        flat = flatten(entry.body or (), lambda name: name)
        code = numbered(flat.code)
        flow = control_flow(replace(flat, code=code), woven.name)
        instructions = (s for s in statements_in(code) if isinstance(s, Instruction))
        known = {provenance_of(i): o for i, o in zip(instructions, origins, strict=False) if o and o.line}
        needs = pressure(flow, flat.registers, woven.module.target[0])
        groups = [[letter] for letter in woven.report.kernels] if woven.strategy == "interleave" else [None]
        for letters in groups:
            weight = _weight(flow, known, kernels, letters)
            latency, path = path_of(flow, weight, table)
            found.append(Course(latency, needs, code_size(flow, weight, path)))
    return found


def _weight(
    flow: Flow, known: Mapping[Provenance, Origin], kernels: Sequence[Alone], letters: Collection[str] | None
) -> Weight:
    """How often an instruction is executed: as often as the kernel executes its line. If the first iteration of a loop
    was peeled, the peeled code counts once and the loop for the others. With `letters`, only these kernels count."""
    depth = depths(flow)
    at = {provenance_of(i): depth[name] for name, block in flow.blocks.items() for i in block.instructions()}
    depths_of: dict[tuple[str, int], set[int]] = {}
    for i, origin in known.items():
        if i in at:
            depths_of.setdefault((origin.kernel, origin.line), set()).add(at[i])

    def weight(instruction: Instruction) -> float:
        origin = known.get(provenance_of(instruction))
        if origin is None or (letters and origin.kernel not in letters):
            return 0.0
        times = kernels[ord(origin.kernel) - ord("A")].lines.get(origin.line, 0.0)
        several = depths_of[origin.kernel, origin.line]
        if len(several) == 1:
            return times
        first = times / UNKNOWN if times >= UNKNOWN else times
        return first if at[provenance_of(instruction)] == min(several) else times - first

    return weight
