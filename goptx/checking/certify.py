"""prove(): a certificate for a fused kernel, from its text and those of its kernels."""

from __future__ import annotations

from goptx.proof.certificate import Certificate
from goptx.proof.prove import prove_text
from goptx.results.fused_kernel import Woven


def prove(fused: Woven) -> Certificate:
    """A certificate that the fused kernel does what its kernels do, for every input and every launch in the shapes that
    it was made for, or what of that could not be proved.

    The checker reads the text of the fused kernel and the texts of its kernels, as `goptx prove` does. It shares only
    the parser and the table of opcodes with the code that made the kernel; docs/proof.md has its rules. A certificate
    is a value: `bool()` of it is whether the kernel is proved, `to_json()` stores it.
    """
    return prove_text(fused.text(), [c.module for c in fused.chosen])
