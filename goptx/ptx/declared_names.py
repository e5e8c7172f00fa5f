"""Refuses what a module declares twice, and aliases of what it does not declare.

A name of an inner scope hides one from outside; a name of the outermost scope of a function must not be that of a
parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goptx.errors import PtxSyntaxError
from goptx.ptx.flatten import numbered
from goptx.ptx.ir import Declaration, Directive, Function, Label, Module, Registers, Scope, Statement, Variable


def check_names(module: Module) -> None:
    """Raises `PtxSyntaxError`, which names both places."""
    functions = list(module.functions)
    _check_symbols(module)
    for function in functions:
        _check_scopes(function, module.source)
    names = {f.name for f in functions}
    for item in module.items:
        if isinstance(item, Directive) and item.name == ".alias":
            unknown = next((name for name in item.values if name not in names), None)
            if unknown is not None:
                raise PtxSyntaxError(
                    f"{module.source}:{item.line}: `{item}` names `{_brief(unknown)}`, which is not a function of the "
                    "module; declare it."
                )


def _check_symbols(module: Module) -> None:
    """What is only declared (`.extern`, functions without a body) may be declared again."""
    defined: dict[str, int] = {}
    for item in module.items:
        match item:
            case Function(body=None) | Variable(linkage=(".extern", *_)) | Variable(space=".tex"):
                continue
            case Function(name=name, line=line) | Variable(name=name, line=line):
                if name in defined:
                    raise _twice(module.source, name, line, defined[name])
                defined[name] = line


def _check_scopes(function: Function, source: str) -> None:
    known: dict[str, int] = {}
    for formal in (*function.results, *function.parameters):
        if formal.name and formal.name != "_":
            _note(known, {}, formal.name, formal.line, source)
    scopes = [(function.body or (), known)]
    while scopes:
        body, singles = scopes.pop()
        ranges: dict[str, tuple[int, int]] = {}
        for name, count, line in _declared(body):
            if count is None:
                _note(singles, ranges, name, line, source)
            elif name in ranges:
                raise _twice(source, name, line, ranges[name][1], count)
            else:
                ranges[name] = count, line
        for name, line in singles.items() if ranges else ():
            within = _range_of(name, ranges)
            if within is not None:
                raise _twice(source, name, *sorted((line, within), reverse=True))
        scopes += [(s.body, {}) for s in body if isinstance(s, Scope)]


def _declared(body: Iterable[Statement]) -> Iterator[tuple[str, int | None, int]]:
    """Each name that a scope itself declares, with its count and line."""
    for statement in body:
        match statement:
            case Registers(_, names, line):
                yield from ((name, count, line) for name, count in names)
            case Declaration(variable):
                yield variable.name, None, variable.line
            case Label(name, line):
                yield name, None, line


def _note(singles: dict[str, int], ranges: Mapping[str, object], name: str, line: int, source: str) -> None:
    if name in singles:
        raise _twice(source, name, line, singles[name])
    singles[name] = line


def _range_of(name: str, ranges: Mapping[str, tuple[int, int]]) -> int | None:
    """The line of the range `x<...>` that a name belongs to."""
    for stem, number in numbered(name):
        count, line = ranges.get(stem, (0, 0))
        if number < count and f"{stem}{number}" == name:
            return line
    return None


def _twice(source: str, name: str, line: int, before: int, count: int | None = None) -> PtxSyntaxError:
    whole = _brief(name) + ("<...>" if count is not None else "")
    return PtxSyntaxError(f"{source}:{line}: `{whole}` is declared in line {before} already; give it another name.")


def _brief(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:60]}..."
