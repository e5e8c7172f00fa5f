"""The PTX of a microbenchmark: an entry for the latency, one for the interval.

Each repeats its instruction a few times untimed, then `short` times and `long` times between two readings of the
clock, and repeats all of that for `rounds` rounds. The difference of the two times, divided by the difference of the
repetitions, is the cost of one: reading the clock, and everything else that occurs once, cancels. All results are
stored in the end, so that no code is dead.

The parameters of an entry are the addresses of its output (two numbers of 64 bits for each round, then the registers
of all chains in 8 bytes each), of its operands (see `operand_bytes`) and of its memory, and the number of rounds.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from string import Template

from goptx.device.latency.row import Row

LATENCY, INTERVAL = "latency", "interval"  # kinds of entries

_FLAGS = 2  # slots of 8 bytes before the operands: two that are not 0, for guards, and one that is 0
LEAD = 4  # untimed repetitions
_STEP = 128  # bytes from one repetition's `$offset` to the next
_PACKED = {"f64": "<d", "f32": "<f", "tf32": "<f", "f16": "<e", "f16x2": "<2e"}
_WIDTHS = {"pred": 1, "f16x2": 32, "bf16x2": 32, "bf16": 16, "tf32": 32}

_MODULE = Template("""\
.version 8.4
.target $target
.address_size 64
$module
$entries""")

_ENTRY = Template("""\
.visible .entry $entry(.param .u64 to, .param .u64 from, .param .u64 memory, .param .u32 rounds,
    .param .align 8 .b8 table[64])
{
    .reg .b64 %to, %from, %buffer, %wide, %t<4>;
    .reg .b32 %round, %rounds, %thread, %lane, %flag, %zero;
    .reg .pred %first, %again, %g<2>;
$declares
    ld.param.u64 %to, [to];
    ld.param.u64 %from, [from];
    ld.param.u64 %buffer, [memory];
    ld.param.u32 %rounds, [rounds];
    cvta.to.global.u64 %to, %to;
    cvta.to.global.u64 %from, %from;
    cvta.to.global.u64 %buffer, %buffer;
    mov.u32 %thread, %tid.x;
    setp.eq.u32 %first, %thread, 0;
    ld.global.u32 %flag, [%from];
    setp.ne.u32 %g0, %flag, 0;
    ld.global.u32 %flag, [%from+4];
    setp.ne.u32 %g1, %flag, 0;
    ld.global.u32 %flag, [%from+8];
    mov.u32 %lane, %laneid;
    mul.wide.u32 %wide, %flag, %lane;
    add.s64 %from, %from, %wide;
    mul.lo.u32 %zero, %flag, %lane;
$setup
    mov.u32 %round, 0;
ROUND:
    .pragma "nounroll";
$timed
    sub.s64 %t0, %t1, %t0;
    sub.s64 %t2, %t3, %t2;
    @%first st.global.u64 [%to], %t0;
    @%first st.global.u64 [%to+8], %t2;
    add.s64 %to, %to, 16;
    add.u32 %round, %round, 1;
    setp.lt.u32 %again, %round, %rounds;
    @%again bra ROUND;
$ending
    ret;
}
""")

_TIMED = Template("""\
$lead
    mov.u64 %t0, %clock64;
$short
    mov.u64 %t1, %clock64;
$between
    mov.u64 %t2, %clock64;
$long
    mov.u64 %t3, %clock64;
