"""The constructs that random kernels have to have, by the names under which the writer counts them."""

from random_kernels.arithmetic import ROWS
from random_kernels.conditions import COUNTS, TESTS
from random_kernels.control import END_OF_ALL, ENDS, FORMS
from random_kernels.meeting import KINDS as MEETINGS
from random_kernels.memory import KINDS as ACCESSES
from random_kernels.together import KINDS as TOGETHER
from random_kernels.tree import Level

CONSTRUCTS = (
    *ROWS,
    *ACCESSES,
    *TOGETHER,
    *MEETINGS,
    *(f"condition: {kind}" for kinds in TESTS.values() for kind in kinds),
    *(f"count: {kind}" for kind in dict.fromkeys(kind for kinds in COUNTS.values() for kind in kinds)),
    *(f"loop: {form}" for form in ("strided", *FORMS)),
    *(f"loop at level {level.name}" for level in Level),
    *(f"switch at level {level.name}" for level in Level),
    *(f"if, {arms}, {end} else" for arms in ("lone", "together", "masked", "halves") for end in ("with", "without")),
    *(f"leave by {form}" for form in (*ENDS, END_OF_ALL)),
    "leave from within a loop",
    "loop in a loop",
    "break",
    "continue",
    "guard",
    "predicated",
    "short circuit",
    "call",
    "barrier",
    "barrier after lanes have ended",
    "barrier in a loop",
    "warp operation of a part",
    "warp operation after lanes have ended",
    "warp operation where warps differ",
)
