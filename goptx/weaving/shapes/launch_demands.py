"""What a kernel demands of its own launch, and what it may not do in a fused kernel of another shape.

Requires: linked kernels. Ensures: a shape agrees with the kernel's directives and includes what they state. Kernels
that would not be right in the fused kernel's shape are refused.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from goptx.analysis.cfg import closure
from goptx.analysis.dataflow import read, written
from goptx.analysis.registers.register_demand import BELOW_SUMS, sums_of_wgmma
from goptx.analysis.sync.barriers import is_cluster_barrier
from goptx.analysis.sync.sync_spans import is_of_warpgroup, is_warp_wide
from goptx.errors import CannotWeave, InputError
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import Axes, Shape, axes
from goptx.ptx.ir import Address, Instruction, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in, operand_names
from goptx.weaving.converge.unknown_instructions import first_unknown
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.link.clusters import names_cluster
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.model import Kernel, Linked
from goptx.weaving.shapes.folded import Folded, most_at_entry
from goptx.weaving.shapes.partitioned import Partitioned
from goptx.weaving.shapes.shared_pool import shared_of
from goptx.weaving.shapes.thread_view import WARP, WARPGROUP, View


def settled(kernel: Kernel, shape: Shape) -> Shape:
    """The shape with what the kernel's directives state. Raises `InputError` where they contradict it."""
    for directive in kernel.entry.directives:
        stated = [whole_number(v) for v in directive.values] if directive.name in _BOUNDS else []
        made = shape
        if directive.name == ".reqntid":
            sizes = zip(shape.axes("block"), axes(stated), strict=True)
            made = replace(shape, block=tuple(s if b is None else b for b, s in sizes))
        elif directive.name == ".reqnctapercluster":
            made = replace(shape, cluster=shape.cluster or tuple(stated))
        if stated and not _keeps(made, directive.name, stated):
            raise InputError(
                f"{kernel.at(directive.line or kernel.entry.line)}: `{directive}` contradicts the shape {shape} that "
                "is given for it; give one in which the kernel can be launched."
            )
        shape = made
    return shape


def may_be_dynamic(kernel: Kernel, linked: Linked) -> bool:
    """Whether the kernel uses dynamic shared memory, or reads how much there is."""
    names = _all_mentioned(kernel, linked)
    return bool(shared_of(kernel, linked).dynamic) or any(n in _SHARED_SIZES for n in names)


_SHARED_SIZES = ("%dynamic_smem_size", "%total_smem_size")


def common_block(linked: Linked) -> Axes:
    """What the kernels' directives state of the one block that all of them have. Raises `CannotWeave` where they
    contradict each other."""
    bounds, _ = launch_bounds(linked.given)
    required = next((d.values for d in bounds if d.name == ".reqntid"), None)
    return axes([None] * 3 if required is None else [whole_number(v) for v in required])


def known_shape(linked: Linked) -> Shape:
    """That of the fused kernel, as far as it is known. Raises `CannotWeave` where kernels contradict each other."""
    return linked.plan.shape if linked.plan else Shape(None, common_block(linked), None)


_BOUNDS = (".reqntid", ".maxntid", ".reqnctapercluster")


def _keeps(shape: Shape, bound: str, stated: list[int]) -> bool:
    if bound == ".reqntid":
        return shape.axes("block") == axes(stated)
    if bound == ".maxntid":
        return shape.threads is None or shape.threads <= prod(stated)
    return axes(shape.cluster or ()) == axes(stated)


def check_clusters(linked: Linked, plan: Plan) -> None:
    """Clusters move whole: they are preserved only where the CTAs of the fused kernel are those of every kernel. Raises
    `CannotWeave`."""
    alike = len({(s.grid, s.cluster) for s in plan.shapes}) == 1 and plan.shape.ctas is not None
    if alike and not plan.overlaid and not plan.folds and all(c.factor == 1 for c in plan.coarse):
        return
    for kernel, shape in zip(linked.given, plan.shapes, strict=True):
        register = next((n for n in _all_mentioned(kernel, linked) if names_cluster(n)), "")
        if register or shape.cluster is not None:
            described = register or f"clusters of {shape.cluster} CTAs"
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: {described} can be preserved only where all kernels have the same "
                "grid, known when they are woven, and the same clusters, and none is coarsened; use separate launches.",
                rule="cluster-shape",
            )


