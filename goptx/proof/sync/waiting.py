"""Whether threads of a CTA that wait for each other in the fused kernel do so in one of its kernels alone, so that it
never hangs where they do not.

*Plain* barriers, at which all threads of a CTA wait, are passed in one order by all threads (`barrier_order.py`).

Other waits are looked at by `held_up.py`.

Requires: the projections have been proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goptx.proof.code.kernel_code import NotProved, Program, Step
from goptx.proof.code.step_forms import count_of
from goptx.proof.projection import Projection
from goptx.proof.sync.barrier_order import BarrierOrder, Found, stands_for_plain
from goptx.proof.sync.held_up import Holds
from goptx.proof.sync.waits import id_position, is_barrier, is_plain
from goptx.ptx.opcodes import Scope


def check_waiting(fused: Program, projections: Mapping[str, Projection]) -> Found:
    """Raises `NotProved`."""
    inside = (fused.steps[n] for start in fused.order for n in fused.blocks[start])
    barriers = [step for step in inside if is_barrier(step)]
    own = {letter: [s for s in barriers if s.number in p.matched] for letter, p in projections.items()}
    added = [s for s in barriers if not any(s.number in p.matched for p in projections.values())]
    _check_ids(projections, own, added)
    found = Found(len(barriers))
    for step in barriers:
        if step.guard and stands_for_plain(step, projections):
            raise NotProved(step.line, f"`{step.statement}` is guarded, so some threads may not come to it")
    holds = Holds(fused, projections, own, added)
    holds.check()
    try:
        BarrierOrder(fused, projections, own, found, holds).check()
    except NotProved as error:
        found.presumed.clear()
        try:
            BarrierOrder(fused, projections, own, found, holds, far=True).check()
        except NotProved:
            raise error from None
    return found


def check_arrivals(
    fused: Program, letter: str, projection: Projection, own: Sequence[Step], counted: Sequence[Step]
) -> None:
    """That no thread of those that come to the code ends before others are at a barrier which counts them all. `own`
    are the kernel's barriers; others are of no account, and nothing is presumed. Raises `NotProved`."""
    numbers = frozenset(s.number for s in counted)
    BarrierOrder(fused, {letter: projection}, {letter: own}, Found(), counted=numbers, far=True).check()


def check_order_of_warpgroups(
    fused: Program, projections: Mapping[str, Projection], letter: str, error: NotProved, whole: bool
) -> None:
    """That all threads of a CTA come in one order to barriers and to what threads of a warpgroup execute together in a
    kernel; `whole` if these are all that are followed. Raises the `error` by which that does not stand on one side of
    branches."""
    numbers = projections[letter].matched
    together = frozenset(n for n in numbers if fused.steps[n].facts.row.scope == Scope.WARPGROUP)
    own = {k: [fused.steps[n] for n in p.matched if is_barrier(fused.steps[n])] for k, p in projections.items()}
    try:
        if not whole:
            raise error
        BarrierOrder(fused, projections, own, Found(), together=together, far=True).check()
    except NotProved:
        raise error from None


def _check_ids(projections: Mapping[str, Projection], own: Mapping[str, Sequence[Step]], added: Sequence[Step]) -> None:
    """That barriers of one kernel stay distinct as they are in it, and that kernels share only plain ones. One whose
    number is not known may be any."""
    users: dict[str, set[tuple[str, bool]]] = {}
    for letter, steps in own.items():
        ids: dict[str, str] = {}
        numbers = projections[letter].barrier_ids
        steps = [s for s in steps if s.number in numbers]
        for step in steps:
            for mine, new in numbers[step.number]:
                if ids.setdefault(new, mine) != mine:
                    what = f"barrier {new} stands for the barriers {ids[new]} and {mine} of kernel {letter}"
                    raise NotProved(step.line, what)
                if "" in ids and (any(a != b for a, b in ids.items()) or _others(own, letter) or added):
                    raise NotProved(step.line, f"kernel {letter} has a barrier with its number in a register")
                users.setdefault(new, set()).add((letter, is_plain(step)))
        counted = {mine for s in steps if not is_plain(s) for mine, _ in numbers[s.number]}
        for name in counted:
            if list(ids.values()).count(name) > 1:
                raise NotProved(steps[0].line, f"barrier {name} of kernel {letter} has several numbers")
    for step in added:
        its = users.setdefault(step.sources[id_position(step) or 0].text, set())
        claiming = [letter for letter, p in projections.items() if p.own(step.number)]
        for letter in claiming:  # only threads come there for which that kernel has ended
            _check_count_of_ended(projections[letter], step)
            its.add((letter, is_plain(step)))
        if claiming:
            continue
        counting = next(iter(projections.values())).counting.get(step.number, set())
        if {letter for letter, _ in its} - {""} not in ({letter} for letter in counting):
            its.add(("", is_plain(step)))
    for name, its in users.items():
        if len({letter for letter, _ in its}) > 1 and not all(plain for _, plain in its):
            line = next(
                s.line for letter, steps in own.items() for s in steps
                if any(new == name for _, new in projections[letter].barrier_ids.get(s.number, ()))
            )  # fmt: skip
            raise NotProved(line, f"kernels share barrier {name}, which not all threads wait at")


def _check_count_of_ended(projection: Projection, step: Step) -> None:
    """That a barrier which the kernel has not had waits for all of the kernel's threads, as the kernel's does."""
    own = [projection.kernel.steps[n] for n in projection.own(step.number)]
    alike = projection.counts.get(step.number) == projection.placement.count and all(map(is_plain, own))
    if count_of(step) is not None and not alike:
        what = f"only threads come to `{step.statement}` for which the kernel has ended, and its count is not known"
        raise NotProved(step.line, what)


def _others(own: Mapping[str, Sequence[Step]], letter: str) -> bool:
    return any(steps for other, steps in own.items() if other != letter)
