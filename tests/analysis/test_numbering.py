"""Provenance: each instruction of a kernel has the kernel's number and one of its own."""

from dataclasses import replace

from bodies import flow

from goptx.analysis.cfg import Block, Flow
from goptx.analysis.numbering import completed, free_number, numbered
from goptx.ptx.flatten import renamed_statement
from goptx.ptx.ir import Instruction, Label, Name, Provenance, Scope
from goptx.ptx.walk import statements_in

BODY = (
    Instruction("mov.u32", (Name("%r1"), Name("%r2"))),
    Scope((Instruction("call", (Name("f"),)), Scope((Instruction("trap"),)))),
    Label("L"),
    Instruction("membar.gl"),
)


def provenances(found: Flow) -> list[Provenance | None]:
    return [s.provenance for s in statements_in(found.codes()) if isinstance(s, Instruction | Scope)]


def test_numbers_are_in_the_order_of_the_text() -> None:
    """A scope counts before what stands in it."""
    made = numbered(BODY, 3)
    found = [s.provenance for s in statements_in(made) if isinstance(s, Instruction | Scope)]
    assert found == [Provenance(3, i) for i in range(6)]
    assert made == BODY and hash(made) == hash(BODY)
    assert [s.kernel for s in made if isinstance(s, Instruction)] == [3, 3]


def test_numbers_given_before_do_not_count() -> None:
    assert [s.kernel for s in statements_in(numbered(numbered(BODY, 3), 1)) if isinstance(s, Instruction)] == [1] * 4


def test_code_without_provenance_has_no_kernel() -> None:
    assert Instruction("trap").kernel is None and Scope(()).kernel is None


def test_only_what_lacks_a_number_gets_one() -> None:
    linked = flow("add.u32 %r1, %r2, 1; sub.u32 %r3, %r1, 1;")
    blocks = {
        n: replace(b, code=tuple(c for c in numbered(b.code, 1) if isinstance(c, Instruction)))
        for n, b in linked.blocks.items()
    }
    linked = Flow(linked.entry, blocks)
    assert completed(linked, 1) is linked and free_number(linked) == 2
    first = blocks["entry"].code[0]
    assert isinstance(first, Instruction)
    call = replace(first, opcode="call")
    inserted = (Instruction("not.pred"), *blocks["entry"].code, Scope((call, Instruction("or.pred"))))
    made = completed(Flow("entry", {**blocks, "entry": Block(inserted, blocks["entry"].end)}), 1)
    assert provenances(made) == [Provenance(1, n) for n in (2, 0, 1, 3, 0, 4)]


def test_renamed_code_keeps_its_provenance() -> None:
    for statement in numbered(BODY):
        made = renamed_statement(statement, lambda name: f"{name}_")
        assert [getattr(s, "provenance", None) for s in statements_in((made,))] == [
            getattr(s, "provenance", None) for s in statements_in((statement,))
        ]
