"""Parameters of kernels under check that are declared to be one buffer or one number: their arguments, and which of
them are compared afterwards.

Requires: valid names of parameters; fusing the kernels has checked them already. Ensures: parameters that are one
buffer get the same array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goptx.analysis.values.ranges import Extent
from goptx.checking.checked_kernel import Subject
from goptx.checking.inputs import Input, inputs
from goptx.checking.made_up_arguments import Missing, MissingArguments, request
from goptx.errors import InputError
from goptx.launch.parameter_names import letter_of, parameter_named
from goptx.launch.shape import Shape

Position = tuple[int, int]  # the number of a kernel, and of its parameter
TEMPORARY = ("private", "local")


@dataclass(slots=True)
class OneBuffer:
    """Parameters that are one buffer or number, in order; `temporary` if its final content is undefined."""

    members: list[Position]
    temporary: bool = False


def one_buffers(subjects: Sequence[Subject], options: Mapping[str, Any]) -> list[OneBuffer]:
    """From the options `same`, `private` and `local` of a strategy."""
    found: list[OneBuffer] = []
    kernels = [(s.letter, s.entry) for s in subjects]
    for kind in ("same", *TEMPORARY):
        for pair in options.get(kind) or ():
            names = pair.split("=") if isinstance(pair, str) else pair
            made = OneBuffer([parameter_named(name, kernels, kind) for name in names], kind in TEMPORARY)
            for other in [f for f in found if not set(f.members).isdisjoint(made.members)]:
                found.remove(other)
                made = OneBuffer([*other.members, *made.members], made.temporary or other.temporary)
            found.append(replace(made, members=sorted(set(made.members))))
    return found


def common_inputs(
    subjects: Sequence[Subject],
    given: Sequence[Mapping[int, object]],
    buffers: Sequence[OneBuffer],
    shapes: Sequence[Shape],
    seed: int,
) -> list[list[Input]]:
    """The arguments of every kernel, `given` by position or from `inputs`. Parameters that are one get the number of
    the first kernel, or the longest array. Raises `InputError`."""
    of = {position: buffer for buffer in buffers for position in buffer.members}
    stated = [dict(own) for own in given]
    for buffer in buffers:
        _give_all(subjects, stated, buffer)
    found: dict[int, Input] = {}  # by the identity of the buffer
    taken: list[list[Input]] = []
    missing: list[Missing] = []
    for k, (subject, shape) in enumerate(zip(subjects, shapes, strict=True)):
        known = {i: found[id(b)] for i in range(len(subject.entry.parameters)) if id(b := of.get((k, i))) in found}
        arrays = {i: v.value for i, v in known.items() if isinstance(v.value, np.ndarray)}
        numbers = {i: v.value for i, v in known.items() if i not in arrays}
        launch = shape.sizes("grid"), shape.sizes("block"), seed
        try:
            own = _inputs(subject, stated[k] | numbers, arrays, launch)
        except MissingArguments as error:  # the other kernels may lack some too
            missing += [m for m in error.missing if not _is_known(of.get((k, m.position)), missing)]
            continue
        for i, value in enumerate(own):
            if one := of.get((k, i)):
                before = found.get(id(one))
                found[id(one)] = value if before is None or _bytes(value) > _bytes(before) else before
        taken.append(own)
    if missing:
        raise request(missing)
    return [
        [_of_first(subjects, of.get((k, i)), (k, i), found, value) for i, value in enumerate(own)]
        for k, own in enumerate(taken)
    ]


def _inputs(
    subject: Subject,
    stated: Mapping[int, object],
    arrays: Mapping[int, object],
    launch: tuple[Extent, Extent, int],
) -> list[Input]:
    """The inputs of a kernel; with `arrays` of the kernels before it only if it has none of its own."""
    try:
        return inputs(subject, stated, *launch)
    except (InputError, MissingArguments):
        if not arrays:
            raise
        return inputs(subject, {**stated, **arrays}, *launch)


def _is_known(buffer: OneBuffer | None, missing: Sequence[Missing]) -> bool:
    """Whether one of the missing parameters is this buffer."""
    members = buffer.members if buffer else ()
    return any(m.position == i and m.subject.letter == letter_of(k) for m in missing for k, i in members)


def _give_all(subjects: Sequence[Subject], stated: Sequence[dict[int, object]], buffer: OneBuffer) -> None:
    """Gives a value stated for one of the parameters to all of them."""
    givers = [(k, i) for k, i in buffer.members if i in stated[k]]
    values = [stated[k][i] for k, i in givers]
    if any(v is not values[0] and (isinstance(v, np.ndarray) or v != values[0]) for v in values):
        names = " and ".join(subjects[k].called(i) for k, i in givers)
        raise InputError(f"arguments {names}: these are one, and are given different values; give it once.")
    if values:
        for k, i in buffer.members:
            stated[k][i] = values[0]


def _of_first(
    subjects: Sequence[Subject], buffer: OneBuffer | None, position: Position, found: Mapping[int, Input], own: Input
) -> Input:
    if buffer is None:
        return own
    value = found[id(buffer)]
    k, i = buffer.members[0]
    return value if position == (k, i) else Input(value.value, f"is {subjects[k].called(i)}")


def _bytes(value: Input) -> int:
    return value.value.nbytes if isinstance(value.value, np.ndarray) else 0


def compared(
    subjects: Sequence[Subject], values: Sequence[Sequence[object]], buffers: Sequence[OneBuffer]
) -> tuple[dict[Position, str], tuple[str, ...]]:
    """The names of the arrays that are compared, each once; and the names of temporaries."""
    temporary = {position for b in buffers if b.temporary for position in b.members}
    arrays: dict[int, list[Position]] = {}
    for k, own in enumerate(values):
        for i, value in enumerate(own):
            if isinstance(value, np.ndarray):
                arrays.setdefault(id(value), []).append((k, i))
    called = {found[0]: ", ".join(subjects[k].called(i) for k, i in found) for found in arrays.values()}
    undefined = tuple(name for position, name in called.items() if position in temporary)
    return {position: name for position, name in called.items() if position not in temporary}, undefined
