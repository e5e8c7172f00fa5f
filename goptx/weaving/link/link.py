"""Brings the modules of several kernels into one name space.

Requires: parsed modules and the entry chosen of each. Ensures: no two names of the result clash; version,
target, address size and parameters suit all or `CannotLink` is raised; functions in which threads wait are
inlined. The pass `shape` lays out the shared variables of all kernels.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeGuard

from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import instructions_in
from goptx.analysis.influence import Addresses
from goptx.analysis.instruction_form import refuse_malformed
from goptx.analysis.loops.trips import trips_of_code
from goptx.analysis.numbering import numbered
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.errors import CannotLink, CannotWeave, InputError
from goptx.launch.coarsening import Coarse
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.options import AXES
from goptx.ptx.aliases import without_aliases
from goptx.ptx.flatten import as_written, flatten, prefixed
from goptx.ptx.ir import (
    Directive,
    Function,
    Instruction,
    Item,
    Module,
    Provenance,
    Scope,
    Statement,
    Variable,
)
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.ptx.statics import with_statics_outside
from goptx.ptx.verify import parameter_bytes, parameter_limit
from goptx.ptx.walk import statements_in
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.converge.unknown_instructions import first_unknown
from goptx.weaving.invariants import ensured
from goptx.weaving.link.call_graph import called_functions, declared_only, is_indirect, is_list_of_callees
from goptx.weaving.link.called_waits import HIDDEN, STAYS, refuse_hidden_waits, within
from goptx.weaving.link.dependent_grids import between_grids
from goptx.weaving.link.inline import exits, inlined
from goptx.weaving.link.own_shared_variables import own_shared
from goptx.weaving.link.source_lines import common_files, locations, lost, tables
from goptx.weaving.link.symbols import module_symbols
from goptx.weaving.link.target import common_address_size, common_target, common_version
from goptx.weaving.model import Kernel, Linked, place
from goptx.weaving.unweavable import refuse_instruction, refuse_spin


def link(
    chosen: Sequence[Chosen],
    arch: str | None = None,
    name: str | None = None,
    shapes: Sequence[Shape] | None = None,
) -> Linked:
    """The kernels in one name space; a coarsened one has as many copies as its shape has CTAs for, if that is known.

    Raises `CannotLink` where the modules do not fit, `CannotWeave` where an entry has no control flow graph, and
    `InputError` for an entry or a name that makes no sense.
    """
    modules = common_files([with_statics_outside(without_aliases(kernel.module)) for kernel in chosen])
    modules = [inlined(module, kernel.max_inlined) for module, kernel in zip(modules, chosen, strict=True)]
    entries = [choose_entry(module, kernel.entry) for module, kernel in zip(modules, chosen, strict=True)]
    coarse = [k.coarse if shapes is None else k.coarse.within(shapes[i]) for i, k in enumerate(chosen)]
    named = in_one_name_space(modules, entries, arch, name, coarse)
    linked = own_shared(between_grids(replace(named, trips=_trips(named, shapes))))
    notes = (*linked.notes, *_small_grids(linked, [k.coarse for k in chosen]))
    return ensured("link", replace(linked, notes=notes))


def _trips(linked: Linked, shapes: Sequence[Shape] | None) -> dict[Provenance, float]:
    """How often loops run, for the code of those of which that is known."""
    own = linked.own_shapes(shapes)
    each = (trips_of_code(kernel.flow, own.get(kernel.letter)) for kernel in linked.kernels)
    return dict(ChainMap(*each))


def _small_grids(linked: Linked, asked: Sequence[Coarse]) -> list[str]:
    """Names the kernels that have fewer CTAs than were to be one."""
    return [
        f"{k.at(k.entry.line)} has a grid of {own.factor} along {AXES[wanted.axis]}, fewer than the {wanted.factor} "
        "CTAs that were to be one"
        for k, wanted, own in zip(linked.given, asked, linked.coarse, strict=True)
        if own != wanted
    ]


def in_one_name_space(
    modules: Sequence[Module],
    entries: Sequence[Function],
    arch: str | None,
    name: str | None,
    coarse: Sequence[Coarse],
) -> Linked:
    """The kernels with names of their own, each copy of a coarsened one too."""
    size = common_address_size(modules)
    target = common_target(modules, arch)
    version = common_version(modules, target)
    copies = [(position, copy) for position, c in enumerate(coarse) for copy in range(c.factor)]
    symbols, items = module_symbols([modules[p] for p, _ in copies], [entries[p] for p, _ in copies])
    woven_name = name if name is not None else "_".join(dict.fromkeys(e.name for e in entries)) + "_woven"
    if not isinstance(woven_name, str) or not re.fullmatch(r"[a-zA-Z][\w$]*|[_$][\w$]+", woven_name, re.ASCII):
        raise InputError(f"`{woven_name}` is not a PTX name; use letters, digits, `_` and `$`.")
    kernels: list[Kernel] = []
    taken = {i.name for i in items if isinstance(i, Function | Variable)}
    for (position, copy), own in zip(copies, symbols, strict=True):
        number = len(kernels)
        kernels.append(_kernel(number, position, copy, modules[position], entries[position], own, taken, woven_name))
    if woven_name in taken:
        raise InputError(f"`{woven_name}` is already the name of a symbol of the kernels; give another name.")
    _check_unknown(kernels)
    check_parameters(kernels, version)
    called = {k.prefix: called_functions(k, items) for k in kernels}
    _check_calls(kernels, called, declared_only(items))
    notes = (
        *lost(modules),
        *dict.fromkeys(f"{m.source}:{i.line}: `{i}` is left out" for m in modules for i in m.items if _is_pragma(i)),
        *(n for k in kernels for n in k.left_out),
        *(_pointer_note(k, i) for k in kernels if (i := _first_indirect(k, called[k.prefix]))),
    )
    linked = Linked(version, target, size, woven_name, tuple(items), tuple(kernels), notes)
    return replace(linked, tables=tables(modules), coarse=tuple(coarse))


def _first_indirect(kernel: Kernel, functions: Sequence[Function]) -> Instruction | None:
    """The first call through a pointer in a kernel and its functions."""
    code = [statements_in(kernel.flow.codes())]
    code += [statements_in(f.body or ()) for f in functions]
    return next((s for body in code for s in body if isinstance(s, Instruction) and is_indirect(s)), None)


def _pointer_note(kernel: Kernel, call: Instruction) -> str:
    return (
        f"{kernel.at(call.line)}: `{kernel.quote(call)}` calls through a pointer; addresses of functions that the host "
        "passes must be those of the woven module, where its variables hold them"
    )


def _kernel(
    number: int,
    position: int,
    copy: int,
    module: Module,
    entry: Function,
    symbols: Mapping[str, str],
    taken: set[str],
    woven_name: str,
) -> Kernel:
    letter = letter_of(position)
    prefix = first = _free_prefix(letter.lower(), letter, taken)
    if copy:
        prefix = _free_prefix(f"{first}{copy + 1}", letter, taken)

    def rename(name: str) -> str:
        return prefixed(name, prefix)

    def describe(instruction: Instruction) -> str:
        return f"{place(module.source, instruction.line, letter, entry)}: `{as_written(instruction, prefix)}`"

    parameters = tuple(replace(p, name=f"{woven_name}_{first}_param_{i}") for i, p in enumerate(entry.parameters))
    own = dict(symbols) | {p.name: n.name for p, n in zip(entry.parameters, parameters, strict=True)}
    flat = flatten(entry.body or (), rename, own)
    flat = replace(flat, code=numbered(flat.code, number))
    outside = {*own.values(), *(f.name for f in module.functions), *(v.name for v in module.variables)}
    refuse_malformed(flat, outside, describe)
    for statement in statements_in(flat.code):
        if isinstance(statement, Instruction):
            refuse_instruction(statement, describe)
    callees = [s for pair in pairwise(flat.code) if is_list_of_callees(pair[1]) for s in pair]
    code = tuple(s for s in flat.code if s not in callees and not _is_hint(s))
    hints = {s: None for s in flat.code if _is_hint(s)}
    left_out = tuple(f"{place(module.source, s.line, letter, entry)}: `{s}` is left out" for s in hints)
    flow = control_flow(replace(flat, code=code), module.source, lambda code: as_written(code, prefix))
    for _, waited in waiting_loops(flow):
        refuse_spin(waited, describe, Addresses(flow))
    declared = (flat.registers, flat.variables)
    kernel = Kernel(letter, prefix, entry, parameters, *declared, flow, module.source)
    lines = locations(module, entry)
    return replace(kernel, callees=tuple(callees), left_out=left_out, symbols=symbols, lines=lines, copy=copy)


def _free_prefix(prefix: str, letter: str, taken: set[str]) -> str:
    while any(t.lstrip("%$").startswith(f"{prefix}_") for t in taken):
        prefix += letter.lower()
    return prefix


def _is_hint(statement: Statement) -> TypeGuard[Directive]:
    """Whether it is a hint for the code around it in the kernel alone: all pragmas but that of loops."""
    return _is_pragma(statement) and statement.values != ('"nounroll"',)


def _is_pragma(statement: Statement | Item) -> TypeGuard[Directive]:
    return isinstance(statement, Directive) and statement.name == ".pragma"


def _check_unknown(kernels: Sequence[Kernel]) -> None:
    """A kernel with an instruction of which nothing is known runs last, and only one can."""
    found = [(k, unknown) for k in kernels if (unknown := first_unknown(k.flow)) is not None]
    if len(found) > 1:
        described = " and ".join(dict.fromkeys(f"{k.at(unknown.line)}: `{k.quote(unknown)}`" for k, unknown in found))
        raise CannotWeave(
            f"{described} are not instructions that goptx knows, so nothing can be proved about either; "
            "use separate launches.",
            rule="known-instructions",
        )


def check_parameters(kernels: Sequence[Kernel], version: tuple[int, int], hidden: Iterable[Variable] = ()) -> None:
    """Raises `CannotLink` where the kernels' parameters and the hidden ones are too many."""
    parameters = [*(p for k in kernels if not k.copy for p in k.parameters), *hidden]
    size, limit = parameter_bytes(parameters), parameter_limit(version)
    if size > limit:
        places = " and ".join(k.at(k.entry.line) for k in kernels if not k.copy)
        raise CannotLink(
            f"{places} together have {size} bytes of parameters, PTX {version[0]}.{version[1]} allows {limit}; pass "
            "large structures by pointer.",
            rule="parameter-size",
        )


