"""Which instructions are barriers, and of which threads: CTA or cluster."""

from __future__ import annotations

from goptx.analysis.cfg import Block, Code
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import PLAIN_BARRIERS, facts_of
from goptx.ptx.opcodes import Scope as Convergence


def is_barrier(code: Code) -> bool:
    """Whether it synchronises the threads of a CTA."""
    return isinstance(code, Instruction) and facts_of(code.opcode).barrier


def is_cluster_barrier(code: Code) -> bool:
    """Whether it is an arrival or a wait at the barrier of the cluster, in which all its threads take part."""
    return isinstance(code, Instruction) and facts_of(code.opcode).row.scope == Convergence.CLUSTER


def is_counted(barrier: Instruction) -> bool:
    """Whether a barrier waits for a number of threads, or does not wait, instead of waiting for the whole CTA."""
    reduces = facts_of(barrier.opcode).reduces
    return len(barrier.operands) > (3 if reduces else 1) or not (reduces or barrier.opcode in PLAIN_BARRIERS)


def is_cta_barrier(code: Code) -> bool:
    """Whether it is a CTA-wide barrier: one that waits for all threads of the CTA."""
    return isinstance(code, Instruction) and is_barrier(code) and not is_counted(code)


def is_reduction(code: Code) -> bool:
    """Whether it is a barrier that gives a result."""
    return isinstance(code, Instruction) and facts_of(code.opcode).reduces


def holds_barrier(block: Block) -> bool:
    """Whether the block synchronises the threads of a CTA."""
    return any(map(is_barrier, block.instructions()))


def needs_all_threads(code: Code) -> bool:
    """Whether all threads of the CTA must execute it: a CTA-wide barrier, or a barrier of the cluster."""
    return is_cta_barrier(code) or is_cluster_barrier(code)
