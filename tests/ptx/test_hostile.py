"""Hostile text is refused or read in time and memory proportional to its size. It never causes a crash."""

import sys
import tracemalloc

import pytest

from goptx.errors import PtxSyntaxError
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Function, Module
from goptx.ptx.parse import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
MANY = 200_000


def body(text: str) -> str:
    return f"{HEAD}.entry k()\n{{\n{text}\n}}\n"


def outcome(text: str) -> Module | PtxSyntaxError:
    """The result of parsing; no other exception may occur. Memory stays within 400 bytes a character."""
    tracemalloc.start()
    try:
        return parse(text)
    except PtxSyntaxError as error:
        assert len(str(error)) < 1000
        return error
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2_000_000 + 400 * len(text)


PLACES = {
    "module": HEAD + "HERE",
    "body": body("HERE"),
    "operand": body("mov.u32 %r1, HERE;"),
    "initialiser": HEAD + ".global .u32 x = HERE;",
    "parameters": HEAD + ".entry k(HERE)",
    "section": HEAD + ".section .debug_info { HERE }",
    "nothing": "HERE",
}
REPEATED = ["(", ")", "[", "]", "{", "}", "<", ">", "-", "!", "~", "@", '"', ".", ",", ";", ":", "/*", "//", "#", "%"]
REPEATED += ["((.u64)", "-(", "x[", "f(", "{L:", "@@DWARF ", "1?", "0x", "\\", "\u00e9", '"\n', "/*\n"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("piece", REPEATED)
def test_one_piece_over_and_over(place: str, piece: str) -> None:
    outcome(PLACES[place].replace("HERE", piece * (MANY // 10 // len(piece))))


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["(", "{", '"', "/*", "\n", " ", "9", "a", ".a", "%"])
def test_a_megabyte_of_one_piece(piece: str) -> None:
    assert isinstance(outcome(HEAD + piece * (1_000_000 // len(piece)) + "/"), PtxSyntaxError)


@pytest.mark.parametrize(
    ("before", "opening", "innermost", "closing"),
    [
        ("", "{", "ret;", "}"),
        ("mov.u32 %r1, ", "(", "1", ")"),
        ("mov.u32 %r1, ", "-(", "WARP_SZ", ")"),
        ("mov.u32 %r1, ", "{", "%r2", "}"),
        ("mov.u32 %r1, ", "[", "%r2", "]"),
        ("mov.u32 %r1, ", "a[", "%r2", "]"),
        (".global .u32 x = ", "{", "1", "}"),
        (".global .u32 x = ", "f(", "1", ")"),
    ],
)
def test_the_deepest_nesting_that_is_read_can_be_used(before: str, opening: str, innermost: str, closing: str) -> None:
    """No pass after the reader recurses further than Python allows."""
    deepest: Module | None = None
    for depth in range(10, 400, 4):
        found = outcome(body(f"{before}{opening * depth}{innermost}{closing * depth}{';' if before else ''}"))
        if isinstance(found, PtxSyntaxError):
            assert "nested too deeply" in str(found)
            break
        deepest = found
    assert deepest is not None
    assert parse(str(deepest)) == deepest
    assert hash(deepest) == hash(parse(str(deepest)))
    assert repr(deepest)
    (entry,) = deepest.items
    assert isinstance(entry, Function) and entry.body is not None
    flatten(entry.body, lambda name: name)


NUMBERS = {
    "immediate": body("mov.u32 %r1, HERE;"),
    "offset": body("ld.u32 %r1, [%rd1+HERE];"),
    "register count": body(".reg .b32 %r<HERE>;"),
    "variable count": HEAD + ".global .u32 x<HERE>;",
    "size": HEAD + ".global .u32 x[HERE];",
    "initialiser": HEAD + ".global .u32 x = HERE;",
    "alignment": HEAD + ".global .align HERE .u32 x;",
    "attribute": HEAD + ".global .attribute(.unified(HERE, 1)) .u32 x;",
    "directive": HEAD + ".entry k() .maxntid HERE;",
    "file": HEAD + '.file HERE "x"',
    "location": body(".loc 1 HERE 2 ret;"),
    "version": ".version HERE.0\n.target sm_90",
    "address size": ".version 8.0\n.target sm_90\n.address_size HERE",
}


@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize("digits", ["9" * 100_000, "0" * 100_000, "0x" + "f" * 100_000, "0b" + "1" * 100_000])
def test_giant_numbers_are_refused(place: str, digits: str) -> None:
    """Python would not turn so many digits into a number either."""
    found = outcome(NUMBERS[place].replace("HERE", digits))
    assert isinstance(found, PtxSyntaxError)
    assert place == "version" or "digits" in str(found)


@pytest.mark.parametrize(
    "text",
    [
        ".global .u32 " + ", ".join(f"v{i}<65536>" for i in range(20_000)) + ";",
        ".global .u32 " + ", ".join(f"v{i}<60>" for i in range(2_000)) + ";",
    ],
)
def test_names_by_number_are_not_spelled_out_without_end(text: str) -> None:
    assert "names of the form `x<...>`" in str(outcome(HEAD + text))


@pytest.mark.parametrize("name", ["%r" + "1" * MANY, "%" + "a1" * MANY, "a" * MANY + "7", "$" + "0" * MANY])
def test_endless_names_cost_no_more_than_their_length(name: str) -> None:
    module = outcome(body(f".reg .b32 {name}, %r<7>;\nmov.b32 {name}, %r3;\nmov.b32 %r5, {name};"))
    assert isinstance(module, Module)
    (entry,) = module.items
    assert isinstance(entry, Function) and entry.body is not None
    flat = flatten(entry.body, lambda n: f"a_{n}")
    assert len(flat.code) == 2


def test_as_much_as_python_allows_below_a_deep_caller() -> None:
    def deeper(frames: int) -> Module | PtxSyntaxError:
        return outcome(body("{" * 60 + "}" * 60)) if frames == 0 else deeper(frames - 1)

    assert isinstance(deeper(sys.getrecursionlimit() // 3), Module)
