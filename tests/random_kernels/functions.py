"""Device functions of random kernels, and calls of them.

What only a thread is concerned with may be called anywhere; functions in `FOR_ALL` by all threads of a CTA that have
not ended, those in `FOR_WARPS` by all such lanes of a warp too. Functions that all kernels have are alike, and so are
their names; others have the same names in all kernels, and are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count as count_from

from random_kernels.arithmetic import FAMILY_OF
from random_kernels.place import Place
from random_kernels.tree import Call, Function, Guard, Kernel, Plain
from random_kernels.writer import Writer

FOR_ALL = ("barrier", "exchange")
FOR_WARPS = ("vote",)
WAITING = "meet"  # begins the names of functions in which threads wait

Body = Callable[[Writer, Function], None]


def names(functions: Sequence[Function]) -> list[str]:
    numbers = {True: count_from(), False: count_from()}
    made = []
    for function in functions:
        stem = WAITING if function.kind in (*FOR_ALL, *FOR_WARPS) else "mix"
        made.append(f"{stem}{'_of_both' if function.common else ''}{next(numbers[function.common])}")
    return made


def text(kernel: Kernel, function: Function, finished: Callable[[Writer], list[str]]) -> tuple[list[str], Writer]:
    """The lines of its body, before which `finished` declares and fills registers; and the writer."""
    w = Writer(kernel)
    w.saw(f"function: {function.kind}")
    if function.common:
        w.saw("function of all kernels")
    (KINDS | MORE_KINDS)[function.kind](w, function)
    w.line(*RESULTS.get(function.kind, ("st.param.b32 [result], %v0;",)), "ret;")
    return finished(w), w


def head(function: Function, name: str) -> tuple[str, list[str]]:
    """Its declaration, and the lines that fetch its parameters."""
    if function.kind == "by value":
        fetch = ["ld.param.v2.b32 {%v0, %v1}, [both];", "ld.param.b64 %w0, [both+8];"]
        return f".func (.param .b32 result) {name}(.param .align 16 .b8 both[16])", fetch
    if function.kind == "nothing":
        return f".func {name}()", ["mov.u32 %v0, %laneid;", "mov.u32 %v1, %v0;"]
    if function.kind == "registers":
        declaration = f".func (.reg .b32 result) {name}(.reg .b32 one, .reg .b32 two)"
        return declaration, ["mov.b32 %v0, one;", "mov.b32 %v1, two;"]
    more = [".param .b32 slot", ".param .b32 other"] if function.kind == "exchange" else []
    parameters = [".param .b32 one", ".param .b32 two", *more]
    fetch = ["ld.param.u32 %v0, [one];", "ld.param.u32 %v1, [two];"]
    return f".func (.param .b32 result) {name}({', '.join(parameters)})", fetch


def call(w: Writer, statement: Call, place: Place) -> None:
    function = w.kernel.functions[statement.function]
    name = names(w.kernel.functions)[statement.function]
    w.saw("call")
    w.saw(f"call: {function.kind}")
    a, b, c = statement.numbers
    guard = _guard(w, statement.guard)
    uniform = ".uni" if statement.uniform else ""
    if function.kind == "nothing":
        w.line(f"{guard}call{uniform} {name};")
        return
    if function.kind == "registers":
        w.line(f"{guard}call{uniform} (%v{c % 8}), {name}, (%v{a % 8}, %v{b % 8});")
        return
    passed = ["one", "two"]
    if function.kind == "by value":
        passed = ["both"]
        w.line("{", ".param .align 16 .b8 both[16];", ".param .b32 result;")
        w.line(f"st.param.v2.b32 [both], {{%v{a % 8}, %v{b % 8}}};", f"st.param.b64 [both+8], %w{c % 4};")
    else:
        other = w.word()
        if function.kind == "exchange":
            passed += ["slot", "other"]
            w.line(f"cvt.u32.u64 {other}, {w.at(w.base('tile'), w.other((a, b, c, a), place), 4)};")
        w.line("{", *(f".param .b32 {p};" for p in passed), ".param .b32 result;")
        w.line(f"st.param.b32 [one], %v{a % 8};", f"st.param.b32 [two], %v{b % 8};")
        if function.kind == "exchange":
            w.line("st.param.b32 [slot], %slot;", f"st.param.b32 [other], {other};")
    w.line(f"{guard}call{uniform} (result), {name}, ({', '.join(passed)});")
    if guard:  # whose result is not there where the guard does not hold
        w.line("}")
    elif function.kind == "predicate":
        t = w.word()
        w.line(f"ld.param.b32 {t}, [result];", "}", f"setp.ne.s32 %q{c % 4}, {t}, 0;")
    else:
        w.line(f"ld.param.b32 %v{c % 8}, [result];", "}")


def _guard(w: Writer, guard: Guard | None) -> str:
    """A register from 4 on stands for a bit of %scale, on which the CTA agrees."""
    if guard is None:
        return ""
    w.saw("call with a guard")
    q = f"%q{guard.register % 4}"
    if guard.register >= 4:
        t, q = w.word(), w.predicate()
        w.line(f"and.b32 {t}, %scale, {1 << guard.register % 4};", f"setp.ne.u32 {q}, {t}, 0;")
    return f"@{'!' if guard.negated else ''}{q} "


# Bodies: each makes %v0 of %v0 and %v1 -----------------------------------------------------------------


def _work(w: Writer, statements: Sequence[Plain]) -> None:
    for statement in statements:
        w.saw(FAMILY_OF[statement.row])
        w.plain(statement)


def _plain(w: Writer, function: Function) -> None:
    _work(w, function.body)


def _early(w: Writer, function: Function) -> None:
    """Some threads return early."""
    p, on = w.predicate(), w.label("ON")
    w.line(f"setp.{('lt.s32', 'gt.u32', 'ne.s32')[function.numbers[0] % 3]} {p}, %v0, %v1;", f"@{p} bra {on};")
    w.line("st.param.b32 [result], %v1;", "ret;")
    w.mark(on)
    _work(w, function.body)


def _loop(w: Writer, function: Function) -> None:
    left, p, head_, out = w.counter(), w.predicate(), w.label("LOOP"), w.label("OUT")
    w.line(f"and.b32 {left}, %v1, 3;")
    w.mark(head_)
    w.line(f"setp.eq.u32 {p}, {left}, 0;", f"@{p} bra {out};")
    _work(w, function.body)
    w.line(f"sub.u32 {left}, {left}, 1;", f"bra {head_};")
    w.mark(out)


def _thread(w: Writer, function: Function) -> None:
    """Reads who runs it."""
    for i, register in enumerate(("%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%tid.y")):
        if i == 0 or function.numbers[i % 3] >> i // 3 & 1:
            t = w.word()
            w.line(f"mov.u32 {t}, {register};", f"mad.lo.u32 %v0, %v0, 5, {t};")
    _work(w, function.body)


def _by_value(w: Writer, function: Function) -> None:
    """Gets a structure."""
    t = w.word()
    _work(w, function.body)
    w.line(f"cvt.u32.u64 {t}, %w0;", f"xor.b32 %v0, %v0, {t};")


def _predicate(w: Writer, function: Function) -> None:
    p = w.predicate()
    _work(w, function.body)
    w.line(
        f"setp.{('lt.s32', 'gt.u32', 'ne.s32')[function.numbers[0] % 3]} {p}, %v0, %v1;", f"selp.u32 %v0, 1, 0, {p};"
    )


def _local(w: Writer, function: Function) -> None:
    """Has an array, which it indexes."""
    w.line("mov.u64 %SPL, kept;", "cvta.local.u64 %SP, %SPL;")  # word: kept, in generated text
    w.line("st.local.v2.b32 [%SPL], {%v0, %v1};")
    _work(w, function.body)
    w.line("st.b32 [%SP+8], %v0;", "st.local.b32 [%SPL+12], %v1;")
    w.line(f"ld.local.b32 %v0, [{w.at('%SPL', w.below('%v1', 4), 4)}];")


def _barrier(w: Writer, function: Function) -> None:
    _work(w, function.body)
    if function.numbers[0] & 1:
        p, t = w.predicate(), w.word()
        w.line(f"setp.lt.s32 {p}, %v0, %v1;", f"bar.red.popc.u32 {t}, 0, {p};", f"add.u32 %v0, %v0, {t};")
    else:
        w.line("bar.sync 0;")


def _exchange(w: Writer, function: Function) -> None:
    """Writes a word of shared memory and reads another's."""
    slot, other, t = w.word(), w.word(), w.word()
    _work(w, function.body)
    w.line(f"ld.param.b32 {slot}, [slot];", f"ld.param.b32 {other}, [other];")
    w.line(f"st.shared.u32 [{slot}], %v0;", "bar.sync 0;", f"ld.shared.u32 {t}, [{other}];", "bar.sync 0;")
    w.line(f"xor.b32 %v0, %v1, {t};")


