"""The outcome for buffers that a region declares temporaries: registers, shared memory, or memory, and why.

Requires: the completed launches. Ensures: an entry for each declared buffer, in the order of the launches and their
parameters, whatever the order of `private()` and `local()`; a buffer that is left in memory although the launches are
fused is logged ("goptx"), unless the strategy has done so.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.log import LOG
from goptx.region.argument_aliasing import Aliasing, Group, Position, several
from goptx.region.recorded import Recorded
from goptx.results.fused_kernel import Woven
from goptx.results.temporary import Temporary, left_in_memory


def outcome(launches: Sequence[Recorded], aliasing: Aliasing, made: Woven, reason: str) -> tuple[Temporary, ...]:
    """`reason` is why the launches are not fused, "" if they are."""
    by_strategy = {t.parameters: t for t in made.report.temporaries}
    found = []
    for kind, group in aliasing.declared:
        parameters = tuple(called(launches, position) for position in group)
        known = by_strategy.get(parameters)
        if known is None:
            why = f"the launches are not fused: {reason}" if reason else _unused(aliasing, group)
            known = Temporary(parameters, kind, "memory", why)
            if not reason:
                LOG.warning("%s", *left_in_memory((known,)))
        found.append(known)
    return tuple(found)


def _unused(aliasing: Aliasing, group: Group) -> str:
    """Why the declaration was not used."""
    if not several(group):
        return "only one launch of the region takes it; declare a buffer that several launches take"
    if group in (*aliasing.private, *aliasing.local):
        return "the strategy leaves temporaries in memory"
    return "a launch takes more of the array than is declared; declare the whole array"


def called(launches: Sequence[Recorded], position: Position) -> str:
    """The name of a parameter in messages: `A:2 (out)`."""
    k, i = position
    return f"{chr(ord('A') + k)}:{i} ({launches[k].known.params[i].original})"
