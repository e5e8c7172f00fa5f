"""docs/architecture.md tells the truth: what it names is there, and folders import each other as it says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOLDERS = ["", "goptx", "goptx/weaving", "goptx/strategies", "goptx/emulator", "tests/emulator", "goptx/device"]
NUMBERS = "goptx.device.occupancy"  # which everybody may import
ORDER = re.findall(r"<!-- order -->\n +(.*)", PAGE)[0].split()


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


def test_folders_import_only_those_before_them() -> None:
    assert sorted(ORDER) == sorted(p.name for p in (ROOT / "goptx").iterdir() if (p / "__init__.py").exists())
    wrong = []
    for folder in ORDER:
        for path in (ROOT / "goptx" / folder).rglob("*.py"):
            for module in _imported(ast.parse(path.read_text(encoding="utf-8"))):
                other = module.removeprefix("goptx.").partition(".")[0]
                if other in ORDER and ORDER.index(other) > ORDER.index(folder) and module != NUMBERS:
                    wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def _imported(tree: ast.AST) -> Iterator[str]:
    """What of goptx a module imports when it is loaded."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.ImportFrom(module=str(module)) if module.startswith("goptx."):
                yield module
        yield from _imported(node)
