"""PTX as it is rendered: each line is marked with its kernel, and its tokens are coloured."""

import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Error, Keyword, Name, Number, Operator, Punctuation
from view.pages import read

import goptx
from goptx.options import Strategy
from goptx.ptx.ir import Instruction, Module
from goptx.ptx.walk import statements_in
from goptx.view.html.ptx_html import CHUNK, Line, coloured, ptx_html, ptx_lines
from goptx.view.ptx_lexer import PtxLexer

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
CORPUS = sorted((ROOT / "tests" / "corpus" / "ptx").rglob("*.ptx"))
SHAPES = [goptx.Shape(64, 256), goptx.Shape(32, 256)]


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


def made(*names: str, strategy: Strategy = "weave") -> goptx.Woven:
    return goptx.fuse(*map(kernel, names), strategy=strategy, shapes=SHAPES[: len(names)])


# Lines ------------------------------------------------------------------------------------------------


def instructions(module: Module) -> list[Instruction]:
    bodies = (entry.body or () for entry in module.entries)
    return [s for body in bodies for s in statements_in(body) if isinstance(s, Instruction)]


@pytest.mark.parametrize(
    ("names", "strategy"),
    [
        (["gelu", "harris"], "weave"),
        (["lud", "sort"], "weave"),
        (["scan", "layernorm"], "weave"),
        (["wmma", "stms"], "vertical"),
        (["reduce", "softmax"], "horizontal"),
        (["lud", "micnd"], "interleave"),
        (["gelu", "harris"], "separate"),
    ],
)
def test_each_line_is_marked_with_its_kernel(names: Sequence[str], strategy: Strategy) -> None:
    woven = made(*names, strategy=strategy)
    lines = list(ptx_lines(woven.module, woven.origins))
    assert "".join(f"{line.text}\n" for line in lines) == woven.ptx
    kernels = {letter: counts.name for letter, counts in woven.report.kernels.items()}
    rendered = [
        e for part in read(ptx_html(woven.module, woven.origins, kernels)).all("div", "lines") for e in part.all("div")
    ]
    code = list(zip(instructions(woven.module), woven.origins, strict=True))
    at = 0
    for line, element in zip(lines, rendered, strict=True):
        mark = element.all("i")[0].text
        assert element.text == mark + line.text
        if at < len(code) and line.text.strip() == str(code[at][0]):
            origin = code[at][1]
            assert mark == (origin.kernel if origin else "")
            if origin and origin.line:
                assert element.attributes["title"] == f"{origin.kernel} {kernels[origin.kernel]}, line {origin.line}"
            at += 1
        else:
            assert mark == ""
    assert at == len(code)


@pytest.mark.slow
def test_lines_are_numbered_as_in_the_text() -> None:
    woven = goptx.weave(kernel("gemm"), kernel("pipeline"))
    text, at = woven.ptx.split("\n"), []
    for part in read(ptx_html(woven.module, woven.origins)).all("div", "lines"):
        first, *others = part.all("div")
        assert len(others) < CHUNK and not any("style" in other.attributes for other in others)
        number = int(first.attributes["style"].removeprefix("counter-set:line "))
        assert text[number - 1] == first.text.removeprefix(first.all("i")[0].text)
        at.append((number, len(others) + 1))
    assert [number for number, _ in at] == [1 + sum(n for _, n in at[:k]) for k in range(len(at))]
    assert len(at) > len(text) // CHUNK


def test_what_is_declared_is_folded() -> None:
    woven = goptx.weave(kernel("lud"), kernel("sort"))
    parts = dict.fromkeys(line.part for line in ptx_lines(woven.module))
    assert list(parts) == ["head", "declarations of lud_sort_woven", ""]
    in_sight = [line.text for line in ptx_lines(woven.module) if not line.part]
    assert not any(text.strip().startswith((".reg", ".shared")) for text in in_sight)


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS[:: max(1, len(CORPUS) // 12)], ids=lambda p: p.stem)
def test_modules_of_all_kinds(path: Path) -> None:
    module = goptx.read(path)
    assert "".join(f"{line.text}\n" for line in ptx_lines(module)) == str(module)
    assert read(module._repr_html_())


def test_origins_that_are_of_something_else() -> None:
    woven = made("gelu", "harris")
    with pytest.raises(ValueError, match="more instructions than origins"):
        list(ptx_lines(woven.module, woven.origins[:-1]))
    with pytest.raises(ValueError, match="more origins than instructions"):
        list(ptx_lines(woven.module, (*woven.origins, None)))
    assert Line("", "head") in list(ptx_lines(woven.module))


def test_braces_within_bodies() -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry k()\n{\n    .reg .b32 %r<2>;\n    {\n"
    text += "        .reg .b32 a;\n        mov.b32 a, 1;\n    }\nend:\n    ret;\n}\n"
    module = goptx.read(text)
    assert str(module) == text == "".join(f"{line.text}\n" for line in ptx_lines(module))


# Words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*sorted(KERNELS.glob("*.ptx")), *CORPUS[::4]], ids=lambda p: p.stem)
def test_the_lexer_knows_all(path: Path) -> None:
    text = path.read_text()
    tokens = list(PtxLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert not [value for kind, value in tokens if kind is Error]
    assert "".join(value for _, value in tokens) == text
    opcodes = {i.opcode.partition(".")[0].partition("::")[0] for i in instructions(goptx.read(path))}
    assert opcodes <= {value for kind, value in tokens if kind is Name.Function}


def words(text: str) -> list[tuple[object, str]]:
    return [(kind, value) for kind, value in PtxLexer().get_tokens(text) if value.strip()]


def test_an_instruction() -> None:
    assert words("$L_1: @!%p1 ld.global.v2.f32 {%f1, x}, [%rd1+0x10]; // why") == [
        (Name.Label, "$L_1"), (Punctuation, ":"), (Operator, "@"), (Operator, "!"), (Name.Variable, "%p1"),
        (Name.Function, "ld"), (Name.Attribute, ".global"), (Name.Attribute, ".v2"), (Keyword.Type, ".f32"),
        (Punctuation, "{"), (Name.Variable, "%f1"), (Punctuation, ","), (Name, "x"), (Punctuation, "}"),
        (Punctuation, ","), (Punctuation, "["), (Name.Variable, "%rd1"), (Operator, "+"), (Number.Hex, "0x10"),
        (Punctuation, "]"), (Punctuation, ";"), (words("// why")[0][0], "// why"),
    ]  # fmt: skip


def test_directives_and_special_registers() -> None:
    kinds = {value: kind for kind, value in words(".loc 1 2 3\nadd.s32 a, %tid.x, WARP_SZ;\n.reg .pred %p<3>;")}
    assert kinds[".loc"] is kinds[".reg"] is Keyword.Declaration
    assert kinds["add"] is Name.Function and kinds[".pred"] is kinds[".s32"] is Keyword.Type
    assert kinds["%tid.x"] is kinds["WARP_SZ"] is Name.Variable.Magic and kinds["%p"] is Name.Variable
    newer = words("newer.op::x.b32 a;")
    assert newer[:3] == [(Name.Function, "newer"), (Name.Attribute, ".op::x"), (Keyword.Type, ".b32")]


def test_pygments_finds_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["ptx"].partition(":")
    assert getattr(import_module(module), name) is PtxLexer
    assert PtxLexer.aliases == ["ptx"] and PtxLexer.filenames == ["*.ptx"]


def test_colours_do_not_change_the_text() -> None:
    text = kernel("lud").read_text()
    assert [read(one).text for one in coloured(text)] == text.split("\n")
