"""fuse(): one kernel of several, by a strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goptx.errors import InputError
from goptx.strategies.vertical import vertical
from goptx.weaving.pipeline import weave
from goptx.weaving.result import Woven
from goptx.weaving.sources import Source

STRATEGIES: Mapping[str, Callable[..., Woven]] = {"weave": weave, "vertical": vertical}


def fuse(*sources: Source, strategy: str = "weave", **options: Any) -> Woven:
    """One kernel that does what all kernels do, by one of these strategies:

    "weave": every thread runs a thread of each kernel, their instructions interleaved; see `goptx.weave`.
    "vertical": every thread runs a thread of each kernel, one kernel after the other.

    Options are those of the strategy. Raises what `weave` raises.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"strategy `{strategy}` is unknown; expected one of {', '.join(STRATEGIES)}.")
    return STRATEGIES[strategy](*sources, **options)
