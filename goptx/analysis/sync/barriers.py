"""Which instructions are barriers, and for whom: what threads of a CTA or of a cluster come to together."""

from __future__ import annotations

from goptx.analysis.cfg import Block, Code
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import PLAIN_BARRIERS, facts_of
from goptx.ptx.opcodes import Scope as Convergence


def is_barrier(code: Code) -> bool:
    """Whether it is an instruction that synchronises the threads of a CTA."""
    return isinstance(code, Instruction) and facts_of(code.opcode).barrier


def is_cluster_barrier(code: Code) -> bool:
    """Whether it is an arrival or a wait at the barrier of the cluster, which all its threads come to."""
    return isinstance(code, Instruction) and facts_of(code.opcode).row.scope == Convergence.CLUSTER


def is_counted(barrier: Instruction) -> bool:
    """Whether a barrier waits for a number of threads, or does not wait, rather than for all threads of the CTA."""
    reduces = facts_of(barrier.opcode).reduces
    return len(barrier.operands) > (3 if reduces else 1) or not (reduces or barrier.opcode in PLAIN_BARRIERS)


def is_cta_barrier(code: Code) -> bool:
    """Whether it is a barrier at which all threads of the CTA meet."""
    return isinstance(code, Instruction) and is_barrier(code) and not is_counted(code)


def is_reduction(code: Code) -> bool:
    """Whether it is a barrier that gives a result."""
    return isinstance(code, Instruction) and facts_of(code.opcode).reduces


def holds_barrier(block: Block) -> bool:
    """Whether the block synchronises the threads of a CTA."""
    return any(map(is_barrier, block.instructions()))


def needs_all_threads(code: Code) -> bool:
    """Whether all threads of the CTA have to come to it: a rendezvous, or a barrier of the cluster."""
    return is_cta_barrier(code) or is_cluster_barrier(code)
