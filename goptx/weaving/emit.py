"""Writes a flow as the body of an entry, and the woven module around it.

Requires: a flow whose code is final. Ensures: blocks stand so that the likely way falls through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goptx.analysis.cfg import EXIT, Branch, End, Flow, Jump, Stop
from goptx.ptx.ir import Directive, Function, Guard, Instruction, Label, Module, Name, Registers, Statement
from goptx.weaving.link import Linked


def woven_module(linked: Linked, flow: Flow, fresh: Iterable[Registers], bounds: tuple[Directive, ...]) -> Module:
    registers = [r for k in linked.kernels for r in k.registers] + [r for r in fresh if r.names]
    parameters = [p for k in linked.given for p in k.parameters if p.name not in linked.lacks]
    variables = [v for k in linked.kernels for v in (*k.variables, *k.callees)]
    entry = Function(
        kind=".entry",
        name=linked.name,
        parameters=(*parameters, *linked.hidden.values()),
        directives=bounds,
        body=(*registers, *variables, *linked.begin, *statements(flow)),
        linkage=(".visible",),
    )
    return Module(linked.version, linked.target, linked.address_size, (*linked.items, entry))


def statements(flow: Flow) -> list[Statement]:
    """The flow as labels and instructions, laid out in reverse postorder, `ret` last."""
    order = [n for n in flow.reverse_postorder() if n != EXIT] + [EXIT]
    targets = _targets(flow, order)
    result: list[Statement] = []
    for position, name in enumerate(order):
        block = flow.blocks[name]
        following = order[position + 1] if position + 1 < len(order) else None
        if name in targets:
            result.append(Label(label(name)))
        result += [*block.pragmas, *block.code]
        result += _end(block.end, following, table=f"{label(name)}_table")
    return result


def label(name: str) -> str:
    return name if name.startswith("$") else f"${name}"


def _targets(flow: Flow, order: Sequence[str]) -> set[str]:
    """The blocks that need a label: those that something other than falling through leads to."""
    named: set[str] = set()
    for position, name in enumerate(order):
        following = order[position + 1] if position + 1 < len(order) else None
        for instruction in _end(flow.blocks[name].end, following, table=""):
            match instruction:
                case Instruction("bra" | "bra.uni", (Name(target),)):
                    named.add(target)
                case Directive(".branchtargets", values):
                    named.update(values)
    return {n for n in order if label(n) in named}


def _end(end: End, following: str | None, table: str) -> list[Statement]:
    match end:
        case Stop():
            return [Instruction("ret")]
        case Jump(target):
            return [] if target == following else [_branch(target, True)]
        case Branch(guard, taken, fallen, uniform, line):
            if taken == following and not end.others:
                return [_branch(fallen, uniform, Guard(guard.predicate, not guard.negated), line)]
            ways: list[Statement] = [_branch(taken, uniform, either, line) for either in (guard, *end.others)]
            return ways if fallen == following else [*ways, _branch(fallen, True)]
    names = tuple(label(t) for t in end.targets)
    jump = Instruction("brx.idx.uni" if end.uniform else "brx.idx", (end.index, Name(table)), line=end.line)
    return [Label(table), Directive(".branchtargets", names), jump]


def _branch(target: str, uniform: bool, guard: Guard | None = None, line: int = 0) -> Instruction:
    return Instruction("bra.uni" if uniform else "bra", (Name(label(target)),), guard, line)
