"""Tests, and counts of loops and switches: their operands decide which threads agree on them."""

from __future__ import annotations

from random_kernels.place import Place
from random_kernels.tree import Condition, Count, Level, Numbers
from random_kernels.writer import Writer

TESTS = {
    Level.CTA: ("scale", "cta", "uniform", "loaded", "reduced"),
    Level.WARP: ("warp", "any", "all", "uni", "ballot", "redux"),
    Level.LONE: ("pool", "compare", "bits", "float", "wide", "lane", "thread", "row"),
}
COUNTS = {
    Level.CTA: ("constant", "scale", "cta", "uniform", "loaded"),
    Level.WARP: ("warp", "ballot", "redux"),
    Level.LONE: ("value", "lane"),
}
NEED_OTHERS = ("reduced", "any", "all", "uni", "ballot", "redux")  # executed together
COMPARISONS = ("lt", "ge", "eq", "ne")


def test(w: Writer, condition: Condition, place: Place) -> tuple[str, bool]:
    """A predicate, and whether it is negated. Ignores joined tests."""
    kind, numbers = condition.kind, condition.numbers
    a, b, c = numbers
    w.saw(f"condition: {kind}")
    if kind == "pool":
        return f"%q{a % 4}", bool(b & 1)
    p = w.predicate()
    if kind == "compare":
        w.line(f"setp.{COMPARISONS[c % 4]}.{'su'[c >> 2 & 1]}32 {p}, %v{a % 8}, %v{b % 8};")
    elif kind == "float":
        w.line(f"setp.{('gt', 'ltu', 'eq', 'nan')[c % 4]}.f32 {p}, %f{a % 4}, %f{b % 4};")
    elif kind == "wide":
        w.line(f"setp.{COMPARISONS[c % 4]}.u64 {p}, %w{a % 4}, %w{b % 4};")
    elif kind == "thread":
        w.line(f"setp.lt.u32 {p}, %rank, {1 + (w.threads - 1) * (a + 1) // 17};")
    elif kind == "row":
        _row(w, p, numbers)
    elif kind in ("any", "all", "uni"):
        w.line(f"vote.sync.{kind}.pred {p}, %q{a % 4}, {place.mask};")
    elif kind == "reduced":
        w.barrier(f"bar.red.{('or', 'and')[a & 1]}.pred {p}, {place.company.barrier}, %q{b % 4};", place)
    elif kind == "uniform":
        w.line(f"setp.lt.u32 {p}, %u{a % 4}, %u{(a + 1 + b % 3) % 4};")
    else:
        bits = {"bits": (1, 3, 4, 0x80000000)[b % 4], "lane": 1 << a % 5, "cta": 1}.get(kind, 1 << b % 2)
        t = w.word()
        w.line(f"and.b32 {t}, {_source(w, kind, numbers, place)}, {bits};")
        w.line(f"setp.{('ne', 'eq')[c & 1]}.u32 {p}, {t}, 0;")
    return p, False


def _row(w: Writer, p: str, numbers: Numbers) -> None:
    """A comparison of a quotient, or of a multiple of it that cannot overflow. No number is divided by 0 or by -1."""
    a, b, c = numbers
    top, bottom, row, kind = w.word(), w.word(), w.word(), "su"[c >> 2 & 1]
    scaled = kind == "s" and c & 1
    w.line(f"shr.{kind}32 {top}, %v{a % 8}, {5 * bool(scaled)};")
    w.line(f"and.b32 {bottom}, %v{b % 8}, 60;", f"sub.u32 {bottom}, {bottom}, {30 if kind == 's' else -2};")
    w.line(f"div.{kind}32 {row}, {top}, {bottom};")
    if scaled:
        tile = w.word()
        w.line(f"shl.b32 {tile}, {row}, 4;")
        row = tile
    relation = ("lt", "ge", "le", "gt")[(a + c) % 4]
    operands = (row, f"%v{(a + b) % 8}") if b & 1 else (f"%u{b % 4}", row)
    w.line(f"setp.{relation}.{kind}32 {p}, {', '.join(operands)};")


def _source(w: Writer, kind: str, numbers: Numbers, place: Place) -> str:
    """The register whose bits decide."""
    match kind:
        case "bits" | "value":
            return f"%v{numbers[0] % 8}"
        case "uniform":
            return f"%u{numbers[0] % 4}"
        case "ballot":
            t = w.word()
            w.line(f"vote.sync.ballot.b32 {t}, %q{numbers[0] % 4}, {place.mask};", f"popc.b32 {t}, {t};")
            return t
        case "redux":
            t, operation = w.word(), ("max.u32", "xor.b32", "add.u32")[numbers[0] % 3]
            w.line(f"redux.sync.{operation} {t}, %v{numbers[-1] % 8}, {place.mask};")
            return t
    return f"%{kind}"


def branch(w: Writer, condition: Condition, place: Place, target: str, when: bool, promised: bool = False) -> None:
    """Goes to the target where the condition comes to `when`, else on; joined tests become short circuits."""
    if condition.joined is None:
        p, negated = test(w, condition, place)
        w.line(f"@{'' if negated != when else '!'}{p} {'bra.uni' if promised else 'bra'} {target};")
        return
    joint, work, second = condition.joined
    w.saw("short circuit")
    settled = joint == "or"  # what the first test has to give for the second not to matter
    past = target if settled == when else w.label("PAST")
    branch(w, Condition(condition.kind, condition.numbers), place, past, settled, promised)
    for statement in work:
        w.plain(statement)
    branch(w, second, place, target, when, promised)
    if past != target:
        w.mark(past)


def count(w: Writer, number: Count, place: Place, most: int = 3) -> str:
    """A register with 0 to `most`, which is a power of two less 1."""
    w.saw(f"count: {number.kind}")
    c = w.counter()
    if number.kind == "constant":
        w.line(f"mov.u32 {c}, {number.numbers[0] & most};")
    else:
        w.line(f"and.b32 {c}, {_source(w, number.kind, number.numbers, place)}, {most};")
    return c
