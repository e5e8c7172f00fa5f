"""What weaving did, as plain data, text and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from goptx.display import as_html, as_text, brief
from goptx.memo import Deferred
from goptx.options import Policy, Slicing
from goptx.proof.certificate import Certificate
from goptx.readable_names import elided, short
from goptx.results.decision import Decision
from goptx.results.expected_gain import ExpectedGain
from goptx.results.temporary import Temporary

BESIDE = "instructions beside another kernel's"  # the woven fraction, under a name that does not promise anything


@dataclass(frozen=True, slots=True)
class Counts:
    """One kernel.

    name: of its entry.
    blocks, instructions: in its code; each merged block counts once.
    dummy_blocks: blocks of the fused kernel in which a kernel waits although it has not ended.
    barriers: CTA-wide ones in its code.
    estimated_cycles: of one warp on the critical path; loops count ten times (latency/cost.py).
    """

    __repr__ = brief

    name: str
    blocks: int
    instructions: int
    dummy_blocks: int
    barriers: int
    estimated_cycles: int


@dataclass(frozen=True, slots=True)
class Divergent:
    """How weaving handled a branch at which the lanes of a warp diverge.

    kernel: its letter. line: of the branch, in the kernel's file.
    choice: "park", "predicate" or "duplicate", as in `divergence=`.
    """

    __repr__ = brief

    kernel: str
    line: int
    choice: str


@dataclass(frozen=True, slots=True)
class Report:
    """What weaving did. `str()` is the sentence of `expected`, then a table.

    kernels: the given kernels by their letters. merged: what was made of them.
    woven_fraction: of the instructions of the kernel with fewer static instructions, each weighted 10 to the power of
        its loop depth, the share that lies in merged blocks with code of another kernel. An instruction that weaving
        copied counts once, if any copy lies in such a block.
    policy, slicing: those that were used; slicing None means whole blocks.
    latency: the architecture of the latency table.
    divergences: what became of branches at which lanes diverge.
    notes: what else was found, chosen or left out.
    decision: what `auto` compared; None where it did not choose.
    temporaries: what became of each buffer that is declared `private` or `local`.
    estimate: `expected`, which is computed when it is first read.
    certificate: that the fused kernel is proved (`goptx.prove`); None unless it is.
    """

    __repr__ = brief

    kernels: dict[str, Counts]
    merged: Counts
    woven_fraction: float
    policy: Policy
    slicing: Slicing
    latency: str
    divergences: tuple[Divergent, ...]
    notes: tuple[str, ...]
    decision: Decision | None = None
    temporaries: tuple[Temporary, ...] = ()
    estimate: Deferred[ExpectedGain] | None = field(default=None, compare=False, repr=False)
    certificate: Certificate | None = field(default=None, compare=False)

    @property
    def expected(self) -> ExpectedGain | None:
        """How fast it is estimated to be, compared with separate launches; None where that cannot be estimated, and for
        kernels that were made only to be compared."""
        return self.estimate.value if self.estimate else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `woven_fraction` stands at the top level."""
        lists = {"notes": list(self.notes), "divergences": [asdict(d) for d in self.divergences]}
        lists["temporaries"] = [asdict(t) for t in self.temporaries]
        parts = {"decision": self.decision, "certificate": self.certificate, "expected": self.expected}
        plain = asdict(replace(self, estimate=None)) | lists
        del plain["estimate"]
        return plain | {name: None if part is None else part.to_dict() for name, part in parts.items()}

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        return "\n".join([*([str(self.expected)] if self.expected else []), self.details()])

    def details(self) -> str:
        """The table and all else but the sentence at the beginning."""
        named = [(f"{letter} {elided(short(c.name), 60)}", c) for letter, c in self.kernels.items()]
        rows = [*named, ("woven", self.merged)]
        width = max(len(title) for title, _ in rows)
        head = f"{'':{width}}  {'blocks':>7}{'instructions':>14}{'dummies':>9}{'barriers':>10}{'est. cycles':>13}"
        lines = [head] + [
            f"{title:{width}}  {c.blocks:>7}{c.instructions:>14}{c.dummy_blocks:>9}{c.barriers:>10}"
            f"{c.estimated_cycles:>13}"
            for title, c in rows
        ]
        lines.append(
            f"{BESIDE} {self.woven_fraction:.0%}, policy {self.policy}, slicing {self.slicing}, latencies "
            f"{self.latency}"
        )
        for choice in dict.fromkeys(d.choice for d in self.divergences):
            where = ", ".join(f"{d.kernel}:{d.line}" for d in self.divergences if d.choice == choice)
            lines.append(f"divergence {choice}: {where}")
        lines += [f"note: {note}" for note in self.notes]
        lines += str(self.certificate).splitlines() if self.certificate else []
        return "\n".join([*lines, str(self.decision)] if self.decision else lines)
