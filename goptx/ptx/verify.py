"""Checks that a flat module is well formed. It runs on every module that goptx makes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from goptx.errors import GoptxError
from goptx.ptx.flatten import numbered
from goptx.ptx.ir import (
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    Variable,
)
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import declared_by, named_by

SPECIAL = frozenset(
    """%tid %ntid %laneid %warpid %nwarpid %ctaid %nctaid %smid %nsmid %gridid %is_explicit_cluster %clusterid
    %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank %lanemask_eq %lanemask_le
    %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi
    %total_smem_size %aggr_smem_size %dynamic_smem_size %reserved_smem_offset_begin %reserved_smem_offset_end
    %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 %current_graph_exec %perctamemoryoffset
    %perctamemorysize %SP %SPL""".split()
)


def verify(module: Module) -> Module:
    """The module itself, if these hold:

    1. No two functions or variables of the module have the same name, except repeated declarations.
    2. Each entry's parameters fit: 4,096 bytes, or 32,764 from PTX 8.1 on sm_70 and later.
    3. In an entry, each name is an identifier and is declared once: as a label, a register or a variable.
    4. Every label that a branch or a target list names exists.
    5. Every `%name` is declared or a special register.
    6. Barrier ids are below 16.

    Raises `GoptxError` otherwise; that is a bug of goptx itself.
    """
    defined: set[str] = set()
    for item in module.items:
        if not isinstance(item, Function | Variable):
            continue
        declaration = (isinstance(item, Function) and item.body is None) or ".extern" in item.linkage
        _require(declaration or item.name not in defined, f"`{item.name}` is defined twice")
        if not declaration:
            defined.add(item.name)
    for entry in module.entries:
        _verify_entry(module, entry)
    return module


def legal(name: str) -> bool:
    """Whether the name is an identifier of PTX."""
    return bool(re.fullmatch(r"[A-Za-z][\w$]*|[_$%][\w$]+", name, re.ASCII))


def parameter_bytes(parameters: Iterable[Variable]) -> int:
    """The bytes of an entry's parameters, each at its alignment."""
    size = 0
    for parameter in parameters:
        size += -size % parameter.alignment + parameter.size
    return size


def parameter_limit(version: tuple[int, int]) -> int:
    """The most bytes of parameters that an entry may have, on sm_70 and later."""
    return 32764 if version >= (8, 1) else 4096


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise GoptxError(f"goptx made a module that is not well formed ({problem}); please report this.")


def _verify_entry(module: Module, entry: Function) -> None:
    _require(
        parameter_bytes(entry.parameters) <= parameter_limit(module.version), f"`{entry.name}` has too many parameters"
    )
    body = entry.body or ()
    single: set[str] = set()
    stems: dict[str, int] = {}
    labels: set[str] = set()
    for statement in body:
        for name, amount in declared_by(statement):
            _require(legal(name), f"`{name}` is not an identifier")
            _require(name not in single and name not in stems, f"`{name}` is declared twice in `{entry.name}`")
            if amount is None:
                single.add(name)
            else:
                stems[name] = amount
        if isinstance(statement, Label):
            labels.add(statement.name)
    known = single | SPECIAL | {v.name for v in (*module.variables, *entry.parameters)}
    known |= {function.name for function in module.functions}
    for statement in body:
        match statement:
            case Instruction():
                _verify_instruction(statement, known, stems, labels)
            case Directive(".branchtargets", values):
                _require(set(values) <= labels, f"`{statement}` names a label that does not exist")


def _verify_instruction(instruction: Instruction, known: set[str], stems: dict[str, int], labels: set[str]) -> None:
    """Adds the names of declared registers of a range to `known`."""
    facts = facts_of(instruction.opcode)
    if facts.base == "bra":
        _require(str(instruction.operands[0]) in labels, f"`{instruction}` goes nowhere")
    if facts.known and facts.barrier and len(instruction.operands):
        text = str(instruction.operands[facts.barrier_id])
        _require(not text.isdigit() or int(text) < 16, f"`{instruction}` has no barrier id below 16")
    guard = (instruction.guard.predicate.text,) if instruction.guard else ()
    for mentioned in (*guard, *named_by(instruction)):
        if mentioned in known or mentioned[0] != "%":
            continue
        name = mentioned.partition(".")[0]
        declared = name in known or name.startswith(("%envreg", "%pm", "%lanemask")) or _in_range(name, stems)
        _require(declared, f"`{instruction}` uses `{name}`, which is not declared")
        known.add(mentioned)


def _in_range(name: str, stems: dict[str, int]) -> bool:
    return any(number < stems.get(stem, 0) and f"{stem}{number}" == name for stem, number in numbered(name))
