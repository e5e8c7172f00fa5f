"""`goptx check` on kernels of examples/ needs no arguments but the files; the README has its output."""

import re
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from goptx.cli import main

ROOT = Path(__file__).parents[2]
KERNELS = Path("examples") / "kernels"
NAMES = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
PAIRS = list(combinations_with_replacement([f"{name}.sm_90.ptx" for name in NAMES], 2))
PAIRS += [("gelu.sm_80.ptx", "sort.sm_90.ptx"), ("lud.sm_80.ptx", "wmma.sm_80.ptx")]


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_no_arguments_but_the_files(
    pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["check", *(str(KERNELS / name) for name in pair)]) == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert re.match(r"\w+_woven does what its kernels do alone: all [1-9]\d* bytes are equal\.\n", output)
    assert all(f"{name.partition('.')[0]}.toml" in output for name in pair)


def test_the_readme_has_its_output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    example = re.search(r"^\$ goptx (check .*)\n((?:.*\n)*?)```$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert example
    assert main(example[1].split()) == 0
    assert capsys.readouterr().out == example[2]
