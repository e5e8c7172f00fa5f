"""The passes of batch: a loop of launches with a changing scalar becomes one launch."""

from __future__ import annotations

import re

from goptx.analysis.cfg import Flow, closure, controls
from goptx.analysis.dataflow import read, written
from goptx.analysis.values.pointer_effects import pointer_accesses
from goptx.errors import DependentKernels, InputError
from goptx.latency.table import load_table
from goptx.launch.coarsening import ALONE
from goptx.launch.shape import Shape
from goptx.options import AXES, Axis, is_whole
from goptx.ptx.ir import Address, Function, Instruction
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, chosen_from
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.converge.split_loops import split_as_it_is
from goptx.weaving.emit.emit import emit
from goptx.weaving.link.inline import inlined
from goptx.weaving.link.interface import parameters
from goptx.weaving.link.link import link
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.merged_blocks import merged_blocks
from goptx.weaving.merging.size_limits import limits
from goptx.weaving.model import Choices, Converged, Kernel
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.batch_axis import Iteration, iterated
from goptx.weaving.shapes.shape_kernels import shape as shape_kernels


def batched(
    source: Source,
    over: str,
    axis: Axis,
    start: int,
    step: int,
    entry: str | None,
    arch: str | None,
    name: str | None,
    shape: Shape | None,
    independent: bool,
) -> Woven:
    """As `goptx.batch`."""
    if axis not in AXES:
        raise InputError(f"axis `{axis}` is unknown; expected one of {', '.join(AXES)}.")
    if not is_whole(start) or not is_whole(step):
        raise InputError(f"start={start!r}, step={step!r} are not whole numbers.")
    if shape is not None and shape.axes("grid")[AXES.index(axis)] != 1:
        raise InputError(f"the shape {shape} has a grid along {axis}, so that axis is in use; take another axis.")
    kernel = chosen_from(source, entry, "batch()")
    if kernel.coarse != ALONE:
        raise InputError("batch() takes a kernel that is not coarsened; coarsen the result.")
    module = inlined(kernel.module, kernel.max_inlined)
    chosen = choose_entry(module, kernel.entry)
    position = _position(chosen, over)
    name_, access = list(pointer_accesses(chosen, module.address_size).items())[position]
    if access not in ("none", "unknown"):
        raise InputError(f"parameter A:{position} ({name_}) is a pointer; `over` is a number that changes.")
    module = iterated(module, chosen, Iteration(position, axis, start, step))
    made = [Chosen(module, kernel.entry, shape=kernel.shape)]
    linked = link(made, arch, name or f"{kernel.entry}_batched")
    linked = shape_kernels(linked, made)
    if not independent:
        _check_iterations(linked.kernels[0], {p.original: p.access for p in parameters(linked)}, axis, over)
    choices = Choices("concat", None, load_table(None, linked.target[0]))
    flow = linked.kernels[0].flow
    flow = split_as_it_is(Converged(flow), limits([flow], None, None)).flow
    side = MergeInput(flow, frozenset(), False, kernels=(0,), cycles=choices.cycles)
    merged = merged_blocks(side)
    scheduled = schedule(linked, (), merged, choices)
    return emit(made, linked, [flow], (), merged, scheduled, choices, strategy="batch")


def _position(entry: Function, over: str) -> int:
    """The position of the parameter. Raises `InputError`."""
    names = [p.name for p in entry.parameters]
    letter, _, name = str(over).partition(":")
    position = int(name) if re.fullmatch("[0-9]+", name) else names.index(name) if name in names else -1
    if letter != "A" or not 0 <= position < len(names):
        listed = ", ".join(f"A:{i} ({n})" for i, n in enumerate(names)) or "none"
        raise InputError(f"over=`{over}` is not a parameter of `{entry.name}`; it has {listed}.")
    return position


def _check_iterations(kernel: Kernel, accesses: dict[str, str], axis: str, over: str) -> None:
    """Raises `DependentKernels` for a store that each iteration executes at the same addresses: neither its address nor
    the branches that lead to it depend on the iteration or on memory."""
    sources = _sources(kernel.flow)
    varying = f"%ctaid.{axis}"
    controlled = controls(kernel.flow)
    originals = {n.name: o.name for o, n in zip(kernel.entry.parameters, kernel.parameters, strict=True)}
    for name, block in kernel.flow.blocks.items():
        deciders = closure([name], controlled)
        tested = [r for d in deciders for r in kernel.flow.blocks[d].end.reads()]
        for store in (i for i in block.instructions() if _stores(i)):
            named = set(names_in(next(o for o in store.operands if isinstance(o, Address))))
            taken = {*named, *tested, *(read(store) if store.guard else ())}
            known = {*taken, *closure(taken, sources)}
            arrays = [originals[p] for p in originals if p in named | closure(named, sources)]
            written_to = [p for p in arrays if accesses[p] in ("written", "both")]
            if varying not in known and _MEMORY not in known and len(written_to) == 1:
                raise DependentKernels(
                    f"{kernel.at(store.line)}: `{kernel.quote(store)}` writes the same elements of `{written_to[0]}` "
                    f"in every iteration, for its address does not depend on {over}: the launches depend on each "
                    "other. Launch one after the other, or pass independent=True if the order does not matter.",
                    rule="independent-kernels",
                )


_MEMORY = ""  # stands among the sources of a value that depends on more than registers and parameters


def _sources(flow: Flow) -> dict[str, frozenset[str]]:
    """For each register, what it is computed from anywhere in the flow."""
    sources: dict[str, frozenset[str]] = {}
    for block in flow.blocks.values():
        for code in block.code:
            known = isinstance(code, Instruction) and facts_of(code.opcode).known
            if isinstance(code, Instruction) and facts_of(code.opcode).row.access:
                known = facts_of(code.opcode).space == "param"
            for register in written(code):
                reads = read(code) | (frozenset() if known else {_MEMORY})
                sources[register] = sources.get(register, frozenset()) | reads
    return sources


def _stores(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    return facts.is_load_or_store and not facts.loads and facts.space in ("", "global")
