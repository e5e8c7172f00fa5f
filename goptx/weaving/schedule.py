"""Orders the instructions of a merged block, whose parts come from different kernels.

Requires: parts whose registers are apart. Ensures: each part keeps its own order (under the policy "latency" its
dependences), and no carry chain is parted by instructions of another kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goptx.analysis.cfg import Code
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.urgency import Rank, by_urgency

Unit = tuple[Code, ...]
Turn = tuple[int, Code]  # the kernel's index, and what waits for other threads or is waited for
POLICIES = ("latency", "paper", "concat")


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


def _sets_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).sets_carry


def _uses_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).uses_carry


def schedule(
    parts: Sequence[Sequence[Code]], waits: Sequence[Turn], policy: str, cycles: Callable[[Code], int]
) -> tuple[Code, ...]:
    """The woven code of a merged block; `cycles` gives the latency of one instruction.

    "concat" puts the parts one after the other; "paper" is the greedy of the GoPTX paper (M3); "latency" is that
    greedy among units of equal urgency, each part put in order by it (urgency.py). `waits` has the turns of both
    kernels in the order that has to be kept.
    """
    latency: Callable[[Unit], int] = (lambda _: 0) if policy == "concat" else lambda unit: sum(map(cycles, unit))
    grouped = [units(part) for part in parts]
    if policy != "latency":
        return greedy(grouped, latency, waits)
    urgent = [by_urgency(part) for part in grouped]
    return greedy([part for part, _ in urgent], latency, waits, [ranks for _, ranks in urgent])


def greedy(
    parts: Sequence[Sequence[Unit]],
    latency: Callable[[Unit], int],
    waits: Sequence[Turn] = (),
    ranked: Sequence[Sequence[Rank]] | None = None,
) -> tuple[Code, ...]:
    """The next unit comes from the part that has emitted the least latency so far; where these are equal,
    the longer unit goes first; where those are equal too, the earlier kernel's (GoPTX, DAC 2025). The ranks
    of the units, where given, decide before that. What has a turn in `waits` that has not come holds its
    part back."""
    emitted = [0] * len(parts)
    positions = [0] * len(parts)
    latencies = [[latency(unit) for unit in part] for part in parts]
    turns = [kernel for kernel, _ in waits]
    in_turn = {id(code) for _, code in waits}
    rank = ranked or [[(0, False, 0)] * len(part) for part in parts]
    woven: list[Code] = []

    def needed(unit: Unit) -> int:
        return sum(id(code) in in_turn for code in unit)

    def may_go(k: int) -> bool:
        if positions[k] == len(parts[k]):
            return False
        return all(turn == k for turn in turns[: needed(parts[k][positions[k]])])

    while ready := [k for k in range(len(parts)) if may_go(k)]:
        k = min(ready, key=lambda k: (rank[k][positions[k]], emitted[k], -latencies[k][positions[k]], k))
        unit = parts[k][positions[k]]
        woven += unit
        emitted[k] += latencies[k][positions[k]]
        positions[k] += 1
        del turns[: needed(unit)]
    return tuple(woven)
