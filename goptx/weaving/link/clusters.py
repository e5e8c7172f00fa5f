"""Clusters of several kernels in one: all have one cluster shape, or only one kernel uses clusters.

Requires: linked kernels. Ensures: a kernel that uses its cluster has it in the woven kernel too; the barrier of a
cluster, of which there is one and which has no id, serves one kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import facts_among
from goptx.analysis.dataflow import read
from goptx.analysis.sync.barriers import is_cluster_barrier
from goptx.errors import CannotWeave
from goptx.launch.shape import axes
from goptx.ptx.ir import Directive, Function, Instruction, whole_number
from goptx.ptx.opcodes import Facts, Scope, facts_of
from goptx.ptx.walk import statements_in
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.model import Kernel, Linked

SHAPE = ".reqnctapercluster"
DIRECTIVES = (".explicitcluster", SHAPE, ".maxclusterrank")


def in_clusters(linked: Linked) -> Linked:
    """With the cluster directives of the woven entry. `with_shapes` ensures that the clusters have one shape. Raises
    `CannotWeave` where the kernels do not agree, or one does not say which shape its cluster has."""
    given = linked.plan.shape.cluster if linked.plan else None
    alone = linked.plan is not None and given is None  # a cluster of one CTA, whose place is known
    stated: dict[str, list[tuple[Kernel, Directive]]] = {}
    for kernel in linked.kernels:
        for directive in kernel.entry.directives:
            if directive.name in DIRECTIVES:
                stated.setdefault(directive.name, []).append((kernel, directive))
    for found in stated.values():
        if len({_axes(d) for _, d in found}) > 1:
            described = " and ".join(f"{k.at(d.line)} states `{d}`" for k, d in found)
            raise CannotWeave(
                f"{described}: woven kernels share one cluster; use separate launches.", rule="cluster-shape"
            )
    for kernel in linked.kernels:
        use = _first_use(kernel, called_functions(kernel, linked.items), registers=not alone)
        if use is not None and given is None and all(k is not kernel for k, _ in stated.get(SHAPE, ())):
            raise CannotWeave(
                f"{kernel.at(use.line)}: `{kernel.quote(use)}` depends on the cluster, whose shape is not known; "
                f"state it by `{SHAPE}` or use separate launches.",
                rule="cluster-shape",
            )
    barriers = [(k, b) for k in linked.kernels if (b := _first_barrier(k)) is not None]
    if len(barriers) > 1:
        described = " and ".join(f"{k.at(b.line)}: `{k.quote(b)}`" for k, b in barriers)
        raise CannotWeave(
            f"{described} are both of the barrier of the cluster, of which there is one, so arrivals of one kernel "
            "would be taken for the other's; use separate launches.",
            rule="cluster-barrier",
        )
    directives = {name: found[0][1] for name, found in stated.items()}
    if given is not None:
        directives[SHAPE] = Directive(SHAPE, tuple(map(str, axes(given))))
    return replace(linked, clusters=tuple(directives[name] for name in DIRECTIVES if name in directives))


def _axes(directive: Directive) -> tuple[int, ...]:
    numbers = [whole_number(value) for value in directive.values]
    return tuple([*numbers, 1, 1][:3]) if numbers else ()


def names_cluster(text: str) -> bool:
    """Whether it mentions a register that gives a CTA's place in its cluster."""
    return bool(re.search(r"%(is_explicit_|n)?cluster", text))


def _first_use(kernel: Kernel, functions: Sequence[Function], registers: bool) -> Instruction | None:
    """The first instruction that concerns other CTAs of the cluster, or its shape; one that only reads `registers` of
    it counts if asked for."""
    called = (s for f in functions for s in statements_in(f.body or ()) if isinstance(s, Instruction))
    code = (*kernel.flow.instructions(), *called)
    opcodes = {opcode for opcode in {i.opcode for i in code} if _is_of_clusters(facts_of(opcode))}
    names = {name for name in frozenset[str]().union(*map(read, code)) if registers and names_cluster(name)}
    if not opcodes and not names:
        return None
    return next((i for i in code if i.opcode in opcodes or not names.isdisjoint(read(i))), None)


def _is_of_clusters(facts: Facts) -> bool:
    """Without `mapa`, addresses of the window `.shared::cluster` are the CTA's own, which is how copies into shared
    memory and their mbarriers are spelled."""
    if facts.asks_cluster or facts.is_multicast or facts.row.scope == Scope.CLUSTER:
        return True
    return "shared::cluster" in facts.modifiers and facts.accesses_element


def _first_barrier(kernel: Kernel) -> Instruction | None:
    if all(facts.row.scope != Scope.CLUSTER for facts in facts_among(kernel.flow)):
        return None
    return next(filter(is_cluster_barrier, kernel.flow.instructions()))
