"""Gives registers of a kernel one name where they are not live at the same time, as compilers do: what a register holds
in one place says nothing of another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from random_kernels.case import Case

import goptx
from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import killed, live_in, read, written
from goptx.analysis.registers.declared_registers import declared_types
from goptx.ptx.flatten import flat_as_written

OFTEN = 0.7  # of the registers


def with_registers_reused(case: Case, number: int) -> Case:
    """The case with other names of registers in its entries. What is read before it is written keeps its own, and so do
    the addresses of flags, by which these are known (`pairs.effects`)."""
    choose = Random(number)
    return replace(case, texts=tuple(_renamed(text, choose) for text in case.texts))


def _renamed(text: str, choose: Random) -> str:
    (entry,) = goptx.read(text).entries
    names = _shared(flow_as_written(entry.body), declared_types(flat_as_written(entry.body).registers), choose)
    head, begin, body = text.rpartition(".entry")

    def renamed(line: str) -> str:
        return line if ".reg" in line else re.sub(r"%\w+", lambda found: names.get(found[0], found[0]), line)

    return head + begin + "\n".join(map(renamed, body.split("\n")))


def _shared(flow: Flow, types: Mapping[str, str], choose: Random) -> dict[str, str]:
    """New names of registers: of each type some have the name of another."""
    beside = _beside(flow)
    constant = live_in(flow)[flow.entry]
    taken: dict[str, list[str]] = defaultdict(list)  # by new name
    found: dict[str, str] = {}
    every = [name for name in sorted(beside) if name in types and name not in constant and not name.startswith("%g")]
    choose.shuffle(every)
    for name in every:
        free = [new for new, its in taken.items() if types[new] == types[name] and beside[name].isdisjoint(its)]
        new = found[name] = choose.choice(free) if free and choose.random() < OFTEN else name
        taken[new].append(name)
    return found


def _beside(flow: Flow) -> dict[str, set[str]]:
    """For each register those that hold something while it is written."""
    live, found = live_in(flow), defaultdict[str, set[str]](set)
    for block in flow.blocks.values():
        now = {r for t in block.end.successors() for r in live.get(t, ())} | set(block.end.reads())
        for code in reversed(block.code):
            for register in written(code):
                others = (now | written(code)) - {register}
                found[register] |= others
                for other in others:
                    found[other].add(register)
            now = (now - killed(code)) | read(code)
    return found
