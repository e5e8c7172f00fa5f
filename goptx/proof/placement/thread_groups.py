"""Waiting where kernels have shapes of their own: threads are followed in groups, between which launches distinguish.

A *group* are the warps of a CTA for which each comparison of launch shapes and warp numbers comes out one way. Branches
that are decided so are taken out before the group is followed from barrier to barrier. Between groups of one CTA, the
barriers of a kernel must be the same, and must wait for those threads that come to them. As two kernels are both in one
group only, or each barrier of one waits for the other, groups cannot wait for each other in a circle.

Requires: the projections have been proved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.code.step_forms import count_of
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.reached_code import part_of
from goptx.proof.placement.placement import Placements
from goptx.proof.projection import Projection
from goptx.proof.sync.waiting import check_arrivals
from goptx.proof.sync.waits import id_position, is_barrier, is_plain_barrier, waits_of
from goptx.ptx.opcodes import Scope

MOST_GROUPS = 256
Check = Callable[[Program, Mapping[str, Projection], int, Program], None]  # the last is the code of all that may wait


@dataclass(frozen=True, slots=True)
class _Group:
    """`own` are the barriers that it can come to, by kernel; `added` those of no kernel."""

    given: int
    part: Program
    projections: Mapping[str, Projection]
    own: dict[str, list[Step]]
    added: Sequence[Step]

    @property
    def waits(self) -> bool:
        """Whether its threads wait for others, or others for them."""
        return bool(self.added) or any(self.own[k] or _waiting(self, k, ends=True) for k in self.own)


def check_groups(fused: Program, projections: Mapping[str, Projection], placements: Placements, check: Check) -> None:
    """Runs `check` for each group of threads: for its code, the projections, the formula that a thread is of the group,
    and the code of all groups of its CTA if several of them wait. Raises `NotProved`."""
    if not placements.comparisons:
        check(fused, projections, TRUE, fused)
        return
    deciding = _deciding(fused, next(iter(projections.values()))) & placements.comparisons
    for cta in _cases(placements, deciding, placements.facts, placements.is_of_cta):
        cases = _cases(placements, deciding, cta, placements.is_uniform)
        groups = [_group(fused, projections, given) for given in cases]
        several = sum(group.waits for group in groups) > 1  # the threads of others end
        _adopt(groups, placements, several)
        for group in groups:
            check(group.part, group.projections, group.given, fused if several else group.part)
        if several:
            _check_releases(groups)
            _check_together(groups)
        for letter in projections:
            _check_kernel(letter, groups, placements)
            for group in groups:
                _check_counts(group, letter, placements)
            given = placements.formulas.both(cta, placements.of(letter).belongs)
            if given != FALSE:
                adopted = {s for g in groups for s in g.own[letter] if s in g.added}
                _check_arrivals(_group(fused, projections, given), letter, adopted)


def _adopt(groups: Sequence[_Group], placements: Placements, several: bool) -> None:
    """Makes barriers of no kernel those of one whose threads come there in all groups that have some."""
    for step in {s for group in groups for s in group.added if several or count_of(s) is not None}:
        those = [g for g in groups if any(_id(g, s) == _id(g, step) for s in g.added)]
        letters = next(iter(groups[0].projections.values())).counting.get(step.number, groups[0].own)
        found = (k for k in letters if those == [g for g in groups if _has_threads(g, k, placements)])
        letter = next(found, "")
        if not letter:
            raise NotProved(step.line, f"`{step.statement}` is a barrier of no kernel")
        for group in those:
            group.own[letter] += [step] if step in group.added else []


def _has_threads(group: _Group, letter: str, placements: Placements) -> bool:
    return placements.formulas.both(group.given, placements.of(letter).belongs) != FALSE


def _check_releases(groups: Sequence[_Group]) -> None:
    """That a thread which waits for another kernel does not hold up what ends a wait in another group, where threads
    of several groups wait in a kernel other than at plain barriers, or end such waits."""
    clusters = {k: its for k, p in groups[0].projections.items() if (its := waits_of(p.kernel).cluster)}
    for letter in groups[0].projections:
        if clusters.keys() - {letter} and any(g.own[letter] or g.added or _waiting(g, letter) for g in groups):
            step = next(its for k, its in clusters.items() if k != letter)
            raise NotProved(step.line, f"`{step.statement}` concerns other CTAs, and kernel {letter} waits")
        if sum(bool(_waiting(group, letter, ends=True)) for group in groups) < 2:
            continue
        for group in groups:
            projection = group.projections[letter]
            waits, steps, part = waits_of(projection.kernel), projection.kernel.steps, group.part
            ends = {n for n, own in projection.matched.items() if own & waits.releases}
            stops = {n for n, own in projection.matched.items() if all(_where_all_wait(steps[m]) for m in own)}
            others = [s for other in group.own if other != letter for s in (*group.own[other], *_waiting(group, other))]
            for step in (*others, *group.added):
                held_up = any(part.comes_to(t, ends, stops) for t in part.following(step))
                if step.number not in projection.matched and held_up:
                    what = f"kernel {letter} waits elsewhere than at barriers of all threads, others at"
                    raise NotProved(step.line, f"{what} `{step.statement}`")


def _where_all_wait(step: Step) -> bool:
    return is_plain_barrier(step) and step.facts.row.blocking


def _waiting(group: _Group, letter: str, ends: bool = False) -> list[Step]:
    """Where threads of the group wait in the kernel other than at plain barriers; with `ends`, where such a wait ends,
    too."""
    projection = group.projections[letter]
    waits = waits_of(projection.kernel)
    wanted = waits.held | waits.releases if ends else waits.held
    return [group.part.steps[n] for n, own in projection.matched.items() if own & wanted]


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
    barriers = [s for s in fused.steps if s.number in inside and is_barrier(s)]
    mine = {letter: [s for s in barriers if p.own(s.number)] for letter, p in its.items()}
    return _Group(given, part, its, mine, [s for s in barriers if not any(s in steps for steps in mine.values())])


def _part(fused: Program, projections: Mapping[str, Projection], given: int) -> Program:
    """Without the ways that no thread takes of which `given` holds."""
    return part_of(fused, lambda start, target: all(_goes(p, start, target, given) for p in projections.values()))


def _goes(projection: Projection, start: int, target: int, given: int) -> bool:
    """Whether such a thread may go from a block to a target. Each projection follows all threads."""
    fused, formulas = projection.fused, projection.formulas
    registers, cases = projection.ends.get(start, ({}, ()))
    last, test = fused.steps[fused.blocks[start][-1]], TRUE
    if last.guard and last.is_branch and last.facts.base != "brx" and len(set(fused.following(last))) > 1:
        guard = projection.outer.guard(registers, last)
        test = guard if target == fused.following(last)[0] else formulas.negation(guard)
    here = (formulas.both(c.given, given) for c in cases)
    return any(g != FALSE and projection.terms.formula_under(test, g) != FALSE for g in here)


def _counts_own(projection: Projection, step: Step) -> bool:
    """Whether a barrier waits for the kernel's threads, where that of the kernel waits for all."""
    own = projection.own(step.number)
    return count_of(step) is not None and all(count_of(projection.kernel.steps[n]) is None for n in own)