$between""")


def module_text(rows: Sequence[Row], arch: str) -> str:
    """The module of some rows, with an entry for each kind of each."""
    return _MODULE.substitute(
        target=arch,
        module="\n".join(dict.fromkeys(row.module for row in rows if row.module)),
        entries="\n".join(_entry(row, kind) for row in rows for kind in kinds(row)),
    )


def kinds(row: Row) -> tuple[str, ...]:
    """The measurements of a row: LATENCY where it has a chain, INTERVAL where it has several, or nothing waits for
    it."""
    return ((LATENCY,) if row.latency else ()) + ((INTERVAL,) if row.chains else ())


def entry_name(row: Row, kind: str) -> str:
    return f"{row.label}_{kind}"


def repetitions(row: Row, kind: str) -> tuple[int, int]:
    """How often the two timed parts of an entry contain the instruction."""
    return row.short * _chains(row, kind), row.long * _chains(row, kind)


def stored(row: Row, kind: str) -> int:
    """How many registers an entry stores in the end."""
    return row.widths[0] * _chains(row, kind)


def operand_bytes(row: Row, kind: str) -> bytes:
    """The memory at an entry's parameter `from`: flags, then `$a`, `$b` and `$x` in 8 bytes each.

    The assembler must not know that all lanes read the same there, or it would use the uniform datapath: so the
    address contains the lane's number times a flag.
    """
    x, a, b = row.values or ((1.25, 0.9990234375, 1.0009765625) if _float(row.type) else (987654321, 1000003, 77))
    wide_x, wide_a, wide_b = row.widths
    words = [encoded(a, row.type)] * wide_a + [encoded(b, row.type)] * wide_b
    return struct.pack("<4I", 1, 1, 0, 0) + b"".join(words + [encoded(x, row.type)] * wide_x * _chains(row, kind))


def encoded(value: float, kind: str) -> bytes:
    """A value as 8 bytes, padded with zeros."""
    if kind in ("bf16", "bf16x2"):  # bf16 is the upper half of an f32
        content = struct.pack("<f", value)[2:] * (2 if kind == "bf16x2" else 1)
    elif kind in _PACKED:
        content = bytes(struct.pack(_PACKED[kind], *[value] * (2 if kind == "f16x2" else 1)))
    else:
        content = (int(value) & (2 ** width(kind) - 1)).to_bytes(8, "little")
    return content.ljust(8, b"\0")


def width(kind: str) -> int:
    """Bits of the register for a type."""
    return _WIDTHS.get(kind) or max(16, int(re.sub(r"\D", "", kind)))


def _float(kind: str) -> bool:
    return "f" in kind


def _chains(row: Row, kind: str) -> int:
    return 1 if kind == LATENCY else row.chains


def _entry(row: Row, kind: str) -> str:
    count = _chains(row, kind)
    numbers = iter(range(10**6))
    short, long = row.short, row.long
    timed = _TIMED.substitute(
        lead=_repeated(row, count, LEAD, numbers),
        short=_repeated(row, count, short, numbers),
        between=_filled(row, row.between, 0, 0),
        long=_repeated(row, count, long, numbers),
    )
    return _ENTRY.substitute(
        entry=entry_name(row, kind),
        declares="\n".join(_declared(row, count)),
        setup="\n".join(_loaded(row, count)),
        timed=_filled(row, row.timed, 0, 0) if row.timed else timed,
        ending="\n".join(_stored(row, count)),
    )


def _declared(row: Row, count: int) -> Iterator[str]:
    def register(names: list[str], kind: str) -> str:
        return f"    .reg .{'pred' if kind == 'pred' else f'b{width(kind)}'} {', '.join(names)};"

    wide_x, wide_a, wide_b = row.widths
    yield register([f"%x{j}_{i}" for j in range(count) for i in range(wide_x)], row.type)
    y = row.y or row.type
    yield register([f"%y{j}" for j in range(count)], y)
    yield register([f"%z{j}" for j in range(count)], min(row.type, y, key=width))
    yield register([f"%q{j}" for j in range(count)], "pred")
    yield register([f"%a{i}" for i in range(wide_a)] + [f"%b{i}" for i in range(wide_b)], row.type)
    if row.shared:
        yield f"    .shared .align 128 .b8 room[{row.shared}];"
        yield "    .reg .b32 %shared;\n    mov.u32 %shared, room;"
    yield _lines(row.declares)


def _loaded(row: Row, count: int) -> Iterator[str]:
    """Loads operands from memory, so that the assembler cannot know them."""
    wide_x, wide_a, wide_b = row.widths
    names = [f"%a{i}" for i in range(wide_a)] + [f"%b{i}" for i in range(wide_b)]
    names += [f"%x{j}_{i}" for j in range(count) for i in range(wide_x)]
    for n, name in enumerate(names, _FLAGS):
        if row.type == "pred":
            yield f"    ld.global.u32 %flag, [%from+{8 * n}];\n    setp.ne.u32 {name}, %flag, 0;"
            yield f"    vote.sync.any.pred {name}, {name}, -1;"  # otherwise it is recomputed from %flag each time
        else:
            yield f"    ld.global.b{width(row.type)} {name}, [%from+{8 * n}];"
    yield _filled(row, row.setup, 0, 0)
    for j in range(count if row.start else 0):
        yield _filled(row, row.start, j, 0, count)


def _stored(row: Row, count: int) -> Iterator[str]:
    for n, name in enumerate(f"%x{j}_{i}" for j in range(count) for i in range(row.widths[0])):
        if row.type == "pred":
            yield f"    selp.b64 %wide, 1, 0, {name};\n    @%first st.global.b64 [%to+{8 * n}], %wide;"
        else:
            yield f"    @%first st.global.b{width(row.type)} [%to+{8 * n}], {name};"


def _repeated(row: Row, count: int, times: int, numbers: Iterator[int]) -> str:
    guard = "@$g " if row.guarded else ""
    others = [f"{text};" if text else "" for text in (row.first, row.then)]
    one = f"{row.before} {others[0]} {guard}{row.opcode} {row.operands}; {others[1]} {row.after}".strip()
    filled = _filling(row, one)
    return "\n".join(filled(j, k) for k in (next(numbers) for _ in range(times)) for j in range(count))


def _filled(row: Row, text: str, j: int, k: int, count: int = 1) -> str:
    """Text with its `$names` filled in, for repetition `k` of chain `j`."""
    return _filling(row, text)(j, k, count)


def _filling(row: Row, text: str) -> Callable[..., str]:
    """`_filled` for many repetitions and chains."""
    wide_x, wide_a, wide_b = row.widths
    template = Template(_lines(text))
    same = {
        "a0": "%a0", "b0": "%b0", "buffer": "%buffer", "shared": "%shared",
        "A": f"{{{', '.join(f'%a{i}' for i in range(wide_a))}}}",
        "B": f"{{{', '.join(f'%b{i}' for i in range(wide_b))}}}",
    }  # fmt: skip

    def filled(j: int, k: int, count: int = 1) -> str:
        changing = ("%a0", "%b0") if k % 2 == 0 else ("%b0", "%a0")
        names = same | {
            **{f"x{i}": f"%x{j}_{i}" for i in range(wide_x)},
            "x": f"%x{j}_0", "y": f"%y{j}", "z": f"%z{j}", "q": f"%q{j}", "g": f"%g{k % 2}",
            "a": changing[0], "b": changing[1], "c": changing[0].replace("0", "1"),
            "X": f"{{{', '.join(f'%x{j}_{i}' for i in range(wide_x))}}}",
            "offset": str(_STEP * k), "k": str(k), "line": str(_STEP * j), "id": str(k % 15 + 1),
        }  # fmt: skip
        if row.ring:
            nodes = row.ring.span // row.ring.stride
            names["start"] = str(j * nodes // count * row.ring.stride)
        return template.substitute(names)

    return filled


def _lines(text: str) -> str:
    return "\n".join(f"    {line.strip()}" for line in text.splitlines() if line.strip())
