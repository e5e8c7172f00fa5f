"""Writes `.loc` into the woven entry: each instruction points to the source line that it was compiled from.

Requires: the origins of its instructions (provenance.py), and the kernels' locations. Ensures: if any kernel has
locations, no instruction gets the location of another one. An instruction without a location points to its line of the
PTX. An instruction that goptx inserts for a kernel has the location of that kernel's next instruction in the block.
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
    """The module with `.loc` in its entry `name`, whose instructions have these origins, and after it the tables that
    `.loc` refers to. `known` has the locations of each kernel."""
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
    return replace(
        module, items=(*items, *at.files, *own.values(), *names)
    )  # all files, so that their numbers have no gaps


def _places(
    body: Sequence[Statement], origins: Sequence[Origin | None], located: Callable[[Origin], Location]
) -> list[Location | None]:
    """The location of each instruction in the order of the text."""
    places: list[Location | None] = []
    following: dict[str, Location] = {}  # the next location of each kernel in the block
    reverse = reversed(origins)
    for statement in reversed([s for s in statements_in(body) if isinstance(s, Instruction | Label)]):
        if isinstance(statement, Label):
            following.clear()
            continue
        origin = next(reverse)
        if origin and origin.line:
            following[origin.kernel] = located(origin)
        places.append(following.get(origin.kernel) if origin else None)
    return places[::-1]


@dataclass(slots=True)
class _Written:
    """The location in force, and the latest one of each place: the location of a call comes before those inlined
    there."""

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
            case Directive(".loc" | ".loc_intermediate"):
                continue  # one of the kernel itself, in braces
            case Instruction():
                yield from written.change(next(places))
                yield statement
            case _:
                yield statement
