"""The laws of passes hold for random kernels."""

import pytest


@pytest.fixture(autouse=True)
def checked(laws: None) -> None:
    """The laws of passes are checked after each."""
