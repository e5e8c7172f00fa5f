"""Temporary: a buffer that only forwards values from kernel to kernel, and where fusing has put it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from goptx.display import brief

Where = Literal["registers", "shared memory", "memory"]


@dataclass(frozen=True, slots=True)
class Temporary:
    """A buffer that the caller declares a temporary of a thread (`private`) or of a CTA (`local`), as in user-driven
    fusion (Perez et al. 2023), and where its elements are in the fused kernel.

    parameters: those that stand for this buffer, such as `A:2 (out)`, in the order of the kernels.
    declared: "private" or "local". where: "registers", "shared memory", or "memory" where it stays a buffer.
    why: what it became, or why it stays in memory: the rule, with kernel, line, instruction and remedy.
    """

    __repr__ = brief

    parameters: tuple[str, ...]
    declared: str
    where: Where
    why: str

    @property
    def internalised(self) -> bool:
        """Whether the fused kernel does not use the buffer."""
        return self.where != "memory"

    @property
    def buffer(self) -> str:
        """Its parameters as in messages: `A:2 (out), B:0 (x)`."""
        return ", ".join(self.parameters)

    def __str__(self) -> str:
        return f"{self.declared} {self.buffer}: {'' if self.internalised else 'left in '}{self.where} ({self.why})"


def left_in_memory(temporaries: Iterable[Temporary]) -> list[str]:
    """A warning for each temporary that stays in memory."""
    return [f"the {t.declared} buffer {t.buffer} is left in memory: {t.why}" for t in temporaries if not t.internalised]
