"""A kernel with the code of functions in place of calls of them, where the fused kernel has no such calls.

What is passed becomes registers, so this is done for functions that load and store numbers whole, by the names of their
parameters, and declare no variables. What it does not fit stays a call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from goptx.proof.code.called_functions import WORD, passed
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    Address,
    Declaration,
    Directive,
    Function,
    Guard,
    Instruction,
    Label,
    Module,
    Name,
    Registers,
    Scope,
    Statement,
    Sum,
    Variable,
)
from goptx.ptx.opcodes import facts_of

MOST_CALLS = 256  # one inside the other, and in all
_BYTES = (4, 8)


def with_functions(entry: Function, module: Module, staying: Collection[str]) -> Function:
    """The kernel without calls of functions other than those `staying`."""
    functions = {f.name: f for f in module.functions if f.body is not None and not f.is_entry}
    its = {name: f for name, f in functions.items() if name not in staying and _fits(f)}
    outside = {i.name for i in module.items if isinstance(i, Function | Variable)}
    hidden = outside.intersection(n for s in _every(entry.body or ()) for n in _declared(s))
    if not its or hidden or any(isinstance(i, Registers) for i in module.items):  # a name may mean something else there
        return entry
    return replace(entry, body=_Inliner(its, str(module)).body(entry.body or (), {}, 0))


def _declared(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Registers():
            return tuple(name for name, _ in statement.names)
        case Declaration(variable):
            return (variable.name,)
        case Label(name):
            return (name,)
    return ()


def _fits(function: Function) -> bool:
    formals = (*function.results, *function.parameters)
    names = {v.name: v.size for v in formals}
    if any(v.space != ".param" or v.dims or v.size not in _BYTES for v in formals):
        return False
    for statement in _every(function.body or ()):
        if isinstance(statement, Declaration) and statement.variable.space != ".param":
            return False
        if (
            isinstance(statement, Instruction)
            and not facts_of(statement.opcode).calls
            and not _is_whole(statement, names)
        ):
            return False
    return True


def _every(body: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, Scope):
            yield from _every(statement.body)


def _is_whole(statement: Instruction, names: Mapping[str, int]) -> bool:
    """Whether it loads or stores one of these variables whole, or does not concern them."""
    concerned = names.keys() & {w for o in statement.operands for w in WORD.findall(str(o))}
    if not concerned:
        return True
    name, facts = _accessed(statement), facts_of(statement.opcode)
    types = [t for t in facts.types if t[1:] in ("32", "64")]
    moves = statement.opcode.split(".")[:2] in (["ld", "param"], ["st", "param"])
    others = [n for n in concerned if n != name]
    return name in names and moves and not others and len(types) == 1 and int(types[0][1:]) == 8 * names[name]


def _accessed(statement: Instruction) -> str:
    """The variable that an instruction accesses at its beginning."""
    for operand in statement.operands:
        match operand:
            case Address((Name(name),)):
                return name
            case Address((Sum(Name(name), (str(tail),)),)) if tail.replace(" ", "") == "+0":
                return name
    return ""


@dataclass
class _Inliner:
    functions: Mapping[str, Function]
    text: str  # of the module, whose names are not those of copies
    copies: int = 0

    def body(self, body: tuple[Statement, ...], outer: Mapping[str, str], depth: int) -> tuple[Statement, ...]:
        """A body without calls of the functions. `outer` has the registers that are variables of scopes around it."""
        declared = {s.variable.name: s.variable for s in body if isinstance(s, Declaration)}
        moved = {n: n for n, v in declared.items() if self._is_passed(v, body)}
        now = {n: r for n, r in outer.items() if n not in declared} | moved
        code: list[Statement] = []
        for statement in body:
            match statement:
                case Declaration(variable) if variable.name in moved:
                    code.append(Registers((f".b{8 * variable.size}",), ((variable.name, None),)))
                case Scope(inner):
                    code.append(Scope(self.body(inner, now, depth)))
                case Instruction() if (found := self._called(statement, now)) and max(depth, self.copies) < MOST_CALLS:
                    code.append(Scope(self.body(self._copy(statement, found), now, depth + 1)))
                case Instruction() if _accessed(statement) in now and not facts_of(statement.opcode).calls:
                    code.append(_as_move(statement))
                case _:
                    code.append(statement)
        return tuple(code)

    def _is_passed(self, variable: Variable, body: tuple[Statement, ...]) -> bool:
        """Whether a register may take the variable's place."""
        if variable.space != ".param" or variable.dims or variable.size not in _BYTES:
            return False
        own = {variable.name: variable.size}
        code = [s for s in _every(body) if isinstance(s, Instruction)]
        calls = [s for s in code if facts_of(s.opcode).calls and variable.name in WORD.findall(str(s))]
        return bool(calls) and all(
            self._sizes(s).get(variable.name) == variable.size if s in calls else _is_whole(s, own) for s in code
        )

    def _sizes(self, call: Instruction) -> dict[str, int]:
        """What a call of one of the functions is passed, with the sizes of its parameters; empty for another call."""
        found = passed(call)
        function = self.functions.get(found[1]) if found else None
        if found is None or function is None:
            return {}
        formals, actuals = (*function.results, *function.parameters), (*found[0], *found[2])
        return {str(a): f.size for f, a in zip(formals, actuals, strict=False)} if len(formals) == len(actuals) else {}

    def _called(self, statement: Instruction, registers: Mapping[str, str]) -> Function | None:
        """The function that is called with variables that are registers now."""
        found = passed(statement) if facts_of(statement.opcode).calls else None
        function = self.functions.get(found[1]) if found else None
        if found is None or function is None:
            return None
        count = len(function.results) + len(function.parameters)
        sizes = self._sizes(statement)
        return function if len(sizes) == count and sizes.keys() <= registers.keys() else None

    def _copy(self, call: Instruction, function: Function) -> tuple[Statement, ...]:
        """The function's code, with names of its own."""
        self.copies += 1
        suffix = f"__{function.name}_{self.copies}"
        while suffix in self.text:
            suffix += "_"
        results, _, arguments = passed(call) or ((), "", ())
        formals = (*function.results, *function.parameters)
        symbols = {f.name: str(a) for f, a in zip(formals, (*results, *arguments), strict=True)}
        flat = flatten(function.body or (), lambda own: own + suffix, symbols)
        past = f"$past{suffix}"
        around = [Instruction("bra", (Name(past),), _inverted(call.guard), call.line)] if call.guard else []
        return (*flat.registers, *flat.variables, *around, *_returning(flat.code, past), Label(past))


def _inverted(guard: Guard) -> Guard:
    return Guard(guard.predicate, not guard.negated)


def _as_move(statement: Instruction) -> Instruction:
    """The access to a variable that is a register."""
    type_ = next(t for t in facts_of(statement.opcode).types if t[1:] in ("32", "64"))
    name = Name(_accessed(statement))
    operands = tuple(name if isinstance(o, Address) else o for o in statement.operands)
    return replace(statement, opcode=f"mov.{type_}", operands=operands)


def _returning(code: tuple[Statement, ...], past: str) -> Iterator[Statement]:
    """With branches in place of returns."""
    for statement in code:
        match statement:
            case Scope(inner):
                yield Scope(tuple(_returning(inner, past)))
            case Instruction(opcode, _, guard, line) if facts_of(opcode).base == "ret":
                yield Instruction("bra", (Name(past),), guard, line)
            case Directive(".loc"):
                continue
            case _:
                yield statement
