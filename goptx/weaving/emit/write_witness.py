"""What the fused kernel's text says about itself, for `goptx prove`: the kernels, their names there, and of each
instruction whose it is.

Requires: the entry as it is written, its instructions with their provenance. Ensures nothing: the checker trusts no
witness.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.proof.certificate import digest
from goptx.proof.witness import Claim, Named, Witness
from goptx.ptx.ir import Instruction, Module
from goptx.ptx.walk import instructions_of
from goptx.results.fused_kernel import Origin
from goptx.sources.kernel_text import Chosen
from goptx.weaving.model import Linked


def witness_of(
    linked: Linked,
    chosen: Sequence[Chosen],
    module: Module,
    origins: Sequence[Origin | None],
    strategy: str,
    depends: bool,
) -> Witness:
    """`chosen` are the kernels as they were given, `origins` those of the entry's instructions."""
    entry = next(e for e in module.entries if e.name == linked.name)
    letters = [(k.letter, k.copy) for k in linked.kernels]
    claims = {}
    for number, (instruction, origin) in enumerate(zip(instructions_of(entry), origins, strict=True)):
        its = [_claim(i, letters) for i in (instruction, *instruction.also)]
        if its[0] is None and origin:
            its[0] = Claim(origin.kernel, origin.line)
        claims[number] = tuple(c for c in its if c and c.line)
    kernels = tuple(
        Named(
            k.letter, k.entry.name, digest(str(given.module)), k.prefix,
            tuple(linked.one.get(p.name, p.name) for p in k.parameters), dict(k.symbols),
        )
        for k, given in zip(linked.given, chosen, strict=True)
    )  # fmt: skip
    shapes = "" if linked.plan is None else str(linked.plan)
    named = tuple(sorted({*linked.one.values()}))
    return Witness(strategy, linked.name, shapes, kernels, claims, depends, named)


def _claim(instruction: Instruction, letters: list[tuple[str, int]]) -> Claim | None:
    if instruction.kernel is None:
        return None
    letter, copy = letters[instruction.kernel]
    return Claim(letter, instruction.line, copy)
