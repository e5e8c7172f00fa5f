"""Programmatic dependent launch: waits for earlier grids and releases of later ones, once for the woven kernel.

Requires: linked kernels. Ensures: if any kernel waits for the grids before it, the woven kernel does so before all
else: the other kernel may not run beside those grids either. Dependent grids start when the woven grid has ended, since
until then a kernel may still have to write what they read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from goptx.analysis.cfg import Code, Flow, facts_among
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.model import Kernel, Linked

WAIT = "griddepcontrol.wait"


def between_grids(linked: Linked) -> Linked:
    """The kernels without `griddepcontrol`, and what the woven kernel does instead at its beginning."""
    found = {k.prefix: list(_controls(k.flow)) for k in linked.kernels}
    waits = any(facts_of(i.opcode).row.blocking for instructions in found.values() for i in instructions)
    notes = tuple(_note(k, i) for k in linked.given for i in found[k.prefix])
    kernels = tuple(replace(k, flow=_without(k.flow)) if found[k.prefix] else k for k in linked.kernels)
    begin = (Instruction(WAIT),) if waits else ()
    return replace(linked, kernels=kernels, begin=begin, notes=(*linked.notes, *notes))


def _is_control(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).controls_grids


def _controls(flow: Flow) -> Iterator[Instruction]:
    return filter(_is_control, flow.instructions() if any(f.controls_grids for f in facts_among(flow)) else ())


def _without(flow: Flow) -> Flow:
    return flow.with_code(lambda code: (c for c in code if not _is_control(c)))


def _note(kernel: Kernel, control: Instruction) -> str:
    described = f"{kernel.at(control.line)}: `{kernel.quote(control)}`"
    if facts_of(control.opcode).row.blocking:
        return f"{described} stands at the beginning of the woven kernel"
    return f"{described} is left out: dependents start when the woven grid has ended"
