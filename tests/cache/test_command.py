"""goptx cache."""

from pathlib import Path

import pytest

from goptx.cli import main

Said = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD = (str(EXAMPLES / f"{name}.sm_90.ptx") for name in ("harris", "lud"))
AUTO = ("fuse", HARRIS, LUD, "--strategy", "auto")


def said(capsys: Said, *arguments: str, code: int = 0) -> list[str]:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    return (err if code else out).splitlines()


def test_what_is_kept_and_where(folder: Path, capsys: Said) -> None:
    assert said(capsys, "cache") == [str(folder), "entries 0", "bytes   0 of 536870912"]
    first = said(capsys, *AUTO)
    (file,) = folder.iterdir()
    assert said(capsys, "cache") == [str(folder), "entries 1", f"bytes   {file.stat().st_size} of 536870912"]
    assert said(capsys, *AUTO) == first
    assert said(capsys, "cache", "clear") == [str(folder), "removed 1"]
    assert said(capsys, "cache")[1:] == ["entries 0", "bytes   0 of 536870912"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [("GOPTX_CACHE_SIZE", "0", "GOPTX_CACHE_SIZE is 0"), ("GOPTX_CACHE_DIR", "", "GOPTX_CACHE_DIR is empty")],
)
@pytest.mark.parametrize("more", [[], ["clear"]])
def test_where_nothing_is_kept(
    name: str,
    value: str,
    why: str,
    more: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Said,
) -> None:
    monkeypatch.setenv(name, value)
    (line,) = said(capsys, "cache", *more)
    assert line.startswith(f"nothing is cached on disk: {why}")


def test_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOPTX_CACHE_DIR", str(tmp_path / "file" / "kept"))
    assert said(capsys, "cache")[-1] == "nothing more can be cached there: Not a directory"
    assert said(capsys, "cache", "clear")[-1] == "removed 0"
    assert said(capsys, *AUTO)[0] == ".version 9.0"


def test_what_cannot_be_removed(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    said(capsys, *AUTO)

    def unlink(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", unlink)
    (line,) = said(capsys, "cache", "clear", code=2)
    assert line == f"InputError: {folder}: cannot be cleared (Permission denied); remove it by hand."


def test_settings_and_words_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    (line,) = said(capsys, "cache", "empty", code=2)
    assert line.startswith("InputError: argument clear: invalid choice: 'empty' (choose from")
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "many")
    for command in (["cache"], AUTO):
        assert said(capsys, *command, code=2)[0].startswith("InputError: GOPTX_CACHE_SIZE=many is no number of MiB")
