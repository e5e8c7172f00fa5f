"""What functions see of the launch: the fused kernel's copy of a function may begin with code that computes the
kernel's thread and CTA numbers, and read these in place of special registers.

Ensures: what stands for a special register has the kernel's value of it wherever a thread of the kernel is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.proof.code.kernel_code import NotProved
from goptx.proof.code.read_steps import program_of
from goptx.proof.evaluation import Evaluation
from goptx.proof.placement.placement import Placements
from goptx.proof.terms import Terms
from goptx.ptx.ir import Function, Instruction, Registers, Statement


@dataclass(frozen=True)
class ThreadView:
    """That of a kernel, or of a copy of one."""

    terms: Terms
    placements: Placements
    letter: str

    def computed(
        self, function: Function, declared: Sequence[Registers], begin: Sequence[Statement]
    ) -> dict[str, int] | None:
        """The values of the registers that only the fused kernel's function has, after the code with which it begins.
        None where that does more than to compute them."""
        own = {name for registers in declared for name, _ in registers.names}
        if not all(isinstance(s, Instruction) for s in begin):
            return None
        try:
            program = program_of(replace(function, body=(*declared, *begin)))
        except NotProved:
            return None
        side = Evaluation(self.terms, program, {}, {}, function.name, self.placements.special, self.placements.integers)
        values: dict[str, int] = {}
        for step in program.steps:
            facts = step.facts
            if step.guard or step.is_branch or facts.row.ends or facts.calls or facts.sets_carry or facts.uses_carry:
                return None
            if program.is_effect(step) or facts.row.access or not own.issuperset(step.writes):
                return None
            side.write(values, step, side.values(values, step))
        return {name: value for name, value in values.items() if not program.is_predicate(name)}

    def is_own(self, name: str, stands: str, computed: Mapping[str, int]) -> bool:
        """Whether a word of the fused kernel's function has the value of a special register of the kernel."""
        special = self.placements.of(self.letter).special
        if self.placements.sizes is None:
            return name == stands
        if name not in special:
            return False
        if stands in computed:
            found = computed[stands]
        elif stands.isdigit() and (stands == "0" or stands[0] != "0"):
            found = self.terms.make(stands)
        else:
            found = self.placements.special.get(stands, self.terms.make(stands))
        given = self.placements.formulas.both(self.placements.facts, self.placements.of(self.letter).belongs)
        return self.terms.are_equal(found, special[name], given)
