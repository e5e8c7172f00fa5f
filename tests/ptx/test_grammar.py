"""The committed parser is generated from the grammar, and decides by one token."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "goptx" / "ptx" / "generated"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npx") is None, reason="no Node (npx), which antlr-ng runs on")
def test_generated_parser_is_up_to_date(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "grammar" / "generate.py", tmp_path / "fresh"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    fresh = {path.name: path.read_text() for path in (tmp_path / "fresh").iterdir()}
    committed = {path.name: path.read_text() for path in GENERATED.iterdir() if path.is_file()}
    committed.pop("__init__.py")
    assert sorted(fresh) == sorted(committed)
    stale = [name for name, text in fresh.items() if text != committed[name]]
    assert not stale, f"{stale}: run `python grammar/generate.py`"


def test_one_token_decides_everywhere() -> None:
    """ANTLR emits a call of its slow prediction wherever a rule is not LL(1)."""
    parser = (GENERATED / "PtxParser.py").read_text()
    assert "self._input.LA(1)" in parser
    assert "adaptivePredict" not in parser
