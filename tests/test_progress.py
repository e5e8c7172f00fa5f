"""The progress reports of a long operation, where standard error is not a terminal."""

import pytest

from goptx.progress import progress_of


def test_some_ten_lines_of_a_known_number(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("measured") as tell:
        assert tell
        for done in range(51):
            tell(done, 50, "next add.s32" if done < 50 else "")
    printed = capsys.readouterr().err.splitlines()
    assert (printed[0], printed[1], printed[-1]) == (
        "0 of 50 measured; next add.s32",
        "5 of 50 measured; next add.s32",
        "50 of 50 measured",
    )
    assert len(printed) == 11


def test_each_ten_of_an_unknown_number(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("tried") as tell:
        assert tell
        for done in range(1, 36):
            tell(done, 0, "best weave 1.50")
    assert capsys.readouterr().err.splitlines() == [f"{n} tried; best weave 1.50" for n in (10, 20, 30)]


def test_nothing_where_quiet() -> None:
    with progress_of("measured", quiet=True) as tell:
        assert tell is None
