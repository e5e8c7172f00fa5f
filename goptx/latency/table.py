"""Latency tables: cycles of each kind of PTX instruction, read from `latency_tables/ARCH.toml`.

Cycles are whole cycles of the SM's clock for one warp, measured along a dependent chain where possible (the file says
which). A key is an opcode without the parts that do not affect its cost; `goptx.ptx.opcodes` makes it. Every number
names its source.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from goptx.display import as_html, brief
from goptx.errors import InputError, LatencyTableWarning
from goptx.files_read import content_of, note_read
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import Scope, facts_of

FORMAT = 1
ASSUMED = "assumed"  # the source of numbers that were not measured, and of [default]
KINDS = ("arithmetic", "conversion", "special", "memory", "fence", "warp", "barrier", "control", "unknown")

_FIELDS = {"format", "gpu", "measurement", "source", "cycles", "named", "default"}
_MEASURED_FIELDS = ("interval", "min", "median", "spread")
_SOURCE_FIELDS = {"title", "where", "why"}
_SPECIAL = {"cos", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh"}
_ARCH = re.compile(r"sm_(\d+)[af]?")
SIGNS = {f"{sign}{bits}": tuple(f"{s}{bits}" for s in "usb") for bits in (8, 16, 32, 64) for sign in "usb"}


@dataclass(frozen=True, slots=True)
class Entry:
    """Cycles, and the name of their source.

    interval: cycles from one to the next that does not wait for it, in one warp, or None if not measured.
    least, median, spread: of the measurements whose median is `cycles`, in fractions of a cycle; `spread` is from
        their 10th to their 90th hundredth. sass: the machine code of one.
    """

    __repr__ = brief

    cycles: int
    source: str
    interval: float | None = None
    least: float | None = None
    median: float | None = None
    spread: float | None = None
    sass: str = ""


@dataclass(frozen=True)
class LatencyTable:
    """The latencies of one architecture.

    A key that `entries` lacks takes the entry of a type that differs only in sign (u, s, b of the same width),
    else that of the opcode shortened from its end, else the number of `defaults` for its kind.

    arch: as in `.target`. name: of the GPU. path: of the file.
    entries: by key. defaults: cycles, by kind. sources: the description of each source, for reports.
    named: numbers without a key, such as those of levels of memory. measurement: date, driver, clocks.
    """

    __repr__ = brief

    arch: str
    name: str
    path: Path
    entries: Mapping[str, Entry] = field(hash=False, repr=False)
    defaults: Mapping[str, int] = field(hash=False, repr=False)
    sources: Mapping[str, str] = field(hash=False, repr=False)  # the description of each source
    named: Mapping[str, Entry] = field(hash=False, repr=False, default_factory=dict)  # numbers without a key
    measurement: Mapping[str, str] = field(hash=False, repr=False, default_factory=dict)  # date, driver, clocks
    _found: dict[str, Entry] = field(default_factory=dict, init=False, repr=False, compare=False)  # by key
    _of_opcode: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)  # cycles

    _repr_html_ = as_html

    def cycles(self, key: str) -> int:
        """Cycles of a key, for example `mul.wide.u32`; defined for every key."""
        return self._entry(key).cycles

    def cycles_of(self, instruction: Instruction) -> int:
        """Cycles of an instruction."""
        found = self._of_opcode.get(instruction.opcode)
        if found is None:
            found = self._of_opcode[instruction.opcode] = self._entry(facts_of(instruction.opcode).latency_key).cycles
        return found

    def interval(self, key: str) -> float | None:
        """Cycles from one instruction of a key to the next that does not wait for it; None if not measured."""
        return self._entry(key).interval

    def source_of(self, key: str) -> str:
        """The name in `sources` for a key's cycles; `assumed` if not measured."""
        return self._entry(key).source

    def is_assumed(self, key: str) -> bool:
        """Whether a key's cycles are not measured: an assumed entry, or a default."""
        return self.source_of(key) == ASSUMED

    def is_default(self, key: str) -> bool:
        """Whether no entry fits a key, so that its cycles are those of its kind."""
        return not any(k in self.entries for k in _fallbacks(key))

    def _entry(self, key: str) -> Entry:
        found = self._found.get(key)
        if found is None:
            candidates = (self.entries[k] for k in _fallbacks(key) if k in self.entries)
            found = self._found[key] = next(candidates, None) or Entry(self.defaults[_kind(key)], ASSUMED)
        return found


