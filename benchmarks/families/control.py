"""Cases for where threads go: tables of branches, loops, guards, calls.

Requires nothing of a GPU.
"""

from __future__ import annotations

import numpy as np
from families.entry import Case, Entry
from families.threads import flags, words


def all_kinds() -> list[Case]:
    return [_table(), _loops(), _guards(), _calls(), _pointers(), _recursion()]


def _table() -> Case:
    entry = Entry("brx.idx")
    index, result = entry.read(words(18, 5)), entry.read(words(19))
    entry.line("targets: .branchtargets zero, one, two, one, four;", f"brx.idx {index}, targets;")
    for label, change in (
        ("zero", "add.u32 {0}, {0}, 7;"),
        ("one", "mul.lo.u32 {0}, {0}, 3;"),
        ("two", "not.b32 {0}, {0};"),
    ):
        entry.line(f"{label}:", change.format(result), "bra join;")
    entry.line("four:", f"mov.u32 {result}, 44;", "join:")
    entry.write(result)
    return entry.case()


def _loops() -> Case:
    """Each lane goes round its own number of times, and leaves the inner loop in two ways."""
    entry = Entry("loops of different lengths")
    left, value = entry.read(words(20, 20)), entry.read(words(21))
    inner, low, steps = entry.new("b32"), entry.new("b32"), entry.new("b32")
    done, odd, more = entry.new("pred"), entry.new("pred"), entry.new("pred")
    entry.line(
        f"mov.u32 {steps}, 0;",
        "outer:",
        f"setp.eq.u32 {done}, {left}, 0;",
        f"@{done} bra end;",
        f"sub.u32 {left}, {left}, 1;",
        f"mov.u32 {inner}, {left};",
        "again:",
        f"mad.lo.u32 {value}, {value}, 1664525, {inner};",
        f"add.u32 {steps}, {steps}, 1;",
        f"and.b32 {low}, {value}, 0x30000;",
        f"setp.eq.u32 {odd}, {low}, 0;",
        f"@{odd} bra outer;",
        f"setp.ne.u32 {more}, {inner}, 0;",
        f"@{more} sub.u32 {inner}, {inner}, 1;",
        f"@{more} bra again;",
        "bra outer;",
        "end:",
    )
    entry.write(value)
    entry.write(steps)
    return entry.case()


def _guards() -> Case:
    entry = Entry("guarded instructions")
    a, b, held = entry.read(words(22)), entry.read(words(23)), entry.read(flags(24), "pred")
    out = entry.at(entry.room(entry.threads, "b32"), 4)
    entry.line(
        f"@{held} add.u32 {a}, {a}, {b};", f"@!{held} xor.b32 {a}, {a}, {b};", f"@{held} st.global.b32 [{out}], {a};"
    )
    entry.write(a)
    return entry.case()


FUNCTIONS = """.func (.param .b32 result) mix_ENTRY(.param .b32 a, .param .b64 b, .param .align 8 .b8 c[16])
{
.reg .b32 %x<4>; .reg .b64 %y<3>; .reg .b16 %h<2>;
ld.param.b32 %x0, [a]; ld.param.b64 %y0, [b]; ld.param.b64 %y1, [c+8]; ld.param.s8 %h0, [c+3];
cvt.u32.u64 %x1, %y0; cvt.s32.s16 %x2, %h0; xor.b64 %y1, %y1, %y0; cvt.u32.u64 %x3, %y1;
add.u32 %x0, %x0, %x1; mad.lo.u32 %x0, %x2, 3, %x0; xor.b32 %x0, %x0, %x3;
st.param.b32 [result], %x0; ret;
}
.func (.param .u32 result) twice_ENTRY(.param .u32 a)
{
.reg .u32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, %x; st.param.u32 [result], %x; ret;
}
"""


def _calls() -> Case:
    """Parameters in memory, a structure among them, and in registers; by some lanes only."""
    entry = Entry("call, direct")
    entry.declarations.append(FUNCTIONS)
    a, b, held = (
        entry.read(words(25)),
        entry.read(words(26).astype(np.uint64) << np.uint64(13)),
        entry.read(flags(27), "pred"),
    )
    result = entry.new("b32")
    entry.line(
        f"mov.b32 {result}, {a};", f"@!{held} bra skip;",
        "{", ".param .b32 p; .param .b64 q; .param .align 8 .b8 r[16]; .param .b32 s;",
        f"st.param.b32 [p], {a}; st.param.b64 [q], {b}; st.param.b64 [r], {b}; st.param.b64 [r+8], {b};",
        f"st.param.b8 [r+3], {a};", f"call (s), mix_ENTRY, (p, q, r); ld.param.b32 {result}, [s];", "}",
        "skip:", f"call ({result}), twice_ENTRY, ({result});",
    )  # fmt: skip
    entry.write(result)
    return entry.case()


def _pointers() -> Case:
    """Each lane calls one of two functions by its address."""
    entry = Entry("call, by address")
    for name, line in (("up", "add.u32 %x, %x, 100;"), ("down", "mul.lo.u32 %x, %x, 11;")):
        entry.declarations.append(
            f".func (.param .b32 result) {name}_ENTRY(.param .b32 a)\n"
            f"{{ .reg .b32 %x; ld.param.b32 %x, [a]; {line} st.param.b32 [result], %x; ret; }}"
        )
    entry.declarations.append(".global .align 8 .u64 callees_ENTRY[2] = {up_ENTRY, down_ENTRY};")
    which, value = entry.read(words(28, 2)), entry.read(words(29))
    start, callee = entry.new("b64"), entry.new("b64")
    entry.line(f"mov.u64 {start}, callees_ENTRY;")
    place = entry.at(start, 8, which)
    entry.line(
        f"ld.global.u64 {callee}, [{place}];", "{", "shape: .callprototype (.param .b32 _) _ (.param .b32 _);",
        f".param .b32 p; .param .b32 s; st.param.b32 [p], {value};", f"call (s), {callee}, (p), shape;",
        f"ld.param.b32 {value}, [s];", "}",
    )  # fmt: skip
    entry.write(value)
    return entry.case()


def _recursion() -> Case:
    """Fibonacci numbers, of another depth in each lane."""
    entry = Entry("call, recursive", 4)
    entry.declarations.append(
        """.func (.param .b32 result) fib_ENTRY(.param .b32 n);
.func (.param .b32 result) fib_ENTRY(.param .b32 n)
{
.reg .b32 %x<4>; .reg .pred %p; .param .b32 a; .param .b32 b;
ld.param.b32 %x0, [n]; mov.b32 %x3, %x0; setp.lt.u32 %p, %x0, 2; @%p bra done;
sub.u32 %x1, %x0, 1; st.param.b32 [a], %x1; call (b), fib_ENTRY, (a); ld.param.b32 %x2, [b];
sub.u32 %x1, %x0, 2; st.param.b32 [a], %x1; call (b), fib_ENTRY, (a); ld.param.b32 %x3, [b];
add.u32 %x3, %x3, %x2;
done: st.param.b32 [result], %x3; ret;
}"""
    )
    value = entry.read(words(30, 8, entry.threads))
    entry.line("{", ".param .b32 p; .param .b32 s;", f"st.param.b32 [p], {value}; call (s), fib_ENTRY, (p);")
    entry.line(f"ld.param.b32 {value}, [s];", "}")
    entry.write(value)
    return entry.case()
