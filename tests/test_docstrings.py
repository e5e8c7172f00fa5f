"""Every public name, and every public method and property of one, has a docstring; and the reference has them all."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

import goptx
from goptx import adapters, sources

PAGES = Path(__file__).parents[1] / "docs" / "reference"
REFERENCED = re.findall(r"^::: (\S+)", "".join(page.read_text() for page in sorted(PAGES.glob("*.md"))), re.MULTILINE)
INTEROP = [f"{p.__name__}.{m.name}" for p in (sources, adapters) for m in pkgutil.iter_modules(p.__path__)]


def _found(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def _functions(kind: type) -> Iterator[tuple[str, object]]:
    """Its public methods and properties, those of bases that are goptx's among them."""
    for base in kind.__mro__:
        for name, value in vars(base).items() if base.__module__.startswith("goptx") else ():
            if isinstance(value, classmethod | staticmethod):
                value = value.__func__
            elif isinstance(value, property):
                value = value.fget
            elif isinstance(value, cached_property):
                value = value.func
            if inspect.isfunction(value) and not name.startswith("_"):
                yield f"{base.__qualname__}.{name}", value


def _docstring(value: object) -> str:
    """Its own docstring, not the one that a dataclass generates."""
    doc = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    name = getattr(value, "__name__", "")
    return "" if doc is None or doc.startswith(f"{name}(") else doc


@pytest.mark.parametrize("path", sorted({f"goptx.{name}" for name in goptx.__all__} | set(REFERENCED)))
def test_a_public_name_has_a_docstring(path: str) -> None:
    value = _found(path)
    inner = _functions(value) if isinstance(value, type) else ()
    assert [name for name, one in [(path, value), *inner] if not _docstring(one)] == []


@pytest.mark.parametrize("path", INTEROP)
def test_a_public_function_for_a_framework_has_a_docstring(path: str) -> None:
    module = import_module(path)
    own = {n: f for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == path}
    assert [n for n, f in own.items() if not n.startswith("_") and not _docstring(f)] == []


def test_the_reference_has_each_public_name_once() -> None:
    assert sorted(set(REFERENCED)) == sorted(REFERENCED)
    assert [name for name in goptx.__all__ if f"goptx.{name}" not in REFERENCED] == []


def test_parameters_that_a_docstring_lists_are_there() -> None:
    """`name: text` at the beginning of a line is a parameter, or the reference does not render it as one."""
    wrong = []
    for name in goptx.__all__:
        value = _found(f"goptx.{name}")
        if inspect.isfunction(value):
            listed = re.findall(r"^(\w+)((?:, \w+)*): ", inspect.getdoc(value) or "", re.MULTILINE)
            named = [n for first, others in listed for n in [first, *filter(None, others.split(", "))]]
            wrong += [f"{name}: {n}" for n in named if n not in inspect.signature(value).parameters]
    assert wrong == []
