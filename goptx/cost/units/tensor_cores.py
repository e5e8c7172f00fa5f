"""What products of matrices occupy: the tensor cores, and the shared memory from which `wgmma` reads."""

from __future__ import annotations

from goptx.analysis.matrix_products import BITS, WARPS_TOGETHER, product_of
from goptx.cost.hardware import QUARTERS, Machine
from goptx.ptx.ir import Instruction, Vector
from goptx.ptx.opcodes import facts_of

LINE = 128  # bytes of shared memory that are read in a cycle


def tensor_cycles(opcode: str, machine: Machine) -> float:
    """Cycles for which a warp that executes the instruction occupies the tensor cores of its quarter of an SM. Where A
    is sparse, the half that is 0 takes none."""
    product = product_of(opcode)
    if product is None:
        return 0.0
    together = facts_of(opcode).multiplies_later
    warps = WARPS_TOGETHER if together else 1
    computed = product.m * product.n * product.k / (2 if product.sparse else 1) / warps
    return computed * QUARTERS / machine.products(product.element, together)


def lines_read(instruction: Instruction) -> tuple[float, float]:
    """How often a warp's part of a `wgmma` reads LINE bytes of shared memory for A, which registers may have, and for
    B."""
    product = product_of(instruction.opcode)
    if product is None:
        return 0.0, 1.0
    in_registers = sum(isinstance(operand, Vector) for operand in instruction.operands) > 1
    each = product.k * BITS[product.element] / 8 / LINE / WARPS_TOGETHER
    return 0.0 if in_registers else product.m * each, product.n * each
