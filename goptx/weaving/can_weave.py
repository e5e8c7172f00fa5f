"""can_weave(): whether kernels can be woven, without the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Unpack

from goptx.display import as_html, as_text, brief
from goptx.errors import CannotLink, CannotWeave, Rule
from goptx.weaving.weave import weave

if TYPE_CHECKING:
    from goptx.results.given_kernels import Source
    from goptx.weaving.weave_options import WeaveOptions


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why kernels cannot be woven: `reason` is the error that `weave` raises; its message is `str()` of this. A refusal
    is false."""

    __repr__ = brief

    reason: CannotWeave | CannotLink

    @property
    def rule(self) -> Rule:
        """The name of the rule that the kernels do not meet, a section of docs/refusals.md."""
        return self.reason.rule

    def __bool__(self) -> bool:
        return False

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        return str(self.reason)


def can_weave(*sources: Source, **options: Unpack[WeaveOptions]) -> Literal[True] | Refusal:
    """Whether `weave` with the same arguments gives a kernel: True, or a `Refusal`, which is false and says why not.

    Raises `PtxSyntaxError` or `InputError` where the arguments make no sense.
    """
    try:
        weave(*sources, **options)
    except (CannotWeave, CannotLink) as reason:
        return Refusal(reason.with_traceback(None))  # the frames would hold all intermediate values
    return True
