"""The contents of a module's entries as text: parameters, memory, registers, barriers and control flow.

Requires: a parsed module. An entry whose control flow is unknown is listed without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import EXIT, Block, Flow, depths
from goptx.errors import CannotWeave
from goptx.ptx.ir import Declaration, Function, Instruction, Module, Registers, Statement, Variable
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import statements_in
from goptx.sources.kernel_text import choose_entry
from goptx.weaving.link.symbols import reached_symbols


def listing(module: Module, name: str | None = None) -> str:
    """The entries of the module, or the one of that name. Raises `InputError` if no entry has that name."""
    head = f"{module.source}: PTX {module.version[0]}.{module.version[1]} for {', '.join(module.target)}"
    chosen = chosen_entries(module, name)
    entries = [_entry(module, entry) for entry in chosen] or ["no entry\n"]
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


def _entry(module: Module, entry: Function) -> str:
    statements = list(statements_in(entry.body or ()))
    reached = reached_symbols(module, entry)
    functions = dict.fromkeys(f.name for f in module.functions if f.name in reached)
    outer = [v for v in module.variables if v.name in reached]
    variables = [*outer, *(s.variable for s in statements if isinstance(s, Declaration))]
    rows = [
        ("launch", [str(directive) for directive in entry.directives]),
        ("parameters", _variables(entry.parameters)),
        *((space, _variables(v for v in variables if v.space == f".{space}")) for space in SPACES),
        ("registers", _registers(statements)),
        ("barriers", _barriers(statements)),
        ("functions", list(functions)),
    ]
    title = f"{entry.name}, line {entry.line}"
    return "\n".join([title, *_columns(rows), *_flow(module, entry)]) + "\n"


SPACES = ("shared", "local", "global", "const")


def _columns(rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for title, lines in rows:
        for position, line in enumerate(lines):
            yield f"  {'' if position else title:12}{line}"


def _variables(variables: Iterable[Variable]) -> list[str]:
    described = [(v.name, " ".join(v.qualifiers), _size(v)) for v in variables]
    width = max((len(name) for name, *_ in described), default=0)
    return [f"{name:{width}}  {size:>10}  {qualifiers}" for name, qualifiers, size in described]


def _size(variable: Variable) -> str:
    return "at launch" if "" in variable.dims and not variable.init else f"{variable.size} bytes"


def _registers(statements: Iterable[Statement]) -> list[str]:
    """How many registers of each type all scopes declare; the assembler decides how many the kernel takes."""
    counts: Counter[str] = Counter()
    for statement in statements:
        if isinstance(statement, Registers):
            kind = " ".join(t[1:] for t in statement.types)
            counts[kind] += sum(1 if count is None else count for _, count in statement.names)
    return [", ".join(f"{count} {kind}" for kind, count in counts.items())] if counts else []


def _barriers(statements: Iterable[Statement]) -> list[str]:
    """The instructions that synchronise the threads of a CTA or cluster, and those of mbarriers, with their lines."""
    lines: dict[str, list[int]] = {}
    for statement in statements:
        if isinstance(statement, Instruction) and facts_of(statement.opcode).synchronises:
            lines.setdefault(str(statement), []).append(statement.line)
    return [f"{text}  line{'s' if len(at) > 1 else ''} {', '.join(map(str, at))}" for text, at in lines.items()]


def _flow(module: Module, entry: Function) -> Iterator[str]:
    try:
        flow = flow_of(module, entry)
    except CannotWeave as error:
        yield from _columns([("flow", [f"unknown: {error}"])])
        return
    blocks = {name: block for name, block in flow.blocks.items() if name != EXIT}
    total = sum(extent(block)[0] for block in blocks.values())
    yield from _columns([("flow", [f"blocks {len(blocks)}, instructions {total} without branches"])])
    depth = depths(flow)
    width = max(len("block"), *map(len, blocks)) if blocks else 0
    yield f"    {'block':{width}}  {'lines':>11}  {'instructions':>12}  {'loops':>5}  next"
    for name, block in blocks.items():
        count, lines = extent(block)
        following = ", ".join(map(_step, block.end.kinds(), block.end.successors()))
        yield f"    {name:{width}}  {lines:>11}  {count:>12}  {depth[name]:>5}  {following}"


def _step(kind: str, target: str) -> str:
    return target if kind == "jump" else f"{kind} {target}"