def _vote(w: Writer, function: Function) -> None:
    p, t = w.predicate(), w.word()
    _work(w, function.body)
    w.line(f"setp.lt.s32 {p}, %v0, %v1;", f"vote.sync.ballot.b32 {t}, {p}, 0xffffffff;", f"add.u32 %v0, %v0, {t};")


KINDS: dict[str, Body] = {
    "plain": _plain,
    "early return": _early,
    "loop": _loop,
    "thread": _thread,
    "by value": _by_value,
    "predicate": _predicate,
    "local array": _local,
    "barrier": _barrier,
    "exchange": _exchange,
    "vote": _vote,
}


# Those of the new generator -------------------------------------------------------------------------------


def _nothing(w: Writer, function: Function) -> None:
    """Gets nothing and gives nothing."""
    _work(w, function.body)
    w.line(("nanosleep.u32 10;", "membar.cta;", "fence.acq_rel.gpu;")[function.numbers[0] % 3])


def _returns(w: Writer, function: Function) -> None:
    """Returns from within a loop, under guards and after branches."""
    left, p, head_, on = w.counter(), w.predicate(), w.label("LOOP"), w.label("ON")
    w.line(f"mov.u32 {left}, 3;")
    w.mark(head_)
    w.line(f"setp.lt.s32 {p}, %v0, %v1;", "st.param.b32 [result], %v1;", f"@{p} ret;")
    _work(w, function.body)
    w.line(f"setp.ne.u32 {p}, %v0, {left};", f"@{p} bra {on};", "st.param.b32 [result], %v0;", "ret;")
    w.mark(on)
    w.line(f"add.u32 %v0, %v0, {left};", f"sub.u32 {left}, {left}, 1;", f"setp.ne.u32 {p}, {left}, 0;")
    w.line(f"@{p} bra {head_};")


