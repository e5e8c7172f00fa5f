"""Groups in the order of what they are estimated to gain, made within a budget; and smaller groups to be measured.

Requires: groups of independent kernels. Ensures: the same groups in the same order everywhere; a group for which no
time is left is returned, so that a report can name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from goptx.graph.graph_rewriting import Taken
from goptx.graph.group_costs import Costs, Group
from goptx.graph.group_making import Makers
from goptx.time_budget import Budget

PAIRED = 8  # the first kernels of a group, of which all pairs are measured
MOST_PARTS = 12  # smaller groups that are made and measured at most


def by_gain(groups: Sequence[Group], costs: Costs) -> list[Group]:
    """The groups that are estimated to save most cycles first."""
    return sorted(groups, key=lambda group: costs.fused(group) - costs.separate(group))


def made_in_time(makers: Makers, groups: Sequence[Group], limit: Budget) -> tuple[list[Taken], list[Group]]:
    """The fused kernels of the groups, in the order of the groups; and the groups for which no time was left. The
    groups that are estimated to gain most are made first."""
    made: dict[Group, list[Taken]] = {}
    untried: list[Group] = []
    for group in by_gain(groups, makers.costs):
        if limit.left() > 0:
            made[group] = [Taken(part, one) for part, one in makers.of(group)]
        else:
            untried.append(group)
    return [one for group in groups for one in made.get(group, ())], untried


def smaller_groups(groups: Sequence[Group], costs: Costs) -> list[Group]:
    """Parts of the groups: a group that does not gain as a whole may gain in part, and so may some of its kernels
    where all together need too much of an SM. Those that are estimated to save most cycles come first."""
    found = dict.fromkeys(part for group in groups for part in _parts(group))
    return by_gain([part for part in found if part not in groups], costs)[:MOST_PARTS]


def _parts(group: Group) -> Iterator[Group]:
    """Halves, their halves and so on, down to two kernels; and pairs."""
    if len(group) < 3:
        return
    half = (len(group) + 1) // 2
    for part in (group[:half], group[half:]):
        if len(part) > 1:
            yield part
            yield from _parts(part)
    yield from combinations(group[:PAIRED], 2)