def _check_calls(kernels: Sequence[Kernel], functions: Mapping[str, list[Function]], declared: Collection[str]) -> None:
    """Device functions, and the braces around calls, are moved as one piece: nothing in them may be convergent,
    wait for other threads, leave the piece or end the thread."""
    for kernel in kernels:
        for code in kernel.flow.codes():
            for instruction in instructions_in(code) if isinstance(code, Scope) else ():
                facts = facts_of(instruction.opcode)
                if facts.row.ends or facts.row.scope or facts.row.blocking or facts.releases:
                    raise CannotWeave(
                        f"{kernel.at(instruction.line)}: `{kernel.quote(instruction)}` stands in the braces of a "
                        "call, which are moved whole; put it outside of them.",
                        rule="call-sequence",
                    )
        for function in functions[kernel.prefix]:
            describe = within(function, kernel)
            for statement in statements_in(function.body or ()):
                if isinstance(statement, Instruction):
                    refuse_instruction(statement, describe)
                    facts = facts_of(statement.opcode)
                    if facts.row.scope != Convergence.THREAD or facts.row.blocking or facts.releases:
                        raise CannotWeave(f"{describe(statement)} {HIDDEN}", rule="visible-waits")
            for ending in exits(function.body or ()):
                raise CannotWeave(f"{describe(ending)} {_ENDS_ALL}", rule="exit-in-function")
        refuse_hidden_waits(kernel, functions[kernel.prefix], declared)


_ENDS_ALL = (
    f"would end the thread for all kernels, and {STAYS}; inline the function, let it return and end the kernel in its "
    "entry, or use separate launches."
)
