"""prove(): a certificate for a fused kernel, from its text and those of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.values.pointer_effects import reach
from goptx.errors import InputError, NotProvedError
from goptx.launch.independence import Independence
from goptx.launch.parameter import Accesses, Parameter
from goptx.memo import computed
from goptx.proof.certificate import Certificate
from goptx.proof.prove import INDEPENDENT, prove_text
from goptx.ptx.ir import Module
from goptx.results.fused_kernel import Woven


def prove(fused: Woven) -> Certificate:
    """A certificate that the fused kernel does what its kernels do, for every input and every launch in the shapes that
    it was made for, or what of that could not be proved. Where it is proved, `fused.report.certificate` is the
    certificate from then on.

    The checker reads the text of the fused kernel and the texts of its kernels, as `goptx prove` does. It shares only
    the parser and the table of opcodes with the code that made the kernel; docs/proof.md has its rules. A certificate
    is a value: `bool()` of it is whether the kernel is proved, `to_json()` stores it. Raises `InputError` for kernels
    that stay separate launches.
    """
    if not isinstance(fused, Woven):
        raise InputError(
            f"an object of type {type(fused).__name__} is not a fused kernel; give what goptx.weave or goptx.fuse "
            "made. Of files, `goptx prove AB.ptx --from A.ptx B.ptx` proves it."
        )
    if fused.is_separate:
        raise InputError(f"`{fused.name}` stays separate launches, so there is nothing to prove; fuse the kernels.")
    made = prove_texts(fused.text(), [c.module for c in fused.chosen])
    if made:
        object.__setattr__(fused, "report", replace(fused.report, certificate=made))
    return made


def prove_texts(fused: str, kernels: Sequence[Module]) -> Certificate:
    """The same for the text of a fused kernel, and its kernels in order. Raises `PtxSyntaxError` where the text is not
    PTX."""
    made = prove_text(fused, kernels)
    if not made or INDEPENDENT not in made.presumed:
        return made
    pairs = len(Independence(_parameters(made, kernels)).pairs)
    presumed = (f"{INDEPENDENT} ({pairs} pairs of parameters checked at launch)" if p == INDEPENDENT else p
                for p in made.presumed)  # fmt: skip
    return replace(made, presumed=tuple(presumed))


def _parameters(made: Certificate, kernels: Sequence[Module]) -> list[Parameter]:
    """Those of the kernels, with what the kernels do to the memory that they point to."""
    found = []
    for (letter, name), module in zip(made.names.items(), kernels, strict=True):
        entry = next(e for e in module.entries if e.name == name)
        reached = reach(entry, module.address_size)
        for p in entry.parameters:
            accesses = Accesses(reached.accesses[p.name], tuple(reached.inside.get(p.name, {}).items()))
            found.append(Parameter(letter, p.name, p.name, p.type, p.size, accesses=computed(accesses)))
    return found


def confirm(stored: Certificate, made: Certificate) -> None:
    """Raises `NotProvedError` unless a certificate that was made now of the texts establishes what a stored one
    says."""
    if reasons := [*made.lacks(stored)]:
        raise NotProvedError(f"the certificate does not hold here: {'; '.join(reasons)}.")


def require(made: Certificate) -> None:
    """Raises `NotProvedError` unless the kernel is proved."""
    if not made:
        name = f"`{made.entry}`" if made.entry else "the text"
        raise NotProvedError(f"{name} is not proved: {'; '.join(map(str, made.gaps))}.")