def _check_counts(group: _Group, letter: str, placements: Placements) -> None:
    """That a barrier which counts the kernel's threads counts all that come to it. Threads of the fused kernel that are
    not the kernel's are in warps of which others are."""
    counted = [s for s in group.own[letter] if _counts_own(group.projections[letter], s)]
    formulas = placements.formulas
    if counted and formulas.both(group.given, formulas.negation(placements.of(letter).warps)) != FALSE:
        raise NotProved(counted[0].line, f"`{counted[0].statement}` does not count all threads that come to it")


def _check_arrivals(cta: _Group, letter: str, adopted: Collection[Step]) -> None:
    """That no thread of the kernel passes by a barrier that counts it, of all that a CTA has."""
    own = [*cta.own[letter], *(s for s in cta.added if s in adopted)]
    counted = [s for s in own if _counts_own(cta.projections[letter], s)]
    if counted:
        check_arrivals(cta.part, letter, cta.projections[letter], own, counted)


def _check_together(groups: Sequence[_Group]) -> None:
    """That barriers of several groups of a CTA wait for all threads that come to them."""
    letters = list(groups[0].projections)
    waiting = [g for g in groups if any(g.own.values())]
    for group, step in ((g, s) for g in waiting for its in g.own.values() for s in its):
        if not _id(group, step).isdigit():
            raise NotProved(step.line, f"the number of `{step.statement}` is not known")
    for first, second in combinations(letters, 2):
        both = [g for g in waiting if g.own[first] and g.own[second]]
        if len(both) > 1:
            what = f"several groups of threads of a CTA come to barriers of both {first} and {second}"
            raise NotProved(both[1].own[second][0].line, what)
    uses: dict[str, list[tuple[Step, frozenset[str]]]] = {}
    for group in waiting:
        for step in {s for its in group.own.values() for s in its}:
            owners = frozenset(letter for letter, its in group.own.items() if step in its)
            uses.setdefault(_id(group, step), []).append((step, owners))
    for its in uses.values():
        common = frozenset.intersection(*(owners for _, owners in its))
        common = common if its[0][0].facts.row.scope == Scope.CTA else frozenset(letters)
        everywhere = {letter for letter in common if all(g.own[letter] for g in waiting)}
        for step, _ in its:
            if not common or (count_of(step) is None and not everywhere):
                raise NotProved(step.line, f"`{step.statement}` waits for threads that may not come to it")


