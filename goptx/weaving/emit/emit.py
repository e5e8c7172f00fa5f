"""Writes a flow as the body of an entry, makes the fused module around it, and reports on both.

Requires: a flow whose code is final. Ensures: blocks are laid out so that the likely path falls through; labels
are identifiers of PTX, whatever the names of blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.registers.register_demand import Demand
from goptx.analysis.terminators import Branch, End, Jump, Stop, Switch
from goptx.launch.launching import Launch
from goptx.launch.shape import tightest
from goptx.ptx.ir import Directive, Function, Guard, Instruction, Label, Module, Name, Registers, Statement
from goptx.ptx.opcodes import facts_of
from goptx.ptx.verify import legal, verify
from goptx.results.fused_kernel import Woven
from goptx.results.report import Report
from goptx.sources.kernel_text import Chosen
from goptx.weaving.emit.counts import count, divergences, woven_fraction
from goptx.weaving.emit.debug_lines import with_locations
from goptx.weaving.emit.provenance import origins
from goptx.weaving.emit.write_witness import witness_of
from goptx.weaving.invariants import ensured
from goptx.weaving.link.interface import parameters, symbols
from goptx.weaving.link.launch_bounds import launch_bounds
from goptx.weaving.merging.dummy_blocks import is_dummy
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.model import Choices, Converged, Linked

_FOLDED, _BOUND = " of folded grids", " bound to SMs"  # strategies by themselves, for the checker


def emit(
    chosen: Sequence[Chosen],
    linked: Linked,
    flows: Sequence[Flow],
    converged: Sequence[Converged],
    merged: Merged,
    final: Flow,
    choices: Choices,
    notes: Sequence[str] = (),
    strategy: str = "weave",
    depends: bool = False,
    along_x: bool = False,
    needed: Demand | None = None,
) -> Woven:
    """The fused kernel. `flows` are those of the single kernels that were merged, and `final` is the merged flow after
    scheduling; `converged` tells what was done about divergence, and is empty for the published merge. `needed` are
    the registers that the code is estimated to need, if that is known.

    Raises `CannotWeave` where launch bounds contradict.
    """
    fresh = [r for c in converged for r in c.registers]
    bounds, dropped = launch_bounds(linked.given, linked.plan)
    flow = final.pruned()
    module = woven_module(linked, flow, fresh, (*bounds, *linked.clusters))
    woven_origins = origins(linked.kernels, flows, module.entries[0])
    module = verify(
        with_locations(module, linked.name, woven_origins, {k.letter: k.lines for k in linked.given}, linked.tables)
    )
    report = Report(
        kernels={k.letter: count(k.entry.name, k.flow, choices.cycles) for k in linked.given},
        merged=count(linked.name, flow, choices.cycles, sum(map(is_dummy, merged.blocks.values()))),
        woven_fraction=woven_fraction(linked.kernels, flows, list(merged.blocks.values())),
        policy=choices.policy,
        slicing=choices.slicing,
        latency=choices.table.arch,
        divergences=divergences(
            [(k.letter, c) for k, c in zip(linked.kernels, converged, strict=False)], merged.blocks.values()
        ),
        notes=tuple(dict.fromkeys((*linked.notes, *dropped, *notes, *(n for c in converged for n in c.notes)))),
    )
    launch = Launch(linked.name, parameters(linked), linked.plan)
    woven = Woven(
        module, linked.name, (launch,), report, woven_origins, symbols(linked, module), linked.plan, strategy,
        tuple(chosen), depends, along_x, tightest(linked.limits),
        witness=witness_of(linked, chosen, module, woven_origins, f"{strategy}{_how(linked)}", depends),
        needed=needed,
    )  # fmt: skip
    return ensured("emit", woven)


def _how(linked: Linked) -> str:
    return _FOLDED * bool(linked.loops) + _BOUND * bool(linked.binding)


def woven_module(linked: Linked, flow: Flow, fresh: Iterable[Registers], bounds: tuple[Directive, ...]) -> Module:
    registers = [r for k in linked.kernels for r in k.registers] + [r for r in fresh if r.names]
    parameters = [p for k in linked.given for p in k.parameters if p.name not in linked.lacks]
    variables = [v for k in linked.kernels for v in (*k.variables, *k.callees)]
    entry = Function(
        kind=".entry",
        name=linked.name,
        parameters=(*parameters, *linked.hidden.values()),
        directives=bounds,
        body=(*registers, *variables, *linked.begin, *statements(flow)),
        linkage=(".visible",),
    )
    return Module(linked.version, linked.target, linked.address_size, (*linked.items, entry))


def statements(flow: Flow) -> list[Statement]:
    """The flow as labels and instructions, laid out in reverse postorder, `ret` last."""
    order = [n for n in flow.reverse_postorder() if n != EXIT] + [EXIT]
    labels, tables = _labels(order, [n for n in order if isinstance(flow.blocks[n].end, Switch)])
    following = dict(pairwise(order))
    ends = {
        n: _end(flow.blocks[n].end.retarget(labels), labels.get(following.get(n, "")), tables.get(n, "")) for n in order
    }
    named = _named(s for end in ends.values() for s in end)
    result: list[Statement] = []
    for name in order:
        if labels[name] in named:
            result.append(Label(labels[name]))
        result += [*flow.blocks[name].pragmas, *flow.blocks[name].code, *ends[name]]
    return result


def _labels(blocks: Sequence[str], switches: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The label of each block, and of the targets of each switch. Names of blocks may have characters that cannot stand
    in a label: these become `_`, and further `_` follow until the label differs from all others."""
    wanted = {n: n if n.startswith("$") else f"${n}" for n in blocks}
    labels: dict[str, str] = {}
    taken: set[str] = set()

    def free(label: str) -> str:
        label = re.sub(r"[^\w$]", "_", label, flags=re.ASCII)
        while label in taken:
            label += "_"
        taken.add(label)
        return label

    for name in sorted(blocks, key=lambda n: not legal(wanted[n])):  # legal names come first and stay as they are
        labels[name] = free(wanted[name])
    return labels, {n: free(f"{labels[n]}_table") for n in switches}


def _named(code: Iterable[Statement]) -> set[str]:
    """The labels that a branch or a table of targets names."""
    named: set[str] = set()
    for statement in code:
        match statement:
            case Instruction(opcode, (Name(target),)) if facts_of(opcode).row.ends == "branch":
                named.add(target)
            case Directive(".branchtargets", values):
                named.update(values)
    return named


def _end(end: End, following: str | None, table: str) -> list[Statement]:
    """`following` is the label of the next block in the text, `table` that of a switch's targets."""
    match end:
        case Stop():
            return [Instruction("ret")]
        case Jump(target):
            return [] if target == following else [_branch(target, True)]
        case Branch(guard, taken, fallen, uniform, line):
            if taken == following and not end.others:
                return [_branch(fallen, uniform, Guard(guard.predicate, not guard.negated), line)]
            branches: list[Statement] = [_branch(taken, uniform, either, line) for either in (guard, *end.others)]
            return branches if fallen == following else [*branches, _branch(fallen, True)]
    jump = Instruction("brx.idx.uni" if end.uniform else "brx.idx", (end.index, Name(table)), line=end.line)
    return [Label(table), Directive(".branchtargets", end.targets), jump]


def _branch(target: str, uniform: bool, guard: Guard | None = None, line: int = 0) -> Instruction:
    return Instruction("bra.uni" if uniform else "bra", (Name(target),), guard, line)
