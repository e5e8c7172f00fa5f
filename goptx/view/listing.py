"""The contents of a module's entries as text: parameters, memory, registers, barriers and control flow.

Requires: a parsed module. An entry whose control flow is unknown is listed without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import EXIT, Block, Flow, depths
from goptx.errors import CannotWeave
from goptx.ptx.ir import Declaration, Function, Instruction, Module, Registers, Statement, Variable
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import statements_in
from goptx.readable_names import elided, readable, short_parameter
from goptx.sources.kernel_text import choose_entry
from goptx.weaving.link.symbols import reached_symbols


def listing(module: Module, name: str | None = None) -> str:
    """The entries of the module, or the one of that name. Raises `InputError` if no entry has that name."""
    head = f"{module.source}: PTX {module.version[0]}.{module.version[1]} for {', '.join(module.target)}"
    chosen = chosen_entries(module, name)
    entries = [_entry(_facts(module, entry)) for entry in chosen] or ["no entry\n"]
    return "\n".join([f"{head}, {module.address_size}-bit addresses\n", *entries])


def chosen_entries(module: Module, name: str | None) -> Sequence[Function]:
    return module.entries if name is None else [choose_entry(module, name)]


def flow_of(module: Module, entry: Function) -> Flow:
    """The entry's control flow, with the names of the file. Raises `CannotWeave` if a branch has no known target."""
    return flow_as_written(entry.body, module.source)


def extent(block: Block) -> tuple[int, str]:
    """How many instructions a block has, without the branch at its end, and the lines of these."""
    lines = [instruction.line for instruction in block.instructions()]
    if not lines:
        return 0, ""
    first, last = min(lines), max(lines)
    return len(lines), f"{first}" if first == last else f"{first}-{last}"


def facts(module: Module, name: str | None = None) -> dict[str, Any]:
    """The same as plain data. Sizes are in bytes, None for memory whose size the launch gives."""
    return {
        "source": module.source,
        "version": ".".join(map(str, module.version)),
        "target": list(module.target),
        "address_size": module.address_size,
        "entries": [_facts(module, entry) for entry in chosen_entries(module, name)],
    }


def _facts(module: Module, entry: Function) -> dict[str, Any]:
    statements = list(statements_in(entry.body or ()))
    reached = reached_symbols(module, entry)
    outer = [v for v in module.variables if v.name in reached]
    variables = [*outer, *(s.variable for s in statements if isinstance(s, Declaration))]
    return {
        "name": entry.name,
        "readable": readable(entry.name),
        "line": entry.line,
        "launch": [str(directive) for directive in entry.directives],
        "parameters": [_variable(v) for v in entry.parameters],
        **{space: [_variable(v) for v in variables if v.space == f".{space}"] for space in SPACES},
        "registers": _registers(statements),
        "barriers": _barriers(statements),
        "functions": list(dict.fromkeys(f.name for f in module.functions if f.name in reached)),
        "flow": _flow(module, entry),
    }


def _entry(found: Mapping[str, Any]) -> str:
    registers = ", ".join(f"{count} {kind}" for kind, count in found["registers"].items())
    rows = [
        ("launch", found["launch"]),
        *((space, _variables(found[space], found["name"])) for space in ("parameters", *SPACES)),
        ("registers", [registers] if registers else []),
        ("barriers", [_with_lines(text, at) for text, at in found["barriers"].items()]),
        ("functions", found["functions"]),
    ]
    named = found["readable"]
    title = f"{elided(named, 20)}, line {found['line']}"
    rows.insert(0, ("name", [elided(found["name"], 20)] if named != found["name"] else []))
    return "\n".join([title, *_columns(rows), *_blocks(found["flow"])]) + "\n"


SPACES = ("shared", "local", "global", "const")


def _columns(rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for title, lines in rows:
        for position, line in enumerate(lines):
            yield f"  {'' if position else title:12}{line}"


def _variable(variable: Variable) -> dict[str, Any]:
    unknown = "" in variable.dims and not variable.init
    return {
        "name": variable.name,
        "type": variable.type,
        "bytes": None if unknown else variable.size,
        "qualifiers": list(variable.qualifiers),
    }


def _variables(variables: Iterable[Mapping[str, Any]], entry: str) -> list[str]:
    described = [
        (elided(short_parameter(v["name"], entry), 60), " ".join(v["qualifiers"]), v["bytes"]) for v in variables
    ]
    width = max((len(name) for name, *_ in described), default=0)
    return [
        f"{name:{width}}  {'at launch' if size is None else f'{size} bytes':>10}  {qualifiers}"
        for name, qualifiers, size in described
    ]


def _registers(statements: Iterable[Statement]) -> dict[str, int]:
    """How many registers of each type all scopes declare; the assembler decides how many the kernel takes."""
    counts: Counter[str] = Counter()
    for statement in statements:
        if isinstance(statement, Registers):
            kind = " ".join(t[1:] for t in statement.types)
            counts[kind] += sum(1 if count is None else count for _, count in statement.names)
    return dict(counts)


def _barriers(statements: Iterable[Statement]) -> dict[str, list[int]]:
    """The instructions that synchronise the threads of a CTA or cluster, and those of mbarriers, with their lines."""
    lines: dict[str, list[int]] = {}
    for statement in statements:
        if isinstance(statement, Instruction) and facts_of(statement.opcode).synchronises:
            lines.setdefault(str(statement), []).append(statement.line)
    return lines


def _with_lines(text: str, at: Sequence[int]) -> str:
    return f"{text}  line{'s' if len(at) > 1 else ''} {', '.join(map(str, at))}"


def _flow(module: Module, entry: Function) -> dict[str, Any]:
    """The blocks, or why they are unknown."""
    try:
        flow = flow_of(module, entry)
    except CannotWeave as error:
        return {"unknown": str(error)}
    depth = depths(flow)
    blocks = []
    for name, block in flow.blocks.items():
        if name != EXIT:
            count, lines = extent(block)
            following = list(map(_step, block.end.kinds(), block.end.successors()))
            blocks.append(
                {"name": name, "lines": lines, "instructions": count, "loops": depth[name], "next": following}
            )
    return {"blocks": blocks}


def _blocks(flow: Mapping[str, Any]) -> Iterator[str]:
    if "unknown" in flow:
        yield from _columns([("flow", [f"unknown: {flow['unknown']}"])])
        return
    blocks = flow["blocks"]
    total = sum(block["instructions"] for block in blocks)
    yield from _columns([("flow", [f"blocks {len(blocks)}, instructions {total} without branches"])])
    width = max([len("block"), *(len(block["name"]) for block in blocks)]) if blocks else 0
    yield f"    {'block':{width}}  {'lines':>11}  {'instructions':>12}  {'loops':>5}  next"
    for block in blocks:
        following = ", ".join(block["next"])
        yield (
            f"    {block['name']:{width}}  {block['lines']:>11}  {block['instructions']:>12}  {block['loops']:>5}  "
            f"{following}"
        )


def _step(kind: str, target: str) -> str:
    return target if kind == "jump" else f"{kind} {target}"
