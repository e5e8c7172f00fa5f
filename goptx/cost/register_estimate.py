"""How many registers the assembler is expected to give to kernels, alone and put together (register_demand.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.registers.declared_registers import widths
from goptx.analysis.registers.register_demand import FULL, Demand, demand
from goptx.analysis.registers.register_limit import MOST
from goptx.memo import Deferred, computed
from goptx.ptx.ir import Directive, Registers

# Of 10 woven kernels that may be fitted on, in one the assembler gives so many times the estimate, or more (of 337 for
# which 33 to 64 registers are estimated; for half of them it gives 0.91 to 1.18 times the estimate).
SURPRISE = 1.43
# Of kernels that run the code of several CTAs, and for which NEARLY to FULL registers are estimated, some are given
# more, the next STEP as a rule: 46 of 115 in one sample, 63 of 533 in another. Which ones has not been found. With the
# share PERHAPS, `auto` chooses best among the measured candidates of suite A (0 to 0.5 were tried).
NEARLY, STEP, PERHAPS = 31, 40, 0.3
OWN = 8  # besides those of one instruction: the stack pointer and what the assembler makes itself


@dataclass(frozen=True, slots=True)
class Pressure:
    """What code needs of a thread's registers, found when it is asked for; and the most that one instruction takes."""

    needed: Deferred[Demand] = field(compare=False)
    widest: int = 0

    @classmethod
    def of(cls, needed: Demand, widest: int = 0) -> Pressure:
        return cls(computed(needed), widest)

    def __add__(self, other: Pressure) -> Pressure:
        return Pressure(Deferred(lambda: self.needed.value + other.needed.value), max(self.widest, other.widest))

    def __or__(self, other: Pressure) -> Pressure:
        """The pressure of code that is either the one or the other."""
        return Pressure(Deferred(lambda: self.needed.value | other.needed.value), max(self.widest, other.widest))

    def times(self, copies: int) -> Pressure:
        return Pressure(Deferred(lambda: self.needed.value.times(copies)), self.widest)

    @property
    def least(self) -> int:
        """The least cap per thread: with fewer registers the assembler refuses the kernel."""
        return self.widest + OWN

    @property
    def spills(self) -> bool:
        """Whether a thread has no room for what it needs."""
        return self.needed.value.live >= MOST

    @property
    def registers(self) -> int:
        """The registers per thread that the assembler is expected to give."""
        return self.needed.value.registers

    def likely(self, several: bool) -> Mapping[int, float]:
        """The registers per thread that the assembler may give, with the share of kernels to which it gives these.
        `several`: a thread runs the code of several CTAs."""
        if several and NEARLY <= self.registers <= FULL:
            return {self.registers: 1.0 - PERHAPS, STEP: PERHAPS}
        return {self.registers: 1.0}

    @property
    def possible(self) -> int:
        """The registers per thread that the assembler gives at most, but for one kernel of ten."""
        return min(round(SURPRISE * self.registers), MOST)


def pressure(
    flow: Flow, declared: Collection[Registers], arch: str = "sm_90", bounds: Iterable[Directive] = ()
) -> Pressure:
    """The pressure of a flow whose registers are `declared`, with these launch bounds."""
    size = widths(declared)
    used = (read(code) | written(code) for block in flow.blocks.values() for code in block.code)
    widest = max((sum([size.get(register, 0) for register in own]) for own in used), default=0)
    return Pressure(Deferred(lambda: demand(flow, declared, arch, bounds)), widest)