def check_fits(kernel: Kernel, linked: Linked, view: View) -> None:
    """Raises `CannotWeave` for what the kernel may do in a CTA, or on an SM, of its own only."""
    if view.more_lanes():
        whole = next((i for i in kernel.flow.instructions() if _needs_whole_warps(i)), None)
        if whole is not None:
            raise CannotWeave(
                f"{kernel.at(whole.line)}: `{kernel.quote(whole)}` needs whole warps, but the kernel's shape "
                f"({view.shape}) is not proved to have a multiple of {WARP} threads, and the other kernel has more; "
                "use separate launches.",
                rule="whole-warps",
            )
    _check_registers(kernel, view.plan)
    names = _all_mentioned(kernel, linked)
    if view.more_warps() or view.more_lanes():
        meets = next((i for i in kernel.flow.instructions() if is_cluster_barrier(i)), None)
        if meets is not None:
            raise CannotWeave(
                f"{kernel.at(meets.line)}: `{kernel.quote(meets)}` waits for all threads of the cluster, of which "
                "some do not belong to the kernel where the other kernel has more; use separate launches.",
                rule="cluster-barrier",
            )
    if isinstance(view.plan, Partitioned):
        _check_part(kernel, view.plan, view)
    elif view.pass_by() and (view.shape.threads or 1) % WARPGROUP:
        for other in linked.kernels:
            together = next((i for i in other.flow.instructions() if is_of_warpgroup(i)), None)
            if together is not None:
                raise CannotWeave(
                    f"{other.at(together.line)}: `{other.quote(together)}` needs whole warpgroups, and kernel "
                    f"{kernel.letter}, with fewer threads ({view.shape}), would end amid one; use separate launches.",
                    rule="whole-warps",
                )
    coarse = view.coarse.factor > 1
    if (coarse or view.plan.folds or view.fewer_ctas()) and "%smid" in names:
        located = _by_sm(kernel, linked)
        if located:
            what = "coarsening" if coarse else "a folded grid" if view.plan.folds else "a grid of another size"
            raise CannotWeave(
                f"{located} may have an address that depends on %smid, so the kernel may count on which of its CTAs "
                f"share an SM, which {what} changes; use separate launches.",
                rule="sm-number",
            )
    if "%aggr_smem_size" in names:
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: %aggr_smem_size counts the shared memory of all kernels together in a "
            "woven one; use %total_smem_size.",
            rule="shared-size-registers",
        )


def check_shared_sizes(linked: Linked) -> Linked:
    """Of kernels whose launches are not known. Raises `CannotWeave` where one reads how much shared
    memory its CTA has, and others have some, which counts in the fused kernel."""
    own = {k.prefix: shared_of(k, linked) for k in linked.kernels}
    for kernel in linked.kernels:
        others = [o for prefix, o in own.items() if prefix != kernel.prefix]
        any_shared, dynamic = any(o.static or o.dynamic for o in others), any(o.dynamic for o in others)
        counting = {"%total_smem_size": any_shared, "%aggr_smem_size": any_shared, "%dynamic_smem_size": dynamic}
        register = next((n for n in _all_mentioned(kernel, linked) if counting.get(n)), "")
        if register:
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: {register} would count the shared memory of all kernels; give the "
                "shapes (shapes=, --shape) or use separate launches.",
                rule="shared-size-registers",
            )
    return linked


def _check_registers(kernel: Kernel, plan: Plan) -> None:
    """Of the registers that a thread has when the fused kernel begins: an assembler takes no `wgmma` with more sums
    than these, whatever the thread has later."""
    threads, sums = plan.shape.threads, sums_of_wgmma(kernel.flow, kernel.registers)
    if not threads or not sums:
        return
    moved = plan.registers_at_entry if isinstance(plan, Folded) else None
    room = moved or most_at_entry(threads)
    if sums + BELOW_SUMS > room:
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: a `wgmma` of the kernel takes {sums + BELOW_SUMS} registers of a thread, "
            f"but one of a CTA of {threads} threads begins with at most {room}; use separate launches.",
            rule="launch-bounds",
        )


def _check_part(kernel: Kernel, plan: Partitioned, view: View) -> None:
    """Of what the kernel may do in warps that are not the first of their CTA, beside those of other kernels."""
    first, threads = plan.first_thread(view.position), plan.partition[view.position]
    together = next((i for i in kernel.flow.instructions() if is_of_warpgroup(i)), None)
    if together is not None and (first % WARPGROUP or threads % WARPGROUP):
        raise CannotWeave(
            f"{kernel.at(together.line)}: `{kernel.quote(together)}` needs whole warpgroups, but the kernel has "
            f"{threads} threads from thread {first} on; let both be multiples of {WARPGROUP}, as by another order of "
            "the kernels.",
            rule="whole-warps",
        )
    unknown = first_unknown(kernel.flow)
    if unknown is not None:
        raise CannotWeave(
            f"{kernel.at(unknown.line)}: `{kernel.quote(unknown)}` is not an instruction that goptx knows, so it may "
            "depend on the warps of other kernels beside its own; use the strategy weave or separate launches.",
            rule="known-instructions",
        )


def _all_mentioned(kernel: Kernel, linked: Linked) -> list[str]:
    """The names in the kernel and in the device functions that it calls."""
    bodies = [s for f in called_functions(kernel, linked.items) for s in f.body or ()]
    return operand_names([*kernel.flow.codes(), *bodies])


def _needs_whole_warps(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    return is_warp_wide(instruction) and facts.row.mask is None and not facts.reads_active_mask


def _by_sm(kernel: Kernel, linked: Linked) -> str:
    """The first access to memory whose address is computed from %smid, or a function that reads it; "" if neither."""
    for function in called_functions(kernel, linked.items):
        if "%smid" in operand_names(function.body or ()):
            return f"{kernel.at(function.line)}: the device function `{function.name}`"
    sources: dict[str, frozenset[str]] = {}
    for instruction in kernel.flow.instructions():
        for register in written(instruction):
            sources[register] = sources.get(register, frozenset()) | read(instruction)
    for instruction in kernel.flow.instructions():
        names = {n for o in instruction.operands if isinstance(o, Address) for n in names_in(o)}
        if "%smid" in closure(names, sources):
            return f"{kernel.at(instruction.line)}: `{kernel.quote(instruction)}`"
    return ""
