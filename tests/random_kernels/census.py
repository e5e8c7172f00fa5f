"""The constructs that random kernels have to have, by the names under which the writer counts them."""

from random_kernels.arithmetic import ROWS
from random_kernels.conditions import COUNTS, TESTS
from random_kernels.control import END_OF_ALL, ENDS, FORMS
from random_kernels.copying import KINDS as COPIES
from random_kernels.drawing import KERNELS, UNKNOWN
from random_kernels.functions import FOR_ALL, FOR_WARPS
from random_kernels.functions import KINDS as FUNCTIONS
from random_kernels.meeting import KINDS as MEETINGS
from random_kernels.memory import KINDS as ACCESSES
from random_kernels.parties import FORMS as HANDOVERS
from random_kernels.phases import KINDS as PHASES
from random_kernels.together import KINDS as TOGETHER
from random_kernels.tree import Level

# Constructs that show one thing; a pair with one of them counts as one of the group too.
GROUPS = {
    "barriers that count": (
        "barrier that counts",
        "reduction that counts",
        "barrier in two places",
        "barrier of a party",
        "barrier of a party in a loop",
        "handover by named barriers",
    ),
    "parties": ("parties", *(f"handover by {form}" for form in HANDOVERS)),
    "mbarriers": (*PHASES, "copy and mbarrier", "handover by mbarriers"),
    "asynchronous copies of threads": ("asynchronous copy", "asynchronous copies in groups"),
    "asynchronous copies for others": ("exchange of copies", "pipeline of copies", *COPIES),
    "calls": tuple(f"call: {kind}" for kind in FUNCTIONS if kind not in (*FOR_ALL, *FOR_WARPS)),
    "calls in which threads wait": tuple(f"call: {kind}" for kind in (*FOR_ALL, *FOR_WARPS)),
    "local arrays": ("store to a lasting array", "load from a lasting array"),
    "launch shapes": ("own launch shapes",),
    "launch shapes that are not known": tuple(f"own launch shapes, {what} not known" for what in UNKNOWN if what),
    "dynamic shared memory": ("dynamic shared memory",),
}

CONSTRUCTS = (
    *(f"group: {group}" for group in GROUPS),
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
    *(f"{what}: {kind}" for what in ("function", "call") for kind in FUNCTIONS),
    "function of all kernels",
    "functions of one name",
    "parties",
    *(f"handover by {form}" for form in HANDOVERS),
    *COPIES,
    "dynamic shared memory",
    "dynamic shared memory of several kernels",
    *(f"{count} kernels" for count in sorted(set(KERNELS))),
    "one launch shape",
    "own launch shapes",
    *(f"own launch shapes, {what} not known" for what in UNKNOWN if what),
    "grids that differ",
    "blocks that differ",
    "barrier id in a register",
    "barrier of a party",
    "barrier of a party in a loop",
    "barrier",
    "barrier after lanes have ended",
    "barrier in a loop",
    "warp operation of a part",
    "warp operation after lanes have ended",
    "warp operation where warps differ",
)


def with_groups(constructs: set[str]) -> set[str]:
    """The constructs of a pair, and the groups that it counts to."""
    return constructs | {f"group: {group}" for group, names in GROUPS.items() if not constructs.isdisjoint(names)}
