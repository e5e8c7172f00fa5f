"""Puts the units of a merged block in order by a list schedule (the policy "latency").

Requires: nodes as dependences.py makes them. Ensures: an order of all of them that keeps what dependences.py says.

Of what may come next, that goes whose `Key` is least. Far memory answers after hundreds of cycles: the *level* of a
unit is how many such answers are still to be awaited, one after the other, from it to the end of the block. Kernels go
down the levels together: the one with the longest way begins, and they await their answers together. Between two *pins*
the assembler orders code by itself, but it lifts no load across one; so pins come last in a level, and stores behind
which nothing is loaded come last of all. Of code under one guard that stands in a row ptxas makes a branch, which is a
pin too; so something else comes between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from goptx.analysis.cfg import Code
from goptx.latency.cost import ISSUE
from goptx.ptx.ir import Guard, Instruction
from goptx.ptx.opcodes import Facts
from goptx.weaving.schedule.dependences import CONSTANT, NEAR, Node
from goptx.weaving.schedule.pressure import Pressure

_ALIKE = 512  # cycles by which ways may differ: between pins the assembler goes by cycles itself


class Key(NamedTuple):
    """What decides which unit is next; the least goes first."""

    over: bool  # it would take more registers than there are
    level: int  # negative: answers of far memory to be awaited from it on
    pin: int  # 1 if the assembler lifts no load across it, 2 if none has to come behind it, 3 if it stores then
    in_a_row: bool  # under the guard of what was put last
    path: int  # negative: cycles from it to the end of the block, in steps of `_ALIKE`
    emitted: int  # cycles of its kernel's units that were put already
    place: int  # where it stood


def list_schedule(
    nodes: Sequence[Node], pressure: Pressure, most: int, cycles: Callable[[Code], int]
) -> tuple[Code, ...]:
    """The code of all nodes; at most `most` registers live at once, if that can be. `pressure` is used up."""
    lasts = [max(sum(map(cycles, unit)) for unit in node.units) for node in nodes]
    loads = [any(f.loads and f.space not in CONSTANT for f in node.facts) for node in nodes]
    paths, levels, leads = _ahead(nodes, lasts, loads)
    pins = [max((_pin(f, lead) for f in n.facts), default=0) for n, lead in zip(nodes, leads, strict=True)]
    nothing = [not last or all(f.space in CONSTANT for f in n.facts) for n, last in zip(nodes, lasts, strict=True)]
    guards = [_guard(node.code[0]) for node in nodes]
    emitted = dict.fromkeys((k for node in nodes for k in node.parts), 0)
    left = [node.ahead for node in nodes]
    ready = [i for i, count in enumerate(left) if not count]
    guard: Guard | None = None
    woven: list[Code] = []

    def key(i: int) -> Key:
        return Key(
            over=full and 0 < pressure.change(i) > most - pressure.live,
            level=-levels[i],
            pin=pins[i],
            in_a_row=guards[i] is not None and guards[i] == guard,
            path=-(paths[i] // _ALIKE),
            emitted=emitted[nodes[i].parts[0]],
            place=i,
        )

    while ready:
        full = pressure.live + pressure.most_born > most
        i = min(ready, key=key)
        ready.remove(i)
        pressure.take(i)
        woven += nodes[i].code
        for k in nodes[i].parts:
            emitted[k] += lasts[i]
        if not nothing[i]:  # what the assembler makes no instruction of stands between nothing
            guard = _guard(woven[-1])
        for j in nodes[i].behind:
            left[j] -= 1
            if not left[j]:
                ready.append(j)
    return tuple(woven)


def _ahead(
    nodes: Sequence[Node], lasts: Sequence[int], loads: Sequence[bool]
) -> tuple[list[int], list[int], list[bool]]:
    """Of each node the cycles to the end of the block, its level, and whether a load has to come behind it."""
    paths, levels, leads = [0] * len(nodes), [0] * len(nodes), [False] * len(nodes)
    for i in reversed(_sorted(nodes)):
        far = any(f.loads and f.space not in NEAR for f in nodes[i].facts)
        paths[i] = lasts[i]
        for j, reads in nodes[i].behind.items():
            paths[i] = max(paths[i], paths[j] + (lasts[i] if reads else ISSUE))
            levels[i] = max(levels[i], levels[j] + (far and reads))
            leads[i] |= leads[j] or loads[j]
    return paths, levels, leads


def _sorted(nodes: Sequence[Node]) -> list[int]:
    """Each behind all that must come before it."""
    left = [node.ahead for node in nodes]
    order = [i for i, count in enumerate(left) if not count]
    for i in order:
        for j in nodes[i].behind:
            left[j] -= 1
            if not left[j]:
                order.append(j)
    return order


def _pin(facts: Facts, leads: bool) -> int:
    """`Key.pin`: of barriers and fences, stores to far memory, volatile accesses, calls, and what the assembler expands
    with a branch inside; `leads` says that a load has to come behind it."""
    stores = "s" in facts.row.access and facts.space not in NEAR
    if not (facts.row.access == "f" or stores or facts.volatile or facts.slow_path):
        return 0
    return 1 if leads else 3 if stores else 2


def _guard(code: Code) -> Guard | None:
    return code.guard if isinstance(code, Instruction) else None
