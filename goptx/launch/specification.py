"""Launch specifications: how to launch the kernels of a TOML file, on which made-up data.

One format serves examples, benchmarks, checks and the tuner; examples/kernels/README.md describes it.
Data is described here and made where it is needed, so reading a specification needs no numpy.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.files_read import content_of
from goptx.launch.shape import Shape
from goptx.launch.specification_table import ARGUMENT, CHECK, FILE, KERNEL, check_table
from goptx.readable_names import readable, short

GENERATORS = ("uniform", "normal", "integers", "zeros", "arange")
ROLES = ("in", "out", "inout")
DTYPES = {f"{letter}{bits}": f"{name}{bits}" for letter, name, sizes in (
    ("f", "float", (16, 32, 64)), ("i", "int", (8, 16, 32, 64)), ("u", "uint", (8, 16, 32, 64))
) for bits in sizes}  # fmt: skip
MOST = 100  # the default bound of random integers


@dataclass(frozen=True, slots=True)
class Argument:
    """An array (`length` elements; `low` and `high` are the generator's range, for `normal` mean and standard
    deviation) or a scalar (`value`). `dtype` is a numpy name."""

    name: str
    dtype: str
    value: float | int | None = None
    length: int = 0
    generator: str = ""
    low: float = 0.0
    high: float = 1.0
    seed: int = 0
    role: str = "in"

    @property
    def is_array(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel: its PTX, entry, grid (CTAs), block (threads), dynamic shared bytes and arguments in order.

    cubin: the file with its machine code as a framework or nvcc made it, which separate launches use."""

    file: Path
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    tunable: bool
    arguments: tuple[Argument, ...]
    check: Mapping[str, Any]
    cubin: Path | None = None

    def small(self) -> Launch:
        """The same launch with the sizes of its `[check]` table, small enough to emulate."""
        lengths, values = self.check.get("lengths", {}), self.check.get("values", {})
        arguments = tuple(
            replace(a, length=lengths.get(a.name, a.length), value=values.get(a.name, a.value)) for a in self.arguments
        )
        return replace(
            self,
            grid=tuple(self.check.get("grid", self.grid)),
            block=tuple(self.check.get("block", self.block)),
            shared=self.check.get("shared", self.shared),
            arguments=arguments,
        )


def specification_beside(ptx: Path) -> Path:
    """The path of the specification for a PTX file: `NAME.toml` beside `NAME.ptx` or `NAME.sm_90.ptx`."""
    return ptx.with_name(re.sub(r"(\.sm_\d+[a-z]?)?(\.ptx)?$", "", ptx.name) + ".toml")


def find_specification(ptx: Path, entry: str) -> Launch | None:
    """The launch of an entry in the specification beside a PTX file; None without a specification or a launch."""
    path = specification_beside(ptx)
    return launch_of(path, entry) if path.is_file() else None


def launch_of(path: Path, entry: str) -> Launch | None:
    """The launch of an entry in a specification; None without one. Raises `InputError`."""
    launches = read_specification(path)
    return next((launch for launch in launches if launch.entry in (entry, short(entry), readable(entry))), None)


def described(name: str, text: str, seed: int = 0) -> Argument:
    """The argument for `f32[1024]`, `f32[1024]:zeros`, `i32[1024]:0..10` or `i32:1024`. By default arrays are random,
    floats in [0, 1), integers in [0, 100). Raises `InputError`."""
    array = re.fullmatch(r"(\w+)\[0*([1-9]\d*)\](?::(.+))?", text)
    scalar = re.fullmatch(r"(\w+):([^\[\]]+)", text)
    try:
        if array:
            generator, low, high = _contents(array[1], array[3])
            return Argument(name, DTYPES[array[1]], None, int(array[2]), generator, low, high, seed, "inout")
        if scalar:
            return Argument(name, DTYPES[scalar[1]], _number(scalar[1], scalar[2]))
    except (KeyError, ValueError):
        pass
    raise InputError(
        f"argument {name}: `{text}` cannot be read; write an array as f32[1024] (random), f32[1024]:zeros, "
        f"i32[1024]:arange or i32[1024]:0..10, a scalar as i32:1024; types are {' '.join(DTYPES)} (bf16: as u16)."
    )


def _contents(word: str, range_text: str | None) -> tuple[str, float, float]:
    """Generator and range."""
    random = "uniform" if word[0] == "f" else "integers"
    if range_text in ("zeros", "arange"):
        return range_text, 0, 0
    if range_text is None:
        return random, 0, 1 if word[0] == "f" else MOST
    low, high = (_number(word, bound) for bound in range_text.split(".."))
    if not low < high:
        raise ValueError(range_text)
    return random, low, high


