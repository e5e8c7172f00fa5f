"""The text of a launch specification for kernels that have none, to be completed by hand.

Requires: a parsed module. Ensures: what the PTX tells is filled in; every other line has the comment `fill in`, and
`read_specification` names those that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from goptx.analysis.values.ranges import Extent
from goptx.checking.checked_kernel import Subject
from goptx.checking.checked_shapes import CTAS, allowed_block
from goptx.checking.made_up_arguments import guessed
from goptx.errors import CannotWeave, InputError
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument
from goptx.ptx.ir import Module, Variable
from goptx.readable_names import short_parameter
from goptx.sources.kernel_text import choose_entry

HEAD = "# A launch specification. Sizes are those of a small launch: fill in what the program launches.\n"
WORDS = {"f": "float", "s": "int"}  # of numpy; all other types are unsigned


def new_specification(kernels: Sequence[tuple[Module, Path]], entry: str | None = None) -> str:
    """The specification of all entries of the modules, or of the one called `entry`, as TOML. The paths are those to
    write for the files. Raises `InputError` for a parameter that a specification cannot describe."""
    chosen = [(m, e, path) for m, path in kernels for e in ([choose_entry(m, entry)] if entry else m.entries)]
    if not chosen:
        raise InputError(f"{kernels[0][0].source}: no entry to describe; give PTX with an `.entry` that has a body.")
    made = [_Description(Subject("A", m, e, None), path) for m, e, path in chosen]
    check = "[check]" if len(made) == 1 else "[[check]]"
    tables = [*(one.kernel() for one in made), *(f"{check}{one.check()}" for one in made)]
    return "\n".join([HEAD, *tables])


class _Description:
    """One kernel, its file, and what is known of its arguments."""

    def __init__(self, subject: Subject, path: Path) -> None:
        self.subject, self.path = subject, path
        shape = Shape(CTAS, allowed_block([subject]))
        self.block = shape.sizes("block")
        self.parameters = subject.entry.parameters
        for position, parameter in enumerate(self.parameters):
            if parameter.dims:
                raise InputError(
                    f"{subject.at(parameter.line or subject.entry.line)}: parameter {subject.called(position)} has "
                    f"{parameter.size} bytes, a structure that a launch specification cannot describe; give "
                    "arguments in Python: goptx.check(..., args=...)."
                )
        try:
            self.arguments, found = guessed(subject, {}, shape.sizes("grid"), self.block)
            self.pointers = {*found.arrays, *found.unclear}
        except CannotWeave:  # control flow that is not known
            self.arguments, self.pointers = dict.fromkeys(range(len(self.parameters))), set()

    def kernel(self) -> str:
        lines = [
            "[[kernel]]",
            f"file = {_text(self.path.as_posix())}",
            f"entry = {_text(self.subject.entry.name)}",
            f"grid = [{CTAS}]  # fill in: CTAs, one to three axes, x first",
            f"block = {_list(self.block)}  # threads of a CTA",
            "shared = 0  # bytes of dynamic shared memory",
            "tunable = false  # true if the kernel is right for any multiple of 32 threads",
        ]
        described = (self.argument(i, p) for i, p in enumerate(self.parameters))
        return "\n".join([*lines, *("\n[[kernel.argument]]\n" + "\n".join(rows) for rows in described)]) + "\n"

    def argument(self, position: int, parameter: Variable) -> Iterator[str]:
        found = self.arguments[position]
        yield f"name = {_text(self.named(parameter))}  # any name"
        if found is not None and found.is_array:
            yield f'dtype = "{found.dtype}"'
            yield f"length = {found.length}  # fill in: elements"
            yield from _random(found)
        elif found is not None:
            yield f'dtype = "{found.dtype}"'
            yield f"value = {found.value}  # fill in"
        elif parameter.name in self.pointers or ".ptr" in parameter.qualifiers:
            yield 'dtype = "float32"  # fill in'
            yield "# length =   # fill in: elements"
            yield from _random(Argument("", "float32", None, 1, "uniform", 0, 1, position, "inout"))
        else:
            yield f'dtype = "{WORDS.get(parameter.type[0], "uint")}{8 * parameter.size}"'
            yield "# value =   # fill in; for a pointer give length, generator and role"

    def named(self, parameter: Variable) -> str:
        return short_parameter(parameter.name, self.subject.entry.name)

    def check(self) -> str:
        """The sizes for checks, as far as they are known."""
        known = [(_text(self.named(p)), self.arguments[i]) for i, p in enumerate(self.parameters)]
        lengths = [f"{name} = {a.length}" for name, a in known if a is not None and a.is_array]
        values = [f"{name} = {a.value}" for name, a in known if a is not None and not a.is_array]
        lines = [f"grid = [{CTAS}]"]
        lines += [f"lengths = {{ {', '.join(lengths)} }}"] if lengths else []
        lines += [f"values = {{ {', '.join(values)} }}"] if values else []
        return "  # sizes for `goptx check`, small enough to emulate\n" + "\n".join(lines) + "\n"


def _random(argument: Argument) -> Iterator[str]:
    yield f'generator = "{argument.generator}"  # uniform, normal, integers, zeros or arange'
    yield f"range = [{argument.low}, {argument.high}]"
    yield f"seed = {argument.seed}"
    yield f'role = "{argument.role}"  # in, out or inout'


def _list(block: Extent) -> str:
    sizes = list(block)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return f"[{', '.join(map(str, sizes))}]"


def _text(text: str) -> str:
    """A string of TOML; also one that is a key."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
