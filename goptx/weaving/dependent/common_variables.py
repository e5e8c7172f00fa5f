"""Variables of a module by which two kernels of it may depend on each other.

Kernels of one module share its variables. Whether they depend on each other by what parameters point to is found when
arguments are known; whether by variables, when they are fused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from goptx.analysis.values.pointer_effects import reach
from goptx.launch.parameter_names import letter_of
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.link.symbols import reached_symbols


def common_variables(one: Chosen, other: Chosen) -> list[str]:
    """The variables in global memory that both may access, if one of them may write a variable of its module."""
    if one.module.items != other.module.items:
        return []
    entries = [choose_entry(kernel.module, kernel.entry) for kernel in (one, other)]
    if not any(reach(entry, one.module.address_size).writes_variables for entry in entries):
        return []
    reached = [reached_symbols(one.module, entry) for entry in entries]
    return [v.name for v in one.module.variables if v.space == ".global" and all(v.name in names for names in reached)]


def dependences_by_variables(kernels: Sequence[Chosen]) -> Iterator[str]:
    """A sentence for each two kernels that may depend on each other so."""
    for (i, one), (j, other) in combinations(enumerate(kernels), 2):
        if names := common_variables(one, other):
            what = ", ".join(f"`{name}`" for name in names)
            both = f"kernels {letter_of(i)} (`{one.entry}`) and {letter_of(j)} (`{other.entry}`)"
            yield (
                f"{both} both access {what} of their module, and one of them may write it: fused they are only right "
                "if neither depends on what the other leaves there; else launch them one after the other "
                '(strategy="separate")'
            )
