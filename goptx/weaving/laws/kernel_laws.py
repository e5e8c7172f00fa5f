"""The laws of linked kernels, and of each kernel after the passes that take one kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.dataflow import read, register_of, written
from goptx.analysis.sync.barriers import is_barrier, is_cluster_barrier
from goptx.analysis.terminators import Branch, Switch
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.ptx.flatten import numbered
from goptx.ptx.ir import Function, Immediate, Instruction, Registers, Scope, Variable, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.ptx.verify import SPECIAL
from goptx.ptx.walk import statements_in
from goptx.weaving.converge.single_entry import is_reducible
from goptx.weaving.laws.flow_laws import Problem, Problems, problems_of, with_inner
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.model import Converged, Kernel, Linked
from goptx.weaving.shapes.launch_demands import known_shape


def kernels_have_flows(linked: Linked) -> Problems:
    """Each kernel has a flow that is well formed."""
    for k in linked.kernels:
        yield from problems_of(k.flow, _name(k))


def names_are_separate(linked: Linked) -> Problems:
    """No two things of the module have one name, and no two kernels have a register in common."""
    defined = [i.name for i in linked.items if isinstance(i, Variable) or (isinstance(i, Function) and i.body)]
    defined += [v.name for k in linked.given for v in k.parameters]
    for name, times in Counter(n for n in defined if n).items():
        if times > 1:
            yield Problem(f"`{name}` is defined {times} times")
    taken: dict[str, Kernel] = {}
    for k in linked.kernels:
        for name in _declared_by(k):
            if taken.setdefault(name, k) is not k:
                yield Problem(f"`{name}` is a register of kernel {_name(taken[name])} too", kernel=_name(k))


def registers_bear_the_prefix(linked: Linked) -> Problems:
    """The registers of a kernel bear its prefix."""
    for k in linked.kernels:
        for name in _declared_by(k):
            if not name.lstrip("%").startswith(f"{k.prefix}_"):
                yield Problem(f"`{name}`, and the prefix is `{k.prefix}`", kernel=_name(k))


def registers_are_declared(linked: Linked) -> Problems:
    """A kernel declares the registers that it uses; copies of it share what is the same for all."""
    for k in linked.kernels:
        own = _Declared(r for other in linked.kernels if other.letter == k.letter for r in other.registers)
        range_guard = k.range_guard.code if k.range_guard else ()
        yield from (p._replace(kernel=_name(k)) for p in _undeclared(k.flow, own, range_guard))


def code_has_its_kernel(linked: Linked) -> Problems:
    """The provenance of all code names the kernel that it stands in, by its place among the kernels."""
    for number, k in enumerate(linked.kernels):
        for name, block in with_inner(k.flow.blocks):
            for code in (code for code in block.code if code.kernel != number):
                yield Problem(f"`{str(code).strip()}` is of {code.kernel}", name, _name(k))


def guards_are_set(linked: Linked) -> Problems:
    """The predicate by which threads skip a kernel is set before all of its code."""
    begun = {r for code in linked.begin for r in written(code)}
    begun.update(r for loop in linked.loops.values() for code in loop.begin for r in written(code))
    begun.update(r for code in (linked.binding.after if linked.binding else ()) for r in written(code))
    for k in linked.kernels:
        ended = k.range_guard.ended if k.range_guard else None
        if k.range_guard and ended and ended not in begun.union(*map(written, k.range_guard.code)):
            yield Problem(f"nothing sets `{ended}`", kernel=_name(k))
    for letter, copies in linked.together.items():
        for name in (copies.ended, copies.left_over, copies.beyond):
            if name and name not in begun:
                yield Problem(f"nothing sets `{name}`", kernel=letter)


def converged_have_flows(converged: Sequence[Converged], linked: Linked) -> Problems:
    """Each converged kernel has a flow that is well formed."""
    for k, c in zip(linked.kernels, converged, strict=True):
        yield from problems_of(c.flow, _name(k))


def whole_warps_branch(converged: Sequence[Converged], linked: Linked) -> Problems:
    """Whole warps take each branch outside of regions, unless the kernel is as it was written."""
    for k, c in zip(linked.kernels, converged, strict=True):
        for name, block in c.flow.blocks.items():
            if isinstance(block.end, Branch | Switch) and not block.end.uniform and not c.as_written:
                yield Problem(f"lanes may diverge at `{_text(block)}`", name, _name(k))
        if not c.as_written:
            known = uniformity(c.flow, shape=known_shape(linked)).branches
            for name in (n for n in c.flow.blocks if known.get(n) == Uniformity.DIVERGENT):
                yield Problem(f"what decides `{_text(c.flow.blocks[name])}` depends on the thread", name, _name(k))
        for name in c.warp_branches:
            if not isinstance(c.flow.blocks[name].end if name in c.flow.blocks else None, Branch | Switch):
                yield Problem("warps may differ there by `warp_branches`, and it does not branch", name, _name(k))


def converged_registers_are_declared(converged: Sequence[Converged], linked: Linked) -> Problems:
    """A converged kernel uses its own registers and the fresh ones that it declares."""
    taken = {name for k in linked.kernels for name in k.register_names()}
    for k, c in zip(linked.kernels, converged, strict=True):
        for name in (name for declared in c.registers for name, _ in declared.names if name in taken):
            yield Problem(f"`{name}` is not fresh", kernel=_name(k))
        own = [r for other in linked.kernels if other.letter == k.letter for r in other.registers]
        yield from (p._replace(kernel=_name(k)) for p in _undeclared(c.flow, _Declared([*own, *c.registers])))


def predicates_are_set(converged: Sequence[Converged], linked: Linked) -> Problems:
    """Predicates of guards and branches are set somewhere, if the kernel set them or goptx has made them."""
    begun = {r for code in linked.begin for r in written(code)}
    for k, c in zip(linked.kernels, converged, strict=True):
        fresh = {name for declared in c.registers for name, _ in declared.names}
        needed = fresh.union(*(written(code) for code in k.flow.codes()))
        there = begun.union(*(written(code) for code in c.flow.codes()))
        for name, block in with_inner(c.flow.blocks):
            guards = [i.guard.predicate.text for i in block.code if isinstance(i, Instruction) and i.guard]
            for predicate in map(register_of, [*guards, *block.end.reads()]):
                if predicate in needed and predicate not in there:
                    yield Problem(f"nothing sets `{predicate}`", name, _name(k))


def nothing_is_lost(converged: Sequence[Converged], linked: Linked) -> Problems:
    """Each instruction of the kernel that can be reached still stands in it."""
    for k, c in zip(linked.kernels, converged, strict=True):
        there = {i.line for i in c.flow.instructions()}
        for name in k.flow.reverse_postorder():
            for instruction in k.flow.blocks[name].instructions():
                if instruction.line not in there:
                    yield Problem(f"line {instruction.line} is gone: `{instruction}`", name, _name(k))


def ends_are_reached(converged: Sequence[Converged], linked: Linked) -> Problems:
    """A kernel that can end can do so after the pass."""
    for k, c in zip(linked.kernels, converged, strict=True):
        if EXIT in k.flow.reverse_postorder() and EXIT not in c.flow.reverse_postorder():
            yield Problem("no path leads to the end", EXIT, _name(k))


def loops_have_one_entry(converged: Sequence[Converged], linked: Linked) -> Problems:
    """Each loop is entered at one block."""
    for k, c in zip(linked.kernels, converged, strict=True):
        if not is_reducible(c.flow.without_empty()):
            yield Problem("a loop is multiple-entry", kernel=_name(k))


def barrier_ids_are_separate(flows: Sequence[Flow], kernels: Sequence[Kernel]) -> Problems:
    """Barrier ids lie below 16, and no two kernels have one in common."""
    taken: dict[int, Kernel] = {}
    for k, flow in zip(kernels, flows, strict=True):
        for barrier in flow.instructions():
            number = _barrier_id(barrier)
            if number is None:
                continue
            if not 0 <= number < BARRIER_IDS:
                yield Problem(f"`{barrier}`", kernel=_name(k))
            if taken.setdefault(number, k) is not k:
                yield Problem(f"`{barrier}`, and kernel {_name(taken[number])} has that id too", kernel=_name(k))


def _declared_by(kernel: Kernel) -> list[str]:
    """Its registers, without those that braces around calls declare."""
    return [name for declared in kernel.registers for name, _ in declared.names]


def _name(kernel: Kernel) -> str:
    return f"{kernel.letter}{kernel.copy or ''}"


class _Declared:
    """Declared registers: single ones, and ranges such as `%r<10>`."""

    def __init__(self, registers: Iterable[Registers]) -> None:
        names = [name for declared in registers for name in declared.names]
        self.single = {name for name, amount in names if amount is None}
        self.ranges = {name: amount for name, amount in names if amount is not None}

    def has(self, name: str) -> bool:
        return name in self.single or any(n < self.ranges.get(stem, 0) for stem, n in numbered(name))


def _undeclared(flow: Flow, declared: _Declared, more: Sequence[Instruction] = ()) -> Problems:
    seen: set[str] = set()
    for name, block in [*with_inner(flow.blocks), ("", Block(tuple(more), flow.blocks[EXIT].end))]:
        inner = (s for s in statements_in(c for c in block.code if isinstance(c, Scope)) if isinstance(s, Registers))
        own = _Declared(inner)
        used = {register_of(n) for n in block.end.reads()}.union(*(read(c) | written(c) for c in block.code))
        for register in sorted(r for r in used - seen if r.startswith("%") and not _is_special(r)):
            if not declared.has(register) and not own.has(register):
                yield Problem(f"`{register}` is not declared", name)
        seen |= used


def _is_special(register: str) -> bool:
    return register.partition(".")[0] in SPECIAL or register.startswith(("%envreg", "%pm", "%lanemask"))


def _text(block: Block) -> str:
    return ", ".join(block.end.reads())


def _barrier_id(code: Instruction) -> int | None:
    """The id of a CTA barrier, if it is a plain number."""
    if not is_barrier(code) or is_cluster_barrier(code):
        return None
    position = facts_of(code.opcode).barrier_id
    operand = code.operands[position] if len(code.operands) > position else None
    return whole_number(str(operand)) if isinstance(operand, Immediate) else None
