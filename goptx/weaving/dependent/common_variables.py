"""Variables of a module by which two kernels of it may depend on each other.

Kernels of one module share its variables. Whether they depend on each other by what parameters point to is found when
arguments are known; whether by variables, when they are fused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from goptx.analysis.values.pointer_effects import reach
from goptx.launch.parameter_names import letter_of
from goptx.ptx.ir import Variable
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.link.symbols import reached_variables


def common_variables(one: Chosen, other: Chosen) -> list[str]:
    """The names of the variables in common, if one of the kernels may write a variable of its module."""
    found = variables_in_common(one, other)
    return [v.name for v in found] if found and any(map(_writes_variables, (one, other))) else []


def variables_in_common(one: Chosen, other: Chosen) -> list[Variable]:
    """The variables in global memory that both may access."""
    if one.module.items != other.module.items:
        return []
    first, second = (reached_variables(k.module, choose_entry(k.module, k.entry)) for k in (one, other))
    return [v for v in first if v.space == ".global" and v in second]


def _writes_variables(kernel: Chosen) -> bool:
    return reach(choose_entry(kernel.module, kernel.entry), kernel.module.address_size).writes_variables


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
