"""What a call of weave, fuse, coarsen or batch asks for, told from other calls by the contents of all that it gives.

Requires: a function whose parameter `source` or `*sources` has kernels, all others being options. Files are read once,
so that what is made of them is made of what tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goptx.cache import keys
from goptx.errors import GoptxError
from goptx.files_read import note_read
from goptx.launch.shape import Shape
from goptx.ptx.parse import TEXT
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Compiled, PtxFile
from goptx.sources.read import taken

if TYPE_CHECKING:
    from goptx.ptx.ir import Module

Content = tuple[tuple[str, ...], tuple[str | bytes, ...]]  # names of kernels' files, and what tells them from others


@dataclass(frozen=True, slots=True)
class Request:
    """A call of `ask`, which wraps what makes a woven kernel. `names` are those of the kernels' files; `key` is a
    digest of goptx's code and all else."""

    ask: Callable[..., Woven]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    names: tuple[str, ...]
    key: str

    @property
    def named(self) -> str:
        """A digest of the names too."""
        return keys.digest("named", self.key, *self.names)

    def made(self) -> Woven:
        made: Woven = self.ask.__wrapped__(*self.args, **self.kwargs)  # type: ignore[attr-defined]
        return made


def request(ask: Callable[..., Woven], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request | None:
    """None for a call that cannot be told from others, for want of code to digest or since an argument is of no kind
    known here, and for many that make no sense, as will be said when they are made."""
    code = keys.code()
    if not code:
        return None
    try:
        call = signature(ask).bind(*args, **kwargs)
        call.apply_defaults()
        given, more = call.arguments, call.arguments.get("options", {})
        for some in (given, more):
            if "latency" in some:
                some["latency"] = _table(some["latency"])
        options = {name: value for name, value in given.items() if name not in _NO_OPTIONS} | more
        sources = tuple(map(_read, given["sources"] if "sources" in given else (given["source"],)))
        given.update({"sources": sources} if "sources" in given else {"source": sources[0]})
        told = [_content(source) for source in sources]
        asked = repr([(name, _said(value)) for name, value in sorted(options.items())])
        beside = _beside(sources) if options.get("partition") and options.get("tunable") is None else ()
        whole = (part for _, parts in told for part in parts)
        key = keys.digest("woven", code, ask.__module__, ask.__qualname__, asked, *beside, *whole)
    except (TypeError, ValueError, OSError, GoptxError):
        return None
    return Request(ask, call.args, call.kwargs, tuple(name for names, _ in told for name in names), key)


_NO_OPTIONS = ("source", "sources", "options")  # the last are those that are given by any name


def _read(source: Any) -> Any:
    if not isinstance(source, Path):
        return taken(source)
    note_read(source)
    return PtxFile(source, source.read_bytes())


def _table(latency: Any) -> Any:
    """A latency table that is named by its file; anything else as it is."""
    if isinstance(latency, Path) or (isinstance(latency, str) and latency.endswith(".toml")):
        from goptx.latency.table import read_table

        note_read(Path(latency))
        return read_table(Path(latency))
    return latency


def _content(source: object) -> Content:
    """Raises `TypeError` for what is no source."""
    match source:
        case PtxFile(path, content):
            return (str(path),), ("text", content)
        case Compiled(name, content, entry, shape, nulls):
            return (name,), ("compiled", repr((entry, shape, nulls)), content)
        case str() | bytes():
            return (TEXT,), ("text", source)
        case Woven(identity=(key, names)):
            return names, ("woven", key)
        case Woven():
            kernels = [_content(kernel) for kernel in source.chosen]
            own = repr(
                (type(source).__name__, source.name, source.plan, source.depends, [p.instead for p in source.params])
            )
            names = tuple(name for names, _ in kernels for name in names)
            return names, ("kernels", own, *(part for _, parts in kernels for part in parts))
    from goptx.ptx.ir import Module
    from goptx.sources.kernel_text import Chosen

    match source:
        case Module():
            return (source.source,), ("module", _whole(source))
        case Chosen():
            own = repr((source.entry, source.coarse, source.shape))
            return (source.module.source,), ("kernel", own, _whole(source.module))
    raise TypeError(f"{type(source).__name__} is no source")


def _whole(module: Module) -> str:
    """All that a module says, its lines too, but not what its file is called."""
    return repr(replace(module, source=""))


def _said(value: object) -> object:
    """The value, or another of its contents, whose `repr` says all of it. Raises `TypeError` for a kind of which that
    is not known."""
    if value is None or type(value) in (bool, int, float, str, Shape):
        return value
    if isinstance(value, tuple | list):
        return tuple(map(_said, value))
    from goptx.latency.table import LatencyTable

    if isinstance(value, LatencyTable):
        return value.arch, sorted(value.entries.items()), sorted(value.defaults.items())
    raise TypeError(f"{type(value).__name__} is no option")


def _beside(sources: Sequence[object]) -> Iterator[bytes]:
    """The launch specifications beside the files, which say whether a kernel may have another block than its own."""
    from goptx.launch.specification import specification_beside

    for source in sources:
        if not isinstance(source, PtxFile | str | bytes):
            raise TypeError("what has been read already may have come from anywhere")
        path = specification_beside(source.path) if isinstance(source, PtxFile) else None
        if path and path.is_file():
            note_read(path)
            yield path.read_bytes()
        else:
            yield b""
