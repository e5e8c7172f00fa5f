"""The carry flag: a thread has one, however many kernels it runs.

Requires: a kernel's flow as it is written; then the fused one. Ensures: no kernel reads a flag that another kernel has
set, or that its own lanes have set in code which they would not reach without fusion. A chain (from a `.cc` to the last
instruction that reads the flag) is moved whole if it stands in one block and no barrier divides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from goptx.analysis.cfg import Code, Flow, facts_among
from goptx.analysis.dataflow import solve, written
from goptx.errors import CannotWeave
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Guard, Instruction
from goptx.ptx.opcodes import Facts, facts_of
from goptx.weaving.converge.predicate_code import is_ours

ALWAYS = ""  # stands for the predicate of code without a guard
REMEDY = 'compute the chain in one piece, or use strategy="interleave" or separate launches'


def refuse_flags_across_blocks(flow: Flow, prefix: str, at: Callable[[int], str]) -> None:
    """Raises `CannotWeave` where a block reads the flag before it sets it: other code may come between blocks, and
    lanes that do not run a block may have to go through it."""
    for block in flow.blocks.values() if any(f.known and f.uses_carry for f in facts_among(flow)) else ():
        under = set[Guard | None]()  # the guards of the instructions that have set the flag in this block
        for code in block.code:
            facts = _facts(code)
            if facts is None or not isinstance(code, Instruction):
                continue
            if facts.uses_carry and under.isdisjoint((None, code.guard)):
                raise CannotWeave(
                    f"{at(code.line)}: `{as_written(code, prefix)}` reads a carry flag that was set before a branch "
                    f"or a label, where other code may come between; {REMEDY}.",
                    rule="carry-flag",
                )
            changed = written(code)
            under = {guard for guard in under if guard is None or guard.predicate.text not in changed}
            if facts.sets_carry:
                under.add(code.guard)


def refuse_mixed_flags(flow: Flow, describe: Callable[[Instruction], str]) -> None:
    """Raises `CannotWeave` where an instruction of the fused `flow` may read the flag of another kernel, because
    barriers divide its chain. `describe` names an instruction of a kernel."""
    order, before = flow.reverse_postorder(), flow.predecessors()
    if not any(facts.known and facts.uses_carry for facts in facts_among(flow)):
        return

    def setters(name: str, after: Mapping[str, frozenset[int]]) -> frozenset[int]:
        return frozenset().union(*(after[p] for p in before[name] if p in after))

    after = solve(order, before, lambda name, found: _set_by(flow.blocks[name].code, setters(name, found))[0])
    for name in order:
        _, mixed = _set_by(flow.blocks[name].code, setters(name, after))
        if mixed is not None:
            raise CannotWeave(
                f"{describe(mixed)} reads a carry flag that another kernel may have set: a "
                f"barrier stands in the chain, with the other kernel's code beside it; {REMEDY}.",
                rule="carry-flag",
            )


def _set_by(code: tuple[Code, ...], setters: frozenset[int]) -> tuple[frozenset[int], Instruction | None]:
    """The kernels that may have set the flag after the code, and the first instruction that reads another kernel's."""
    mixed, last, under = None, -1, set[str]()  # `last` set it last, under these predicates
    implied: dict[str, set[str]] = {ALWAYS: {ALWAYS}}  # by predicate of goptx: those that hold whenever it does
    for item in code:
        facts, kernel = _facts(item), item.kernel
        if isinstance(item, Instruction) and facts_of(item.opcode).conjoins_predicates and is_ours(item):
            names = [str(operand) for operand in item.operands]
            implied[names[0]] = {names[0], *(p for n in names[1:] for p in implied.get(n, {n, ALWAYS}))}
        if facts is None or kernel is None:
            continue
        assert isinstance(item, Instruction)
        guard = str(item.guard).removeprefix("@") if item.guard else ALWAYS
        surely = kernel == last and not under.isdisjoint(implied.get(guard, {guard, ALWAYS}))
        if facts.uses_carry and setters - {kernel} and not surely and mixed is None:
            mixed = item
        if facts.sets_carry:
            last, under = kernel, {*(under if kernel == last else ()), guard}
            setters = frozenset((kernel,)) | (setters if item.guard else frozenset())
    return setters, mixed


def _facts(code: Code) -> Facts | None:
    """The facts of a known instruction, else None."""
    facts = facts_of(code.opcode) if isinstance(code, Instruction) else None
    return facts if facts and facts.known else None