def _number(word: str, text: str) -> float | int:
    if word[0] == "f":
        return float(text)
    value, bits = int(text, 0), int(word[1:])
    if not (-(1 << bits - 1) if word[0] == "i" else 0) <= value < 1 << bits - (word[0] == "i"):
        raise ValueError(text)
    return value


def read_specification(path: Path) -> tuple[Launch, ...]:
    """The launches of a file in order. Raises `InputError`, which names file and key."""
    try:
        content = tomllib.loads(content_of(path, "a launch specification").decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not TOML: {error}; correct it there.") from None
    kernels = content.get("kernel")
    if not kernels:
        raise InputError(f"{path}: no [[kernel]] table; a launch specification has one for each kernel.")
    check_table(str(path), content, FILE)
    checks = content.get("check", [])
    checks = checks if isinstance(checks, list) else [checks]
    if len(checks) > len(kernels):
        raise InputError(f"{path}: {len(checks)} [[check]] tables for {len(kernels)} kernels; each has at most one.")
    checks += [{}] * (len(kernels) - len(checks))
    return tuple(_launch(path, kernel, check) for kernel, check in zip(kernels, checks, strict=True))


def _launch(path: Path, table: Mapping[str, Any], check: Mapping[str, Any]) -> Launch:
    missing = [key for key in ("file", "grid", "block") if key not in table]
    if missing:
        raise InputError(f"{path}: a [[kernel]] lacks {', '.join(f'`{m}`' for m in missing)}.")
    check_table(f"{path}: [[kernel]]", table, KERNEL)
    arguments = table.get("argument", ())
    if lacking := [
        f"`{a.get('name', '?')}`" for a in arguments if "dtype" not in a or ("value" in a) == ("length" in a)
    ]:
        raise InputError(
            f"{path}: give `dtype` and either `value` (a scalar) or `length` (an array) of {', '.join(lacking)}."
        )
    made = Launch(
        file=path.parent / table["file"],
        entry=table.get("entry") or _only_entry(path, path.parent / table["file"]),
        grid=tuple(table["grid"]),
        block=tuple(table["block"]),
        shared=table.get("shared", 0),
        tunable=table.get("tunable", False),
        arguments=tuple(_argument(path, a) for a in arguments),
        check=check,
        cubin=path.parent / table["cubin"] if "cubin" in table else None,
    )
    _check_sizes(path, made)
    return made


def _check_sizes(path: Path, launch: Launch) -> None:
    """Raises `InputError` where its `[check]` names an argument that it lacks, and where no GPU takes its shape."""
    check_table(f"{path}: [check]", launch.check, CHECK)
    for key, arrays in (("lengths", True), ("values", False)):
        known = [a.name for a in launch.arguments if a.is_array is arrays]
        for name in launch.check.get(key, {}):
            if name not in known:
                kind = "array" if arrays else "scalar"
                raise InputError(f"{path}: [check]: `{key}` names `{name}`, which is no {kind} of `{launch.entry}`.")
    for sizes in (launch, launch.small()):
        try:
            Shape(sizes.grid, sizes.block, sizes.shared)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _only_entry(path: Path, file: Path) -> str:
    """The name of the one entry of the PTX file. Raises `InputError` where there are several or none."""
    from goptx.ptx.parse import parse  # only where a specification leaves the entry out

    try:
        content = content_of(file, "a PTX file")
    except InputError as error:
        raise InputError(f"{path}: {error} Or name its entry with `entry`.") from None
    names = [entry.name for entry in parse(content, str(file)).entries]
    if len(names) != 1:
        listed = ", ".join(f"`{name}`" for name in names) or "no entry"
        raise InputError(f"{path}: a [[kernel]] lacks `entry`, and {file} has {listed}; name one.")
    return names[0]


def _argument(path: Path, table: Mapping[str, Any]) -> Argument:
    name = table.get("name", "?")
    check_table(f"{path}: argument `{name}`", table, ARGUMENT)
    role, generator = table.get("role", "in"), table.get("generator", "")
    if role not in ROLES:
        raise InputError(f"{path}: argument `{name}`: role `{role}` is not one of {', '.join(ROLES)}.")
    if generator and generator not in GENERATORS:
        raise InputError(f"{path}: argument `{name}`: generator `{generator}` is not one of {', '.join(GENERATORS)}.")
    if "length" in table and role != "out" and not generator:
        raise InputError(f"{path}: argument `{name}` is read, so it needs a `generator`.")
    low, high = table.get("range", (0, 1))
    return Argument(
        name,
        table["dtype"],
        table.get("value"),
        table.get("length", 0),
        generator,
        low,
        high,
        table.get("seed", 0),
        role,
    )
