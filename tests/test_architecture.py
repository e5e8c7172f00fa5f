"""docs/architecture.md names what is there, folders import in one direction, no two files have one name, and passes ask
the opcode table."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from goptx.ptx.opcodes import TABLE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "goptx"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = [
    "", "goptx", "goptx/weaving", "goptx/weaving/schedule", "goptx/strategies", "goptx/emulator",
    "goptx/emulator/instructions", "goptx/checking", "tests/emulator", "goptx/device", "goptx/view",
]  # fmt: skip
ORDER = re.findall(r"<!-- order -->\n +(.*)", PAGE)[0].split()
MOST_FILES = 16  # of a folder
COMMANDS = "cli/commands"  # whose files bear the names of the functions that they call
UPWARD = {  # files that may import from folders after their own, and which
    "results/fused_kernel.py": {"anatomy"},  # one-line methods for the user
}
ASKING = (  # folders whose passes ask the opcode table
    "analysis", "sources", "results", "weaving", "strategies", "cost", "anatomy", "checking", "launch", "region",
    "tuning", "device",
)  # fmt: skip
NAMING = {  # files that may test opcodes by their names, and why
    "analysis/cfg.py": "the block at the end of a flow is named `exit`",
    "device/latency/rows/arithmetic.py": "what is measured, one row for each opcode",
}
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "generated" not in p.parts)


def test_every_file_that_it_names_is_there() -> None:
    named = re.findall(r"`((?:[\w.]+/)*[\w.*]+\.(?:py|g4|toml|md|txt)|(?:[\w.]+/)+)`", PAGE)
    missing = [
        n for n in named if "NN" not in n and "NAME" not in n and not any(any(ROOT.glob(_in(f, n))) for f in FOLDERS)
    ]
    assert len(named) > 80
    assert missing == []


def _in(folder: str, name: str) -> str:
    return f"{folder}/{name}".strip("/")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *re.findall(r"`([A-Z][A-Z_]+)` (?:in|of) `([\w/]+\.py)`", PAGE),
        *((n, f) for names, f in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `([\w/]+\.py)` \|", PAGE, re.MULTILINE)
          for n in re.findall(r"\w+", names)),
    ],
)  # fmt: skip
def test_every_name_stands_in_its_file(name: str, file: str) -> None:
    assert re.search(rf"^(class )?{name}\b", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_folder_has_a_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists())


def test_folders_import_only_those_before_them() -> None:
    """When they are loaded, when functions are called, and for types."""
    wrong = []
    for path in FILES:
        folder, *rest = path.relative_to(PACKAGE).parts
        if not rest:
            continue
        for module in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            other = module.removeprefix("goptx.").partition(".")[0]
            name = path.relative_to(PACKAGE).as_posix()
            if other in ORDER[ORDER.index(folder) + 1 :] and other not in UPWARD.get(name, ()):
                wrong.append(f"{name} imports {module}")
    assert wrong == []


def test_files_for_everybody_import_nothing_else_of_goptx() -> None:
    own = {f"goptx.{p.stem}" for p in PACKAGE.glob("*.py")}
    for path in PACKAGE.glob("[!_]*.py"):
        assert set(_imported(ast.parse(path.read_text(encoding="utf-8")))) <= own, path


def test_exceptions_are_few_and_needed() -> None:
    assert len(UPWARD) <= 3
    for name, folders in UPWARD.items():
        imported = list(_imported(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))))
        assert all(any(m.startswith(f"goptx.{f}.") for m in imported) for f in folders)


def test_the_emulator_imports_nothing_of_weaving() -> None:
    """The judge does not import the judged."""
    for path in (PACKAGE / "emulator").rglob("*.py"):
        imported = _imported(ast.parse(path.read_text(encoding="utf-8")))
        assert [m for m in imported if m.startswith(("goptx.weaving", "goptx.strategies"))] == [], path


@pytest.mark.parametrize("folder", ["weaving", "strategies", "cost", "anatomy"])
def test_passes_do_not_go_by_the_identity_of_objects(folder: str) -> None:
    """Which kernel an instruction comes from is in it (`Instruction.provenance`), so replacing it loses nothing."""
    calls = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in (PACKAGE / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "id"
    ]
    assert calls == []


def test_no_two_files_have_one_name() -> None:
    names = Counter(p.stem for p in FILES if p.stem not in ("__init__", "__main__") and COMMANDS not in p.as_posix())
    assert [name for name, times in names.items() if times > 1] == []


def test_no_folder_has_many_files() -> None:
    folders = Counter(p.parent.relative_to(PACKAGE).as_posix() for p in FILES)
    assert {f: n for f, n in folders.items() if n > MOST_FILES} == {}


def test_passes_ask_the_opcode_table() -> None:
    """What is known of opcodes is a fact of goptx/ptx/opcodes.py, not a test of their names elsewhere."""
    found: dict[str, list[str]] = {}
    for folder in ASKING:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for line, opcode in _opcodes_tested(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(path.relative_to(PACKAGE).as_posix(), []).append(f"line {line}: {opcode}")
    assert {file: tests for file, tests in found.items() if file not in NAMING} == {}
    assert found.keys() == NAMING.keys(), "an exception that is not needed"


@pytest.mark.parametrize(
    ("code", "opcodes"),
    [
        ('facts.base == "call"', ["call"]),
        ('facts.base in ("atom", "call")', ["atom", "call"]),
        ('facts.base not in {"mov"}', ["mov"]),
        ('"red" in facts.modifiers', ["red"]),
        ('opcode.startswith("bar")', ["bar"]),
        ('opcode.startswith(("ld.global", "v"))', ["ld.global"]),
        ('code.opcode.split(".")[0] == "ld"', ["ld"]),
        ('SOME = frozenset(("add", "sub"))\nfacts.base in SOME', ["add", "sub"]),
        ('WAIT: str = "griddepcontrol.wait"\ncode.opcode == WAIT', ["griddepcontrol.wait"]),
        ('match code:\n    case Instruction("bra" | "bra.uni" as opcode, _): pass', ["bra", "bra.uni"]),
        ('facts.row.ends == "exit"', []),
        ('Instruction("bar.sync", (zero,))', []),
        ('RULES = {"add": rule}\nRULES.get(facts.base)', []),
        ('strategy == "weave"', []),
    ],
)
def test_what_counts_as_a_test_of_an_opcode(code: str, opcodes: list[str]) -> None:
    assert [opcode for _, opcode in _opcodes_tested(ast.parse(code))] == opcodes


_BASES = {prefix.partition(".")[0] for prefix in TABLE}


def _opcodes_tested(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines where something is compared with an opcode, its beginning or one of several, and that opcode."""
    constants = dict[str, ast.expr]()
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                constants[name] = value
    for node in ast.walk(tree):
        tested: list[ast.expr] = []
        match node:
            case ast.Compare(left, _, others) if not any(map(_is_fact, (left, *others))):
                tested = [left, *others]
            case ast.Call(ast.Attribute(attr="startswith" | "endswith" | "removeprefix"), arguments):
                tested = [*arguments]
            case ast.MatchValue(value):
                tested = [value]
        for part in tested:
            line = part.lineno
            part = constants.get(part.id, part) if isinstance(part, ast.Name) else part
            yield from ((line, text) for text in _strings(part) if text.partition(".")[0] in _BASES)


def _is_fact(compared: ast.expr) -> bool:
    """Whether it is a field of the table, whose values happen to be named like opcodes."""
    return isinstance(compared, ast.Attribute) and compared.attr == "ends"


def _strings(node: ast.AST) -> Iterator[str]:
    yield from (c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str))


def _imported(tree: ast.AST) -> Iterator[str]:
    """The modules of goptx that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="goptx", names=names):
                yield from (f"goptx.{name.name}" for name in names)
            case ast.ImportFrom(module=str(module)) if module.startswith("goptx."):
                yield module
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.startswith("goptx."))
