"""Which instructions are barriers, and of which threads: CTA or cluster."""

from __future__ import annotations

from collections.abc import Callable

from goptx.analysis.cfg import Block, Code, Flow, facts_among
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import PLAIN_BARRIERS, facts_of
from goptx.ptx.opcodes import Scope as Convergence

_CLUSTER = Convergence.CLUSTER


def is_barrier(code: Code) -> bool:
    """Whether it synchronises the threads of a CTA."""
    return isinstance(code, Instruction) and facts_of(code.opcode).barrier


def is_cluster_barrier(code: Code) -> bool:
    """Whether it is an arrival or a wait at the barrier of the cluster, in which all its threads take part."""
    return isinstance(code, Instruction) and facts_of(code.opcode).row.scope == _CLUSTER


def is_counted(barrier: Instruction) -> bool:
    """Whether a barrier waits for a number of threads, or does not wait, instead of waiting for the whole CTA."""
    reduces = facts_of(barrier.opcode).reduces
    return len(barrier.operands) > (3 if reduces else 1) or not (reduces or barrier.opcode in PLAIN_BARRIERS)


def is_cta_barrier(code: Code) -> bool:
    """Whether it is a CTA-wide barrier: one that waits for all threads of the CTA."""
    return isinstance(code, Instruction) and facts_of(code.opcode).barrier and not is_counted(code)


def is_reduction(code: Code) -> bool:
    """Whether it is a barrier that gives a result."""
    return isinstance(code, Instruction) and facts_of(code.opcode).reduces


def holds_barrier(block: Block) -> bool:
    """Whether the block synchronises the threads of a CTA."""
    return any(facts.barrier for facts in facts_among(block))


def needs_all_threads(code: Code) -> bool:
    """Whether all threads of the CTA must execute it: a CTA-wide barrier, or a barrier of the cluster."""
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    return facts.row.scope == _CLUSTER or (facts.barrier and not is_counted(code))


def blocks_with(flow: Flow, needs: Callable[[Instruction], bool], least: Convergence) -> set[str]:
    """The blocks with such an instruction, all of which are convergent at the scope `least` or a wider one."""
    wide = {name: b for name, b in flow.blocks.items() if any(f.row.scope >= least for f in facts_among(b))}
    return {name for name, block in wide.items() if any(map(needs, block.instructions()))}


def blocks_needing_all_threads(flow: Flow) -> set[str]:
    """The blocks with an instruction that all threads of the CTA must execute."""
    return blocks_with(flow, needs_all_threads, Convergence.CTA)
