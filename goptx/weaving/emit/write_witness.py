"""What the fused kernel's text says about itself, for `goptx prove`: the kernels, their names there, and of each
instruction whose it is.

Requires: the entry as it is written, its instructions with their provenance. Ensures nothing: the checker trusts no
witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from goptx.launch.launch_plan import STRIDE, Plan
from goptx.memo import Deferred
from goptx.proof.certificate import digest
from goptx.proof.witness import Claim, FusedLaunch, Named, OwnLaunch, Witness
from goptx.ptx.ir import Function, Instruction, Module, Variable
from goptx.ptx.walk import instructions_of
from goptx.results.fused_kernel import Origin
from goptx.sources.kernel_text import Chosen
from goptx.weaving.model import Linked
from goptx.weaving.shapes.interleaved import Interleaved


def witness_of(
    linked: Linked,
    chosen: Sequence[Chosen],
    module: Module,
    origins: Sequence[Origin | None],
    strategy: str,
    depends: bool,
) -> Deferred[Witness]:
    """`chosen` are the kernels as they were given, `origins` those of the entry's instructions. What takes time is put
    off: the digests and the claims."""
    entry = next(e for e in module.entries if e.name == linked.name)
    letters = [(k.letter, k.copy) for k in linked.kernels]
    modules = [given.module for given in chosen]
    copies = {k.letter: [c for c in linked.kernels if c.letter == k.letter] for k in linked.given}
    kernels = tuple(
        Named(
            k.letter, k.entry.name, "",
            tuple(c.prefix for c in copies[k.letter]),
            tuple(linked.one.get(p.name, p.name) for p in k.parameters), dict(k.symbols),
            None if linked.plan is None else own_launch(linked.plan, k.letter),
            next((c.pool for c in copies[k.letter]), ""), tuple(c.pooled for c in copies[k.letter]),
        )
        for k in linked.given
    )  # fmt: skip
    launch = None if linked.plan is None else fused_launch(linked.plan, linked.hidden)
    named = tuple(sorted({*linked.one.values()}))
    made = Witness(strategy, linked.name, kernels, {}, launch, depends, named)

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


def own_launch(plan: Plan, letter: str) -> OwnLaunch:
    """How a kernel is launched alone, and where it is in the fused kernel."""
    k = plan.letters.index(letter)
    shape, coarse = plan.shapes[k], plan.coarse[k]
    return OwnLaunch(
        shape.axes("grid"), shape.axes("block"), shape.shared, plan.first_thread(k), coarse.factor, coarse.axis,
        STRIDE if k in plan.strided else 0,
    )  # fmt: skip


def fused_launch(plan: Plan, hidden: Mapping[str, Variable]) -> FusedLaunch:
    """How the fused kernel is launched; `hidden` are its parameters by role."""
    ratio = plan.ratio if isinstance(plan, Interleaved) else ()
    return FusedLaunch(
        plan.axes("grid"), plan.axes("block"), plan.placement, ratio, plan.same_shape, plan.overlaid,
        any(s.cluster for s in plan.shapes), {role: parameter.name for role, parameter in hidden.items()},
    )  # fmt: skip


def _claim(instruction: Instruction, letters: Sequence[tuple[str, int]]) -> Claim | None:
    if instruction.kernel is None:
        return None
    letter, copy = letters[instruction.kernel]
    return Claim(letter, instruction.line, copy)
