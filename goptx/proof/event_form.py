"""What an event is, without the registers that it reads and writes."""

from __future__ import annotations

from goptx.proof.kernel_code import Step
from goptx.proof.sync.waits import id_position


def mask_of(step: Step) -> int | None:
    """The position of the lane mask among the sources."""
    return None if step.facts.row.mask is None else len(step.sources) + step.facts.row.mask


def is_full(step: Step) -> bool:
    """Whether its mask names all lanes of the warp."""
    return step.sources[-1].text.lower() in ("-1", "0xffffffff", "4294967295")


def form_of(step: Step) -> tuple[str, tuple[str, ...], tuple[int | None, ...]]:
    """What an event is, without its registers. A load may lose `.nc`: it then reads what is there. A barrier may be
    one that warps need not come to whole, and have another number."""
    opcode = step.opcode.replace(".nc", "") if step.facts.base == "ld" else step.opcode
    texts = [s.text for s in step.sources]
    position = id_position(step)
    if position is not None:
        opcode = ".".join(["barrier", *(w for w in opcode.split(".")[1:] if w not in ("aligned", "cta"))])
        texts[position : position + 1] = ["id"]
    return opcode, tuple(texts), tuple(s.offset for s in step.sources)
