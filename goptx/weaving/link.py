"""Brings the modules of several kernels into one name space.

Requires: parsed modules and the entry chosen of each. Ensures: no two names of the result clash; version,
target and address size suit all; resources add up (design.md, contract 5) or `CannotLink` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Flow, control_flow
from goptx.errors import CannotLink, CannotWeave, InputError
from goptx.ptx.flatten import as_written, flatten, prefixed
from goptx.ptx.ir import (
    Declaration,
    Directive,
    Function,
    Instruction,
    Item,
    Module,
    Registers,
    Variable,
)
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.weaving.symbols import is_dynamic_shared, module_symbols, statements_in
from goptx.weaving.target import common_target, common_version

STATIC_SHARED_LIMIT = 48 * 1024  # bytes; a ptxas limit on every architecture


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry, flat and renamed, with its control flow. `letter` is A, B, ... in the order given."""

    letter: str
    prefix: str
    entry: Function
    parameters: tuple[Variable, ...]
    registers: tuple[Registers, ...]
    variables: tuple[Declaration, ...]
    flow: Flow
    source: str

    def at(self, line: int) -> str:
        """Names file, line and kernel, as messages begin."""
        return _place(self.source, line, self.letter, self.entry)

    def quote(self, statement: object) -> str:
        """A statement as its file has it, for messages."""
        return as_written(statement, self.prefix)


@dataclass(frozen=True, slots=True)
class Linked:
    """What the woven module holds beside the woven entry."""

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    name: str
    items: tuple[Item, ...]
    kernels: tuple[Kernel, ...]
    notes: tuple[str, ...]


def choose_entry(module: Module, name: str | None) -> Function:
    """The entry called `name`, or the only one. Raises `InputError` that lists them otherwise."""
    names = [e.name for e in module.entries]
    if name is not None:
        for entry in module.entries:
            if entry.name == name:
                return entry
        raise InputError(f"{module.source}:{_line(module)}: no entry `{name}`; the module has {_listed(names)}.")
    if len(names) != 1:
        raise InputError(
            f"{module.source}:{_line(module)}: the module has {_listed(names)}; "
            + ("name one (entries=, --entry)." if names else "there is nothing to weave (an `.entry` with a body).")
        )
    return module.entries[0]


def _line(module: Module) -> int:
    return module.entries[0].line if module.entries else 1


def _place(source: str, line: int, letter: str, entry: Function) -> str:
    return f"{source}:{line}: kernel {letter} (`{entry.name}`)"


def _listed(names: Sequence[str]) -> str:
    return f"the entries {', '.join(f'`{n}`' for n in names)}" if names else "no entry"


def link(modules: Sequence[Module], entries: Sequence[Function], arch: str | None, name: str | None) -> Linked:
    """Raises `CannotLink` where the modules do not fit, `CannotWeave` where an entry cannot be taken apart."""
    sizes = {m.address_size: m for m in modules}
    if len(sizes) > 1:
        described = " and ".join(f"{m.at('.address_size')} has {size}-bit" for size, m in sizes.items())
        raise CannotLink(f"{described} addresses; compile both for the same `.address_size`.")
    target = common_target(modules, arch)
    version = common_version(modules, target)
    renames, items = module_symbols(modules, entries)
    notes: list[str] = []
    if any(isinstance(s, Directive) and s.name == ".loc" for e in entries for s in statements_in(e.body or ())):
        notes.append("line information (.loc, .file, debug sections) is left out of the woven kernel")
    woven_name = name or "_".join(dict.fromkeys(e.name for e in entries)) + "_woven"
    if not re.fullmatch(r"[a-zA-Z][\w$]*|[_$][\w$]+", woven_name, re.ASCII):
        raise InputError(f"`{woven_name}` is no PTX name; use letters, digits, `_` and `$`.")
    kernels = []
    taken = {i.name for i in items if isinstance(i, Function | Variable)}
    for position, (module, entry) in enumerate(zip(modules, entries, strict=True)):
        kernels.append(_kernel(position, module, entry, renames[position], taken, woven_name))
    _check_shared(kernels, items)
    _check_calls(kernels, items)
    size = modules[0].address_size
    return Linked(version, target, size, woven_name, tuple(items), tuple(kernels), tuple(notes))


