"""Candidate: one choice of how to run kernels, as `auto` and the tuner compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from goptx.launch.shape import MOST_REGISTERS
from goptx.options import MeasuredStrategy, Strategy
from goptx.sources.kernel_text import Chosen


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy, the coarsening factor of each kernel, the most registers that a thread may have, and the options of
    the strategy that differ from their defaults, in the order of their names."""

    strategy: Strategy | Literal["coarsen"]
    factors: tuple[int, ...]
    cap: int | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        coarse = "" if self.plain else "".join(f" x{factor}" for factor in self.factors)
        options = "".join(f" {name}={_as_text(value)}" for name, value in self.options)
        return f"{self.strategy}{coarse}{options}" + (f" capped at {self.cap}" if self.cap else "")

    @property
    def uncapped(self) -> Candidate:
        return replace(self, cap=None)

    @property
    def plain(self) -> bool:
        """Whether no kernel is coarsened."""
        return set(self.factors) == {1}

    @property
    def default(self) -> bool:
        """Whether it is its strategy as it is, for the given kernels."""
        return self.plain and not self.options and self.cap is None

    def option(self, name: str) -> Any:
        """Its value; None where it has its default or is None itself."""
        return dict(self.options).get(name)

    def having(self, **options: Any) -> Candidate:
        """With these options added to its own, or in place of those of the same names."""
        return replace(self, options=tuple(sorted({**dict(self.options), **options}.items())))

    def without(self, name: str) -> Candidate:
        """With the default of this option."""
        return replace(self, options=tuple(option for option in self.options if option[0] != name))

    def is_part_of(self, other: Candidate) -> bool:
        """Whether `other` has the same strategy, and factors that are all at least those of this one. What refuses this
        candidate then refuses `other` too."""
        less = all(own <= its for own, its in zip(self.factors, other.factors, strict=True))
        return self.strategy == other.strategy and less

    def size(self, sizes: Sequence[int]) -> int:
        """The size of what is woven, for kernels of these sizes: of all copies; of horizontal kernels only of those
        that are coarsened."""
        each = zip(sizes, self.factors, strict=True)
        return sum(size * factor for size, factor in each if factor > 1 or self.strategy != "horizontal")

    def coarse(self, kernels: Sequence[Chosen]) -> list[Chosen]:
        """The kernels, coarsened by the factors."""
        return [
            kernel if factor == 1 else replace(kernel, coarse=kernel.coarse.times(factor, "x"))
            for kernel, factor in zip(kernels, self.factors, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: equal to what is read of it again."""
        options = {name: list(value) if isinstance(value, tuple) else value for name, value in self.options}
        return {"strategy": self.strategy, "factors": list(self.factors), "cap": self.cap, "options": options}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Candidate:
        """The candidate of such data; lists become tuples again. Raises `ValueError`, which names the key, for data
        that do not describe one."""
        if not isinstance(held, Mapping):
            raise ValueError(f"is a {type(held).__name__}, not a table")
        factors, cap = held.get("factors"), held.get("cap")
        if held.get("strategy") not in (*get_args(MeasuredStrategy), "coarsen"):
            raise ValueError("`strategy` is not one that is tuned")
        if not isinstance(factors, list | tuple) or not factors or not all(type(f) is int and f > 0 for f in factors):
            raise ValueError("`factors` is not a list of numbers above 0")
        if cap is not None and not (type(cap) is int and 0 < cap <= MOST_REGISTERS):
            raise ValueError(f"`cap` is not a number up to {MOST_REGISTERS}, or null")
        if not isinstance(held.get("options"), Mapping):
            raise ValueError("`options` is not a table")
        options = {name: tuple(v) if isinstance(v, list) else v for name, v in held["options"].items()}
        return cls(held["strategy"], tuple(held["factors"]), held["cap"]).having(**options)


def unchanged(kernels: int) -> Candidate:
    """So many kernels as they are, launched one after the other."""
    return Candidate("separate", (1,) * kernels)


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
