"""What each parameter of a kernel under check gets: what the caller says, else what the launch specification beside
its file says, else data made up.

Requires: the shape of the launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.values.ranges import Extent
from goptx.checking.checked_kernel import Subject
from goptx.checking.made_up_arguments import made_up
from goptx.errors import InputError
from goptx.launch.parameter_names import parameter_named
from goptx.launch.sample_data import sample
from goptx.launch.specification import Argument, Launch, described

GIVEN, MADE_UP = "given", "made up"


@dataclass(frozen=True, slots=True)
class Input:
    """The value of a parameter, an array being a buffer, and who says so: a specification's path, or the above."""

    value: object
    source: str


def inputs(subject: Subject, given: Mapping[int, object], grid: Extent, block: Extent, seed: int) -> list[Input]:
    """One for each parameter, arrays with data in them. What is `given` by position is taken as it is, text as
    `described` reads it. `seed` is of all data. Raises `InputError` that says which argument is needed."""
    return [
        replace(i, value=sample(i.value, seed, ord(subject.letter))) if isinstance(i.value, Argument) else i
        for i in stated(subject, subject.launch, given, grid, block)
    ]


def stated(
    subject: Subject, launch: Launch | None, given: Mapping[int, object], grid: Extent, block: Extent
) -> list[Input]:
    """As `inputs`, with arrays that are described still without data. `launch` is what the specification says."""
    said: dict[int, tuple[object, str]] = {
        i: (described(subject.called(i), value, i) if isinstance(value, str) else value, GIVEN)
        for i, value in given.items()
    }
    if len(said) < len(subject.entry.parameters):
        if launch:
            rest, source = dict(enumerate(launch.arguments)), str(subject.specification)
        else:
            rest, source = made_up(subject, {i: v for i, (v, _) in said.items()}, grid, block), MADE_UP
        said = {i: (argument, source) for i, argument in rest.items()} | said
    return [Input(value, source) for _, (value, source) in sorted(said.items())]


def given_to(subjects: Sequence[Subject], args: Mapping[str, object]) -> list[dict[int, object]]:
    """What each kernel is given, by position, from names such as `A:2` and `B:n`. Raises `InputError`."""
    found: list[dict[int, object]] = [{} for _ in subjects]
    for key, value in args.items():
        kernel, position = parameter_named(key, [(s.letter, s.entry) for s in subjects], "argument")
        if position in found[kernel]:
            raise InputError(f"argument `{key}`: parameter {subjects[kernel].called(position)} is given twice.")
        found[kernel][position] = value
    return found
