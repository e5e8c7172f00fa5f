"""Waiting where kernels have shapes of their own: threads are followed in groups, between which launches distinguish.

A *group* are the warps of a CTA for which each comparison of launch shapes and warp numbers comes out one way. Branches
that are decided so are taken out before the group is followed from barrier to barrier. Between groups of one CTA, the
barriers of a kernel must be the same, and must wait for those threads that come to them. As two kernels are both in one
group only, or each barrier of one waits for the other, groups cannot wait for each other in a circle.

Requires: the projections have been proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations, permutations

from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.kernel_code import NotProved, Program, Step
from goptx.proof.placement.placement import Placements
from goptx.proof.projection import Projection
from goptx.proof.step_forms import count_of
from goptx.proof.sync.waiting import check_arrivals
from goptx.proof.sync.waits import id_position, waits_of
from goptx.ptx.opcodes import Scope

MOST_GROUPS = 256
Check = Callable[[Program, Mapping[str, Projection]], None]


@dataclass(frozen=True, eq=False)
class _Part(Program):
    """The code that some threads can come to: `ways` has the branches that are decided for them."""

    of: Program | None = None
    ways: Mapping[int, int] = field(default_factory=dict)

    def following(self, step: Step) -> tuple[int, ...]:
        found = self.ways.get(step.number)
        if found is not None:
            return (found,)
        return self.of.following(step) if self.of else super().following(step)


@dataclass(frozen=True, slots=True)
class _Group:
    """`own` are the barriers that it can come to, by kernel."""

    given: int
    part: Program
    projections: Mapping[str, Projection]
    own: Mapping[str, Sequence[Step]]


def check_groups(fused: Program, projections: Mapping[str, Projection], placements: Placements, check: Check) -> None:
    """Runs `check` for each group of threads. Raises `NotProved`."""
    if not placements.comparisons:
        check(fused, projections)
        return
    matched = frozenset[int]().union(*(p.matched for p in projections.values()))
    for step in (fused.steps[n] for start in fused.order for n in fused.blocks[start]):
        if step.facts.row.scope >= Scope.CTA and step.number not in matched:
            raise NotProved(step.line, f"`{step.statement}` is a barrier of no kernel")
        if step.facts.row.scope >= Scope.CTA and not _id(step).isdigit():
            raise NotProved(step.line, f"the number of `{step.statement}` is not known")
    deciding = _deciding(fused, next(iter(projections.values()))) & placements.comparisons
    for cta in _cases(placements, deciding, placements.facts, placements.is_of_cta):
        cases = _cases(placements, deciding, cta, placements.is_uniform)
        groups = [_group(fused, projections, given) for given in cases]
        for group in groups:
            check(group.part, group.projections)
            for letter in projections:
                _check_counts(group, letter, placements)
        for letter in projections:
            given = placements.formulas.both(cta, placements.of(letter).belongs)
            if given != FALSE:
                _check_arrivals(_group(fused, projections, given), letter)
        _check_alone(groups)
        _check_together(groups, placements)


def _check_alone(groups: Sequence[_Group]) -> None:
    """That a kernel which waits elsewhere than at plain barriers does so in groups where no other kernel waits: its
    threads then wait as they do in the kernel alone."""
    for letter, other in permutations(groups[0].projections, 2):
        for group in groups:
            if _waiting(group, letter, ends=True) and (found := [*group.own[other], *_waiting(group, other)]):
                what = f"kernel {letter} waits elsewhere than at barriers of all threads, {other} too"
                raise NotProved(found[0].line, what)


def _waiting(group: _Group, letter: str, ends: bool = False) -> list[Step]:
    """Where threads of the group wait in the kernel other than at plain barriers; with `ends`, where such a wait ends,
    too."""
    projection = group.projections[letter]
    waits = waits_of(projection.kernel)
    wanted = waits.held | waits.releases if ends else waits.held
    found = [group.part.steps[n] for n, own in projection.matched.items() if not own.isdisjoint(wanted)]
    return [waits.cluster] if waits.cluster and not found else found


def _deciding(fused: Program, projection: Projection) -> frozenset[int]:
    """The variables on which branches depend."""
    found = set[int]()
    for start, (registers, _) in projection.ends.items():
        found |= projection.formulas.support(projection.outer.guard(registers, fused.steps[fused.blocks[start][-1]]))
    return frozenset(found)


def _cases(placements: Placements, variables: frozenset[int], given: int, which: Callable[[int], bool]) -> list[int]:
    """The cases that those of the comparisons for which that holds distinguish."""
    formulas, cases = placements.formulas, [given]
    for formula in map(formulas.variable, sorted(variables)):
        if which(formula):
            cases = [part for case in cases for part in formulas.halves(case, formula)]
        if len(cases) > MOST_GROUPS:
            raise NotProved(1, "too many groups of threads to follow the barriers")
    return cases


def _group(fused: Program, projections: Mapping[str, Projection], given: int) -> _Group:
    part = _part(fused, projections, given)
    inside = frozenset(n for start in part.order for n in part.blocks[start])
    its = {}
    for letter, whole in projections.items():
        its[letter] = own = copy(whole)
        own.fused = part
        own.matched = {n: found for n, found in whole.matched.items() if n in inside}
        own.ends = {
            start: (registers, [c for c in cases if whole.formulas.both(c.given, given) != FALSE])
            for start, (registers, cases) in whole.ends.items()
        }
    barriers = {
        letter: [s for s in fused.steps if s.number in p.matched and s.facts.row.scope >= Scope.CTA]
        for letter, p in its.items()
    }
    return _Group(given, part, its, barriers)


def _part(fused: Program, projections: Mapping[str, Projection], given: int) -> _Part:
    """With the branches taken out that `given` decides."""
    projection = next(iter(projections.values()))
    ways = {}
    for start, (registers, _) in projection.ends.items():
        last = fused.steps[fused.blocks[start][-1]]
        if last.guard and last.is_branch and last.facts.base != "brx":
            test = projection.terms.formula_under(projection.outer.guard(registers, last), given)
            if test in (TRUE, FALSE) and len(fused.following(last)) > 1:
                ways[last.number] = fused.following(last)[0 if test == TRUE else -1]
    found = _Part(fused.entry, fused.steps, fused.singles, fused.ranges, pure=fused.pure, of=fused, ways=ways)
    found.uniform.update(fused.uniform)
    return found


def _counts_own(projection: Projection, step: Step) -> bool:
    """Whether a barrier waits for the kernel's threads, where that of the kernel waits for all."""
    own = projection.kernel.steps[min(projection.matched[step.number])]
    return count_of(step) is not None and count_of(own) is None


