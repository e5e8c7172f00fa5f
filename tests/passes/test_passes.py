"""Each pass as text: PASS/NAME.ptx has kernels and, as comments after them, what the pass makes of them.

`pytest tests/passes --update-golden` writes what the passes make now; then read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from passes.listings import LISTINGS
from passes.run_passes import Run

HERE = Path(__file__).parent
MARK = "// ---- after "
FILES = sorted(path for path in HERE.glob("*/*.ptx"))
LONGEST = 45  # lines of the kernels of a file


def parts(path: Path) -> tuple[str, str]:
    """The kernels, and the text after them."""
    text, mark, expected = path.read_text(encoding="utf-8").partition(MARK)
    return text.rstrip("\n") + "\n", mark + expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_pass(path: Path, request: pytest.FixtureRequest) -> None:
    text, expected = parts(path)
    lines = LISTINGS[path.parent.name](Run.of(text))
    found = f"{MARK}{path.parent.name} ----\n" + "".join(f"// {line}".rstrip() + "\n" for line in lines)
    if request.config.getoption("--update-golden"):
        path.write_text(f"{text}\n{found}", encoding="utf-8")
        expected = found
    assert found == expected


@pytest.mark.parametrize("name", LISTINGS)
def test_each_pass_has_files(name: str) -> None:
    assert sum(path.parent.name == name for path in FILES) >= 5
    assert {path.parent.name for path in FILES} == set(LISTINGS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_kernels_are_short_and_described(path: Path) -> None:
    text, _ = parts(path)
    assert text.startswith("// ") and text.count("\n") <= LONGEST
