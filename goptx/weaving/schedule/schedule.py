"""Orders the instructions of a merged block, whose parts come from different kernels.

Requires: parts that share no registers, except those that one kernel forwards to others. Ensures: each part keeps its
own order (under the policy "latency" its dependences), forwarded registers are written before they are read, and no
instruction of another kernel stands within a carry chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType

from goptx.analysis.cfg import Code, Flow
from goptx.errors import CannotWeave
from goptx.options import Policy
from goptx.ptx.ir import Directive, Instruction, Registers
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.merging.merged_blocks import Merged, MergedBlock, Place, SyncGroup
from goptx.weaving.model import Choices, Converged, Linked
from goptx.weaving.schedule.carry_flag import refuse_mixed_flags
from goptx.weaving.schedule.dependences import Node, across, precedence
from goptx.weaving.schedule.list_schedule import list_schedule
from goptx.weaving.schedule.pressure import BESIDE, LiveRange, Pressure, ends, step, threads, widths_of

Unit = tuple[Code, ...]
Key = Callable[[int, int, int], tuple[int, ...]]
KEYS: Mapping[Policy, Key] = MappingProxyType(  # for a part: cycles emitted so far, cycles of its next unit, its number
    {
        "paper": lambda emitted, latency, k: (emitted, -latency, k),  # the greedy of the GoPTX paper
        "concat": lambda emitted, latency, k: (k,),
    }
)


def units(code: Sequence[Code]) -> list[Unit]:
    """The pieces that are moved whole: single instructions, and carry chains from first `.cc` to last use."""
    result: list[Unit] = []
    i = 0
    while i < len(code):
        last = i
        if _sets_carry(code[i]):
            for j in range(i + 1, len(code)):
                if _uses_carry(code[j]):
                    last = j
                elif _sets_carry(code[j]):
                    break
        result.append(tuple(code[i : last + 1]))
        i = last + 1
    return result


def _is_known(code: Code) -> bool:
    return not isinstance(code, Instruction) or facts_of(code.opcode).known


def _sets_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).sets_carry


def _uses_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).uses_carry


def schedule(linked: Linked, converged: Sequence[Converged], merged: Merged, choices: Choices) -> Flow:
    """The merged flow with the code of each block in its final order. Raises `CannotWeave` where a carry flag would be
    lost, or launch bounds contradict."""
    kernels = linked.kernels
    registers = (*(r for k in kernels for r in k.registers), *(r for c in converged for r in c.registers))
    bounds, _ = launch_bounds(linked.given, linked.plan)
    woven = schedule_blocks(
        merged, choices.policy, choices.cycles, registers, bounds, lambda k, line: kernels[k].at(line)
    )
    flow = Flow(merged.flow.entry, {n: replace(b, code=woven[n]) for n, b in merged.flow.blocks.items()})
    refuse_mixed_flags(flow, lambda i: f"{linked.owner(i).at(i.line)}: `{linked.owner(i).quote(i)}`")
    return ensured("schedule", flow, merged)


def schedule_blocks(
    merged: Merged,
    policy: Policy,
    cycles: Callable[[Code], int],
    registers: Iterable[Registers] = (),
    bounds: Iterable[Directive] = (),
    at: Callable[[int, int], str] = "kernel {}, line {}".format,
) -> dict[str, tuple[Code, ...]]:
    """The woven code of each block. `registers` are all that the fused kernel declares, `bounds` its launch bounds;
    `at`
    names a line of a kernel, given by its number, for messages. Raises `CannotWeave`."""
    for block in merged.blocks.values():
        _check_carries(block, at)
    if policy != "latency":
        return {
            n: schedule_block(b.lists or b.parts, b.sync_groups, policy, cycles, b.forwarded)
            for n, b in merged.blocks.items()
        }
    live_ranges = ends(merged.flow, widths_of(merged.flow, registers, cycles))
    prepared = {
        n: Prepared.of(b.lists or b.parts, b.sync_groups, live_ranges[n], b.forwarded) for n, b in merged.blocks.items()
    }
    peak = max((p.pressure.peak() for p in prepared.values()), default=0)
    most = step(peak + BESIDE, threads(bounds)) - BESIDE
    return {name: p.code(most, cycles) for name, p in prepared.items()}


def _check_carries(block: MergedBlock, at: Callable[[int, int], str]) -> None:
    """Raises `CannotWeave` for a unit with two barriers between which another kernel has to synchronize."""
    order = {place: i for i, place in enumerate(place for group in block.sync_groups for place in group)}
    for k, part in enumerate(block.parts if len(order) > 2 else ()):
        begin = 0
        for unit in units(part):
            here = ((k, begin + i) for i in range(len(unit)))
            places = [order[place] for place in here if place in order]
            begin += len(unit)
            if places and places[-1] - places[0] >= len(places):
                line = getattr(unit[0], "line", 0)
                raise CannotWeave(
                    f"{at(k, line)}: `{str(unit[0]).strip()}` leaves a carry flag that is read after two or more "
                    "barriers, and another kernel waits between these; move the barriers or use separate launches.",
                    rule="carry-flag",
                )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A block to be scheduled; `unknown` is the code of parts with unknown instructions, which comes after it."""

    nodes: Sequence[Node]
    pressure: Pressure
    unknown: tuple[Code, ...]

    @staticmethod
    def of(
        parts: Sequence[Sequence[Code]],
        sync_groups: Sequence[SyncGroup],
        live_range: LiveRange,
        forwarded: Sequence[Place] = (),
    ) -> Prepared:
        parts, sync_groups, unknown = _without_unknown(parts, sync_groups)
        nodes = precedence([units(part) for part in parts], sync_groups, forwarded)
        return Prepared(nodes, Pressure(nodes, live_range), unknown)

    def code(self, most: int, cycles: Callable[[Code], int]) -> tuple[Code, ...]:
        return (*list_schedule(self.nodes, self.pressure, most, cycles), *self.unknown)


