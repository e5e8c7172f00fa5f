"""The gain that the cost model expects of what was made of kernels (results/expected_gain.py).

The same model as that of `auto`: the fused kernel is estimated from its own code, separate launches from the kernels,
under each assumption (cost/assumptions.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import cast

from goptx.cost.assumptions import Assumption, Known
from goptx.cost.courses import Made, made_of
from goptx.cost.estimate import Estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import each_alone
from goptx.cost.known_launches import known_launches
from goptx.errors import (
    CannotLink,
    CannotWeave,
    DependenceWarning,
    InputError,
    LatencyTableWarning,
    ProbablySlower,
    TooLarge,
)
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.memo import Deferred
from goptx.options import Assume, Strategy
from goptx.results.expected_gain import SLOWER, ExpectedGain, may_replace, unjudged
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.candidates import STRATEGIES
from goptx.strategies.estimates.fold_candidates import fold_candidates
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.moved_registers import fastest_forms
from goptx.strategies.estimates.prospects import Prospect, is_choosable, separate_cycles
from goptx.strategies.horizontal import horizontal
from goptx.strategies.separate import ANY
from goptx.weaving.ctas_of_one_kernel import interleaved_if_possible
from goptx.weaving.dependent.common_variables import dependences_by_variables
from goptx.weaving.shapes.folded import Folded
from goptx.weaving.shapes.interleaved import Interleaved

SEPARATE = '`strategy="auto"` would keep them separate'
OTHERWISE = '`strategy="auto"` would not fuse them so'
MODELLED = ("weave", "vertical", "horizontal", "interleave", "separate", "coarsen")
# How many times as fast as what is woven kernels in warps of their own have to be estimated: so measured on 38 forms of
# pairs of benchmarks/unseen that are not held out. Of those above, three that spilled lost.
FASTER = 1.03
# What such a form gains, by its estimate: USUAL times the estimate to the power of TRUST (least squares of the forms of
# 37 such pairs that were estimated best; from pair to pair it differs by a factor of 1.18). Of many forms the one with
# the best estimate is chosen, and that is too good more often than not.
USUAL, TRUST = 0.95, 0.54
# Kernels in CTAs of their own are better than woven ones if these are not estimated to be faster by this factor: what
# weaving costs in registers is seen by the assembler only. For 200 pairs of benchmarks/unseen that are not held out,
# factors from 0.75 to 1 are equally good; of 60 other pairs two that were woven, estimated to be 1.05 and 1.1 times as
# fast as interleaved ones, took 1.5 and 1.1 times as long as these.
NARROW = 0.9
# The same for CTAs of a kernel with few of them that come among the first of the other's rather than before them.
AMONG = 0.95
TRIED = 3  # forms: what refuses these, such as barriers of too many teams, refuses others
LEVEL = 3  # of the stack: whoever called the function that `judged` wraps


def with_gain(woven: Woven, assume: Assume | None = None, latency: str | Path | LatencyTable | None = None) -> Woven:
    """The result with an estimate in its report, or what replaces it because it is estimated to be faster; without
    an estimate where none can be made, as for kernels whose control flow is not known. Warns where it is estimated to
    be slower, and where kernels that run at the same time may depend on each other by variables of their module. Raises
    `InputError` where `assume` does not fit the kernels.

    Only the gain under the middle assumption is estimated at once; all else when the report is read."""
    comparison = _comparison(woven, assume, latency)
    if comparison and may_replace() and woven.report.decision is None:
        woven, comparison = _capped(woven, comparison)
        if woven.replaceable:
            woven, comparison = _best(woven, comparison, assume, latency)
    woven = _with_dependences(woven)
    if comparison is None or comparison.middle.cycles == inf:
        return woven
    estimate = Deferred(comparison.expected)
    if comparison.middle.gain < SLOWER:
        warnings.warn(str(estimate.value), ProbablySlower, stacklevel=LEVEL)
    return woven.reported(replace(woven.report, estimate=estimate))


def _best(
    woven: Woven, comparison: _Comparison, assume: Assume | None, latency: str | Path | LatencyTable | None
) -> tuple[Woven, _Comparison]:
    """What was woven, or the kernels in warps of their own where that is estimated to be better, with registers moved
    between the warps or in CTAs of one kernel each."""
    if any(kernel.coarse.factor > 1 for kernel in woven.chosen):
        return woven, comparison
    found = _in_own_ctas(woven, comparison, assume, latency) or (woven, comparison)
    found = _among_each_other(*found, assume, latency)
    cycles = min(comparison.middle.cycles, found[1].middle.cycles)
    other = _with_own_registers(woven, comparison, cycles, latency)
    if other and (its := _comparison(other, assume, latency)):
        return other, replace(its, best_of_many=True)
    return found


def _in_own_ctas(
    woven: Woven, comparison: _Comparison, assume: Assume | None, latency: str | Path | LatencyTable | None
) -> tuple[Woven, _Comparison] | None:
    """The kernels interleaved, where how long they take is known and woven they are not estimated to be faster by far;
    else None."""
    judge, cycles = comparison.judge, comparison.middle.cycles
    if woven.strategy != "weave" or not judge.is_known:
        return None
    plain = Candidate("interleave", (1,) * len(judge.kernels))
    expected = min(_least(judge, form) for form in (plain, judge.among_each_other(plain)) if form)
    if expected * NARROW > cycles:
        return None
    narrow = f"be less than {1 / NARROW - 1:.0%} faster"
    why = f"woven, they are estimated to {narrow if expected > cycles else _takes(cycles, expected)}"
    return _interleaved(woven, judge, why, (), assume, latency)


def _among_each_other(
    woven: Woven, comparison: _Comparison, assume: Assume | None, latency: str | Path | LatencyTable | None
) -> tuple[Woven, _Comparison]:
    """Interleaved kernels of which one has few CTAs, with these among the first of the other's where that is estimated
    to be faster; any other result as it is."""
    judge = comparison.judge
    beside = judge.among_each_other(comparison.candidate.uncapped) if woven.strategy == "interleave" else None
    if beside is None:
        return woven, comparison
    expected = _least(judge, beside)
    if expected > comparison.middle.cycles * AMONG:
        return woven, comparison
    why = f"in turn, they are estimated to {_takes(comparison.middle.cycles, expected)}"
    return _interleaved(woven, judge, why, beside.option("ratio"), assume, latency) or (woven, comparison)


def _interleaved(
    woven: Woven, judge: Judge, why: str, ratio: tuple[int, ...], assume: Assume | None,
    latency: str | Path | LatencyTable | None,
) -> tuple[Woven, _Comparison] | None:  # fmt: skip
    """The kernels of a result in CTAs of their own; None where that is refused."""
    with unjudged():
        made = interleaved_if_possible(woven.chosen, judge.shapes, judge.arch, woven.name, latency, True, why, ratio)
    its = made and _comparison(made, assume, latency)
    return _capped(made, its) if made and its else None


def _capped(woven: Woven, comparison: _Comparison) -> tuple[Woven, _Comparison]:
    """Kernels in CTAs of their own, with the register cap with which they are estimated to be fastest, if any is better
    than none: together, they may be given more registers than each alone, and one that needs many leaves room for few
    CTAs of the other. Where it is not known how long they take, none spills for that."""
    judge, candidate = comparison.judge, comparison.candidate
    if woven.strategy != "interleave" or not candidate.without("ratio").default:
        return woven, comparison
    best, estimated = min(judge.estimates(candidate, comparison.made), key=lambda each: each[1].cycles)
    if best.cap is None or (best.cap < comparison.middle.middle.registers and not judge.is_known):
        return woven, comparison
    plain, fuller = comparison.middle.middle, f"{estimated.occupancy:.0%} of an SM's warps"
    why = f", not {plain.occupancy:.0%}" if estimated.occupancy > plain.occupancy else ", as many as each alone"
    made = woven.capped(best.cap)
    note = f"a thread has at most {best.cap} registers, so that {fuller} have room{why}"
    made = made.reported(replace(made.report, notes=(*made.report.notes, note)))
    return made, replace(comparison, candidate=best)


def _least(judge: Judge, candidate: Candidate) -> float:
    """The cycles of a candidate under the middle assumption, with the cap that helps most."""
    return min(estimated.cycles for _, estimated in judge.estimates(candidate))


def _takes(cycles: float, other: float) -> str:
    return "spill registers" if cycles == inf else f"take {cycles / other:.1f} times as long"


def _with_own_registers(
    woven: Woven, comparison: _Comparison, cycles: float, latency: str | Path | LatencyTable | None
) -> Woven | None:
    """The kernels in warps of their own, with registers moved between these, where that is estimated to be faster
    than what takes so many cycles; else None."""
    judge = comparison.judge
    for form, expected in fastest_forms(judge, cycles / FASTER)[:TRIED]:
        try:
            with unjudged():
                made = horizontal(
                    *form.coarse(woven.chosen), arch=judge.arch, name=woven.name, latency=latency, shapes=judge.shapes,
                    **dict(form.options),
                )  # fmt: skip
        except (CannotLink, CannotWeave, InputError, TooLarge):  # for example, there are not enough barriers
            continue
        why = f"each warp runs one kernel: woven, they are estimated to {_takes(comparison.middle.cycles, expected)}"
        return made.reported(replace(made.report, notes=(*made.report.notes, why)))
    return None


def _with_dependences(woven: Woven) -> Woven:
    """With a note for each two kernels that may depend on each other by variables, and a warning."""
    in_turn = woven.depends or (woven.is_separate and not woven.streams)
    found = [] if in_turn else list(dependences_by_variables(woven.chosen))
    for sentence in found:
        warnings.warn(f"{sentence}.", DependenceWarning, stacklevel=LEVEL + 1)
    return woven.reported(replace(woven.report, notes=(*woven.report.notes, *found))) if found else woven


@dataclass(frozen=True)
class _Comparison:
    """A result, and separate launches of its kernels. `dependent`: these run one after the other. `best_of_many`: the
    result has the best estimate of many."""

    judge: Judge
    candidate: Candidate
    made: Made
    known: Sequence[Known]
    dependent: bool
    best_of_many: bool = False

    @cached_property
    def middle(self) -> Prospect:
        """What it promises under the middle assumption."""
        return self.prospect(self.judge.assumptions[:1])

    def prospect(self, assumptions: Sequence[Assumption]) -> Prospect:
        separate = separate_cycles(self.judge, self.dependent, assumptions)
        found = Prospect(self.judge.under(assumptions, self.candidate, self.made)[self.candidate], separate)
        if not self.best_of_many:
            return found
        likely = (one / (USUAL * gain**TRUST) for one, gain in zip(separate, found.gains, strict=True))
        return Prospect(tuple(replace(e, cycles=n) for e, n in zip(found.estimates, likely, strict=True)), separate)

    def expected(self) -> ExpectedGain:
        """The gain under each assumption, with reasons and advice."""
        prospect, plain = self.prospect(self.judge.assumptions), unchanged(len(self.judge.kernels))
        least, number = prospect.worst
        separate = self.judge.under(self.judge.assumptions[:1], plain)[plain][0]
        sizes = (f"sizes of {letter_of(k)} as in {own.beside}" for k, own in enumerate(self.known) if own.beside)
        return ExpectedGain(
            prospect.gain,
            least,
            max(prospect.gains),
            self.judge.assumptions[number].name,
            (*_reasons(separate, prospect.middle), *sizes) if self.candidate.strategy != "separate" else (*sizes,),
            _advice(self.judge, prospect.separate) if prospect.gain < SLOWER else "",
            "separate launches" if len(self.judge.kernels) > 1 else "the kernel alone",
        )


def _comparison(woven: Woven, assume: Assume | None, latency: str | Path | LatencyTable | None) -> _Comparison | None:
    """None where the gain cannot be estimated."""
    shapes = _shapes(woven)
    known = known_launches(assume, woven.chosen, shapes)
    factors = tuple(kernel.coarse.factor for kernel in woven.chosen)
    as_they_are = woven.is_separate and not woven.streams and set(factors) == {1}
    if woven.strategy not in MODELLED or not woven.chosen or as_they_are:
        return None
    plan = woven.plan if isinstance(woven.plan, Folded) else None
    if plan and plan.registers and not plan.moves:  # then their mean is a cap, with which kernels may spill
        return None
    arch = woven.module.target[0]
    machine = machine_of(arch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LatencyTableWarning)  # whoever made the kernel has warned
        table = load_table(latency, arch)
    try:
        kernels = each_alone(woven.chosen, machine, table, known, shapes)
        made = made_of(woven, kernels, table)
    except CannotWeave:
        return None
    candidate = Candidate(cast("Strategy", woven.strategy), factors, woven.max_registers)
    if woven.streams:
        candidate = candidate.having(streams=True)
    if isinstance(woven.plan, Interleaved) and woven.plan.takes_turns:
        candidate = candidate.having(ratio=woven.plan.ratio)
    if plan:
        candidate = candidate.having(fold=plan.fold, ctas=plan.ctas)
        candidate = candidate.having(assist=True) if plan.helper is not None else candidate
        candidate = candidate.having(role_registers=plan.registers) if plan.registers else candidate
        candidate = candidate.having(teams=plan.teams) if plan.teams else candidate
        candidate = candidate.having(parts=plan.parts) if plan.parts else candidate
    dependent = bool(woven.report.temporaries) or _depends(woven)
    comparison = _Comparison(Judge(kernels, [1] * len(kernels), shapes, arch), candidate, made, known, dependent)
    return None if comparison.middle.separate[0] == inf else comparison


def _depends(woven: Woven) -> bool:
    """Whether kernels may depend on each other; those that stay separate in any case may."""
    return woven.depends and not woven.is_separate


def _shapes(woven: Woven) -> Sequence[Shape]:
    if woven.plan is None or woven.plan.common:
        return [k.shape or ANY for k in woven.chosen]
    return woven.plan.shapes


def _reasons(separate: Estimate, fused: Estimate) -> Iterator[str]:
    yield f"registers {separate.registers} -> {fused.registers}"
    yield f"occupancy {separate.occupancy:.0%} -> {fused.occupancy:.0%}"
    yield f"most of the time is {fused.decided_by}"


def _advice(judge: Judge, separate: tuple[float, ...]) -> str:
    """What `auto` would do with the kernels, as far as that is known before others are made."""
    ones = (1,) * len(judge.kernels)
    fused = [Candidate(strategy, ones) for strategy in STRATEGIES if strategy != "separate"]
    fused += fold_candidates(judge, judge.arch)
    found = [each for way in fused for each in judge.under_all(way).items()]
    choosable = (is_choosable(candidate, Prospect(estimates, separate)) for candidate, estimates in found)
    return OTHERWISE if any(choosable) else SEPARATE
