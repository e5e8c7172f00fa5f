"""Puts instructions under the predicate of the lanes that really run them.

Requires: for each block the predicate of those lanes, and the registers that the other lanes still need.
Ensures: what has effects, may fault or would overwrite such a register is guarded, the rest runs for all;
lanes that have ended are in no lane mask, and bring a neutral value to reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Block, Code
from goptx.analysis.dataflow import written
from goptx.analysis.sync.barriers import is_barrier, is_cluster_barrier, is_counted
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch, Switch
from goptx.analysis.values.parameter_accesses import lies_within
from goptx.errors import CannotWeave
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Declaration, Guard, Instruction, Name, Negated, Operand, Scope, Statement
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.predicate_code import Fresh, is_ours, vote_any


@dataclass(frozen=True, slots=True)
class Guards:
    """What is known of the lanes of one kernel.

    masks: block to predicate of the lanes that really run it; blocks that all lanes run are left out.
    preserved: block to registers that the other lanes still need.
    running: predicate of the lanes that have not ended, "" while none can have; `running_lanes` the same as
    a lane mask, "" where no instruction needs it.
    parameters: their bytes, by name.
    """

    masks: Mapping[str, str]
    preserved: Mapping[str, frozenset[str]]
    running: str
    running_lanes: str
    fresh: Fresh
    at: Callable[[int], str]
    parameters: Mapping[str, int]

    def applied(self, name: str, block: Block) -> Block:
        """The block with its guards. Raises `CannotWeave` for a warp instruction that ended lanes would spoil."""
        end = block.end
        if isinstance(end, Branch | Switch):
            end = replace(end, uniform=False)  # `.uni` spoke of the lanes that run the block alone
        return replace(block, code=tuple(self._guarded(name, block.code)), end=end)

    def _guarded(self, name: str, code: tuple[Code, ...]) -> Iterator[Code]:
        mask, preserved = self.masks[name], self.preserved.get(name, frozenset())
        for item in self.without_ended(code):
            if isinstance(item, Scope):
                yield self._guarded_call(item, mask)
            elif is_barrier(item) and is_counted(item):
                yield from self._by_whole_warps(item, mask)
            elif not self._needs_guard(item, preserved) and not self._ends_lanes(item, mask):
                yield item
            else:
                yield from self._also_under(mask, item)

    def _also_under(self, mask: str, item: Instruction) -> Iterator[Instruction]:
        """The instruction under its guard, if it has one, and the mask."""
        if item.guard is None:
            yield from self._under(mask, item)
        else:
            also = self.fresh.named(f"both_{item.guard.predicate.text.lstrip('%')}_{mask.lstrip('%')}")
            yield from self.fresh.conjunction(also, mask, item.guard)
            yield from self._under(also, item)

    def _under(self, predicate: str, item: Instruction) -> Iterator[Instruction]:
        """The instruction under a guard; what the assembler accepts no guard on runs for all, and the lanes that should
        run it take its result."""
        guard = Guard(Name(predicate))
        if facts_of(item.opcode).row.guardable:
            yield replace(item, opcode=_not_uniform(item.opcode), guard=guard)
            return
        type_ = _register_type(item.opcode)
        found = self.fresh.register(type_, f"found_{type_}")
        yield replace(item, operands=(Name(found), *item.operands[1:]), guard=None)
        yield Instruction(f"mov.{type_}", (item.operands[0], Name(found)), guard=guard)

    def _by_whole_warps(self, item: Instruction, mask: str) -> Iterator[Code]:
        """A barrier that counts: a warp comes to it if any of its lanes does, and then as a whole. Those that do not
        run the block have ended the kernel, or else an aligned barrier is one that the warp does not come to."""
        coming = mask
        if item.guard is not None:
            coming = self.fresh.named("coming")
            yield from self.fresh.conjunction(coming, mask, item.guard)
        if not is_of_whole_warps(item) and (item.guard is not None or mask != self.running):
            raise CannotWeave(
                f"{self.at(item.line)}: `{as_written(item, self.fresh.prefix)}` waits for all lanes of a warp, of "
                "which some may come to another barrier and some may have ended the kernel; write it as "
                "`.aligned` or use separate launches.",
                rule="barrier-after-exit",
            )
        anyone = self.fresh.named("any_coming")
        yield vote_any(anyone, coming)
        yield replace(item, guard=Guard(Name(anyone)))

    def _ends_lanes(self, item: Instruction, mask: str) -> bool:
        """Whether it takes lanes out of the running ones, where other lanes skip it."""
        return is_ours(item) and self.running in written(item) and mask != self.running

    def _guarded_call(self, scope: Scope, mask: str) -> Scope:
        """The call itself, and what else in its braces needs a guard: the assembler takes none on accesses to the
        parameters of calls."""
        declared = {s.variable.name: s.variable.size for s in scope.body if isinstance(s, Declaration)}
        inside = replace(self, parameters={**self.parameters, **declared})
        body: list[Statement] = []
        for statement in scope.body:
            if isinstance(statement, Scope):
                body.append(inside._guarded_call(statement, mask))
            elif not isinstance(statement, Instruction) or not inside._needs_guard(statement, frozenset()):
                body.append(statement)
            elif facts_of(statement.opcode).calls and statement.guard is not None:
                raise CannotWeave(
                    f"{self.at(statement.line)}: `{as_written(statement, self.fresh.prefix)}` is conditional "
                    "within a call sequence that not all threads reach; use separate launches.",
                    rule="call-sequence",
                )
            else:
                body += self._also_under(mask, statement)
        return replace(scope, body=tuple(body))

    def _needs_guard(self, item: Instruction, preserved: frozenset[str]) -> bool:
        facts = facts_of(item.opcode)
        if facts.barrier or is_cluster_barrier(item) or is_ours(item):
            return False  # ended threads still arrive at barriers
        if facts.may_fault_or_store or facts.row.ends == "trap" or facts.row.access == "f":
            return True
        if facts.space == "param" and not lies_within(item, self.parameters):
            return True
        if facts.sets_carry or facts.uses_carry:
            return True  # a chain is run by the same lanes from its beginning to its end
        return is_warp_wide(item) or bool(written(item) & preserved)

    def without_ended(self, code: tuple[Code, ...]) -> Iterator[Code]:
        """Takes ended lanes out of warp instructions and barrier reductions."""
        for item in code:
            if isinstance(item, Scope) or is_ours(item) or not self.running:
                yield item
            elif facts_of(item.opcode).barrier:
                yield from self._neutral(item)
            elif is_warp_wide(item):
                yield from self._of_running_lanes(item)
            else:
                yield item

    def _neutral(self, item: Instruction) -> Iterator[Code]:
        """What ended threads bring to a CTA barrier: themselves, and to a reduction its neutral value."""
        facts = facts_of(item.opcode)
        if not facts.reduces:
            yield item
            return
        value = item.operands[-1]
        name, negated = (value.name, True) if isinstance(value, Negated) else (value, False)
        assert isinstance(name, Name)
        brought = self.fresh.named("brought")
        yield from self.fresh.conjunction(brought, self.running, Guard(name, negated != facts.reduces_by_and))
        # `and`: false only where a running thread says false, that is not (running and not value).
        term: Operand = Negated(Name(brought)) if facts.reduces_by_and else Name(brought)
        yield replace(item, operands=(*item.operands[:-1], term))

    def _of_running_lanes(self, item: Instruction) -> Iterator[Code]:
        facts = facts_of(item.opcode)
        if facts.row.mask is None:
            yield item
            if facts.reads_active_mask:
                name = item.operands[0]
                yield Instruction("and.b32", (name, name, Name(self.running_lanes)))
        elif "sync" in facts.modifiers:
            lanes = self.fresh.register("b32", "lanes_here")
            yield Instruction("and.b32", (Name(lanes), item.operands[-1], Name(self.running_lanes)))
            yield replace(item, operands=(*item.operands[:-1], Name(lanes)))
        else:
            raise CannotWeave(
                f"{self.at(item.line)}: `{as_written(item, self.fresh.prefix)}` names no lanes, and lanes may have "
                "returned before it; use its `.sync` form.",
                rule="warp-instruction-after-exit",
            )


def _not_uniform(opcode: str) -> str:
    """The opcode of a call under a guard of its own: `.uni` holds for the lanes that come there in the kernel
    alone. (That of a vote has another meaning.)"""
    return opcode.replace("call.uni", "call")


def _register_type(opcode: str) -> str:
    """Of the register that takes the result of an instruction which the assembler accepts no guard on."""
    facts = facts_of(opcode)
    if facts.gives_predicate:
        return "pred"
    return "b16" if facts.types[0] in ("f16", "bf16") else "b32"


def is_of_whole_warps(item: Instruction) -> bool:
    """Whether it is a barrier for some warps of the CTA, of which the lanes of one come to it together."""
    return is_barrier(item) and is_counted(item) and facts_of(item.opcode).aligned
