"""Melds the two sides of a divergent branch into straight code (DARM, Saumya et al., CGO 2022; branch fusion, Coutinho
et al., PACT 2011).

Requires: a shaped kernel. Ensures: it computes the same bits. Where a branch is gone, operations that both sides had
are executed once, for the operands of the side that a lane would have taken; those of one side only are executed by all
lanes. Both sides only computed, so no lane can notice.

A warp whose lanes diverge runs both sides, and the assembler does not join them. One whose lanes agree would have run
one side: so the code may not cost much more than the longer side.
"""

from __future__ import annotations

from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.dataflow import live_in, read, written
from goptx.analysis.numbering import completed
from goptx.analysis.registers.declared_registers import declared_types
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.launch.shape import Shape
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.model import Kernel
from goptx.weaving.shapes.scalar_code import free_stem
from goptx.weaving.simplify.align_sides import Alignment, Sides
from goptx.weaving.simplify.branch_sides import side_of
from goptx.weaving.simplify.melded_code import FreshRegisters, Melding

MOST = 64  # instructions of a side
BRANCH = 2  # issue slots of a branch and of what makes lanes reconverge
LEAST_SAVED = 6  # issue slots: short sides the assembler runs under predicates
OF_BOTH = 0.8  # of the issue slots of both sides, at most
OF_LONGER = 1.25  # of those of the longer one, at most


def meld(kernel: Kernel, number: int, shape: Shape | None = None) -> Kernel:
    """The kernel without the divergent branches whose sides can be one. `number` is its place among the linked kernels,
    `shape` the launch in which it would run alone, as far as that is known."""
    candidates = any(_diamond(kernel.flow, name) for name in kernel.flow.blocks)
    return _Melder(kernel, shape).melded(number) if candidates else kernel


class _Melder:
    def __init__(self, kernel: Kernel, shape: Shape | None) -> None:
        self.kernel, self.shape = kernel, shape
        self.flow = kernel.flow
        self.types = declared_types(kernel.registers)
        self.fresh = FreshRegisters(free_stem(f"%{kernel.prefix}_meld", kernel.register_names()))
        self.refused: set[tuple[str, str, int]] = set()
        self.products, self.summed = _contracted(self.flow)

    def melded(self, number: int) -> Kernel:
        """Inner branches come first: what they become may be a side of an outer one."""
        while (flow := self._once()) is not None:
            self.flow = flow
            self.types |= self.fresh.made
        if self.flow is self.kernel.flow:
            return self.kernel
        there = {r for i in self.flow.instructions() for r in written(i)}
        registers = (*self.kernel.registers, *self.fresh.declared(there))
        return replace(self.kernel, flow=completed(self.flow, number), registers=registers)

    def _once(self) -> Flow | None:
        """The flow with one branch less, None if there is none that is worth it."""
        blocks = self.flow.blocks
        diamonds = {n: found for n in self.flow.reverse_postorder() if (found := _diamond(self.flow, n))}
        live = live_in(self.flow) if diamonds else {}
        for name, (taken, fallen, join) in diamonds.items():
            looked_at = taken, fallen, len(blocks[taken].code) + len(blocks[fallen].code)  # melding only adds code
            if looked_at in self.refused:
                continue
            sides = self._sides(blocks[taken], blocks[fallen], live[join])
            best = sides and sides.best()
            if sides and best and _is_worth_it(sides, best) and self._diverges(name):
                return self._without(name, join, sides, best)
            self.refused.add(looked_at)
        return None

    def _sides(self, taken: Block, fallen: Block, live: frozenset[str]) -> Sides | None:
        found = side_of(taken.code, self.types), side_of(fallen.code, self.types)
        first, second = found
        if first is None or second is None or not (first.operations and second.operations):
            return None
        if any(side.add_to(self.products) for side in (first, second)):
            return None  # in one block with a product from before the branch, a sum might be contracted with that
        results = sorted(r for r in {**first.held, **second.held} if r in live)
        return Sides((first, second), self.types, results, self.summed)

    def _diverges(self, name: str) -> bool:
        return uniformity(self.flow, shape=self.shape).branches[name] > Uniformity.WARP

    def _without(self, name: str, join: str, sides: Sides, found: Alignment) -> Flow:
        block = self.flow.blocks[name]
        assert isinstance(block.end, Branch)
        code = Melding(sides, found, block.end.guard, block.end.line, self.fresh).written()
        changed = replace(block, code=(*block.code, *code), end=Jump(join))
        return self.flow.with_blocks({**self.flow.blocks, name: changed}).pruned()


def _contracted(flow: Flow) -> tuple[set[str], set[str]]:
    """The registers that may hold a product which an assembler contracts with a sum, and those that such a sum may
    read; perhaps copied or with another sign in between."""
    facts = [(i, facts_of(i.opcode)) for i in flow.instructions()]
    products = {r for i, f in facts if f.is_product for r in written(i)}
    summed = {r for i, f in facts if f.is_sum for r in read(i)}
    hands_on = [(read(i), written(i)) for i, f in facts if f.hands_product_on]
    size = -1
    while size < len(products) + len(summed):
        size = len(products) + len(summed)
        for reads, writes in hands_on:
            products |= frozenset() if products.isdisjoint(reads) else writes
            summed |= frozenset() if summed.isdisjoint(writes) else reads
    return products, summed


def _diamond(flow: Flow, name: str) -> tuple[str, str, str] | None:
    """The sides of the branch that ends a block, and the block where they meet, if they have the form for melding."""
    block = flow.blocks[name]
    end = block.end
    if not isinstance(end, Branch) or end.others or end.uniform or block.region or block.alone:
        return None
    taken, fallen = (flow.blocks[t] for t in end.successors())
    if not isinstance(taken.end, Jump) or taken.end != fallen.end or taken.end.target in (EXIT, name):
        return None
    above = flow.predecessors()
    if any(above[t] != (name,) for t in end.successors()) or not (_is_plain(taken) and _is_plain(fallen)):
        return None
    return end.taken, end.fallen, taken.end.target


def _is_plain(block: Block) -> bool:
    code = all(isinstance(c, Instruction) for c in block.code)
    return code and 0 < len(block.code) <= MOST and not (block.region or block.pragmas or block.alone)


def _is_worth_it(sides: Sides, found: Alignment) -> bool:
    costs = [side.cost for side in sides.sides]
    cost = sum(costs) - found.saved
    most = min(OF_BOTH * (sum(costs) + BRANCH), OF_LONGER * (max(costs) + BRANCH))
    return found.saved >= LEAST_SAVED and cost <= most
