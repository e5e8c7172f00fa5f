"""The laws of passes hold in all tests of passes."""

import pytest


@pytest.fixture(autouse=True)
def checked(laws: None) -> None:
    """The laws of passes are checked after each."""
