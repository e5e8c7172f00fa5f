"""The fixture `device`."""

from region.emulated import device

__all__ = ["device"]
