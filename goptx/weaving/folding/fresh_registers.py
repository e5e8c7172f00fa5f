"""Registers that seem to be handed on from one virtual CTA to the next.

Where only some threads load a value, the load stands under a predicate, and the register keeps its old value in the
others, which never read it. In a kernel alone it has none. In a loop over virtual CTAs it has that of the CTA before,
as far as an assembler can tell: it would keep the register all around the loop, and spill others (82 words of a thread
of a kernel that takes 32 registers alone). A move of 0 before the first access ends that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from goptx.analysis.cfg import Block, Flow, depths
from goptx.analysis.dataflow import live_in, read, register_of, written
from goptx.analysis.registers.declared_registers import declared_types
from goptx.analysis.terminators import Jump
from goptx.ptx.ir import Immediate, Instruction, Name, Registers
from goptx.ptx.walk import free_name

MOVED = ("pred", "b16", "b32", "b64")  # types of registers that `mov` takes


def begun_anew(flow: Flow, declared: Iterable[Registers]) -> Flow:
    """The flow of a kernel, with a move of 0 into each register of which a read may come before all writes. Whatever
    it reads then is undefined in the kernel alone, too."""
    flow = _with_plain_entry(flow)
    types = {name: moved for name, kind in declared_types(declared).items() if (moved := _moved_as(kind)) in MOVED}
    written_somewhere = frozenset().union(*(written(i) for i in flow.instructions()))
    handed_on = sorted(live_in(flow)[flow.entry] & written_somewhere & types.keys())
    if not handed_on:
        return flow
    accessed = {name: _accessed(flow, name) for name in flow.reverse_postorder()}
    blocks = dict(flow.blocks)
    for register in handed_on:
        where = [name for name, own in accessed.items() if register in own]
        name = _passed_once(flow, reduce(lambda one, other: _dominating(flow, one, other), where))
        code = blocks[name].code
        first = next((i for i, c in enumerate(code) if register in read(c) | written(c)), len(code))
        move = Instruction(f"mov.{types[register]}", (Name(register), Immediate("0")))
        blocks[name] = replace(blocks[name], code=(*code[:first], move, *code[first:]))
    return Flow(flow.entry, blocks)


def _accessed(flow: Flow, name: str) -> frozenset[str]:
    """The registers that a block or its region reads or writes."""
    block = flow.blocks[name]
    ends = (block.end, *(block.region.flow().ends() if block.region else ()))
    reads = [register_of(n) for end in ends for n in end.reads()]
    return frozenset(reads).union(*(read(i) | written(i) for i in block.instructions()))


def _dominating(flow: Flow, one: str, other: str) -> str:
    """The nearest block that dominates both."""
    while not flow.dominates(one, other):
        one = flow.dominators()[one] or flow.entry
    return one


def _passed_once(flow: Flow, name: str) -> str:
    """The nearest block that dominates it and is plain."""
    while not _is_plain(flow, name):
        name = flow.dominators()[name] or flow.entry
    return name


def _is_plain(flow: Flow, name: str) -> bool:
    """Whether it is in no loop and has no region."""
    return not flow.blocks[name].region and not depths(flow)[name]


def _with_plain_entry(flow: Flow) -> Flow:
    if _is_plain(flow, flow.entry):
        return flow
    entry = free_name("begin", {*flow.blocks})
    return Flow(entry, {entry: Block((), Jump(flow.entry)), **flow.blocks})


def _moved_as(kind: str) -> str:
    """The type of a register as `mov` names it."""
    return kind if kind == "pred" else f"b{kind[1:]}"
