"""How often the loops of a kernel run, as far as its code determines it.

Requires: a flow without regions. A loop that steps by the size of the grid iterates once (it is there for grids that
are too small); one that counts from one constant to another has that trip count; that of any other is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from goptx.analysis.cfg import Flow, loops
from goptx.analysis.dataflow import computed_from, read, written
from goptx.analysis.loops.launch_trips import launch_trips
from goptx.analysis.numbering import provenance_of
from goptx.analysis.values.thread_values import number
from goptx.launch.shape import Shape
from goptx.ptx.ir import Instruction, Provenance
from goptx.ptx.opcodes import facts_of

UNKNOWN = 10.0  # trips of such a loop in the middle assumption, as elsewhere in goptx (cost/assumptions.py)


def loop_trips(flow: Flow) -> dict[str, float | None]:
    """How often each loop runs whenever it is entered, by the name of its head; None where that is unknown."""
    sizes = _from_sizes(flow)
    moves = _moves(flow)
    return {header: _times(flow, body, sizes, moves) for header, body in loops(flow).items()}


def trips_in_launch(flow: Flow, shape: Shape | None) -> dict[str, float | None]:
    """The same, where the shape of the launch is known, if it is."""
    counted = launch_trips(flow, shape, {}) if shape else {}
    return {**loop_trips(flow), **counted} if loops(flow) else {}


def trips_of_code(flow: Flow, shape: Shape | None) -> dict[Provenance, float]:
    """For the code of each loop with a known trip count, that count: of the innermost loop around it. `shape` is that
    of the launch, if it is known."""
    found: dict[Provenance, float] = {}
    counted = trips_in_launch(flow, shape)
    for header, body in sorted(loops(flow).items(), key=lambda loop: -len(loop[1])):
        times = counted[header]
        for code in (code for name in body for code in flow.blocks[name].code):
            if times is None:
                found.pop(provenance_of(code), None)
            else:
                found[provenance_of(code)] = times
    return found


def trips(flow: Flow, found: Mapping[str, float | None], unknown: float = UNKNOWN) -> dict[str, float]:
    """How often a thread that goes everywhere executes each block, if loops run as often as `found` says, and
    `unknown` times where that has None."""
    often = dict.fromkeys(flow.blocks, 1.0)
    for header, body in loops(flow).items():
        times = found[header]
        for name in body:
            often[name] *= unknown if times is None else times
    return often


def unknown_depth(flow: Flow, found: Mapping[str, float | None]) -> int:
    """The deepest nest of loops with unknown trip counts."""
    depth = dict.fromkeys(flow.blocks, 0)
    for header, body in loops(flow).items():
        for name in body:
            depth[name] += found[header] is None
    return max(depth.values())


def _from_sizes(flow: Flow) -> set[str]:
    """Registers that are computed from the size of the grid."""
    return computed_from(flow, ("%nctaid",))


def _moves(flow: Flow) -> dict[str, list[tuple[str, Instruction]]]:
    """The `mov` instructions that write each register, each with its block."""
    found: dict[str, list[tuple[str, Instruction]]] = {}
    for name, block in flow.blocks.items():
        for instruction in block.instructions():
            for register in written(instruction) if facts_of(instruction.opcode).moves else ():
                found.setdefault(register, []).append((name, instruction))
    return found


def _times(
    flow: Flow, body: Collection[str], sizes: Collection[str], moves: Mapping[str, Sequence[tuple[str, Instruction]]]
) -> float | None:
    inside = [i for name in body for i in flow.blocks[name].instructions()]
    changed = {register for i in inside for register in written(i)}
    for step in inside:
        if facts_of(step.opcode).adds and written(step) & read(step):
            if any(n in sizes and n not in changed for n in read(step)):
                return 1.0
            if (count := _counted(body, inside, step, moves)) is not None:
                return count
    return None


def _counted(
    body: Collection[str],
    inside: Collection[Instruction],
    step: Instruction,
    moves: Mapping[str, Sequence[tuple[str, Instruction]]],
) -> float | None:
    """The trip count of a loop whose counter `step` takes from one constant to another; None if that is unknown."""
    (counter,) = written(step)
    first = [number(i.operands[1]) for name, i in moves.get(counter, ()) if name not in body]
    last = [number(i.operands[-1]) for i in inside if facts_of(i.opcode).compares and counter in read(i)]
    by = number(step.operands[-1])
    if len(first) != 1 or len(last) != 1 or first[0] is None or last[0] is None or not by:
        return None
    return max(abs(last[0] - first[0]) / abs(by), 1.0)