def _kernel(
    position: int,
    module: Module,
    entry: Function,
    symbols: Mapping[str, str],
    taken: set[str],
    woven_name: str,
) -> Kernel:
    letter = chr(ord("A") + position)
    prefix = letter.lower()
    while any(t.lstrip("%$").startswith(f"{prefix}_") for t in taken):
        prefix += letter.lower()

    def rename(name: str) -> str:
        return prefixed(name, prefix)

    parameters = tuple(replace(p, name=f"{woven_name}_{prefix}_param_{i}") for i, p in enumerate(entry.parameters))
    own = dict(symbols) | {p.name: n.name for p, n in zip(entry.parameters, parameters, strict=True)}
    flat = flatten(entry.body or (), rename, own)
    for instruction in statements_in(flat.code):
        if not isinstance(instruction, Instruction):
            continue
        place = _place(module.source, instruction.line, letter, entry)
        _refuse(instruction, f"{place}: `{as_written(instruction, prefix)}`")
    flow = control_flow(flat, module.source, lambda code: as_written(code, prefix))
    return Kernel(letter, prefix, entry, parameters, flat.registers, flat.variables, flow, module.source)


_NOT_YET = {
    "cluster": "cluster synchronisation and cluster registers",
    "mbarrier": "mbarrier waits",
    "setmaxnreg": "register reallocation",
    "griddepcontrol": "programmatic dependent launch",
    "wgmma": "warpgroup instructions",
    "cp.async.bulk": "bulk copies",
    "tcgen05": "tensor memory",
    "brkpt": "breakpoints",
}


_OF_CLUSTERS = re.compile(r"[.:]cluster\b|%(?:n?cluster|is_explicit_cluster)")  # a register of the kernel has a prefix


def _refuse(instruction: Instruction, said: str) -> None:
    """Refuses what is unknown, and what waits so that no common order can be shown (contract 3)."""
    clusters = "cluster" in instruction.opcode or re.search(r"%(is_explicit_|n)?cluster", str(instruction))
    for word, meaning in _NOT_YET.items():
        if instruction.opcode.startswith(word) or (word == "cluster" and clusters):
            raise CannotWeave(
                f"{said}: {meaning} cannot be woven (contract 3, one order of waiting); use separate launches."
            )
    if not facts_of(instruction.opcode).known:
        raise CannotWeave(
            f"{said} is not an instruction that goptx knows, so nothing can be shown about it; use separate launches."
        )


def _check_shared(kernels: Sequence[Kernel], items: Sequence[Item]) -> None:
    variables = [i for i in items if isinstance(i, Variable)]
    locals_ = [d.variable for k in kernels for d in k.variables]
    shared = [v for v in [*variables, *locals_] if v.space == ".shared"]
    total = 0
    for variable in shared:
        total += -total % variable.alignment + variable.size
    if total > STATIC_SHARED_LIMIT:
        sizes = ", ".join(f"{v.name} {v.size}" for v in shared)
        raise CannotLink(
            f"the kernels together declare {total} bytes of static shared memory, ptxas allows {STATIC_SHARED_LIMIT} "
            f"({sizes}); make one of them dynamic or use separate launches."
        )
    dynamic = [
        k.letter
        for k in kernels
        if any(is_dynamic_shared(v) and v.name in _words(k) for v in variables)
        or any(is_dynamic_shared(d.variable) for d in k.variables)
    ]
    if len(dynamic) > 1:
        raise CannotLink(
            f"kernels {' and '.join(dynamic)} both use dynamic shared memory, whose sizes are not known here, so "
            "their arrays would overlap; make one of them static."
        )


def _words(kernel: Kernel) -> set[str]:
    text = "\n".join(str(c) for b in kernel.flow.blocks.values() for c in b.code)
    return set(re.findall(r"[\w$%]+", text))


def _check_calls(kernels: Sequence[Kernel], items: Sequence[Item]) -> None:
    """Device functions must hold nothing convergent: their calls are moved as one piece."""
    functions = {f.name: f for f in items if isinstance(f, Function) and f.body is not None}
    for kernel in kernels:
        stack = [w for w in sorted(_words(kernel)) if w in functions]
        seen: set[str] = set()
        while stack:
            function = functions[stack.pop()]
            if function.name in seen:
                continue
            seen.add(function.name)
            for statement in statements_in(function.body or ()):
                if isinstance(statement, Instruction):
                    if facts_of(statement.opcode).row.scope != Convergence.THREAD:
                        raise CannotWeave(
                            f"{kernel.at(statement.line)}: `{statement}` stands in the device function "
                            f"`{function.name}`, where it cannot be kept convergent; inline the function."
                        )
                    stack += [w for w in re.findall(r"[\w$%]+", str(statement)) if w in functions]
