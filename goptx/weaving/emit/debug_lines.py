"""Writes `.loc` into the woven entry: each instruction points to the source line that it was compiled from.

Requires: the origins of its instructions (provenance.py), and the kernels' locations. Ensures: as soon as any kernel
has locations, no instruction seems to come from where another one does: what has no location points to its line of the
PTX, and what goptx inserts for a kernel points to where that kernel's next instruction of the block does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.ptx.ir import Directive, Function, Instruction, Label, Module, Scope, Section, Statement
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Origin
from goptx.weaving.link.source_lines import LOC, NAMES, Location, Tables


def with_locations(
    module: Module, name: str, origins: Sequence[Origin | None], known: Mapping[str, Mapping[int, Location]], at: Tables
) -> Module:
    """The module with `.loc` in its entry `name`, whose instructions have these origins, and what they refer to behind
    it. `known` has the locations of each kernel."""
    if not any(known.values()):
        return module
    missing = dict.fromkeys(o.source for o in origins if o and o.line and o.line not in known[o.kernel])
    own = {source: Directive(".file", (str(len(at.files) + i), f'"{source}"')) for i, source in enumerate(missing, 1)}

    def located(origin: Origin) -> Location:
        if found := known[origin.kernel].get(origin.line):
            return found
        where = f"{own[origin.source].values[0]} {origin.line} 0"
        return Location(where, where)

    entry = next(f for f in module.functions if f.name == name)
    body = _body(entry.body or (), iter(_places(entry.body or (), origins, located)), _Written())
    items = [replace(i, body=tuple(body)) if i is entry else i for i in module.items]
    bodies = [s for i in items if isinstance(i, Function) for s in statements_in(i.body or ())]
    used = [m for s in bodies if isinstance(s, Directive) and s.name == ".loc" and (m := LOC.fullmatch(s.values[0]))]
    spelled = {m["name"]: at.names[m["name"]] for m in used if m["name"] in at.names}
    words = [word for label, text in spelled.items() for word in (label, ":", *text.split())]
    names = [Section(NAMES, tuple(words))] if words else []
    return replace(module, items=(*items, *at.files, *own.values(), *names))  # all files: their numbers have no gaps


def _places(
    body: Sequence[Statement], origins: Sequence[Origin | None], located: Callable[[Origin], Location]
) -> list[Location | None]:
    """Of each instruction in the order of the text."""
    places: list[Location | None] = []
    ahead: dict[str, Location] = {}  # of each kernel, in the block
    backwards = reversed(origins)
    for statement in reversed([s for s in statements_in(body) if isinstance(s, Instruction | Label)]):
        if isinstance(statement, Label):
            ahead.clear()
            continue
        origin = next(backwards)
        if origin and origin.line:
            ahead[origin.kernel] = located(origin)
        places.append(ahead.get(origin.kernel) if origin else None)
    return places[::-1]


@dataclass(slots=True)
class _Written:
    """The location in force, and the latest of each place: one that is inlined somewhere must stand behind that."""

    here: Location | None = None
    latest: dict[str, Location] = field(default_factory=dict)

    def change(self, to: Location | None) -> Iterator[Directive]:
        if to is None or to == self.here:
            return
        if to.within and self.latest.get(to.within.where) != to.within:
            yield from self.change(to.within)
        self.here = self.latest[to.where] = to
        yield Directive(".loc", (to.text,))


def _body(body: Sequence[Statement], places: Iterator[Location | None], written: _Written) -> Iterator[Statement]:
    for statement in body:
        match statement:
            case Scope(inner):
                yield replace(statement, body=tuple(_body(inner, places, written)))
            case Directive(".loc"):
                continue  # in braces, as the kernel had it
            case Instruction():
                yield from written.change(next(places))
                yield statement
            case _:
                yield statement
