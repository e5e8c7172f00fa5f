"""What became of the buffers that a region declares temporaries: registers, shared memory, or memory, and why.

Requires: what the launches became. Ensures: an entry for each declared buffer, in the order of the launches and their
parameters, whatever the order of `private()` and `local()`; what is left in memory although the launches are fused is
logged ("goptx"), unless the strategy has done so.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.log import LOG
from goptx.region.argument_aliasing import Group, Meeting, Place, several
from goptx.region.recorded import Recorded
from goptx.results.fused_kernel import Woven
from goptx.results.temporary import Temporary, left_in_memory


def outcome(launches: Sequence[Recorded], met: Meeting, made: Woven, reason: str) -> tuple[Temporary, ...]:
    """`reason` is why the launches are not fused, "" if they are."""
    by_strategy = {t.parameters: t for t in made.report.temporaries}
    found = []
    for kind, group in met.declared:
        parameters = tuple(called(launches, place) for place in group)
        known = by_strategy.get(parameters)
        if known is None:
            why = f"the launches are not fused: {reason}" if reason else _not_handed_on(met, group)
            known = Temporary(parameters, kind, "memory", why)
            if not reason:
                LOG.warning("%s", *left_in_memory((known,)))
        found.append(known)
    return tuple(found)


def _not_handed_on(met: Meeting, group: Group) -> str:
    """Why no strategy was asked."""
    if not several(group):
        return "only one launch of the region takes it, so it hands nothing on; declare what several launches take"
    if group in (*met.private, *met.local):
        return "the strategy leaves temporaries in memory"
    return "a launch takes more of the array than is declared; declare the whole array"


def called(launches: Sequence[Recorded], place: Place) -> str:
    """A parameter as messages have it: `A:2 (out)`."""
    k, i = place
    return f"{chr(ord('A') + k)}:{i} ({launches[k].known.params[i].original})"
