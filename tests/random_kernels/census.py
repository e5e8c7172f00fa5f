"""The constructs that random kernels have to have, by the names under which the writer counts them."""

from random_kernels.arithmetic import ROWS
from random_kernels.conditions import COUNTS, TESTS
from random_kernels.control import END_OF_ALL, ENDS, FORMS, FUNCTION_ENDS
from random_kernels.copying import KINDS as COPIES
from random_kernels.corners import KINDS as CORNERS
from random_kernels.drawing import KERNELS, UNKNOWN
from random_kernels.functions import FOR_ALL, FOR_WARPS
from random_kernels.functions import KINDS as FUNCTIONS
from random_kernels.functions import MORE_KINDS as MORE_FUNCTIONS
from random_kernels.gone import KINDS as GONE
from random_kernels.meeting import KINDS as MEETINGS
from random_kernels.meeting import MORE_KINDS as MORE_MEETINGS
from random_kernels.memory import KINDS as ACCESSES
from random_kernels.messages import ACQUIRES, RELEASES, SCOPES
from random_kernels.parties import FORMS as HANDOVERS
from random_kernels.phases import KINDS as PHASES
from random_kernels.sides import BY, MEETS
from random_kernels.together import KINDS as TOGETHER
from random_kernels.tree import Level
from random_kernels.waits import FORMS as WAITS
from random_kernels.waits import READS, WEAK_READS

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

WAYS_TO_WAIT = (
    *(f"wait: {form}" for form in WAITS),
    *(f"wait by {read}" for read in (*READS, *WEAK_READS)),
    *(
        f"wait {depth} calls deep{whole}"
        for depth in range(4)
        for whole in ("", ", the loop too")
        if depth or not whole
    ),
    "wait for another CTA",
)
MESSAGES = (
    *(f"release by {release}" for release in RELEASES),
    *(f"acquire by {acquire}" for acquire in ACQUIRES),
    *(f"release and acquire in scope {scope}" for scope in SCOPES),
)
ON_BOTH_SIDES = (*(f"sides by {by}" for by in BY), *(f"barriers on both sides: {kind}" for kind in MEETS))
IN_FUNCTIONS = (
    *(f"leave in a function by {form}" for form in dict.fromkeys(form for form, _, _ in FUNCTION_ENDS.values())),
    *(f"leave in a function, {depth} calls deep" for depth in (1, 2, 3)),
    "leave in a function, called under a guard",
)
LANES_GONE = tuple(f"lanes gone, named by {kind}" for kind in GONE)

# Those that only the new generator draws; each is one of the issues that random kernels did not find before.
OF_NEW = (
    *WAYS_TO_WAIT,
    *MESSAGES,
    *ON_BOTH_SIDES,
    *IN_FUNCTIONS,
    *LANES_GONE,
    *CORNERS,
    *MORE_MEETINGS,
    *(f"{what}: {kind}" for what in ("function", "call") for kind in MORE_FUNCTIONS),
    "call with a guard",
)
GROUPS_OF_NEW = {
    "waits in loops": WAYS_TO_WAIT,
    "messages": MESSAGES,
    "barriers on both sides": ON_BOTH_SIDES,
    "ends in functions": IN_FUNCTIONS,
    "lanes gone": LANES_GONE,
    "barrier ids of sizes": ("barrier id of sizes",),
    "calls with a guard": ("call with a guard",),
    **{f"corner: {kind}": (kind,) for kind in CORNERS},
}
GROUPS |= GROUPS_OF_NEW

CONSTRUCTS = (
    *OF_NEW,
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