def _nested(w: Writer, function: Function) -> None:
    """Calls another, which may call a third."""
    number = next(i for i, other in enumerate(w.kernel.functions) if other is function)
    stem = f"inner{'_of_both' if function.common else ''}{number}"
    head_ = ".func (.param .b32 result) {}(.param .b32 one)"
    fetch = [".reg .b32 %t; .reg .pred %p;", "ld.param.b32 %t, [one];"]

    def call_of(register: str, name: str) -> list[str]:
        return [
            "{", ".param .b32 its_one; .param .b32 given;", f"st.param.b32 [its_one], {register};",
            f"call (given), {name}, (its_one);", f"ld.param.b32 {register}, [given];", "}",
        ]  # fmt: skip

    last = ["mad.lo.u32 %t, %t, 5, 1;", "st.param.b32 [result], %t;", "ret;"]
    w.helper(f"{stem}_2", head_.format(f"{stem}_2"), [*fetch, *last])
    around = ["setp.gt.s32 %p, %t, 9;", "@%p bra PAST;", *call_of("%t", f"{stem}_2"), "PAST:"]
    w.helper(f"{stem}_1", head_.format(f"{stem}_1"), [*fetch, *around, *last[1:]])
    _work(w, function.body)
    w.line(*call_of("%v0", f"{stem}_1"))


OUTSIDE_BRACES = ("nothing", "registers")  # calls that pass nothing in memory
MORE_KINDS: dict[str, Body] = {
    "nothing": _nothing,
    "registers": _plain,
    "returns": _returns,
    "calls others": _nested,
}
RESULTS: dict[str, tuple[str, ...]] = {"nothing": (), "registers": ("mov.b32 result, %v0;",)}
