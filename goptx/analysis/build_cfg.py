"""Cuts a flat body into basic blocks.

Requires: a `FlatBody`. Ensures: the invariants of `Flow`; each block can be reached, and only the entry may be empty
and end in a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.terminators import Branch, End, Jump, Stop, Switch
from goptx.errors import CannotWeave
from goptx.memo import Same
from goptx.ptx.flatten import FlatBody, flat_as_written
from goptx.ptx.ir import Directive, Instruction, Label, Scope, Statement
from goptx.ptx.opcodes import facts_of


def control_flow(body: FlatBody, where: str = "<ptx>", quote: Callable[[object], str] = str) -> Flow:
    """The control-flow graph of a flat body. Messages name the file as `where` and render statements with `quote`.

    Raises `CannotWeave` for a branch whose targets are unknown.
    """
    return _Cutter(body, where, quote).cut().pruned()


def flow_as_written(body: tuple[Statement, ...] | None, where: str = "<ptx>") -> Flow:
    """The flow of a function's body, with the names of the file. The flows of the last 64 bodies are cached. Raises
    `CannotWeave` as `control_flow` does."""
    return _flow_as_written(Same(body or ()), where)


@lru_cache(maxsize=64)
def _flow_as_written(body: Same[tuple[Statement, ...]], where: str) -> Flow:
    return control_flow(flat_as_written(body.held), where)


def text_blocks(body: tuple[Statement, ...] | None, where: str = "<ptx>") -> list[tuple[Code, ...]]:
    """The basic blocks of a function's text, each with the branch, `ret` or `exit` that ends it.

    A block begins at the first instruction, at the targets of branches, and after each branch. A label that threads
    reach only from the instruction above it does not begin a block. Labels without an instruction of their own,
    unreachable code and the `EXIT` of flows do not count. Inlined functions are ordinary text; a remaining call is one
    instruction. Raises `CannotWeave` as `control_flow` does.
    """
    cutter = _Cutter(flat_as_written(body), where, str)
    cut, ends = cutter.cut(), cutter.terminators
    flow = cut.with_blocks({n: replace(b, code=(*b.code, *ends.get(n, ()))) for n, b in cut.blocks.items()})
    flow = flow.without_empty()
    above = flow.predecessors()
    begins: dict[str, str] = {}
    blocks: dict[str, tuple[Code, ...]] = {}
    for name in flow.reverse_postorder():
        falls = [n for n in above[name] if n not in ends and isinstance(flow.blocks[n].end, Jump)]
        begins[name] = begins[falls[0]] if falls and len(above[name]) == 1 else name
        blocks[begins[name]] = (*blocks.get(begins[name], ()), *flow.blocks[name].code)
    return [code for code in blocks.values() if code]


class _Cutter:
    """`terminators` maps the names of blocks to the instructions that end them."""

    def __init__(self, body: FlatBody, where: str, quote: Callable[[object], str]) -> None:
        self.where = where
        self.quote = quote
        self.code = body.code
        self.tables: dict[str, tuple[str, ...]] = {}
        self.labels = {s.name for s in body.code if isinstance(s, Label)}
        for label, following in zip(body.code, body.code[1:], strict=False):
            if isinstance(label, Label) and isinstance(following, Directive) and following.name == ".branchtargets":
                self.tables[label.name] = following.values
        self.blocks: dict[str, Block] = {}
        self.terminators: dict[str, tuple[Instruction]] = {}
        self.fresh = 0

    def cut(self) -> Flow:
        name, code, pragmas = "entry", list[Code](), list[Directive]()
        for statement in self.code:
            match statement:
                case Label(label) if label not in self.tables:
                    self.blocks[name] = Block(tuple(code), Jump(label), tuple(pragmas))
                    name, code, pragmas = label, [], []
                case Directive(".pragma"):
                    pragmas.append(statement)
                case Instruction(opcode) if facts_of(opcode).row.ends in ("branch", "exit"):
                    self.fresh += 1
                    following = f"after_{self.fresh}"
                    self.terminators[name] = (statement,)
                    self.blocks[name] = Block(tuple(code), self.end(statement, following), tuple(pragmas))
                    name, code, pragmas = following, [], []
                case Instruction() | Scope():
                    code.append(statement)
        self.blocks[name] = Block(tuple(code), Jump(EXIT), tuple(pragmas))
        self.blocks[EXIT] = Block((), Stop())
        return Flow("entry", self.blocks)

    def end(self, instruction: Instruction, following: str) -> End:
        facts = facts_of(instruction.opcode)
        if facts.row.ends == "exit":
            target = EXIT
        elif facts.is_indirect_branch:
            return self.switch(instruction, following)
        else:
            target = self.label(instruction, str(instruction.operands[0]))
        if instruction.guard is None:
            return Jump(target)
        return Branch(instruction.guard, target, following, "uni" in facts.modifiers, instruction.line)

    def switch(self, instruction: Instruction, following: str) -> End:
        index, table = instruction.operands[0], str(instruction.operands[1])
        if table not in self.tables:
            raise CannotWeave(
                f"{self.where}:{instruction.line}: `{self.quote(instruction)}`: the target list `{table}` is not "
                f"declared; write `{table}: .branchtargets L1, L2;` in the same function.",
                rule="known-branch-targets",
            )
        targets = tuple(self.label(instruction, t) for t in self.tables[table])
        uniform = "uni" in facts_of(instruction.opcode).modifiers
        switch = Switch(index, targets, uniform, instruction.line)
        if instruction.guard is None:
            return switch
        self.fresh += 1
        inner = f"switch_{self.fresh}"
        self.blocks[inner] = Block((), switch)
        return Branch(instruction.guard, inner, following, uniform, instruction.line)

    def label(self, instruction: Instruction, name: str) -> str:
        if name in self.labels and name not in self.tables:
            return name
        problem = (
            "stands for a list of labels, and no instruction follows it; name one of these labels"
            if name in self.tables
            else "is not in this function; is the file cut off?"
        )
        raise CannotWeave(
            f"{self.where}:{instruction.line}: `{self.quote(instruction)}`: the label `{self.quote(name)}` {problem}",
            rule="known-branch-targets",
        )
