"""CTA barriers of several kernels in one: separate ids, and forms that allow copies.

Requires: converged flows, with their range guards. Ensures: no two kernels use one barrier id; barriers that lanes of
one warp may reach in different copies are unaligned; those of a kernel with fewer warps than the fused kernel wait for
its own warps only.

Different warps may reach different copies of an aligned barrier: it demands that the threads of a warp execute the same
one (so does Triton's compiler read NVIDIA's word; an H200 does it). The unaligned form costs a meeting of the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from goptx.analysis.cfg import Code, Flow, facts_among
from goptx.analysis.sync.barriers import is_barrier, is_cluster_barrier, is_cta_barrier
from goptx.analysis.values.ranges import Ranges
from goptx.errors import CannotWeave
from goptx.launch.shape import Shape
from goptx.ptx.ir import Immediate, Instruction, Operand, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.model import Converged, Kernel

BARRIER_IDS = 16


def prepare_barriers(kernels: Sequence[Kernel], converged: Sequence[Converged], shape: Shape) -> list[Flow]:
    """The flows with separate barrier ids; `shape` is that of the fused kernel, as far as it is known. Raises
    `CannotWeave` where ids run out, or are unknown."""
    flows = separate_barrier_ids(kernels, [c.flow for c in converged], shape)
    lanes_branch = {i for i, c in enumerate(converged) if c.lanes_wait_separately}
    for i, c in enumerate(converged):
        if c.threads is not None:
            flows[i] = _each(flows[i], is_cta_barrier, partial(_with_count, c.threads))
        if lanes_branch - {i}:
            flows[i] = _each(flows[i], lambda code: _has_id(code) or is_cluster_barrier(code), unaligned)
    return ensured("prepare barriers", flows, kernels)


def separate_barrier_ids(kernels: Sequence[Kernel], flows: Sequence[Flow], shape: Shape) -> list[Flow]:
    """The flows with no barrier id in two of them; an id stays the same where it is free. `shape` is that of the fused
    kernel, as far as it is known. Raises `CannotWeave` where ids run out, or are unknown."""
    waiting = {i for i, flow in enumerate(flows) if any(_barriers(flow))}
    separate = []
    used: set[int] = set()
    for i, (kernel, flow) in enumerate(zip(kernels, flows, strict=True)):
        ids = _Ids(kernel, waiting > {i}, shape)
        new: dict[int, int] = {}
        for old in sorted({ids.of(b) for b in _barriers(flow)}):
            free = next((n for n in [old, *range(BARRIER_IDS)] if n not in used), None)
            if free is None:
                raise CannotWeave(
                    f"{kernel.at(kernel.entry.line)}: together the kernels need more than {BARRIER_IDS} barriers; "
                    "use separate launches.",
                    rule="barrier-ids",
                )
            new[old] = free
            used.add(free)
        separate.append(_each(flow, _has_id, partial(ids.renumbered, new)))
    return separate


class _Ids:
    """The barrier ids of a kernel: numbers, or registers that hold one number throughout. Other ids stay as they are,
    and
    are refused if other kernels have barriers too (`others_wait`)."""

    def __init__(self, kernel: Kernel, others_wait: bool, shape: Shape) -> None:
        self.kernel = kernel
        self.others_wait = others_wait
        self.shape = shape

    @cached_property
    def ranges(self) -> Ranges:
        """The ranges of the kernel's values in the fused kernel, where its sizes are numbers or that kernel's
        registers."""
        code = list(self.kernel.flow.instructions())
        return Ranges(code, (), {}, self.shape.axes("grid"), self.shape.axes("block"))

    def of(self, barrier: Instruction) -> int:
        """Raises `CannotWeave` where the id is not valid, or is unknown."""
        operand = barrier.operands[facts_of(barrier.opcode).barrier_id]
        number = self._number(operand)
        if number is None and not isinstance(operand, Immediate):
            if not self.others_wait:
                return 0
            raise CannotWeave(
                f"{self.kernel.at(barrier.line)}: `{self.kernel.quote(barrier)}` takes its barrier id from a register, "
                f"so it may be any of the {BARRIER_IDS}, and no id is left for another kernel; use a constant id, or "
                "give the sizes that it is computed from (shapes=, --shape).",
                rule="barrier-ids",
            )
        if number is None or not 0 <= number < BARRIER_IDS:
            raise CannotWeave(
                f"{self.kernel.at(barrier.line)}: `{self.kernel.quote(barrier)}` has no barrier id from 0 to "
                f"{BARRIER_IDS - 1}; write it as a plain number.",
                rule="barrier-ids",
            )
        return number

    def renumbered(self, new: Mapping[int, int], barrier: Instruction) -> Instruction:
        """The barrier with the new id for its old one."""
        position = facts_of(barrier.opcode).barrier_id
        operands = list(barrier.operands)
        number = self._number(operands[position])
        if number is not None and (isinstance(operands[position], Immediate) or new[number] != number):
            operands[position] = Immediate(str(new[number]))
        return replace(barrier, operands=tuple(operands))

    def _number(self, operand: Operand) -> int | None:
        if isinstance(operand, Immediate):
            try:
                return whole_number(operand.text)
            except ValueError:
                return None
        value = self.ranges.of(operand)
        return None if value is None else value.number


def _barriers(flow: Flow) -> Iterator[Instruction]:
    return filter(_has_id, flow.instructions() if any(facts.barrier for facts in facts_among(flow)) else ())


def _has_id(code: Code) -> bool:
    return is_barrier(code) and isinstance(code, Instruction) and facts_of(code.opcode).known


def _each(flow: Flow, which: Callable[[Code], bool], change: Callable[[Instruction], Instruction]) -> Flow:
    """The flow with the convergent instructions changed for which `which` holds."""
    if not any(facts.row.scope for facts in facts_among(flow)):
        return flow
    return flow.with_code(lambda code: (change(c) if isinstance(c, Instruction) and which(c) else c for c in code))


def _with_count(threads: Operand, barrier: Instruction) -> Instruction:
    """The barrier with a count of threads: without it a thread that skips the kernel would be waited for."""
    after_id = facts_of(barrier.opcode).barrier_id + 1
    return replace(barrier, operands=(*barrier.operands[:after_id], threads, *barrier.operands[after_id:]))


def unaligned(barrier: Instruction) -> Instruction:
    """The form of a barrier whose copies lanes of one warp may reach separately."""
    words = [w for w in barrier.opcode.split(".") if w != "aligned"]
    return replace(barrier, opcode=".".join(["barrier", *words[1:]]))
