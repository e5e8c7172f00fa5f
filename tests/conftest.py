"""The switch `--update-golden`, and the fixture that compares a text with tests/golden/. No test gets what another one
made: nothing is kept, but where a test of the cache says so."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ["GOPTX_CACHE_SIZE"] = "0"  # also of the processes that tests start

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the tests see into tests/golden/")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(name, text) fails unless tests/golden/NAME holds `text`; with --update-golden it writes it there."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; write it with --update-golden and read what it says"
        assert text == path.read_text(encoding="utf-8")

    return check
