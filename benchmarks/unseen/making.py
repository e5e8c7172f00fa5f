"""Makes the kernels for a pair, and counts what they issue on the emulator. Needs no GPU; runs in a process of its own,
which may be ended (makers.py)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import goptx
from goptx.latency.slots import slots_of
from goptx.launch.sample_data import sample
from goptx.launch.specification import Argument
from goptx.measuring.bench.workload import Workload
from goptx.options import PLACEMENTS, Strategy
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, fused
from goptx.tuning.measured import Measured, measured
from unseen import specifications_of

WEAVE, AUTO = WAYS = ("weave", "auto")
TUNED = "tuned"
FORMS: Mapping[str, Strategy] = {WEAVE: "weave", AUTO: "auto"}
_MIXED = ((1, 2), (2, 1), (1, 4), (4, 1))
CANDIDATES = {  # among which a cost model has to choose, by name
    str(candidate): candidate
    for candidate in (
        *(Candidate("weave", factors) for factors in ((2, 2), (4, 4), *_MIXED)),
        Candidate("weave", (1, 1)).having(slicing=None),
        Candidate("weave", (1, 1)).having(policy="concat"),
        *(Candidate("vertical", factors) for factors in ((1, 1), (2, 2))),
        *(Candidate("interleave", factors) for factors in ((1, 1), (2, 2), (4, 4), *_MIXED)),
        *(Candidate("interleave", (1, 1)).having(placement=placement) for placement in PLACEMENTS),
        *(Candidate("separate", factors).having(streams=True) for factors in ((2, 2), (4, 4), *_MIXED)),
    )
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A pair of a group, such as "adam+matmul"; `small`: in the sizes for checks."""

    group: str
    pair: str
    small: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What was made in a way, and facts about it; no kernel: the reason stands under "refused"."""

    way: str
    woven: goptx.Woven | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@cache
def measured_of(subject: Subject) -> Measured:
    return measured([], spec=specifications_of(subject.group, subject.pair), small=subject.small)


def workload(subject: Subject) -> Workload:
    """What is run and measured."""
    return measured_of(subject).workload


def made(subject: Subject, way: str, assembled: bool = True) -> Made:
    """Made in the way of `WAYS` or `CANDIDATES`, by default with its machine code."""
    begin = time.monotonic()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = measured_of(subject)
            woven = _fused(found, way)
            facts = about(woven, assembled)
        except goptx.GoptxError as error:
            return Made(way, facts={"refused": str(error)})
    facts["warnings"] = [f"{type(one.message).__name__}: {one.message}" for one in warned]
    return Made(way, woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})


def _fused(found: Measured, way: str) -> goptx.Woven:
    if way in FORMS:
        return goptx.fuse(*found.kernels, strategy=FORMS[way], shapes=found.shapes)
    return fused(Job(found.kernels, found.shapes, found.tunable, CANDIDATES[way], None))


def about(woven: goptx.Woven, assembled: bool = True) -> dict[str, Any]:
    """Facts about what was made, for the record."""
    report, decision = woven.report, woven.report.decision
    expected = report.expected
    facts: dict[str, Any] = {
        "strategy": woven.strategy,
        "chosen": decision.chosen.name if decision else woven.strategy,
        "estimate": None if expected is None else expected.gain,
        "expected": None if expected is None else expected.to_dict(),
        "instructions": report.merged.instructions,
        "woven_fraction": report.woven_fraction,
        "notes": list(report.notes),
    }
    if assembled:
        woven.assembly()
        found = woven.resources()
        facts |= {"registers": found.registers, "spill_bytes": found.spill_bytes, "occupancy": found.occupancy}
        facts["assembler"] = found.assembler
    return facts


def issued(subject: Subject, way: str) -> dict[str, Any]:
    """Warp instructions that the kernels issue alone, and those of what was made in the way, each as machine
    instructions and as those of PTX."""
    make = made(subject, way, assembled=False)
    if make.woven is None:
        return {"way": way, **make.facts}
    found = workload(subject)
    alone = [_issued(one, [_values(found, k)]) for k, one in enumerate(found.each)]
    most = 1000 * max(ptx for _, ptx in alone)  # a warp that executes more hangs
    try:
        fused = _issued(make.woven, [_values(found, k) for k in range(len(found.each))], most)
    except goptx.GoptxError as error:
        return {"way": way, **make.facts, "failed": str(error)}
    of_machine, of_ptx = zip(*alone, strict=True)
    return {
        "way": way, **make.facts, "alone": of_machine, "fused": fused[0], "ptx_alone": of_ptx, "ptx_fused": fused[1],
    }  # fmt: skip


def _values(found: Workload, which: int) -> list[object]:
    """Fresh arguments of a kernel."""
    letter = list(found.separate.report.kernels)[which]
    own = found.arguments[which]
    return [sample(value, found.seed, ord(letter)) if isinstance(value, Argument) else value for value in own]


def _issued(woven: goptx.Woven, values: list[list[object]], most: int | None = None) -> tuple[int, int]:
    """Machine instructions, of which an integer division has twenty, and those of PTX."""
    counts = goptx.emulate(woven, args=values, max_steps=most)
    of_machine = sum(slots_of(opcode) * n for (_, _, opcode), n in counts.instructions.items())
    return of_machine, counts.issued
