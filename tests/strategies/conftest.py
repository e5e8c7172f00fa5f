"""The fixture `assembles`."""

from weaving.conftest import assembles

__all__ = ["assembles"]