def _check_kernel(letter: str, groups: Sequence[_Group], placements: Placements) -> None:
    """That the kernel's threads come to the same barriers in each group, with the same number and count. Those that no
    kernel has stand between the same ones of the kernel: after a barrier, always or never."""
    mine = [g for g in groups if _has_threads(g, letter, placements)]
    line = next((s.line for g in groups for s in g.own[letter]), 1)
    forms = {frozenset((n, *rest) for own, *rest in _labels(letter, g).values() for n in own or (END,)) for g in mine}
    if len(forms) > 1:
        raise NotProved(line, f"groups of threads of a CTA come to different barriers of kernel {letter}")
    added = [s for g in mine for s in g.own[letter] if s in g.added]
    if len(mine) < 2 or not added:
        return
    orders = [_order(letter, g) for g in mine]
    loose = any(len(after) > 1 and any(_is_added(b) for b in after) for after in orders[0].values())
    twice = any(_is_added(a) and any(map(_is_added, after)) for a, after in orders[0].items())
    if loose or twice or any(order != orders[0] for order in orders):
        what = f"`{added[0].statement}`, of no kernel, may come at different times in groups of threads of a CTA"
        raise NotProved(added[0].line, what)


_Barrier = tuple[tuple[int, ...], str, bool]  # its steps in the kernel, its number, and whether it has a count
_BEGIN: _Barrier = (END,), "", False


def _labels(letter: str, group: _Group) -> dict[int, _Barrier]:
    """What the kernel's barriers of a group are, and those that were added for it."""
    own = group.projections[letter].own
    return {s.number: (tuple(sorted(own(s.number))), _id(group, s), count_of(s) is None) for s in group.own[letter]}


def _is_added(barrier: _Barrier) -> bool:
    return not barrier[0]


def _order(letter: str, group: _Group) -> dict[_Barrier, frozenset[_Barrier]]:
    """The barriers of the kernel that may be next after one of them, and from the beginning."""
    part, labels = group.part, _labels(letter, group)
    found = dict[_Barrier, frozenset[_Barrier]]()
    for label, firsts in [(_BEGIN, (0,)), *((label, part.following(part.steps[n])) for n, label in labels.items())]:
        after = {labels[n] for n in labels if any(part.comes_to(t, {n}, labels.keys() - {n}) for t in firsts)}
        found[label] = found.get(label, frozenset()) | after
    return found


def _id(group: _Group, step: Step) -> str:
    """The number of a barrier: its digits where they are known, also of a register."""
    numbers = {new for p in group.projections.values() for _, new in p.barrier_ids.get(step.number, ())}
    position = id_position(step)
    text = "" if position is None else step.sources[position].text
    return next(iter(numbers)) if len(numbers) == 1 and not text.isdigit() else text
