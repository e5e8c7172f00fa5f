"""CTA barriers of several kernels in one: ids of their own, and one order of waiting.

Requires: converged flows. Ensures: no two kernels use one barrier id; barriers that different warps may
reach in different copies are unaligned (M15); with several kernels that have barriers, each barrier
begins a block, so that the merger can hold it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow, Jump, holds_barrier, is_barrier
from goptx.analysis.spin import waited_on
from goptx.errors import CannotWeave
from goptx.ptx.ir import Immediate, Instruction, whole_number
from goptx.ptx.opcodes import PLAIN_BARRIERS, facts_of
from goptx.weaving.converge import Converged
from goptx.weaving.link import Kernel

BARRIER_IDS = 16


def prepare_barriers(kernels: Sequence[Kernel], converged: Sequence[Converged]) -> list[Flow]:
    """The flows with barrier ids apart. Raises `CannotWeave` where ids run out or a wait has no fixed order."""
    with_barriers = [any(holds_barrier(b) for b in c.flow.blocks.values()) for c in converged]
    flows = []
    used: set[int] = set()
    for i, (kernel, c) in enumerate(zip(kernels, converged, strict=True)):
        others_branch = any(o.warp_branches for j, o in enumerate(converged) if j != i)
        others_wait = any(with_barriers[:i] + with_barriers[i + 1 :])
        _check_waits(kernel, c.flow, others_wait, c.lanes_end)
        ids = sorted({_id(kernel, b, others_wait) for b in _barriers(c.flow)})
        new: dict[int, int] = {}
        for old in ids:
            free = next((n for n in [old, *range(BARRIER_IDS)] if n not in used), None)
            if free is None:
                raise CannotWeave(
                    f"{kernel.at(kernel.entry.line)}: together the kernels need more than {BARRIER_IDS} barriers; "
                    "use separate launches."
                )
            new[old] = free
            used.add(free)
        flow = Flow(
            c.flow.entry,
            {n: _rewritten(b, new, unaligned=others_branch) for n, b in c.flow.blocks.items()},
        )
        flows.append(_cut_at_barriers(flow) if others_wait and with_barriers[i] else flow)
    return flows


def _barriers(flow: Flow) -> list[Instruction]:
    return [i for b in flow.blocks.values() for i in b.instructions() if is_barrier(i)]


def _id(kernel: Kernel, barrier: Instruction, others_wait: bool) -> int:
    operand = barrier.operands[facts_of(barrier.opcode).barrier_id]
    if isinstance(operand, Immediate):
        try:
            number = whole_number(operand.text)
        except ValueError:
            number = BARRIER_IDS
        if number >= BARRIER_IDS:
            raise CannotWeave(
                f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` has no barrier id from 0 to {BARRIER_IDS - 1}; "
                "write it as a plain number."
            )
        return number
    if others_wait:
        raise CannotWeave(
            f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` takes its barrier id from a register, so it may "
            f"be any of the {BARRIER_IDS} and none is left for the other kernel; use a constant id."
        )
    return 0


def _check_waits(kernel: Kernel, flow: Flow, others_wait: bool, lanes_end: bool) -> None:
    """Waits that are no rendezvous of the whole CTA have no order that could be fixed here (contract 3)."""
    for barrier in _barriers(flow):
        reduces = "red" in facts_of(barrier.opcode).modifiers
        plain = barrier.opcode in PLAIN_BARRIERS or reduces
        counted = len(barrier.operands) > (3 if reduces else 1)
        if (not plain or counted) and others_wait:
            raise CannotWeave(
                f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` waits for some threads of the CTA only, and the "
                "other kernel has barriers too: no common order of waiting can be shown (contract 3). "
                "Use separate launches."
            )
        if (not plain or counted) and lanes_end:
            raise CannotWeave(
                f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` counts threads, and some may have returned "
                "before it, which a woven kernel cannot leave out of the count (M14). Use separate launches."
            )
    spin = waited_on(kernel.flow)
    if spin is not None:
        raise CannotWeave(
            f"{kernel.at(spin.line)}: `{kernel.quote(spin)}` decides when a loop ends, so the loop may wait for other "
            "threads or CTAs (M18), which weaving could keep from running; use separate launches."
        )


def _rewritten(block: Block, ids: dict[int, int], unaligned: bool) -> Block:
    def one(code: Code) -> Code:
        if not isinstance(code, Instruction) or not is_barrier(code):
            return code
        position = facts_of(code.opcode).barrier_id
        operands = list(code.operands)
        operand = operands[position]
        if isinstance(operand, Immediate):
            operands[position] = Immediate(str(ids[whole_number(operand.text)]))
        words = [w for w in code.opcode.split(".") if w != "aligned"]
        opcode = ".".join(["barrier", *words[1:]]) if unaligned else code.opcode
        return replace(code, opcode=opcode, operands=tuple(operands))

    return replace(block, code=tuple(one(c) for c in block.code))


def _cut_at_barriers(flow: Flow) -> Flow:
    """Each barrier at the beginning of a block."""
    blocks: dict[str, Block] = {}
    for name, block in flow.blocks.items():
        cuts = [i for i, c in enumerate(block.code) if i and is_barrier(c)]
        names = [name, *(f"{name}.bar{k}" for k in range(1, len(cuts) + 1))]
        bounds = [0, *cuts, len(block.code)]
        for k, piece in enumerate(names):
            end = block.end if k == len(cuts) else Jump(names[k + 1])
            code = block.code[bounds[k] : bounds[k + 1]]
            blocks[piece] = replace(block, code=code, end=end, pragmas=block.pragmas if k == 0 else ())
    return Flow(flow.entry, blocks)
