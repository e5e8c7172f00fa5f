"""Products by `wgmma` with more sums than a thread has registers when a fused kernel begins.

Registers may be moved between warps after that, but an assembler takes no `wgmma` whose sums alone are more than those
at the beginning. It is divided into several with fewer columns: each has a part of the sums, all of A and some columns
of B. The sums of 8 neighbouring columns are in neighbouring registers. The descriptor of B says at what distances
columns lie in shared memory (PTX ISA, matrix descriptors of `wgmma`), so a number is added to it for each piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.matrix_products import Product, product_of
from goptx.analysis.registers.register_demand import BELOW_SUMS
from goptx.analysis.values.ranges import Ranges
from goptx.launch.launch_plan import Plan
from goptx.ptx.ir import Immediate, Instruction, Operand, Vector, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.weaving.model import Linked
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.scalar_code import Fresh, free_stem

PIECES = (2, 3, 4)
FEWEST_COLUMNS = 64  # of a piece: with fewer, shared memory would be read for longer than the tensor cores multiply
TILE = 8  # columns of which the sums are in neighbouring registers, and that lie one way in shared memory
UNKNOWN = (None, None, None)

# Fields of a descriptor: the first bit. Each has 14 bits, in units of 16 bytes, but for the last, which has 2.
LEADING, STRIDE, SWIZZLE = 16, 32, 62


def possible_pieces(flow: Flow) -> tuple[int, ...]:
    """Into how many pieces each `wgmma` of a kernel may be divided that has as many sums as any; at least into 1."""
    products = [i for i in flow.instructions() if facts_of(i.opcode).multiplies_later]
    most = max(map(_sums, products), default=0)
    widest, known = [i for i in products if _sums(i) == most], _known(flow)
    return 1, *(n for n in PIECES if widest and all(_can_be(i, n, known) for i in widest))


def pieces_for(sums: int, registers: int, possible: Sequence[int]) -> int:
    """The fewest pieces of a product with so many sums for which so many registers of a thread are enough, else the
    most."""
    return next((n for n in possible if sums // n + BELOW_SUMS <= registers), possible[-1])


def with_room_for_sums(linked: Linked, plan: Plan) -> Linked:
    """The kernels with their products divided where registers are moved, and notes about that."""
    registers = plan.registers_at_entry if isinstance(plan, Folded) and plan.moves else None
    if not registers:
        return linked
    kernels, notes = [], list(linked.notes)
    for kernel in linked.kernels:
        fresh = Fresh(free_stem(f"%{kernel.prefix}_piece", kernel.register_names()))
        flow, note = with_divided_products(kernel.flow, registers, fresh)
        kernels.append(replace(kernel, flow=flow, registers=(*kernel.registers, *fresh.declared())) if note else kernel)
        notes += [f"{kernel.at(kernel.entry.line)}: {note}"] if note and not kernel.copy else []
    return replace(linked, kernels=tuple(kernels), notes=tuple(notes))


def with_divided_products(flow: Flow, registers: int, fresh: Fresh) -> tuple[Flow, str]:
    """The flow with each `wgmma` divided for which so many registers of a thread are too few, into the fewest pieces
    for which they are enough, and a note about that. What cannot be divided so is as it was."""
    known, columns = _known(flow), set[tuple[int, int]]()

    def changed(code: Iterable[Code]) -> Iterator[Code]:
        for one in code:
            pieces = _pieces(one, registers, known) if isinstance(one, Instruction) else 1
            if not isinstance(one, Instruction) or pieces == 1:
                yield one
                continue
            product = product_of(one.opcode)
            assert product is not None
            columns.add((product.n, product.n // pieces))
            yield from _divided(one, product, pieces, known, fresh)

    made = flow.with_code(changed)
    if not columns:
        return flow, ""
    how = " and ".join(f"{n} columns into pieces of {each}" for n, each in sorted(columns))
    return made, f"`wgmma` of {how}: a thread has {registers} registers when the fused kernel begins"


def _pieces(instruction: Instruction, registers: int, known: Callable[[], Ranges]) -> int:
    if not facts_of(instruction.opcode).multiplies_later or _sums(instruction) + BELOW_SUMS <= registers:
        return 1
    enough = (n for n in PIECES if _sums(instruction) // n + BELOW_SUMS <= registers)
    return next((n for n in enough if _can_be(instruction, n, known)), 1)


def _sums(instruction: Instruction) -> int:
    sums = instruction.operands[0]
    return len(sums.parts) if isinstance(sums, Vector) else 0


def _known(flow: Flow) -> Callable[[], Ranges]:
    """The ranges of its registers, found when they are asked for."""
    found: list[Ranges] = []

    def ranges() -> Ranges:
        if not found:
            found.append(Ranges(list(flow.instructions()), (), {}, UNKNOWN, UNKNOWN))
        return found[0]

    return ranges


def _can_be(instruction: Instruction, pieces: int, known: Callable[[], Ranges]) -> bool:
    """Whether it can be divided into so many pieces."""
    product = product_of(instruction.opcode)
    if product is None or product.sparse or product.n % (pieces * 2 * TILE) or product.n // pieces < FEWEST_COLUMNS:
        return False
    return not _is_transposed(instruction, product) or _stride(instruction, product, known) is not None


def _is_transposed(instruction: Instruction, product: Product) -> bool:
    """Whether neighbours in shared memory are in one row of B, rather than in one column."""
    return product.element in ("f16", "bf16") and whole_number(str(instruction.operands[-1])) != 0


def _stride(instruction: Instruction, product: Product, known: Callable[[], Ranges]) -> int | None:
    """What to add to the descriptor of B for the next FEWEST_COLUMNS columns; None where its fields are not known."""
    found = known().of(instruction.operands[2])
    if found is None or found.base or found.low < 0 or found.low >> LEADING != found.high >> LEADING:
        return None
    leading, stride, swizzle = (found.low >> bit & 0x3FFF for bit in (LEADING, STRIDE, SWIZZLE))
    if not _is_transposed(instruction, product) or not swizzle:
        return stride * FEWEST_COLUMNS // TILE
    return leading << swizzle >> 1  # one pattern has 128 >> swizzle columns of two bytes


def _divided(
    instruction: Instruction, product: Product, pieces: int, known: Callable[[], Ranges], fresh: Fresh
) -> Iterator[Instruction]:
    sums, a, b, *rest = instruction.operands
    assert isinstance(sums, Vector)
    columns, own = product.n // pieces, len(sums.parts) // pieces
    opcode = instruction.opcode.replace(f"n{product.n}k", f"n{columns}k")
    stride = _stride(instruction, product, known)
    for piece in range(pieces):
        begin = b
        if piece:
            begin = fresh.register(".b64")
            yield from _added(begin, b, piece * columns, stride, fresh)
        part = Vector(sums.parts[piece * own : piece * own + own])
        provenance = None if piece else instruction.provenance
        yield replace(instruction, opcode=opcode, operands=(part, a, begin, *rest), provenance=provenance)


def _added(begin: Operand, b: Operand, columns: int, stride: int | None, fresh: Fresh) -> Iterator[Instruction]:
    """The descriptor of what is so many columns on."""
    if stride is not None:
        yield Instruction("add.s64", (begin, b, Immediate(str(stride * columns // FEWEST_COLUMNS))))
        return
    each = fresh.register(".b64")
    yield Instruction("bfe.u64", (each, b, Immediate(str(STRIDE)), Immediate("14")))
    yield Instruction("mad.lo.s64", (begin, each, Immediate(str(columns // TILE)), b))
