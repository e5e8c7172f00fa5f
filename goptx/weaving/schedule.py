"""Orders the instructions of a merged block, whose parts come from different kernels.

Requires: parts whose registers are apart. Ensures: each part keeps its own order (under the policy "latency" its
dependences), and no carry chain is parted by instructions of another kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from goptx.analysis.cfg import Code, is_reduction
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.merged import Turn
from goptx.weaving.urgency import Rank, by_urgency

Unit = tuple[Code, ...]
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


def _is_known(code: Code) -> bool:
    return not isinstance(code, Instruction) or facts_of(code.opcode).known


def _sets_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).sets_carry


def _uses_carry(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).uses_carry


def schedule(
    parts: Sequence[Sequence[Code]], turns: Sequence[Turn], policy: str, cycles: Callable[[Code], int]
) -> tuple[Code, ...]:
    """The woven code of a merged block; `cycles` gives the latency of one instruction.

    "concat" puts the parts one after the other; "paper" is the greedy of the GoPTX paper (M3); "latency" is that
    greedy among units of equal urgency, each part put in order by it (urgency.py). `turns` has what keeps its order
    across the parts; of barriers that have one turn one is left, under the policy "latency". A part of which something
    is unknown stands behind the others, as it is written.
    """
    for k, part in enumerate(parts):
        if part and not all(map(_is_known, part)) and sum(map(bool, parts)) > 1:
            others = [() if i == k else p for i, p in enumerate(parts)]
            ahead = [tuple(place for place in turn if place[0] != k) for turn in turns]
            return (*schedule(others, [turn for turn in ahead if turn], policy, cycles), *part)
    latency: Callable[[Unit], int] = (lambda _: 0) if policy == "concat" else lambda unit: sum(map(cycles, unit))
    grouped = [units(part) for part in parts]
    if policy != "latency":
        return greedy(grouped, latency, [(place,) for turn in turns for place in turn])
    urgent = [by_urgency(part) for part in grouped]
    return greedy([part for part, _ in urgent], latency, turns, [ranks for _, ranks in urgent])


def greedy(
    parts: Sequence[Sequence[Unit]],
    latency: Callable[[Unit], int],
    turns: Sequence[Turn] = (),
    ranked: Sequence[Sequence[Rank]] | None = None,
) -> tuple[Code, ...]:
    """The next unit comes from the part that has emitted the least latency so far; where these are equal,
    the longer unit goes first; where those are equal too, the earlier kernel's (GoPTX, DAC 2025). The ranks
    of the units, where given, decide before that. What has a turn that has not come holds its part back."""
    emitted = [0] * len(parts)
    positions = [0] * len(parts)
    latencies = [[latency(unit) for unit in part] for part in parts]
    rank = ranked or [[(0, False, 0)] * len(part) for part in parts]
    alone = {id(unit[0]) for part in parts for unit in part if len(unit) == 1}
    left = [kernels for turn in turns for kernels in _kernels(turn, alone)]
    in_turn = {id(code) for turn in turns for _, code in turn}
    takes = [[*(sum(id(code) in in_turn for code in unit) for unit in part), 0] for part in parts]
    woven: list[Code] = []

    def needed(k: int) -> int:
        """How many turns the next unit of a part takes."""
        return takes[k][positions[k]]

    def may_go(k: int) -> bool:
        if positions[k] == len(parts[k]) or not needed(k):
            return positions[k] < len(parts[k])
        return all(k in kernels for kernels in left[: needed(k)]) and all(map(needed, left[0] if left else ()))

    while ready := [k for k in range(len(parts)) if may_go(k)]:
        k = min(ready, key=lambda k: (rank[k][positions[k]], emitted[k], -latencies[k][positions[k]], k))
        together = left[0] if needed(k) else (k,)
        heads = [parts[j][positions[j]] for j in together]
        del left[: needed(k)]
        woven += next((unit for unit in heads if any(map(is_reduction, unit))), heads[0])
        for j in together:
            emitted[j] += latencies[j][positions[j]]
            positions[j] += 1
    return tuple(woven)


def _kernels(turn: Turn, alone: Collection[int]) -> list[tuple[int, ...]]:
    """The kernels of a turn, one by one where their code moves with other code."""
    kernels = tuple(k for k, _ in turn)
    return [kernels] if all(id(code) in alone for _, code in turn) else [(k,) for k in kernels]