def siblings(key: str) -> tuple[str, ...]:
    """The key, and those of types that differ from its own only in sign."""
    words = key.split(".")
    types = [SIGNS.get(w, (w,)) for w in words[1:]]
    return tuple(dict.fromkeys([key, *(".".join([words[0], *choice]) for choice in product(*types))]))


@lru_cache(maxsize=4096)
def _fallbacks(key: str) -> tuple[str, ...]:
    """The keys to look for, in order: itself, its types with another sign, its opcode shortened."""
    words = key.split(".")
    shorter = [".".join(words[:n]) for n in range(len(words) - 1, 0, -1)]
    return tuple(dict.fromkeys([*siblings(key), *shorter]))


@lru_cache(maxsize=4096)
def _kind(key: str) -> str:
    """The row of [default] for a key without an entry."""
    facts = facts_of(key)
    if not facts.known:
        return "unknown"
    if facts.row.ends or facts.calls:
        return "control"
    if facts.row.scope >= Scope.CTA:
        return "barrier"
    if facts.row.access == "f":
        return "fence"
    if facts.row.access:
        return "memory"
    if facts.row.scope:
        return "warp"
    if facts.base in _SPECIAL:
        return "special"
    return "conversion" if facts.base in ("cvt", "cvta") else "arithmetic"


# Finding a table ------------------------------------------------------------------------------------


def load_table(source: str | Path | LatencyTable | None, arch: str = "") -> LatencyTable:
    """The latency table `source`, or the one to use for the architecture `arch`.

    source: a table, which is returned; a path, or text that ends in `.toml`; the name of a table of goptx, for example
    "sm_90"; or None for that of `arch`. Without one for `arch` (`sm_90a` counts as `sm_90`) the nearest lower
    architecture's is used, else the nearest, with a `LatencyTableWarning`. Raises `InputError`.
    """
    if isinstance(source, LatencyTable):
        return source
    if source is not None and not isinstance(source, str | Path):
        raise InputError(
            f"latency= takes the name of a table, a path or a loaded table, not an object of type "
            f"{type(source).__name__}."
        )
    if isinstance(source, Path) or (source is not None and source.endswith(".toml")):
        note_read(Path(source))
        return read_table(Path(source))
    brought = brought_tables()
    if source is not None:
        if source not in brought:
            raise InputError(
                f"latency table `{source}` is unknown; goptx brings {', '.join(brought)}; "
                "of your own give a path that ends in .toml."
            )
        return read_table(brought[source])
    number = _number(arch)
    numbers = {_number(name): name for name in brought}
    nearest = max((n for n in numbers if n <= number), default=min(numbers))
    name = numbers[nearest]
    if nearest != number:
        warnings.warn(
            f"no latency table for {arch}: using {name}'s; give another as latency=, a name or .toml path.",
            LatencyTableWarning,
            stacklevel=2,
        )
    return read_table(brought[name])


def _number(arch: str) -> int:
    match = _ARCH.fullmatch(str(arch))
    if not match:
        raise InputError(f"`{arch}` is not an architecture such as sm_90.")
    return int(match[1])


