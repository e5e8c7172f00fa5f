"""CTA barriers of several kernels in one: ids of their own, and one order of waiting.

Requires: converged flows, with their gates. Ensures: no two kernels use one barrier id; barriers that different
warps may reach in different copies are unaligned (M15); those of a kernel with fewer warps than W wait for its own
(M17); with several kernels that have barriers, each barrier begins a block, so that the merger can hold it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from goptx.analysis.cfg import Code, Flow, is_barrier, is_counted
from goptx.analysis.spin import waited_on
from goptx.errors import CannotWeave
from goptx.ptx.ir import Immediate, Instruction, Operand, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.weaving.divergence.converged import Converged
from goptx.weaving.link import Kernel

BARRIER_IDS = 16


def prepare_barriers(kernels: Sequence[Kernel], converged: Sequence[Converged]) -> list[Flow]:
    """The flows with barrier ids apart. Raises `CannotWeave` where ids run out or a wait has no fixed order."""
    waiting = _waiting([c.flow for c in converged])
    for i, (kernel, c) in enumerate(zip(kernels, converged, strict=True)):
        _check_waits(kernel, c.flow, bool(waiting - {i}), c.lanes_end)
    flows = []
    parted = {i for i, c in enumerate(converged) if c.warp_branches or _threads(kernels[i])}
    for i, flow in enumerate(ids_apart(kernels, [c.flow for c in converged])):
        if threads := _threads(kernels[i]):
            flow = _each_barrier(flow, partial(_with_count, threads))
        if parted - {i}:
            flow = _each_barrier(flow, _unaligned)
        flows.append(flow.cut(_starts_at_barriers, "bar") if waiting - {i} else flow)
    return flows


def ids_apart(kernels: Sequence[Kernel], flows: Sequence[Flow]) -> list[Flow]:
    """The flows with no barrier id in two of them; an id is kept where it is free. Raises `CannotWeave` where
    they run out, or may be any."""
    waiting = _waiting(flows)
    apart = []
    used: set[int] = set()
    for i, (kernel, flow) in enumerate(zip(kernels, flows, strict=True)):
        new: dict[int, int] = {}
        for old in sorted({_id(kernel, b, bool(waiting - {i})) for b in _barriers(flow)}):
            free = next((n for n in [old, *range(BARRIER_IDS)] if n not in used), None)
            if free is None:
                raise CannotWeave(
                    f"{kernel.at(kernel.entry.line)}: together the kernels need more than {BARRIER_IDS} barriers; "
                    "use separate launches."
                )
            new[old] = free
            used.add(free)
        apart.append(_each_barrier(flow, partial(_with_id, new)))
    return apart


def _waiting(flows: Sequence[Flow]) -> set[int]:
    """The positions of the flows that have barriers."""
    return {i for i, flow in enumerate(flows) if _barriers(flow)}


def _barriers(flow: Flow) -> list[Instruction]:
    """But for those of a kernel that runs last as one region: they cannot come between the other's."""
    return [i for b in flow.blocks.values() for i in b.code if isinstance(i, Instruction) and is_barrier(i)]


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
        if is_counted(barrier) and others_wait:
            raise CannotWeave(
                f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` waits for some threads of the CTA only, and the "
                "other kernel has barriers too: no common order of waiting can be shown (contract 3). "
                "Use separate launches."
            )
        if is_counted(barrier) and lanes_end:
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


def _each_barrier(flow: Flow, change: Callable[[Instruction], Instruction]) -> Flow:
    """The flow with each barrier changed, regions apart."""

    def changed(code: Code) -> Code:
        return change(code) if isinstance(code, Instruction) and is_barrier(code) else code

    return Flow(flow.entry, {n: replace(b, code=tuple(map(changed, b.code))) for n, b in flow.blocks.items()})


def _with_id(new: Mapping[int, int], barrier: Instruction) -> Instruction:
    position = facts_of(barrier.opcode).barrier_id
    operands = list(barrier.operands)
    operand = operands[position]
    if isinstance(operand, Immediate):
        operands[position] = Immediate(str(new[whole_number(operand.text)]))
    return replace(barrier, operands=tuple(operands))


def _threads(kernel: Kernel) -> Operand | None:
    """For how many threads its barriers wait; None for all of the CTA."""
    return kernel.gate.threads if kernel.gate else None


def _with_count(threads: Operand, barrier: Instruction) -> Instruction:
    """A thread that never comes to the kernel has not ended, so it would be waited for."""
    if is_counted(barrier):
        return barrier
    behind_id = facts_of(barrier.opcode).barrier_id + 1
    return replace(barrier, operands=(*barrier.operands[:behind_id], threads, *barrier.operands[behind_id:]))


def _unaligned(barrier: Instruction) -> Instruction:
    words = [w for w in barrier.opcode.split(".") if w != "aligned"]
    return replace(barrier, opcode=".".join(["barrier", *words[1:]]))


def _starts_at_barriers(code: Sequence[Code]) -> list[int]:
    return [i for i, c in enumerate(code) if i and is_barrier(c)]
