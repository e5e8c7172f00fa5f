"""Where whole CTAs may end at once: at a guard that depends on the number of the CTA, or on data.

Requires: a flow without regions, as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from goptx.analysis.cfg import EXIT, Flow, loops
from goptx.analysis.dataflow import computed_from, register_of, written
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

_CTA = ("%ctaid", "%clusterid")


def early_end(flow: Flow) -> frozenset[str] | None:
    """The blocks that a thread executes that ends at once: those up to the first branch that may depend on the CTA, of
    which one side ends the kernel and the other is at least half of it. None if there is no such branch."""
    decided = by_cta(flow)
    size = {name: len(block.instructions()) for name, block in flow.blocks.items()}
    in_loops = frozenset[str]().union(*loops(flow).values())
    for name in flow.reverse_postorder():
        end = flow.blocks[name].end
        if name in in_loops or not isinstance(end, Branch) or not decided.intersection(map(register_of, end.reads())):
            continue
        if not any(only_ends(flow, s) for s in end.successors()):
            continue
        before = frozenset(_dominators(flow, name))
        if sum(size[b] for b in before) * 2 <= sum(size.values()):
            return before
    return None


def _dominators(flow: Flow, name: str | None) -> Iterator[str]:
    """The block and all that dominate it."""
    while name is not None:
        yield name
        name = flow.dominators()[name]


def only_ends(flow: Flow, name: str) -> bool:
    """Whether nothing but the end of the kernel follows."""
    seen = set[str]()
    while name not in seen and name != EXIT:
        seen.add(name)
        block = flow.blocks[name]
        if block.code or not isinstance(block.end, Jump | Stop):
            return False
        (name,) = block.end.successors() or (EXIT,)
    return name == EXIT


def by_cta(flow: Flow) -> set[str]:
    """Registers that may differ between CTAs: computed from the number of the CTA, or from data."""
    data = (register for i in flow.instructions() if _loads_data(i) for register in written(i))
    return computed_from(flow, _CTA, data)


def _loads_data(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    return facts.loads and facts.space not in ("param", "const")
