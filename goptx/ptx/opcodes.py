"""The one table of facts about opcodes, and `facts_of(opcode)`, which reads it.

The longest dotted prefix selects the row, so `bar.warp` is found before `bar`. Text after `::` does not count.
Where the second word distinguishes the instructions of a family (`mbarrier`, `tcgen05`), the family has no row of its
own, so a newer member is not mistaken for an older one. An opcode without a row is treated as the most constrained: it
reads and writes memory, the carry flag and all its operands, is convergent for the whole CTA, may block and is never
copied. Facts from the PTX ISA 9.4 manual, chapter 9.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from goptx.memo import once


class Scope(IntEnum):
    """The threads that must execute a convergent instruction together."""

    THREAD = 0
    WARP = 1
    WARPGROUP = 2
    CTA = 3
    CLUSTER = 4


@dataclass(frozen=True, slots=True)
class Row:
    """The facts of one family of opcodes.

    writes: how many leading operands are destinations. For `call`, the parentheses determine the destinations.
    updates: whether those destinations are read too.
    access: what it does to memory: "" nothing, "l" load, "s" store, "ls" both, "sl" a copy, which stores at its first
        address and loads at the second, "f" orders other accesses.
    scope: convergent at this scope.
    blocking: can wait for other threads.
    releases: others may wait for it, and it does not wait for them.
    acquires: after it, or after it and an earlier read from memory, the thread sees what others released. Set for all
        instructions that may do so except barriers and fences.
    ends: "branch", "exit" or "trap" where the instruction ends a block.
    mask: position of the lane mask among the operands (-1 is the last), or None.
    space: the space that it accesses where no modifier names one.
    hint: announces future accesses to an address. Undefined for an address that the thread may not access.
    expands: the assembler may expand it into code with a branch, see `Facts.slow_path`.
    guardable: whether the assembler honours a guard. ptxas 13.0 does not for `testp` and most of `set`: threads whose
        guard is false execute the instruction, or a part of its expansion, without a warning.
    """

    writes: int = 1
    updates: bool = False
    access: str = ""
    scope: Scope = Scope.THREAD
    blocking: bool = False
    releases: bool = False
    acquires: bool = False
    ends: str = ""
    mask: int | None = None
    space: str = ""
    expands: bool = False
    hint: bool = False
    guardable: bool = True


PURE = Row()
LOAD = Row(access="l")
STORE = Row(writes=0, access="s")
HINT = Row(writes=0, hint=True)
ATOMIC = Row(access="ls")
UPDATE = Row(writes=0, access="ls")  # of memory: a reduction, an operation on a barrier in memory
COPY = Row(writes=0, access="sl")
RELEASE = Row(writes=0, access="ls", releases=True)
ARRIVAL = Row(access="ls", releases=True)
FENCE = Row(writes=0, access="f", acquires=True)
ORDER = Row(writes=0, access="f")
WARP = Row(scope=Scope.WARP, blocking=True, mask=-1)
MMA = Row(scope=Scope.WARP)
WARP_FENCE = Row(writes=0, access="f", scope=Scope.WARP)
WARPGROUP_FENCE = Row(writes=0, access="f", scope=Scope.WARPGROUP)
CTA_BARRIER = Row(writes=0, access="f", scope=Scope.CTA, blocking=True)
CTA_ARRIVAL = Row(writes=0, access="f", scope=Scope.CTA, releases=True)
CTA_REDUCTION = Row(access="f", scope=Scope.CTA, blocking=True)
TENSOR = Row(writes=0, access="ls", space="tensor")
FLOATS = frozenset(("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"))
TENSOR_LOAD = Row(access="l", scope=Scope.WARP, space="tensor")
UNKNOWN = Row(writes=sys.maxsize, updates=True, access="ls", scope=Scope.CTA, blocking=True, acquires=True)

TABLE: dict[str, Row] = {
    # arithmetic, logic, comparison, conversion, data movement between registers
    **dict.fromkeys(
        """abs add addc and bfe bfi bfind bmsk brev clmad clz cnot copysign cos cvt cvt.pack cvta dp2a dp4a ex2 fma
        fns getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg not or popc prmt
        rsqrt sad selp setp shf shl shr sin slct sub subc szext tanh vabsdiff vabsdiff2
        vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl
        vshr vsub vsub2 vsub4 xor createpolicy clusterlaunchcontrol.query_cancel mbarrier.pending_count
        spdecompress stacksave""".split(),
        PURE,
    ),
    "spcompress": Row(writes=2),
    **dict.fromkeys("div rcp rem sqrt".split(), Row(expands=True)),
    **dict.fromkeys("set testp".split(), Row(guardable=False)),
    # memory
    "ld": LOAD, "ldu": LOAD, "st": STORE, "atom": ATOMIC, "red": UPDATE, "discard": STORE,
    **dict.fromkeys("prefetch prefetchu applypriority cp.async.bulk.prefetch".split(), HINT),
    **dict.fromkeys("tex tld4 txq".split(), Row(access="l", space="texture")),
    **dict.fromkeys("suld suq".split(), Row(access="l", space="surface")),
    "sust": Row(writes=0, access="s", space="surface"), "sured": Row(writes=0, access="ls", space="surface"),
    "multimem.ld_reduce": LOAD, "multimem.st": STORE, "multimem.red": UPDATE,
    "multimem.cp.async": COPY, "multimem.cp.reduce": UPDATE,
    "stackrestore": Row(writes=0, access="ls", space="local"), "alloca": Row(access="ls", space="local"),
    "membar": FENCE, "fence": FENCE,
    **dict.fromkeys(
        "cp.async.commit_group cp.async.wait_group cp.async.wait_all".split()
        + "cp.async.bulk.commit_group cp.async.bulk.wait_group tcgen05.fence nanosleep pmevent".split(), ORDER,
    ),
    "cp.async": COPY, "cp.async.bulk": COPY,
    **dict.fromkeys(
        """cp.reduce.async.bulk mbarrier.init mbarrier.inval mbarrier.expect_tx tensormap.replace
        clusterlaunchcontrol.try_cancel brkpt""".split(),
        UPDATE,
    ),
    "cp.async.mbarrier": RELEASE, "mbarrier.complete_tx": RELEASE, "mbarrier.arrive": ARRIVAL,
    "mbarrier.arrive_drop": ARRIVAL, "mbarrier.check_layout": LOAD,
    "mbarrier.test_wait": Row(access="ls", acquires=True),
    "mbarrier.try_wait": Row(access="ls", acquires=True, blocking=True),
    "griddepcontrol.wait": Row(writes=0, access="f", acquires=True, blocking=True),
    "griddepcontrol.launch_dependents": Row(writes=0, access="f", releases=True),
    # memory of other devices, named by handles
    **dict.fromkeys("fabric.try_get fabric.try_put fabric.try_red fabric.try_atom".split(), RELEASE),
    "fabric.try_pullred": Row(writes=0, access="ls", releases=True, scope=Scope.WARP, blocking=True, mask=-1),
    "fabric.submit": Row(writes=0, access="f", releases=True), "fabric.wait": ORDER,
    # warps
    **dict.fromkeys("shfl vote match redux elect".split(), WARP), "activemask": Row(scope=Scope.WARP),
    "bar.warp": Row(writes=0, access="f", scope=Scope.WARP, blocking=True, mask=-1),
    "mma": MMA, "wmma.mma": MMA, "movmatrix": MMA, "wmma.load": Row(access="l", scope=Scope.WARP),
    "wmma.store": Row(writes=0, access="s", scope=Scope.WARP),
    "ldmatrix": Row(access="l", scope=Scope.WARP), "stmatrix": Row(writes=0, access="s", scope=Scope.WARP),
    "tensormap.cp_fenceproxy": Row(writes=0, access="ls", scope=Scope.WARP),
    # tensor memory: one thread issues copies and products, a warp the rest
    **dict.fromkeys("tcgen05.mma tcgen05.cp tcgen05.shift".split(), TENSOR), "tcgen05.commit": RELEASE,
    "tcgen05.ld": TENSOR_LOAD, "tcgen05.ld.red": replace(TENSOR_LOAD, writes=2),
    "tcgen05.ld.spcompress": replace(TENSOR_LOAD, writes=2),
    "tcgen05.ld.red.spcompress": replace(TENSOR_LOAD, writes=3),
    "tcgen05.st": Row(writes=0, access="s", scope=Scope.WARP, space="tensor"),
    "tcgen05.alloc": Row(writes=0, access="ls", scope=Scope.WARP, blocking=True),
    **dict.fromkeys("tcgen05.wait tcgen05.dealloc tcgen05.relinquish_alloc_permit".split(), WARP_FENCE),
    # warpgroups
    "wgmma.mma_async": Row(updates=True, access="l", scope=Scope.WARPGROUP, space="shared"),
    **dict.fromkeys("wgmma.fence wgmma.commit_group wgmma.wait_group".split(), WARPGROUP_FENCE),
    "setmaxnreg": Row(writes=0, scope=Scope.WARPGROUP, blocking=True),
    # CTAs and clusters
    **dict.fromkeys("bar barrier".split(), CTA_BARRIER),
    **dict.fromkeys("bar.arrive barrier.arrive bar.cta.arrive barrier.cta.arrive".split(), CTA_ARRIVAL),
    **dict.fromkeys("bar.red barrier.red bar.cta.red barrier.cta.red".split(), CTA_REDUCTION),
    "barrier.cluster": Row(writes=0, access="f", scope=Scope.CLUSTER, blocking=True),
    "barrier.cluster.arrive": Row(writes=0, access="f", scope=Scope.CLUSTER, releases=True),
    # control
    "bra": Row(writes=0, ends="branch"), "brx": Row(writes=0, ends="branch"), "ret": Row(writes=0, ends="exit"),
    "exit": Row(writes=0, ends="exit"), "trap": Row(writes=0, ends="trap"), "call": Row(access="ls", acquires=True),
}  # fmt: skip

# The spellings of a plain CTA barrier: every thread of the CTA arrives and waits, no count.
PLAIN_BARRIERS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.cta.sync", "barrier.cta.sync",
                  "barrier.cta.sync.aligned")  # fmt: skip

SPACES = frozenset(("global", "shared", "local", "const", "param"))
TYPES = frozenset(
    """pred b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 f16x2 bf16x2 tf32 b64 u64 s64 f64 b128 u16x2 s16x2 u8x4 s8x4
    f32x2 b1 u4 s4 e4m3 e5m2 e2m3 e3m2 e2m1 e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 ue5m3x2 s2f6x2 e4m3x4 e5m2x4
    e2m3x4 e3m2x4 e2m1x4 e2m1p4x4 ue8m0x4""".split()
)

SELECTABLE = frozenset("b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split())  # types of `selp`

_BITS = {t: int(t[1:]) for t in TYPES if t[0] in "busf" and t[1:].isdigit()}
_POINTER_OPERANDS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("mov", "cvta"), (1,)), **dict.fromkeys(("add", "sub", "selp", "and", "or"), (1, 2)),
    **dict.fromkeys(("mad", "mad24"), (3,)),
    **dict.fromkeys(("mul", "mul24", "shl", "shr", "div", "rem", "popc", "clz", "bfind", "setp", "set"), ()),
}  # fmt: skip


_EXCLUSIVE = {
    "setmaxnreg": "registers",
    "tcgen05": "tensor memory",
    "clusterlaunchcontrol": "CTAs to come",
    "brkpt": "breakpoint",
    "fabric": "handles",
}
_ROUNDINGS = frozenset(("rn", "rz", "rm", "rp", "rna"))
_OF_ONE_TYPE = frozenset(
    """abs add and cnot copysign cos div ex2 fma lg2 max min mov mul neg not or rcp rem rsqrt sad selp setp sin sqrt sub
    tanh xor""".split()
)
_REDUCES = frozenset(("red", "reduce"))
_READ_ONLY_PATH = frozenset(("nc", "proxy::readonly"))
_RELEASE = frozenset(("release", "acq_rel", "sc"))
_ACQUIRE = frozenset(("acquire", "acq_rel", "sc"))


@dataclass(frozen=True)
class Facts:
    """A row, and what the modifiers of one opcode add to it. Each property is computed once for an opcode."""

    row: Row
    base: str
    modifiers: frozenset[str]
    known: bool
    spaces: tuple[str, ...]  # of its memory accesses, the destination's first; () where generic or no access
    types: tuple[str, ...]  # operand types in the order written
    latency_key: str
    sets_carry: bool
    uses_carry: bool
    volatile: bool  # other threads may change the memory that it reads: volatile, relaxed, acquire, atomics

    @once
    def space(self) -> str:
        """The space of its memory access, for a copy that of the destination; "" where generic or no access."""
        return self.spaces[0] if self.spaces else ""

    @once
    def aligned(self) -> bool:
        """Whether all threads of a warp must execute the same instruction."""
        return "aligned" in self.modifiers or (self.base == "bar" and self.row.scope == Scope.CTA)

    @once
    def predicable(self) -> bool:
        """Whether a guard may disable it for any of the threads: no other thread needs them there."""
        return self.row.scope == Scope.THREAD

    @once
    def duplicable(self) -> bool:
        """Whether the code may hold several copies of it, each executed by some of the threads. Convergent instructions
        must not be copied, except barriers that are not `.aligned`; nor calls, whose callees may hold anything."""
        barrier = self.known and self.row.scope >= Scope.CTA and not self.aligned
        return barrier or (self.predicable and not self.calls)

    @once
    def loads(self) -> bool:
        return "l" in self.row.access

    # What kind of access it is -----------------------------------------------------------------------------

    @once
    def is_load_or_store(self) -> bool:
        """Whether it loads or stores an element, or a vector of them, and does nothing else: `ld`, `st`."""
        return self.base in ("ld", "st")

    @once
    def only_loads_element(self) -> bool:
        """Whether it loads an element, or a vector of them, and does nothing else: `ld`, `ldu`."""
        return self.base in ("ld", "ldu")

    @once
    def accesses_element(self) -> bool:
        """Whether it accesses an element, or a vector of them, at one address: loads, stores, atomics, reductions."""
        return self.base in ("ld", "ldu", "st", "atom", "red")

    @once
    def loads_parameter(self) -> bool:
        """Whether it loads a parameter, of a kernel or of a function."""
        return self.base == "ld" and self.space == "param"

    @once
    def stores_parameter(self) -> bool:
        """Whether it stores a parameter of a function, or its result."""
        return self.base == "st" and self.space == "param"

    @once
    def is_atomic(self) -> bool:
        """Whether it changes a word in memory and gives what the word was before: another value to each thread."""
        return self.base == "atom"

    @once
    def uses_read_only_path(self) -> bool:
        """Whether it loads by the read-only path, which does not see what other threads write: `ld.nc`, `ldu`,
        `ld.proxy::readonly`."""
        return self.base == "ldu" or (self.base == "ld" and not self.modifiers.isdisjoint(_READ_ONLY_PATH))

    @once
    def is_strong_read(self) -> bool:
        """Whether it reads memory that other threads may change, and sees such a change: a strong read, an atomic."""
        return self.loads and self.volatile and self.space not in ("local", "param", "const")

    @once
    def bypasses_l1(self) -> bool:
        """Whether it is a weak load that bypasses the L1 cache, so that a repeated load sees a change."""
        return self.row.access == "l" and not self.modifiers.isdisjoint(("cv", "cg")) and not self.read_only

    @once
    def read_only(self) -> bool:
        """Whether it reads memory that no thread writes while the kernel runs."""
        return self.loads and (self.space == "const" or not self.modifiers.isdisjoint(_READ_ONLY_PATH))

    @once
    def is_atomic_add(self) -> bool:
        """Whether it is an atomic addition. A loop around it changes the sum by itself unless it adds zero."""
        return self.is_atomic and "add" in self.modifiers

    @once
    def swaps_if_equal(self) -> bool:
        """Whether it is an atomic compare-and-swap."""
        return self.is_atomic and "cas" in self.modifiers

    @once
    def is_float_update(self) -> bool:
        """Whether it adds floating-point numbers to those in memory: the rounded sum depends on the threads' order."""
        adds = "add" in self.modifiers and not self.modifiers.isdisjoint(FLOATS)
        return adds and (self.base in ("atom", "red") or not self.modifiers.isdisjoint(_REDUCES))

    # What it computes --------------------------------------------------------------------------------------

    @once
    def copies(self) -> bool:
        """Whether its result is its operand, possibly as a number or address of another kind."""
        return self.base in ("mov", "cvt", "cvta")

    @once
    def moves(self) -> bool:
        """Whether its result is its operand as it is, so that ptxas mostly makes no instruction of it."""
        return self.base in ("mov", "cvta")

    @once
    def converts_address(self) -> bool:
        """Whether it makes a generic address of one in a state space, or the other way round."""
        return self.base == "cvta"

    @once
    def offsets_address(self) -> bool:
        """Whether its result, where it takes an address, is that address or one at a distance from it."""
        return self.base in ("add", "sub", "mad", "mov", "cvta")

    @once
    def adds(self) -> bool:
        """Whether its result is the sum or the difference of its operands."""
        return self.base in ("add", "sub")

    @once
    def subtracts(self) -> bool:
        return self.base == "sub"

    @once
    def adds_to_product(self) -> bool:
        """Whether it adds its third source to the product of the others, with the bits of the result."""
        return self.base == "mad"

    @once
    def shifts(self) -> bool:
        """Whether it shifts its first source by the second, which has 32 bits whatever its type is."""
        return self.base in ("shl", "shr")

    @once
    def masks(self) -> bool:
        """Whether it gives the bits that both of its sources have."""
        return self.base == "and" and "pred" not in self.types

    @once
    def unites(self) -> bool:
        """Whether it gives the bits that one of its sources has, or both."""
        return self.base == "or"

    @once
    def has_no_bits_beyond(self) -> bool:
        """Whether its result has no bit above the highest of its sources."""
        return self.base in ("or", "xor")

    @once
    def conjoins_predicates(self) -> bool:
        """Whether it gives the conjunction of two predicates."""
        return self.base == "and" and "pred" in self.types

    @once
    def gives_predicate(self) -> bool:
        """Whether its result is a predicate."""
        return self.base in ("setp", "testp", "isspacep") or "pred" in self.types

    @once
    def only_computes(self) -> bool:
        """Whether it does nothing but compute its results from its operands, for each thread by itself."""
        row = self.row
        waits = row.blocking or row.releases or row.acquires or row.scope != Scope.THREAD
        other = row.access or row.ends or row.hint or row.updates or waits or self.moves_stack or self.exclusive
        return self.known and row.writes == 1 and not (other or self.sets_carry or self.uses_carry)

    @once
    def number_type(self) -> str:
        """The type of all numbers that it reads, if it is one that `selp` chooses; else ""."""
        plain = self.base in _OF_ONE_TYPE and len(self.types) == 1
        return self.types[0] if plain and self.types[0] in SELECTABLE else ""

    @once
    def as_division(self) -> str:
        """The opcode of the division that gives the bits of this reciprocal if its dividend is 1; else "".
        Both are rounded correctly, and their NaNs are canonical."""
        if self.base != "rcp" or "rn" not in self.modifiers or self.types != ("f32",):
            return ""
        return "div.rn.ftz.f32" if "ftz" in self.modifiers else "div.rn.f32"

    @once
    def is_product(self) -> bool:
        """Whether assemblers may contract it, a product of floating-point numbers, with a sum that reads it. They make
        fast divisions products with a reciprocal."""
        return self.base in ("mul", "div") and self._may_be_contracted

    @once
    def hands_product_on(self) -> bool:
        """Whether assemblers contract a product and a sum although this stands between: a copy or a change of sign."""
        return self.base in ("mov", "neg") or (self.base == "cvt" and len({*self.types}) == 1)

    @once
    def is_sum(self) -> bool:
        """Whether assemblers may contract it, a sum of floating-point numbers, with a product that it reads."""
        return self.adds and self._may_be_contracted

    @once
    def _may_be_contracted(self) -> bool:
        if self.types == ("f32x2",):  # contracted whatever the rounding (ptxas 13.0)
            return True
        return bool(self.types) and self.types[0] in FLOATS and self.modifiers.isdisjoint(_ROUNDINGS)

    @once
    def compares(self) -> bool:
        """Whether it compares two numbers and gives a predicate."""
        return self.base == "setp"

    @once
    def relates(self) -> bool:
        """Whether one of its two sources may be a limit of the other: comparisons, the lesser and the greater of two,
        the remainder of a division."""
        return self.base in ("setp", "min", "max", "rem")

    @once
    def pointer_operands(self) -> tuple[int, ...] | None:
        """For an instruction that computes addresses, the operands through which its result may be an address; () where
        the result is a number, not an address. None: the result may depend on its operands in any manner."""
        if self.base == "cvt":
            to, source = (_BITS.get(t, 0) for t in (*self.types[:1], *self.types[-1:]))
            return () if source < to else (1,)
        return _POINTER_OPERANDS.get(self.base)

    # What it does to the flow, and with whom ------------------------------------------------------------------

    @once
    def calls(self) -> bool:
        """Whether it calls a function, which may do anything."""
        return self.base == "call"

    @once
    def is_indirect_branch(self) -> bool:
        """Whether it branches to one of a list of targets, by an index."""
        return self.base == "brx"

    @once
    def returns(self) -> bool:
        """Whether it leaves the function, and ends the thread in a kernel only."""
        return self.base == "ret"

    @once
    def ends_thread(self) -> bool:
        """Whether it ends the thread, in a function too."""
        return self.base == "exit"

    @once
    def reads_active_mask(self) -> bool:
        """Whether it gives the lanes that execute it together, and waits for none."""
        return self.base == "activemask"

    @once
    def depends_on_active_lanes(self) -> bool:
        """Whether its result depends on which lanes execute it together, whatever it reads."""
        return self.base in ("activemask", "elect")

    @once
    def is_lane_exchange(self) -> bool:
        """Whether lanes of a warp give each other values by it, or learn which of them are there."""
        return self.base in ("vote", "redux", "match", "shfl", "elect", "activemask")

    @once
    def votes(self) -> bool:
        """Whether it gives all lanes that its mask names what they make of their predicates together."""
        return self.base == "vote" and "sync" in self.modifiers

    @once
    def is_ballot(self) -> bool:
        """Whether it gives the lanes whose predicate holds."""
        return self.base == "vote" and "ballot" in self.modifiers

    @once
    def reduces_lanes(self) -> bool:
        """Whether it gives all lanes that its mask names the sum, or the like, of their numbers."""
        return self.base == "redux"

    @once
    def matches_lanes(self) -> bool:
        """Whether it gives the lanes that have equal numbers."""
        return self.base == "match"

    @once
    def shuffles_by_index(self) -> bool:
        """Whether it gives a lane the value of the lane that an operand numbers."""
        return self.base == "shfl" and {"sync", "idx"} <= self.modifiers

    @once
    def acts_on_mbarrier(self) -> bool:
        """Whether it initialises an mbarrier, arrives at one or waits for one."""
        return self.base == "mbarrier"

    @once
    def signals_mbarrier(self) -> bool:
        """Whether it acts on an mbarrier, or an operation that it begins does so when it completes."""
        return self.acts_on_mbarrier or any(word.startswith("mbarrier") for word in self.modifiers)

    @once
    def moves_stack(self) -> bool:
        """Whether it takes memory from the thread's stack, or gives it back, until the thread ends."""
        return self.base in ("alloca", "stacksave", "stackrestore")

    @once
    def completed_by(self) -> tuple[tuple[str, ...], ...]:
        """The instructions, each an opcode and its operands, after which all is complete that the thread has begun by
        such instructions; none if they are complete when the next one begins, or signal an mbarrier."""
        if not {"l", "s"}.intersection(self.row.access):
            return ()
        if self.base == "wgmma":
            return (("wgmma.commit_group.sync.aligned",), ("wgmma.wait_group.sync.aligned", "0"))
        if (self.base != "cp" and "cp" not in self.modifiers) or "async" not in self.modifiers:
            return ()
        if "bulk" in self.modifiers:
            return (("cp.async.bulk.commit_group",), ("cp.async.bulk.wait_group", "0"))
        return (("cp.async.wait_all",),)

    @once
    def controls_grids(self) -> bool:
        """Whether it waits for the grids before, or lets those that depend on this one begin."""
        return self.base == "griddepcontrol"

    @once
    def multiplies_matrices(self) -> bool:
        """Whether a warp or a warpgroup multiplies matrices, and adds the product to a third."""
        return self.base == "mma" or (self.base == "wmma" and "mma" in self.modifiers) or self.multiplies_later

    @once
    def multiplies_later(self) -> bool:
        """Whether it begins a product that reads and writes its registers until a later instruction waits for it."""
        return self.base == "wgmma" and "mma_async" in self.modifiers

    @once
    def commits_products(self) -> bool:
        """Whether it makes one group of the products that have begun, for which one can wait."""
        return self.base == "wgmma" and "commit_group" in self.modifiers

    @once
    def waits_for_products(self) -> bool:
        """Whether it waits until no more groups of products than a number are under way."""
        return self.base == "wgmma" and "wait_group" in self.modifiers

    @once
    def asks_cluster(self) -> bool:
        """Whether it relates an address to a CTA of the cluster."""
        return self.base in ("mapa", "getctarank")

    @once
    def is_multicast(self) -> bool:
        """Whether it acts in several CTAs of the cluster."""
        return any(word.startswith("multicast::cluster") for word in self.modifiers)

    @once
    def exclusive(self) -> str:
        """What it acts on that a CTA, or an SM, has once for all of its kernels; "" if nothing."""
        return _EXCLUSIVE.get(self.base, "")

    @once
    def slow_path(self) -> bool:
        """Whether the assembler expands it into code with a branch: correctly rounded operations, and integers that
        are not of 32 bits."""
        rounded = not self.modifiers & {"approx", "full"}
        return self.row.expands and rounded and not self.divides_in_place

    @once
    def divides_in_place(self) -> bool:
        """Whether it divides integers of 32 bits, which the assembler expands into code without a branch."""
        return self.row.expands and self.types[-1:] in (("s32",), ("u32",))

    @once
    def combines_bits(self) -> bool:
        """Whether it combines words bit by bit; of at most three, any function of them is one LOP3 for each half."""
        return self.base in ("and", "or", "xor", "not") and self.types in (("b32",), ("b64",))

    @once
    def moves_bits_up(self) -> bool:
        """Whether it shifts to higher places."""
        return self.base == "shl"

    @once
    def gives_lower_half(self) -> bool:
        """Whether its result is the lower half of a product of integers, or of its sum with another."""
        return self.base in ("mul", "mad") and "lo" in self.modifiers

    @once
    def takes_lower_half(self) -> bool:
        """Whether it needs the lower half of an integer of 64 bits only."""
        return self.base == "cvt" and self.types[1:] in (("u64",), ("s64",)) and self.types[0][1:] in ("8", "16", "32")

    @once
    def widens_with_zeros(self) -> bool:
        """Whether it makes an integer of 64 bits of a shorter one without a sign."""
        return self.base == "cvt" and self.types in (("u64", "u32"), ("s64", "u32"), ("u64", "u16"), ("u64", "u8"))

    @once
    def takes_extreme(self) -> bool:
        """Whether its result is the least or the greatest of its operands."""
        return self.base in ("min", "max")

    @once
    def takes_root(self) -> bool:
        """Whether it computes a square root."""
        return self.base == "sqrt"

    @once
    def releases(self) -> bool:
        """Whether other threads may wait for it or for an operation that it begins, while it waits for none itself."""
        return self.row.releases or any(word.startswith("mbarrier::complete_tx") for word in self.modifiers)

    @once
    def is_fence(self) -> bool:
        """Whether it orders the accesses before it with those after it: fences, barriers, blocking instructions and,
        stricter than the manual, all convergent instructions. A called function may hold any of these."""
        row = self.row
        return row.access == "f" or bool(row.scope) or row.blocking or self.calls

    @once
    def is_release(self) -> bool:
        """Whether no earlier access of its thread may move after it, in any state space: release semantics, by its
        modifiers or by default."""
        return self.is_fence or self.releases or not self.modifiers.isdisjoint(_RELEASE)

    @once
    def is_acquire(self) -> bool:
        """Whether no later access of its thread may move before it, in any state space: acquire semantics, by its
        modifiers or by default."""
        return self.is_fence or self.acquires

    @once
    def acquires(self) -> bool:
        """Whether the thread may see after it what others released, although it is not a barrier or fence."""
        return self.row.acquires or not self.modifiers.isdisjoint(_ACQUIRE)

    @once
    def is_ordered(self) -> bool:
        """Whether it stays in its place among all accesses of its thread. This includes reads of memory that other
        threads may change, although the manual orders such accesses only among each other, and `ld.cv`, which reads
        memory anew."""
        return self.is_acquire or self.volatile or "cv" in self.modifiers

    @once
    def is_weak(self) -> bool:
        """Whether it orders nothing for other threads, and is complete when the next instruction begins."""
        return not (self.is_release or self.is_acquire or self.volatile or "async" in self.modifiers)

    @once
    def may_fault_or_store(self) -> bool:
        """Whether a guard must protect threads that should not execute it. Most accesses to parameters are harmless;
        their addresses decide that (analysis/values/parameter_accesses.py)."""
        accesses = bool(self.row.access) and self.space != "param" and self.row.access != "f"
        return accesses or self.row.hint

    @once
    def barrier(self) -> bool:
        """Synchronises the threads of a CTA, or may do so if the opcode is unknown."""
        return self.row.scope == Scope.CTA

    @once
    def synchronises(self) -> bool:
        """Whether it is known to synchronise the threads of a CTA or of a cluster, or operates on an mbarrier."""
        return self.acts_on_mbarrier or (self.known and self.row.scope >= Scope.CTA)

    @once
    def barrier_id(self) -> int:
        """For a barrier, the position of its id among the operands: a reduction's result comes before it."""
        return 1 if self.reduces else 0

    @once
    def reduces(self) -> bool:
        """Whether it is a barrier that gives its threads what they make of their predicates together."""
        return self.barrier and "red" in self.modifiers

    @once
    def reduces_by_and(self) -> bool:
        """Of such a barrier, whether that is their conjunction."""
        return self.reduces and "and" in self.modifiers


