"""Names of C++ and Numba kernels as their programmers write them, from the mangled names in PTX.

The demangler is the package itanium-demangler. A name that it does not know, and every name without that package, stays
as it is.
"""

from __future__ import annotations

import re
import shutil
import sys
from functools import lru_cache

MANGLED = "_Z"
LEAST = 24  # characters that an elided name has at least
_INTEGER = r"-?\d+"
_VALUES = (  # how a number in a template's arguments is printed, and how it is written
    (re.compile(rf"\((?:int|long|long long|short|char|signed char)\)({_INTEGER})"), r"\1"),
    (re.compile(rf"\(unsigned (?:int|long|long long|short|char)\)({_INTEGER})"), r"\1"),
    (re.compile(r"\(bool\)1"), "true"),
    (re.compile(r"\(bool\)0"), "false"),
)
_ANONYMOUS = re.compile(r"_GLOBAL__N_\w+")
_TAG = re.compile(r"\[abi:[^\]]*\]")  # Numba's hash of a version of a function
_SUFFIX = re.compile(r"(?<=\d)[uU]?[lL]{0,2}(?=[,>])")  # of a number: 128u


def readable(name: str) -> str:
    """`sum<float, 128>(float const*, unsigned int)` for a mangled name; another name unchanged."""
    base, arguments = _parts(name)
    return f"{base}({arguments})" if arguments is not None else base


def short(name: str) -> str:
    """The same without the parameters' types: `sum<float, 128>`."""
    return _parts(name)[0]


def short_parameter(name: str, entry: str) -> str:
    """The name of a parameter without the mangled name of its kernel: `param_0`; another name unchanged."""
    return name.removeprefix(f"{entry}_") if entry.startswith(MANGLED) else name


def elided(text: str, room: int = 40) -> str:
    """The text with its middle left out if it does not fit the terminal beside `room` characters. Without a terminal,
    whole."""
    width = max(LEAST, shutil.get_terminal_size().columns - room)
    if len(text) <= width or not sys.stdout.isatty():
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def is_called(name: str, wanted: str) -> bool:
    """Whether the kernel of that name may be called `wanted`: with the types of its parameters or without, with its
    namespace or without, and without the arguments of its template."""
    if name == wanted:
        return True
    if not name.startswith(MANGLED):
        return False
    base, arguments = _parts(name)
    plain = base.partition("<")[0]
    forms = [base, plain, f"{base}({arguments})"]
    namespaces = plain.rpartition("::")[0]
    return _normal(wanted) in {_normal(f) for form in forms for f in (form, form.removeprefix(f"{namespaces}::"))}


@lru_cache(maxsize=4096)
def _parts(name: str) -> tuple[str, str | None]:
    """The name with the arguments of its template, and the types of its parameters."""
    if not name.startswith(MANGLED):
        return name, None
    try:
        from itanium_demangler import FuncNode, parse

        found = parse(name)
    except (ImportError, RecursionError, NotImplementedError, ValueError, AssertionError, LookupError, TypeError):
        return name, None
    if not isinstance(found, FuncNode):
        return name, None
    types = "" if str(found).endswith("()") else ", ".join(map(str, found.arg_tys))
    base = str(found.name)
    if "<Node " in base + types:  # printed by the package for want of a form
        return name, None
    return _written(base), _written(types)


def _written(text: str) -> str:
    for printed, written in _VALUES:
        text = printed.sub(written, text)
    return _ANONYMOUS.sub("(anonymous namespace)", _TAG.sub("", text))


def _normal(text: str) -> str:
    """The text without what programmers write in different ways."""
    return _SUFFIX.sub("", re.sub(r"\s+", "", text))