def brought_tables() -> dict[str, Path]:
    """The tables of goptx, by name, in the order of their architectures."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "latency_tables", package.parent / "latency_tables"):  # in a wheel; in a checkout
        if found := {path.stem: path for path in folder.glob("sm_*.toml")}:
            return dict(sorted(found.items(), key=lambda item: _number(item[0])))
    raise InputError(f"{package / 'latency_tables'}: no latency tables here; install goptx again.")


# Reading a table ------------------------------------------------------------------------------------


def read_table(path: Path) -> LatencyTable:
    """The table of a file. Raises `InputError`, which names file, key and remedy."""
    try:
        stat = path.stat()
        return _read(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a latency table.") from None


@lru_cache(maxsize=32)
def _read(path: Path, changed: int, size: int) -> LatencyTable:
    """The table of a file as it was at `changed`; both numbers only distinguish versions of a file."""
    try:
        content = tomllib.loads(content_of(path, "a latency table", own=True).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not TOML: {error}; correct it there.") from None
    _only(content, _FIELDS, f"{path}")
    if type(content.get("format")) is not int or content["format"] != FORMAT:
        raise InputError(f"{path}: `format` is {content.get('format')!r}; this goptx reads {FORMAT}.")
    arch, name = _gpu(path, content)
    sources = _sources(path, content)
    return LatencyTable(
        arch,
        name,
        path,
        _entries(path, content, "cycles", sources),
        _defaults(path, content),
        sources,
        _entries(path, content, "named", sources) if "named" in content else {},
        _measurement(path, content),
    )


def _gpu(path: Path, content: Mapping[str, Any]) -> tuple[str, str]:
    gpu = _section(path, content, "gpu")
    _only(gpu, {"arch", "name"}, f"{path}: [gpu]")
    arch, name = gpu.get("arch"), gpu.get("name")
    if not isinstance(arch, str) or not _ARCH.fullmatch(arch):
        raise InputError(f'{path}: [gpu]: `arch` is missing or wrong; write for example arch = "sm_90".')
    if not isinstance(name, str):
        raise InputError(f'{path}: [gpu]: `name` is missing or not text; write for example name = "H100".')
    return arch, name


def _sources(path: Path, content: Mapping[str, Any]) -> dict[str, str]:
    sources = {}
    for name, about in _section(path, content, "source").items():
        where = f"{path}: [source.{name}]"
        if not isinstance(about, dict) or not about:
            raise InputError(f"{where}: not a table with text; give {_listed(_SOURCE_FIELDS)}.")
        _only(about, _SOURCE_FIELDS, where)
        for key, text in about.items():
            if not isinstance(text, str):
                raise InputError(f"{where}: `{key}` is {text!r}; write it as text in quotes.")
        sources[name] = "; ".join(about.values())
    if ASSUMED not in sources:
        raise InputError(f"{path}: [source.{ASSUMED}] is missing; [default] needs it: say `why` in it.")
    return sources


def _measurement(path: Path, content: Mapping[str, Any]) -> dict[str, str]:
    about = _section(path, content, "measurement") if "measurement" in content else {}
    for key, text in about.items():
        if not isinstance(text, str):
            raise InputError(f"{path}: [measurement]: `{key}` is {text!r}; write it as text in quotes.")
    return about


def _entries(path: Path, content: Mapping[str, Any], section: str, sources: Mapping[str, str]) -> dict[str, Entry]:
    entries = {}
    for key, row in _section(path, content, section).items():
        where = f"{path}: [{section}]: `{key}`"
        if not isinstance(row, dict):
            raise InputError(f'{where} is {row!r}; write for example {{ cycles = 4, source = "{ASSUMED}" }}.')
        _only(row, {"cycles", "source", "sass", *_MEASURED_FIELDS}, where)
        cycles = _cycles(row.get("cycles"), f"{where}: `cycles`")
        source = row.get("source")
        if not isinstance(source, str) or source not in sources:
            raise InputError(f"{where}: source {source!r} has no table; expected {_listed(sources)}.")
        sass = row.get("sass", "")
        if not isinstance(sass, str):
            raise InputError(f"{where}: `sass` is {sass!r}; write the machine code as text in quotes.")
        interval, least, median, spread = (_fraction(row.get(n), f"{where}: `{n}`") for n in _MEASURED_FIELDS)
        entries[key] = Entry(cycles, source, interval, least, median, spread, sass)
    return entries


def _defaults(path: Path, content: Mapping[str, Any]) -> dict[str, int]:
    defaults = _section(path, content, "default")
    _only(defaults, set(KINDS), f"{path}: [default]")
    if missing := [kind for kind in KINDS if kind not in defaults]:
        raise InputError(f"{path}: [default] lacks {_listed(missing)}; give the cycles of each.")
    return {kind: _cycles(defaults[kind], f"{path}: [default]: `{kind}`") for kind in KINDS}


def _section(path: Path, content: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = content.get(name)
    if not isinstance(section, dict):
        raise InputError(f"{path}: no [{name}] table; copy its form from latency_tables/sm_80.toml of goptx.")
    return section


def _cycles(value: object, where: str) -> int:
    if type(value) is not int or value < 0:
        found = "missing" if value is None else repr(value)
        raise InputError(f"{where} is {found}; write a whole number of cycles, 0 or more.")
    return value


def _fraction(value: object, where: str) -> float | None:
    """Cycles that need not be whole, or None."""
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < float("inf"):  # type: ignore[operator]
        raise InputError(f"{where} is {value!r}; write a number of cycles, 0 or more.")
    return float(value)  # type: ignore[arg-type]


def _only(content: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(content) - known):
        raise InputError(f"{where}: unknown field `{unknown[0]}`; expected {_listed(known)}.")


def _listed(names: Mapping[str, Any] | set[str] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