def schedule_block(
    parts: Sequence[Sequence[Code]],
    sync_groups: Sequence[SyncGroup],
    policy: Policy,
    cycles: Callable[[Code], int],
    forwarded: Sequence[Place] = (),
) -> tuple[Code, ...]:
    """The woven code of a merged block by itself; `cycles` gives the latency of one instruction.

    "latency" is a list schedule (list_schedule.py); any other policy takes the unit with the least key. `sync_groups`
    has the code that keeps its order across the parts; of the barriers of one group one is left, under the policy
    "latency". A part with unknown instructions stands after the others, as it is written. `forwarded` is that of the
    block.
    """
    if policy == "latency":
        return Prepared.of(parts, sync_groups, LiveRange(), forwarded).code(255, cycles)
    parts, sync_groups, unknown = _without_unknown(parts, sync_groups)
    order = [place for group in sync_groups for place in group]
    woven = greedy([units(part) for part in parts], lambda unit: sum(map(cycles, unit)), order, KEYS[policy], forwarded)
    return (*woven, *unknown)


def _without_unknown(
    parts: Sequence[Sequence[Code]], sync_groups: Sequence[SyncGroup]
) -> tuple[Sequence[Sequence[Code]], Sequence[SyncGroup], tuple[Code, ...]]:
    """The other parts and their sync groups, without the parts that have unknown instructions if there are others; and
    the code of those, which stands after all else."""
    known = list(parts)
    unknown: tuple[Code, ...] = ()
    for k, part in enumerate(known):
        if part and not all(map(_is_known, part)) and sum(map(bool, known)) > 1:
            known[k], unknown = (), (*part, *unknown)
            sync_groups = [group for old in sync_groups if (group := tuple(place for place in old if place[0] != k))]
    return known, sync_groups, unknown


def greedy(
    parts: Sequence[Sequence[Unit]],
    latency: Callable[[Unit], int],
    sync_groups: Sequence[Place] = (),
    key: Key = KEYS["paper"],
    forwarded: Sequence[Place] = (),
) -> tuple[Code, ...]:
    """The next unit comes from the part with the least key. By the paper's key this is the part that has emitted the
    least latency so far; where these are equal, the part with the longer unit; where those are equal too, the earlier
    kernel (GoPTX, DAC 2025). A part waits while an earlier sync group of another part is not emitted, and while its
    next unit reads a register that another part has yet to forward."""
    emitted = [0] * len(parts)
    positions = [0] * len(parts)
    latencies = [[latency(unit) for unit in part] for part in parts]
    begins = [list(accumulate(map(len, part), initial=0)) for part in parts]
    left = [k for k, _ in sync_groups]
    ordered = set(sync_groups)
    awaited: dict[Place, list[Place]] = {}
    for before, after, _ in across(parts, forwarded):
        awaited.setdefault(after, []).append(before)
    woven: list[Code] = []

    def needed(k: int) -> int:
        """How many places of sync groups the next unit of a part has."""
        begin, end = begins[k][positions[k] : positions[k] + 2]
        return sum((k, i) in ordered for i in range(begin, end))

    def may_go(k: int) -> bool:
        there = all(positions[p] > i for p, i in awaited.get((k, positions[k]), ()))
        return positions[k] < len(parts[k]) and there and all(group == k for group in left[: needed(k)])

    while ready := [k for k in range(len(parts)) if may_go(k)]:
        k = min(ready, key=lambda k: key(emitted[k], latencies[k][positions[k]], k))
        del left[: needed(k)]
        woven += parts[k][positions[k]]
        emitted[k] += latencies[k][positions[k]]
        positions[k] += 1
    return tuple(woven)
