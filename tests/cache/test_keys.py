"""Digests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from goptx.cache import keys


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of goptx that counts as goptx itself."""
    found = tmp_path / "goptx"
    shutil.copytree(keys._PACKAGE / "cache", found / "cache")
    (tmp_path / "latency_tables").mkdir()
    (tmp_path / "latency_tables" / "sm_90.toml").write_text("format = 1")
    monkeypatch.setattr(keys, "_PACKAGE", found)
    keys.code.cache_clear()
    yield found
    keys.code.cache_clear()


def code() -> str:
    keys.code.cache_clear()
    return keys.code()


def test_parts_are_distinguished() -> None:
    cut = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("1:a",), ("a", ""), ()]
    assert len({keys.digest(*parts) for parts in cut}) == len(cut)
    assert keys.digest("ab", b"c") == keys.digest(b"ab", "c")
    assert keys.digest("\udcff") != keys.digest("\udcfe")  # names of files that are no UTF-8


def test_the_code_is_that_of_every_file(package: Path) -> None:
    assert len(code()) == 64
    seen = {code()}

    def changed() -> None:
        assert code() not in seen
        seen.add(code())

    assert code() in seen  # as long as nothing changes
    with (package / "cache" / "keys.py").open("a") as file:
        file.write("#\n")
    changed()
    (package / "new.py").write_text("")
    changed()
    (package / "new.py").rename(package / "newer.py")
    changed()
    (package.parent / "latency_tables" / "sm_90.toml").write_text("format = 2")
    changed()
    (package / ".#keys.py").symlink_to("nobody@nowhere")  # as editors lock a file
    assert code() in seen


def test_the_code_is_the_same_wherever_it_lies(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code()
    elsewhere = package.parent / "other"
    shutil.copytree(package, elsewhere / "goptx")
    shutil.copytree(package.parent / "latency_tables", elsewhere / "latency_tables")
    monkeypatch.setattr(keys, "_PACKAGE", elsewhere / "goptx")
    assert code() == before


def test_another_release_of_networkx_is_other_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = code()
    release = tmp_path / "__init__.py"
    release.write_text('__version__ = "99"')
    monkeypatch.setattr(keys, "find_spec", lambda name: type("Spec", (), {"origin": str(release)}))
    assert code() not in ("", before)
    keys.code.cache_clear()


def test_without_sources_there_is_no_code(package: Path) -> None:
    for path in package.rglob("*.py"):
        path.unlink()
    assert code() == ""
