"""Damaged kernels give a result or are refused, in bounded time (fuzzing.py); so do those that once did neither."""

from random import Random

import pytest
from fuzzing import ACTIONS, OTHER, damaged, failure, texts

import goptx
from goptx.errors import InputError

FOUND = {
    "operands missing": ("%d2, %r1, 4;", "%d2, %r1;"),
    "an operand too many": ("add.s64 %d1, %d1, %d2;", "add.s64 %d1, %d1, %d2, %d1, %d2;"),
    "a multiplication without summand": ("mul.wide.u32 %d2, %r1, 4;", "mad.lo.u32 %r2, %r1;"),
    "a load without address": ("ld.param.u64 %d1, [p];", "ld.param.u64 %d1;"),
    "a load from a register": ("ld.param.u64 %d1, [p];", "ld.u64 %d1, %d1;"),
    "a parameter without brackets": ("ld.param.u64 %d1, [p];", "ld.param.u64 %d1, p;"),
    "a load of an unknown type": ("ld.param.u64 %d1, [p];", "ld.param.u24 %d1, [p];"),
    "a comparison of nothing": ("setp.gt.u32 %p1, %r1, 7;", "setp.gt.u32 %p1;"),
    "an undeclared register": ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %r3;"),
    "an undeclared predicate": ("@%p1 bra", "@%p7 bra"),
    "a branch to nowhere": ("bra END;", "bra;"),
}
SEED = 20


@pytest.mark.slow
def test_a_short_run() -> None:
    for number in range(120):
        random = Random(f"{SEED} {number}")
        text = damaged(random.choice(texts()), random)
        assert failure(list(ACTIONS)[number % len(ACTIONS)], text) is None, f"case {number}: {text.decode('latin-1')}"


@pytest.mark.parametrize("case", FOUND)
@pytest.mark.parametrize("action", ["weave", "coarsen", "check"])
def test_what_was_found(case: str, action: str) -> None:
    before, after = FOUND[case]
    assert before in OTHER
    assert failure(action, OTHER.replace(before, after).encode()) is None


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("operands missing", "has 2 operands instead of 3; assemble the file to see what else is wrong."),
        ("an undeclared register", "uses `%r3`, which is not declared; declare it with `.reg`."),
    ],
)
def test_the_refusal_names_the_instruction(case: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        goptx.weave(OTHER.replace(*FOUND[case]), OTHER)
    assert str(caught.value).startswith("<ptx>:")
    assert str(caught.value).endswith(message)


def test_labels_and_symbols_may_be_called_as_registers_are() -> None:
    text = OTHER.replace("END", "%END").replace(".visible", ".global .u32 %g;\n.visible", 1)
    goptx.weave(text.replace("bar.sync 0;", "mov.u64 %d1, %g;"), OTHER)


def test_registers_in_the_braces_of_a_call_are_declared() -> None:
    call = """{ .reg .b32 %t, %t_<2>; .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call.uni (b), f, (a);
        ld.param.b32 %t, [b]; mov.b32 %t_1, %t; }"""
    text = OTHER.replace(".visible", ".extern .func (.param .b32 y) f (.param .b32 x);\n.visible", 1)
    goptx.weave(text.replace("bar.sync 0;", call), OTHER)
    with pytest.raises(InputError, match="uses `%t_2`, which is not declared"):
        goptx.weave(text.replace("bar.sync 0;", call.replace("%t_1", "%t_2")), OTHER)


def _fails(_: bytes) -> None:
    raise IndexError


def _never_ends(_: bytes) -> None:
    while True:
        pass


def test_what_the_fuzzer_takes_for_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ACTIONS, "fails", _fails)
    monkeypatch.setitem(ACTIONS, "never ends", _never_ends)
    assert "IndexError" in str(failure("fails", b""))
    assert "more than 0.2 s" in str(failure("never ends", b"", 0.2))
