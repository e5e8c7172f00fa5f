"""What is known of opcodes: the one table, and `facts_of(opcode)` that reads it.

A row is found by the longest dotted prefix, so `bar.warp` goes before `bar`. An opcode without a row is
kept and taken as the most constrained: it reads and writes memory, is convergent for the whole CTA, may
block, and its first operand is taken as written and read.
Facts from the PTX ISA 9.0 manual, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache


class Scope(IntEnum):
    """The threads that must execute a convergent instruction together."""

    THREAD = 0
    WARP = 1
    WARPGROUP = 2
    CTA = 3
    CLUSTER = 4


@dataclass(frozen=True, slots=True)
class Row:
    """What one family of opcodes does.

    writes: how many leading operands are destinations.
    updates: whether those destinations are read too.
    access: what it does to memory: "" nothing, "l" load, "s" store, "ls" both, "f" orders other accesses.
    scope: convergent at this scope.
    blocking: can wait for other threads.
    ends: "branch", "exit" or "trap" where the instruction ends a block.
    mask: position of the lane mask among the operands (-1 is the last), or None.
    """

    writes: int = 1
    updates: bool = False
    access: str = ""
    scope: Scope = Scope.THREAD
    blocking: bool = False
    ends: str = ""
    mask: int | None = None


PURE = Row()
LOAD = Row(access="l")
STORE = Row(writes=0, access="s")
ATOMIC = Row(access="ls")
FENCE = Row(writes=0, access="f")
WARP = Row(scope=Scope.WARP, blocking=True, mask=-1)
MMA = Row(scope=Scope.WARP)
WGMMA = Row(writes=0, access="ls", scope=Scope.WARPGROUP)
CTA_BARRIER = Row(writes=0, access="f", scope=Scope.CTA, blocking=True)
CLUSTER_BARRIER = Row(writes=0, access="f", scope=Scope.CLUSTER, blocking=True)
UNKNOWN = Row(writes=1, updates=True, access="ls", scope=Scope.CTA, blocking=True)

TABLE: dict[str, Row] = {
    # arithmetic, logic, comparison, conversion, data movement between registers
    **dict.fromkeys(
        """abs add addc and bfe bfi bfind bmsk brev clz cnot copysign cos cvt cvt.pack cvta div dp2a dp4a ex2 fma
        fns getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg not or popc prmt
        rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc szext tanh testp vabsdiff vabsdiff2
        vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl
        vshr vsub vsub2 vsub4 xor createpolicy clusterlaunchcontrol.query_cancel tensormap.replace""".split(),
        PURE,
    ),
    # memory
    "ld": LOAD, "ldu": LOAD, "tex": LOAD, "tld4": LOAD, "txq": LOAD, "suld": LOAD, "suq": LOAD,
    "st": STORE, "sust": STORE, "red": Row(writes=0, access="ls"), "sured": Row(writes=0, access="ls"),
    "atom": ATOMIC, "prefetch": Row(writes=0), "prefetchu": Row(writes=0), "discard": STORE,
    "applypriority": Row(writes=0), "membar": FENCE, "fence": FENCE, "multimem": ATOMIC,
    "cp.async": Row(writes=0, access="ls"), "cp.async.commit_group": FENCE, "cp.async.wait_group": FENCE,
    "cp.async.wait_all": FENCE, "cp.async.mbarrier": Row(writes=0, access="ls"),
    "mbarrier": ATOMIC, "mbarrier.init": Row(writes=0, access="ls"), "mbarrier.inval": Row(writes=0, access="ls"),
    "mbarrier.try_wait": Row(access="ls", blocking=True), "mbarrier.test_wait": Row(access="ls", blocking=True),
    "mbarrier.expect_tx": Row(writes=0, access="ls"), "mbarrier.complete_tx": Row(writes=0, access="ls"),
    "griddepcontrol": Row(writes=0, access="f", blocking=True),
    "stacksave": PURE, "stackrestore": Row(writes=0, access="ls"), "alloca": Row(access="ls"),
    # warps
    "shfl": WARP, "vote": WARP, "match": WARP, "redux": WARP, "elect": WARP,
    "activemask": Row(scope=Scope.WARP),
    "bar.warp": Row(writes=0, access="f", scope=Scope.WARP, blocking=True, mask=-1),
    "mma": MMA, "wmma.mma": MMA, "wmma.load": Row(access="l", scope=Scope.WARP),
    "wmma.store": Row(writes=0, access="s", scope=Scope.WARP),
    "ldmatrix": Row(access="l", scope=Scope.WARP), "stmatrix": Row(writes=0, access="s", scope=Scope.WARP),
    "movmatrix": MMA,
    "wgmma": WGMMA, "setmaxnreg": Row(writes=0, scope=Scope.WARPGROUP, blocking=True),
    # CTAs and clusters
    "bar": CTA_BARRIER, "barrier": CTA_BARRIER, "bar.red": Row(1, False, "f", Scope.CTA, True),
    "barrier.red": Row(1, False, "f", Scope.CTA, True), "barrier.cluster": CLUSTER_BARRIER,
    **dict.fromkeys(("bar.cta.red", "barrier.cta.red"), Row(1, False, "f", Scope.CTA, True)),
    # control
    "bra": Row(writes=0, ends="branch"), "brx": Row(writes=0, ends="branch"), "ret": Row(writes=0, ends="exit"),
    "exit": Row(writes=0, ends="exit"), "trap": Row(writes=0, ends="trap"), "call": Row(writes=1, access="ls"),
    "brkpt": Row(writes=0, access="ls"), "nanosleep": Row(writes=0, access="f"), "pmevent": Row(writes=0, access="f"),
}  # fmt: skip

# What a plain CTA barrier is spelled like: every thread of the CTA arrives and waits, no count.
PLAIN_BARRIERS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "bar.cta.sync", "barrier.cta.sync",
                  "barrier.cta.sync.aligned")  # fmt: skip

SPACES = frozenset(("global", "shared", "local", "const", "param"))
TYPES = frozenset(
    """pred b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 f16x2 bf16x2 tf32 b64 u64 s64 f64 b128 e4m3x2 e5m2x2
    u16x2 s16x2""".split()
)


@dataclass(frozen=True, slots=True)
class Facts:
    """A row, with what the modifiers of one opcode add to it."""

    row: Row
    base: str
    modifiers: frozenset[str]
    known: bool
    space: str  # of its memory access; "" where generic or none
    types: tuple[str, ...]  # operand types in the order written
    latency_key: str
    sets_carry: bool
    uses_carry: bool
    volatile: bool  # other threads may change what it reads: volatile, relaxed, acquire, atomics

    @property
    def loads(self) -> bool:
        return "l" in self.row.access

    @property
    def may_fault_or_store(self) -> bool:
        """Whether a thread that should not run it must be kept from it; parameters never fault."""
        return bool(self.row.access) and self.space != "param" and self.row.access != "f"

    @property
    def barrier(self) -> bool:
        """Synchronises the threads of a CTA."""
        return self.row.scope == Scope.CTA

    @property
    def barrier_id(self) -> int:
        """Of a barrier, the position of its id among the operands: a reduction's result stands ahead of it."""
        return 1 if "red" in self.modifiers else 0


