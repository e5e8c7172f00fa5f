"""Dataclasses of goptx as what JSON has, and back: nothing that is read so can be anything but data.

A dataclass becomes a table of its fields that names the class under "="; sequences are tuples again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any


def plain(value: object) -> Any:
    """Raises `TypeError` for what is neither a dataclass nor in JSON."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: plain(part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {"=": name_of(type(value))} | {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"a {type(value).__name__} is no plain data")


def from_plain(value: Any) -> Any:
    """Raises `TypeError` for a class that is no dataclass of goptx."""
    if isinstance(value, list):
        return tuple(from_plain(part) for part in value)
    if not isinstance(value, dict):
        return value
    parts = {key: from_plain(part) for key, part in value.items() if key != "="}
    return class_named(value["="])(**parts) if "=" in value else parts


def name_of(kind: type[object]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def class_named(name: str) -> type[Any]:
    """Raises `TypeError` for what is no dataclass of goptx."""
    module, _, kind = name.partition(":")
    found = getattr(import_module(module), kind) if module.startswith("goptx.") else None
    if not (isinstance(found, type) and is_dataclass(found)):
        raise TypeError(f"{name} is no dataclass of goptx")
    return found
