"""What the fused kernel's text says about itself, for `goptx prove`: the kernels, their names there, and of each
instruction whose it is.

Requires: the entry as it is written, its instructions with their provenance. Ensures nothing: the checker trusts no
witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.memo import Deferred
from goptx.proof.certificate import digest
from goptx.proof.witness import Claim, Named, Witness
from goptx.ptx.ir import Function, Instruction, Module
from goptx.ptx.walk import instructions_of
from goptx.results.fused_kernel import Origin
from goptx.sources.kernel_text import Chosen
from goptx.weaving.model import Linked


def witness_of(
    linked: Linked, chosen: Sequence[Chosen], module: Module, origins: Sequence[Origin | None], strategy: str
) -> Deferred[Witness]:
    """`chosen` are the kernels as they were given, `origins` those of the entry's instructions. What takes time is put
    off: the digests and the claims."""
    entry = next(e for e in module.entries if e.name == linked.name)
    letters = [(k.letter, k.copy) for k in linked.kernels]
    modules = [given.module for given in chosen]
    kernels = tuple(
        Named(k.letter, k.entry.name, "", k.prefix, tuple(p.name for p in k.parameters), dict(k.symbols))
        for k in linked.given
    )
    made = Witness(strategy, linked.name, "" if linked.plan is None else str(linked.plan), kernels)

    def filled() -> Witness:
        digests = (digest(str(module)) for module in modules)
        named = tuple(replace(k, digest=d) for k, d in zip(made.kernels, digests, strict=True))
        return replace(made, kernels=named, claims=_claims(entry, origins, letters))

    return Deferred(filled)


def _claims(
    entry: Function, origins: Sequence[Origin | None], letters: Sequence[tuple[str, int]]
) -> dict[int, tuple[Claim, ...]]:
    """By the numbers of the entry's instructions."""
    claims = {}
    for number, (instruction, origin) in enumerate(zip(instructions_of(entry), origins, strict=True)):
        its = [_claim(i, letters) for i in (instruction, *instruction.also)]
        if its[0] is None and origin:
            its[0] = Claim(origin.kernel, origin.line)
        claims[number] = tuple(c for c in its if c and c.line)
    return claims


def _claim(instruction: Instruction, letters: Sequence[tuple[str, int]]) -> Claim | None:
    if instruction.kernel is None:
        return None
    letter, copy = letters[instruction.kernel]
    return Claim(letter, instruction.line, copy)
