"""Printed text means the same as the text that was read, to the last byte of machine code, for all examples."""

from pathlib import Path

import pytest

from goptx.device.assemble import assemble, find_ptxas
from goptx.ptx.parse import parse

ROOT = Path(__file__).parents[2]
FILES = [
    pytest.param(path, id=str(path.relative_to(ROOT)))
    for path in [*sorted(ROOT.glob("examples/**/*.ptx")), ROOT / "tests" / "ptx" / "features.ptx"]
]
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on the PATH or in nvidia-cuda-nvcc")


def test_there_are_examples() -> None:
    assert len(FILES) >= 15


@pytest.mark.parametrize("path", FILES)
def test_printed_text_reads_as_the_same_module(path: Path) -> None:
    module = parse(path.read_bytes())
    printed = str(module)
    assert parse(printed) == module
    assert str(parse(printed)) == printed


@needs_ptxas
@pytest.mark.parametrize("path", FILES)
def test_printed_text_assembles_to_the_same_cubin(path: Path) -> None:
    text = path.read_text()
    module = parse(text)
    entry = module.entries[0].name
    assert str(module) != text  # else the test proves nothing
    assert assemble(str(module), entry=entry).cubin == assemble(text, entry=entry).cubin
