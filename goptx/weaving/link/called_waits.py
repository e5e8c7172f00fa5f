"""What functions that stay functions must not be asked for: what a loop around a call waits for.

Requires: a linked kernel whose calls are inlined where that can be done (inline.py). Ensures: no loop waits for what a
function reads that is called in it, and no function waits or calls itself until other threads have answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import networkx as nx

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.influence import Addresses, callee_of
from goptx.analysis.sync.spin_loops import strong_reads_of_functions, waiting_loops, waiting_recursion
from goptx.errors import CannotWeave
from goptx.ptx.ir import Function
from goptx.ptx.walk import mentioned
from goptx.weaving.link.call_graph import is_call
from goptx.weaving.unweavable import Describe, refuse_spin

if TYPE_CHECKING:
    from goptx.weaving.model import Kernel

STAYS = (
    "the function cannot be put where it is called (it calls itself, or is called through a pointer, or computes the "
    "addresses of its parameters)"
)
HIDDEN = f"cannot be kept convergent and in order there, and {STAYS}; inline the function."


def within(function: Function, kernel: Kernel) -> Describe:
    """Names an instruction of a function that a kernel calls."""
    return lambda found: f"{kernel.at(found.line)}: `{found}` in the device function `{function.name}`"


def refuse_hidden_waits(kernel: Kernel, called: Iterable[Function], declared: Collection[str]) -> None:
    """Raises `CannotWeave` for waits in the functions that a kernel calls, and for loops that wait for what is read in
    one; `declared` are functions of which nothing is known."""
    functions = {f.name: f for f in called}
    if not functions and not declared:
        return
    flows = {name: flow_as_written(f.body, kernel.source) for name, f in functions.items()}
    calls = [i for flow in (kernel.flow, *flows.values()) for i in flow.instructions() if is_call(i)]
    unknown = {callee: (i,) for i in calls if (callee := callee_of(i)) in declared}
    function_reads = strong_reads_of_functions(flows, functions, unknown)
    found = [
        waited for _, waited in waiting_loops(kernel.flow, function_reads) if waited.kernel is None or is_call(waited)
    ]
    for name, flow in flows.items():
        found += [waited for _, waited in waiting_loops(flow, function_reads)]
        found += waiting_recursion(flow, function_reads, _leading_to(name, functions))
    for waited in found:
        name = next((n for n, flow in flows.items() if any(waited is i for i in flow.instructions())), "")
        said = within(functions[name], kernel) if name else lambda i: f"{kernel.at(i.line)}: `{kernel.quote(i)}`"
        if is_call(waited):
            raise CannotWeave(
                f"{said(waited)} decides when a loop ends, and the code of that function is not there, so the loop may "
                "wait for other threads; give a module with its code, or use separate launches.",
                rule="visible-waits",
            )
        refuse_spin(waited, said, Addresses(flows[name]))
        raise CannotWeave(f"{said(waited)} {HIDDEN}", rule="visible-waits")


def _leading_to(name: str, functions: Mapping[str, Function]) -> frozenset[str]:
    """The functions that call this one, by others perhaps."""
    graph = nx.DiGraph([(n, other) for n, f in functions.items() for other in mentioned(f.body or ())])
    graph.add_node(name)
    return frozenset(nx.ancestors(graph, name) | ({name} if graph.has_edge(name, name) else set()))
