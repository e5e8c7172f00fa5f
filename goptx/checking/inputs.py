"""The arguments of a kernel under check: those that the caller gives, else those of the launch specification beside its
file, else made-up data.

Requires: the shape of the launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.values.ranges import Extent
from goptx.checking.checked_kernel import Subject
from goptx.checking.made_up_arguments import Missing, MissingArguments, made_up, request
from goptx.errors import InputError
from goptx.launch.parameter_names import parameter_named
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument, Launch, described

GIVEN, MADE_UP = "given", "made up"


@dataclass(frozen=True, slots=True)
class Input:
    """The value of a parameter (an array for a buffer) and its source: a specification's path, `GIVEN` or `MADE_UP`."""

    value: object
    source: str


def inputs(subject: Subject, given: Mapping[int, object], grid: Extent, block: Extent, seed: int) -> list[Input]:
    """The inputs of all parameters, arrays with data in them. Values `given` by position are taken unchanged, except
    text, which `described` reads. `seed` is that of all data. Raises `InputError`, `MissingArguments`."""
    return [
        replace(i, value=sample(i.value, seed, ord(subject.letter))) if isinstance(i.value, Argument) else i
        for i in stated(subject, subject.launch, given, grid, block)
    ]


def stated(
    subject: Subject, launch: Launch | None, given: Mapping[int, object], grid: Extent, block: Extent
) -> list[Input]:
    """As `inputs`, but described arrays have no data yet. `launch` is that of the specification."""
    found: dict[int, tuple[object, str]] = {
        i: (described(subject.called(i), value, i) if isinstance(value, str) else value, GIVEN)
        for i, value in given.items()
    }
    if len(found) < len(subject.entry.parameters):
        if launch:
            rest, source = dict(enumerate(launch.arguments)), str(subject.specification)
        else:
            rest, source = made_up(subject, {i: v for i, (v, _) in found.items()}, grid, block), MADE_UP
        found = {i: (argument, source) for i, argument in rest.items()} | found
    return [Input(value, source) for _, (value, source) in sorted(found.items())]


def stated_arguments(
    subjects: Sequence[Subject],
    launches: Sequence[Launch | None],
    given: Sequence[Mapping[int, object]],
    shapes: Sequence[Shape],
) -> list[list[object]]:
    """The arguments of all kernels as `stated`, in their shapes. Raises `InputError` that names all missing ones."""
    found: list[list[object]] = []
    missing: list[Missing] = []
    for subject, launch, values, shape in zip(subjects, launches, given, shapes, strict=True):
        try:
            own = stated(subject, launch, values, shape.sizes("grid"), shape.sizes("block"))
            found.append([i.value for i in own])
        except MissingArguments as error:
            missing += error.missing
    if missing:
        raise request(missing)
    return found


def given_to(
    subjects: Sequence[Subject], args: Mapping[str, object], launches: Sequence[Launch | None]
) -> list[dict[int, object]]:
    """The given arguments of each kernel by position, from names such as `A:2` and `B:n`: those of the PTX, or of the
    `launches` in specifications. Raises `InputError`."""
    if not isinstance(args, Mapping):
        raise InputError(
            f'args= takes values by name, for example args={{"A:2": "i32:1024"}}, not `{type(args).__name__}`.'
        )
    found: list[dict[int, object]] = [{} for _ in subjects]
    kernels = [(s.letter, s.entry) for s in subjects]
    specified = [[a.name for a in launch.arguments] if launch else [] for launch in launches]
    for key, value in args.items():
        kernel, position = parameter_named(key, kernels, "argument", specified)
        if position in found[kernel]:
            raise InputError(f"argument `{key}`: parameter {subjects[kernel].called(position)} is given twice.")
        found[kernel][position] = value
    return found