@lru_cache(maxsize=4096)
def facts_of(opcode: str) -> Facts:
    """What the table states about `opcode`, for example `ld.global.nc.v4.f32`."""
    words = opcode.split(".")
    plain = [word.partition("::")[0].partition("[")[0] for word in words]
    prefix = next((p for n in range(len(words), 0, -1) if (p := ".".join(plain[:n])) in TABLE), None)
    row = TABLE[prefix] if prefix else UNKNOWN
    base = words[0]
    modifiers = frozenset(words[1:])
    if base == "mbarrier" and "phase_type::primary" in modifiers:  # `done|reported, value, [barrier], ...`
        row = replace(row, writes=2)
    spaces = tuple(w for w in plain[1:] if w in SPACES) or ((row.space,) if row.space else ())
    types = tuple(m for m in words[1:] if m in TYPES)
    volatile = base in ("atom", "mbarrier") or bool(modifiers & {"volatile", "relaxed", "acquire", "mmio"})
    if base in ("atom", "red") and (modifiers & {"noftz"}):
        types = types[:1]
    return Facts(
        row=row,
        base=base,
        modifiers=modifiers,
        known=prefix is not None,
        spaces=spaces,
        types=types,
        latency_key=_latency_key(prefix or base, row, words, spaces[0] if spaces else "", types),
        sets_carry="cc" in modifiers or prefix is None,
        uses_carry=base in ("addc", "subc", "madc") or prefix is None,
        volatile=volatile,
    )


def _latency_key(prefix: str, row: Row, words: list[str], space: str, types: tuple[str, ...]) -> str:
    """The key of latency_tables/: the family, then the space or the modifier that determines the cost, and the type."""
    if prefix in ("ld", "st", "ldu", "atom", "red"):
        return f"{prefix}.{space or 'generic'}"
    if row.access or row.scope or row.ends or not types:
        return prefix
    kind = [w for w in words[1:] if w in ("approx", "full", "wide", "hi")]
    if prefix == "cvt":
        return f"cvt.{'.'.join(types)}"
    return ".".join([prefix, *kind, types[-1] if prefix != "set" else types[0]])
