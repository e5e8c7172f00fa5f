"""Reads from which lines of which source files the kernels were compiled: `.file`, `.loc`, names of inlined functions.

Requires: parsed modules. Ensures: one numbering of source files. Compilers write one statement a line, so the line of
an instruction in its PTX says which `.loc` holds for it, whatever becomes of its place. DWARF sections, which describe
registers and variables as they were, are left out, but for the names of inlined functions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.errors import DebugInformationLost
from goptx.ptx.ir import Directive, Function, Instruction, Item, Module, Scope, Section, Statement
from goptx.ptx.walk import statements_in

LOC = re.compile(r"(?P<where>\S+ \S+ \S+?)(, function_name (?P<name>[^\s+]+)(?P<offset>\S*), inlined_at (?P<at>.+))?")
NAMES = ".debug_str"  # the section with the names of inlined functions
_OTHER_SECTIONS = ("@@DWARF", ".nv_intermediate_source_section")


@dataclass(frozen=True, slots=True)
class Location:
    """`where` is file, line and column; `text` the whole directive, and `within` the location that it is inlined at."""

    where: str
    text: str
    within: Location | None = None


@dataclass(frozen=True, slots=True)
class Tables:
    """What `.loc` refers to: `.file` directives, and what is spelled at the labels of inlined functions' names."""

    files: tuple[Directive, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def common_files(modules: Sequence[Module]) -> list[Module]:
    """The modules with one numbering of their source files, and distinct labels of function names."""
    numbers: dict[str, str] = {}
    labels: dict[str, str] = {}
    return [_with_numbers(m, numbers, labels) if _files(m) else m for m in modules]


def _files(module: Module) -> list[Directive]:
    return [i for i in module.items if isinstance(i, Directive) and i.name == ".file"]


def _with_numbers(module: Module, numbers: dict[str, str], labels: dict[str, str]) -> Module:
    """`numbers` has those of the files so far, `labels` what is spelled at those of names; both grow."""
    files = {f.values[0]: numbers.setdefault(f.values[1], str(len(numbers) + 1)) for f in _files(module)}
    names: dict[str, str] = {}
    for label, spelled in (named for section in _names(module) for named in _spelled(section)):
        names[label] = label
        while labels.setdefault(names[label], spelled) != spelled:
            names[label] += "_"

    def directive(loc: Directive) -> tuple[Directive, ...]:
        found = LOC.fullmatch(loc.values[0])
        numbered = [w.split(" ", 1) for w in (found["where"], found["at"]) if w] if found else []
        if not found or any(n not in files for n, _ in numbered):
            return ()
        here, *at = (f"{files[n]} {rest}" for n, rest in numbered)
        if at:
            name = names.get(found["name"], found["name"])
            here += f", function_name {name}{found['offset']}, inlined_at {at[0]}"
        return (replace(loc, values=(here,)),)

    def body(statements: Sequence[Statement]) -> Iterator[Statement]:
        for statement in statements:
            match statement:
                case Directive(".loc"):
                    yield from directive(statement)
                case Directive(".loc_intermediate"):
                    continue
                case Scope(inner):
                    yield replace(statement, body=tuple(body(inner)))
                case _:
                    yield statement

    def item(old: Item) -> Item:
        match old:
            case Function(body=tuple() as statements):
                return replace(old, body=tuple(body(statements)))
            case Directive(".file", (number, path)):
                return replace(old, values=(files[number], path))
            case Section(name) if name == NAMES:
                return replace(old, words=tuple(names.get(w, w) for w in old.words))
        return old

    return replace(module, items=tuple(map(item, module.items)))


def _names(module: Module) -> list[Section]:
    return [i for i in module.items if isinstance(i, Section) and i.name == NAMES]


def _spelled(section: Section) -> Iterator[tuple[str, str]]:
    """Each label, and what stands between it and the next."""
    starts = [i - 1 for i, word in enumerate(section.words) if word == ":"]
    for start, end in zip(starts, [*starts[1:], len(section.words)], strict=True):
        yield section.words[start], " ".join(section.words[start + 2 : end])


def tables(modules: Sequence[Module]) -> Tables:
    """Of modules with one numbering."""
    files = dict.fromkeys(f for m in modules for f in _files(m))
    sections = [section for m in modules if _files(m) for section in _names(m)]
    return Tables(tuple(files), dict(named for section in sections for named in _spelled(section)))


def lost(modules: Sequence[Module]) -> list[str]:
    """Notes which debug sections are left out. For what `-G` made there is a warning too (`DebugInformationLost`)."""
    notes: dict[str, None] = {}
    for module in modules:
        found = [i.name for i in module.items if isinstance(i, Section) and i.name != NAMES]
        others = [i.name for i in module.items if isinstance(i, Directive) and i.name in _OTHER_SECTIONS]
        found += list(dict.fromkeys(others))
        if found:
            note = (
                f"{module.source}: debug sections ({', '.join(dict.fromkeys(found))}) are left out, lines are preserved"
            )
            if "debug" in module.target and note not in notes:
                warnings.warn(f"{note}; a debugger cannot show its variables.", DebugInformationLost, stacklevel=2)
            notes[note] = None
    return list(notes)


def locations(module: Module, entry: Function) -> dict[int, Location]:
    """Of the lines of the PTX on which instructions of the entry stand. Those of functions come first: they may have
    been put into it (inline.py)."""
    found: dict[int, Location] = {}
    latest: dict[str, Location] = {}
    functions = [*(f for f in module.functions if not f.is_entry), entry] if _files(module) else []
    for function in functions:
        here: Location | None = None
        for statement in statements_in(function.body or ()):
            match statement:
                case Directive(".loc", (text,)) if matched := LOC.fullmatch(text):
                    within = latest.get(matched["at"] or "")
                    here = Location(matched["where"], text if within else matched["where"], within)
                    latest[here.where] = here
                case Instruction() if here:
                    found.setdefault(statement.line, here)
    return found