@lru_cache(maxsize=4096)
def facts_of(opcode: str) -> Facts:
    """What the table knows of `opcode`, for example `ld.global.nc.v4.f32`."""
    words = opcode.split(".")
    prefix = next((p for n in range(len(words), 0, -1) if (p := ".".join(words[:n])) in TABLE), None)
    row = TABLE[prefix] if prefix else UNKNOWN
    base = words[0]
    modifiers = frozenset(words[1:])
    space = next((m.partition("::")[0] for m in words[1:] if m.partition("::")[0] in SPACES), "")
    types = tuple(m for m in words[1:] if m in TYPES)
    volatile = base in ("atom", "mbarrier") or bool(modifiers & {"volatile", "relaxed", "acquire", "mmio"})
    if base in ("atom", "red") and (modifiers & {"noftz"}):
        types = types[:1]
    return Facts(
        row=row,
        base=base,
        modifiers=modifiers,
        known=prefix is not None,
        space=space,
        types=types,
        latency_key=_latency_key(prefix or base, row, words, space, types),
        sets_carry="cc" in modifiers,
        uses_carry=base in ("addc", "subc", "madc"),
        volatile=volatile,
    )


def _latency_key(prefix: str, row: Row, words: list[str], space: str, types: tuple[str, ...]) -> str:
    """The key of latency_tables/: family, then space, or what sets the cost, and the type."""
    if prefix in ("ld", "st", "ldu", "atom", "red"):
        return f"{prefix}.{space or 'generic'}"
    if row.access or row.scope or row.ends or not types:
        return prefix
    kind = [w for w in words[1:] if w in ("approx", "full", "wide", "hi")]
    if prefix == "cvt":
        return f"cvt.{'.'.join(types)}"
    return ".".join([prefix, *kind, types[-1] if prefix != "set" else types[0]])
