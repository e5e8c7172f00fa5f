"""docs/architecture.md names what is there, folders import in one direction, and no two files have one name."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

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
