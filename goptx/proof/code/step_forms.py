"""What a step is without its registers, and where in its operands masks, counts and numbers stand."""

from __future__ import annotations

from goptx.proof.code.kernel_code import Step
from goptx.proof.sync.waits import id_position

FULL = ("-1", "4294967295")  # a mask of all lanes


def count_of(step: Step) -> int | None:
    """The position of the number of threads that a barrier of the CTA waits for, None where it is for all."""
    position = id_position(step)
    if position is None or len(step.sources) <= position + 1 + step.facts.reduces:
        return None
    return position + 1


def mask_of(step: Step) -> int | None:
    """The position of the lane mask among the sources."""
    return None if step.facts.row.mask is None else len(step.sources) + step.facts.row.mask


def is_full(step: Step) -> bool:
    """Whether its mask names all lanes of the warp."""
    return step.sources[-1].text in FULL


Form = tuple[str, tuple[str, ...], tuple[int | None, ...]]


def without(form: Form, position: int) -> Form:
    """The form of a step without that operand."""
    opcode, texts, offsets = form
    return opcode, texts[:position] + texts[position + 1 :], offsets[:position] + offsets[position + 1 :]


def form_of(step: Step) -> Form:
    """What an event is, without its registers. A load may lose `.nc`, and with that hints: it then reads what is there.
    A barrier may be one that warps need not come to whole, and have another number. A mask of lanes may be constant."""
    words = step.opcode.split(".")
    opcode = ".".join(
        w for w in words if words[0] != "ld" or not (w in ("nc", "proxy::readonly") or w.startswith("L1::"))
    )
    texts = [s.text for s in step.sources]
    position = id_position(step)
    if position is not None:
        opcode = ".".join(["barrier", *(w for w in opcode.split(".")[1:] if w not in ("aligned", "cta"))])
        texts[position : position + 1] = ["id"]
    mask = mask_of(step)
    if mask is not None:
        texts[mask] = "mask"
    return opcode, tuple(texts), tuple(s.offset for s in step.sources)


def quoted(step: Step) -> str:
    """A step of the kernel in a message."""
    return f"`{step.statement}` in line {step.line} of the kernel"
