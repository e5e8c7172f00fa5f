"""What is counted: kernels of a pair in some ways, made without a GPU, and handed to the program that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import suite_b.best
import suite_c
import suite_c.cases
from suite_a.schemes import PAIRED, TUNED, Done, Form, Subject, Task
from suite_a.schemes import made as made_of_a

from goptx.errors import GoptxError
from goptx.measuring.bench.workload import Workload
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, fused
from goptx.tuning.measured import Measured, measured
from profiles.suites import ALONE, A, C, specifications_of

HALVES = 512  # threads of each kernel in a horizontal CTA, of kernels that may have any block


@dataclass(frozen=True, slots=True)
class Subjects:
    """A pair, or a single kernel, of a suite in one of its shapes."""

    suite: str
    shape: str
    name: str

    def __str__(self) -> str:
        return f"{self.suite} {self.shape} {self.name}"


@dataclass(frozen=True, slots=True)
class Counted:
    """A form that is launched on the data of the workload. `key` names it in the answer."""

    key: str
    form: Form


@dataclass(frozen=True, slots=True)
class Group:
    """Forms on the same data. Ensures: `launched` are the names of what they launch, in order."""

    workload: Workload
    counted: tuple[Counted, ...]

    def without(self, keys: frozenset[str]) -> Group:
        return replace(self, counted=tuple(c for c in self.counted if c.key not in keys))


def launched(form: Form) -> list[str]:
    """The names of the launches, in order."""
    return [launch.native.entry if launch.native else launch.entry for launch in form.woven.launches]


@cache
def measured_of(subject: Subjects) -> Measured:
    if subject.suite == C:
        return suite_c.cases.measured_of(subject.name)
    return measured([], spec=specifications_of(subject.suite, subject.name, subject.shape))


def workload_of(subject: Subjects) -> Workload:
    return measured_of(subject).workload


def made(subject: Subjects, way: str) -> Done:
    """The forms of a way with their machine code; or why it was refused. Kernels that stay separate are launched one
    after the other: the profiler does not let them run side by side."""
    task = Task(Subject(subject.name, subject.shape), way)
    if subject.suite == A and way != ALONE:
        done = made_of_a(task)
        if done.refused:
            return done
        found = dict(done.forms)
    else:
        try:
            found = {way + (f" {k}" if k else ""): form for k, form in enumerate(_forms(subject, way))}
        except GoptxError as error:
            return Done(task, {}, str(error))
    forms = {key: _in_turn(form) for key, form in found.items()}
    for form in forms.values():
        form.woven.assembly(form.cap)
    return Done(task, forms)


def _in_turn(form: Form) -> Form:
    woven = form.woven
    return replace(form, woven=replace(woven, streams=False)) if woven.is_separate and woven.streams else form


def _forms(subject: Subjects, way: str) -> Iterator[Form]:
    found = measured_of(subject)
    if way == ALONE:
        yield Form(found.workload.each[0])
    elif way == TUNED:
        yield _tuned(subject, found)
    elif way == "horizontal" and all(found.tunable):
        options = (("partition", (HALVES,) * len(found.kernels)),)
        candidate = Candidate("horizontal", (1,) * len(found.kernels), None, options)
        yield Form(fused(Job(found.kernels, found.shapes, found.tunable, candidate, None)))
    else:
        yield from PAIRED[way](found)


def _tuned(subject: Subjects, found: Measured) -> Form:
    """What tuning found for a pair of suites B and C. Raises `InputError` for a pair that was not tuned."""
    best = suite_b.best.tuned(subject.name, suite_c.BEST if subject.suite == C else suite_b.best.FILE)
    return Form(best.made(found.kernels), chosen=str(best.candidate))
