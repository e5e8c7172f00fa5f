"""Random values print as text that parses to the same values; damaged text is parsed or refused as PTX."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ptx.random_values import BODIES, MODULES, OPERANDS

from goptx.errors import PtxSyntaxError
from goptx.ptx.ir import Function, Instruction, Module, Operand, Statement
from goptx.ptx.parse import as_spelled, parse

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.filterwarnings("ignore::goptx.errors.UnknownInstruction"),
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]
CHECKS = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def kernel(*body: Statement) -> Module:
    return Module((8, 0), ("sm_90",), 64, (Function(".entry", "k", body=body),))


@pytest.mark.slow
@settings(CHECKS, max_examples=300)
@given(OPERANDS)
def test_any_operand_prints_as_text_that_reads_the_same(operand: Operand) -> None:
    module = kernel(Instruction("mov.b32", (operand,)))
    assert parse(str(module)) == module


@pytest.mark.slow
@settings(CHECKS, max_examples=100)
@given(BODIES)
def test_any_body_prints_as_text_that_reads_the_same(body: tuple[Statement, ...]) -> None:
    module = kernel(*body)
    assert as_spelled(str(module)) == module


@pytest.mark.slow
@settings(CHECKS, max_examples=100)
@given(MODULES)
def test_any_module_prints_as_text_that_reads_the_same(module: Module) -> None:
    assert as_spelled(str(module)) == module


PATTERNS = ("examples/**/*.sm_90.ptx", "tests/ptx/features.ptx", "tests/isa/*.ptx")
TEXTS = [path.read_bytes() for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]
Edit = Callable[[bytes, int], bytes]
EDITS: list[st.SearchStrategy[Edit]] = [
    st.binary(min_size=1, max_size=3).map(lambda new: lambda text, at: text[:at] + new + text[at + len(new) :]),
    st.text(' \n;,.:{}[]()<>@!%"/*0123456789xUf+-|=?&', min_size=1, max_size=3).map(
        lambda new: lambda text, at: text[:at] + new.encode() + text[at:]
    ),
    st.integers(1, 40).map(lambda size: lambda text, at: text[:at] + text[at + size :]),
    st.integers(1, 40).map(lambda size: lambda text, at: text[:at] + text[at : at + size] * 2 + text[at + size :]),
    st.just(lambda text, at: text[:at]),
]


@pytest.mark.slow
@settings(CHECKS, max_examples=200)
@given(st.sampled_from(TEXTS), st.lists(st.tuples(st.one_of(EDITS), st.floats(0, 1)), min_size=1, max_size=3))
def test_damaged_text_reads_or_is_refused_as_ptx(text: bytes, edits: list[tuple[Edit, float]]) -> None:
    for edit, place in edits:
        text = edit(text, int(place * len(text)))
    try:
        module = parse(text)
    except PtxSyntaxError:
        return
    assert parse(str(module)) == module