def _check_counts(group: _Group, letter: str, placements: Placements) -> None:
    """That a barrier which counts the kernel's threads counts all that come to it. Threads of the fused kernel that are
    not the kernel's are in warps of which others are."""
    counted = [s for s in group.own[letter] if _counts_own(group.projections[letter], s)]
    formulas = placements.formulas
    if counted and formulas.both(group.given, formulas.negation(placements.of(letter).warps)) != FALSE:
        raise NotProved(counted[0].line, f"`{counted[0].statement}` does not count all threads that come to it")


def _check_arrivals(cta: _Group, letter: str) -> None:
    """That no thread of the kernel passes by a barrier that counts it, of all that a CTA has."""
    projection = cta.projections[letter]
    counted = [s for s in cta.own[letter] if _counts_own(projection, s)]
    if counted:
        check_arrivals(cta.part, letter, projection, counted)


def _check_together(groups: Sequence[_Group], placements: Placements) -> None:
    """That groups of one CTA come to the same barriers of each kernel, and that these wait for them all."""
    letters = list(groups[0].projections)
    waiting = [g for g in groups if any(g.own.values())]
    for letter in letters:
        _check_kernel(letter, groups, placements)
    for first, second in combinations(letters, 2):
        both = [g for g in waiting if g.own[first] and g.own[second]]
        if len(both) > 1:
            what = f"several groups of threads of a CTA come to barriers of both {first} and {second}"
            raise NotProved(both[1].own[second][0].line, what)
    uses: dict[str, list[tuple[Step, frozenset[str]]]] = {}
    for group in waiting:
        for step in {s for its in group.own.values() for s in its}:
            owners = frozenset(letter for letter, its in group.own.items() if step in its)
            uses.setdefault(_id(step), []).append((step, owners))
    for its in uses.values():
        common = frozenset.intersection(*(owners for _, owners in its))
        common = common if its[0][0].facts.row.scope == Scope.CTA else frozenset(letters)
        everywhere = {letter for letter in common if all(g.own[letter] for g in waiting)}
        for step, _ in its:
            if not common or (count_of(step) is None and not everywhere):
                raise NotProved(step.line, f"`{step.statement}` waits for threads that may not come to it")


def _check_kernel(letter: str, groups: Sequence[_Group], placements: Placements) -> None:
    """That the kernel's threads come to the same barriers in each group, with the same number and count."""
    formulas, belongs = placements.formulas, placements.of(letter).belongs
    mine = [g for g in groups if formulas.both(g.given, belongs) != FALSE]
    if all(_is_same(letter, mine[0], g) for g in mine[1:]) or not any(g.own[letter] for g in groups):
        return
    line = next(s.line for g in groups for s in g.own[letter])
    raise NotProved(line, f"groups of threads of a CTA come to different barriers of kernel {letter}")


def _is_same(letter: str, first: _Group, second: _Group) -> bool:
    return _forms(letter, first) == _forms(letter, second)


def _forms(letter: str, group: _Group) -> set[tuple[int, str, bool]]:
    projection = group.projections[letter]
    return {
        (own, _id(step), count_of(step) is None)
        for step in group.own[letter]
        for own in projection.matched[step.number]
    }


def _id(step: Step) -> str:
    position = id_position(step)
    return "" if position is None else step.sources[position].text
