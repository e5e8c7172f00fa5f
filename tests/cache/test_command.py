"""goptx cache."""

from pathlib import Path

import pytest

from goptx.cli import main

Capture = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD = (str(EXAMPLES / f"{name}.sm_90.ptx") for name in ("harris", "lud"))
AUTO = ("fuse", HARRIS, LUD, "--strategy", "auto")


def output(capsys: Capture, *arguments: str, code: int = 0) -> list[str]:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    return (err if code else out).splitlines()


def test_number_size_and_folder_of_entries(folder: Path, capsys: Capture) -> None:
    assert output(capsys, "cache") == [str(folder), "entries 0", "bytes   0 of 536870912"]
    first = output(capsys, *AUTO)
    (file,) = folder.iterdir()
    assert output(capsys, "cache") == [str(folder), "entries 1", f"bytes   {file.stat().st_size} of 536870912"]
    assert output(capsys, *AUTO) == first
    assert output(capsys, "cache", "clear") == [str(folder), "removed 1"]
    assert output(capsys, "cache")[1:] == ["entries 0", "bytes   0 of 536870912"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [("GOPTX_CACHE_SIZE", "0", "GOPTX_CACHE_SIZE is 0"), ("GOPTX_CACHE_DIR", "", "GOPTX_CACHE_DIR is empty")],
)
@pytest.mark.parametrize("more", [[], ["clear"]])
def test_where_nothing_is_cached(
    name: str,
    value: str,
    why: str,
    more: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setenv(name, value)
    (line,) = output(capsys, "cache", *more)
    assert line.startswith(f"nothing is cached on disk: {why}")


def test_where_nothing_can_be_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOPTX_CACHE_DIR", str(tmp_path / "file" / "cached"))
    assert output(capsys, "cache")[-1] == "nothing more can be cached there: Not a directory"
    assert output(capsys, "cache", "clear")[-1] == "removed 0"
    assert output(capsys, *AUTO)[0].startswith("// goptx witness")


def test_what_cannot_be_removed(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    output(capsys, *AUTO)

    def unlink(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", unlink)
    (line,) = output(capsys, "cache", "clear", code=2)
    assert line == f"InputError: {folder}: cannot be cleared (Permission denied); remove it by hand."


def test_invalid_settings_and_words(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    (line,) = output(capsys, "cache", "empty", code=2)
    assert line.startswith("InputError: argument clear: invalid choice: 'empty' (choose from")
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "many")
    for command in (["cache"], AUTO):
        assert output(capsys, *command, code=2)[0].startswith(
            "InputError: GOPTX_CACHE_SIZE=many is not a number of MiB"
        )
