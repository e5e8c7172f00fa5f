"""The text of a random kernel: around its body, what gives the registers their first values and stores them at the end.

Registers of the pools (`arithmetic.POOLS`, and %u0 to %u3, which are the same for a whole CTA) have a part in it where
the body uses them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import prod

from random_kernels import functions, more
from random_kernels.control import write
from random_kernels.data import ALIKE, FLOATS, WORDS
from random_kernels.phases import OBJECTS, place_of
from random_kernels.place import EVERYWHERE
from random_kernels.tree import Function, Kernel
from random_kernels.waits import chain
from random_kernels.writer import FRESH, Writer

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
PARAMETERS = (("in", "u64"), ("out", "u64"), ("totals", "u64"), ("n", "u32"), ("scale", "u32"))
PLACES = {"v": 0, "f": 8, "w": 12, "d": 20, "h": 24, "q": 26, "u": 28}  # the word of `out` where each pool is stored
TYPES = {"v": "b32", "f": "f32", "w": "b64", "d": "f64", "h": "b16", "q": "pred", "u": "b32"}
SIZES = {"b32": 4, "f32": 4, "b64": 8, "f64": 8, "b16": 2, "pred": 1}
UNIFORM = ("mov.b32 %u0, %scale;", "mov.b32 %u1, %cta;", "shr.u32 %u2, %n, 2;", "add.u32 %u3, %scale, 7;")
WORD_REGISTERS = "%n %scale %cta %rank %number %threads %lane %warp %loaded %slot %present %ring".split()
WORD_REGISTERS += [f"%phase{number}" for number in range(OBJECTS)]
WORD_REGISTERS += [f"%round{number}" for number in range(2 * more.FLAGS)]
ADDRESSES = "%in %out %totals %SP %SPL %more".split()
MORE = (".param .u64 {}_more", f".param .align 8 .b8 {{}}_more_s[{4 * more.FIELDS}]")
FACTORS = (7, 2654435769, 40503, 1, 3)
BITS = (1, 6, 5, 16)  # of a thread's number, each of which decides a predicate


def text(kernel: Kernel) -> tuple[str, Counter[str]]:
    """The module with this one entry, and how often it has each construct."""
    w = Writer(kernel)
    names = functions.names(kernel.functions)
    mixing = "".join(_function(w, function, name) for function, name in zip(kernel.functions, names, strict=True))
    if kernel.chain is not None:
        chain(w, kernel.chain)
    write(w, kernel.body, EVERYWHERE.at(kernel.level))
    body, w.lines = w.lines, []
    used = _used(body)
    _begin(w, used, "\n".join(body))
    begin, w.lines = w.lines, []
    _end(w, used)
    lines = [*_needed(begin, [*body, *w.lines]), *body, *w.lines]
    declared = [*_registers(lines), *_variables(w, lines)]
    parameters = ", ".join(f".param .{t} {kernel.name}_{n}" for n, t in PARAMETERS)
    if kernel.more:
        parameters += "".join(f", {text.format(kernel.name)}" for text in MORE)
    entry = f".visible .entry {kernel.name}({parameters})\n{{\n" + "\n".join([*declared, *lines]) + "\n}\n"
    dynamic = ""
    if kernel.dynamic is not None and re.search(r"\btile\b", entry):
        w.saw("dynamic shared memory")
        dynamic = ".extern .shared .align 16 .b8 tile[];\n"
    table = ".const .align 4 .b32 table[8] = {5, 42, 79, 116, 153, 190, 227, 264};\n"
    return HEADER + (table if re.search(r"\btable\b", entry) else "") + dynamic + mixing + "".join(
        w.helpers.values()
    ) + entry, w.census


def _needed(begin: Sequence[str], rest: Sequence[str]) -> list[str]:
    """The lines of the beginning without those whose result nothing reads."""
    text, used = "\n".join(rest), list[str]()
    for line in reversed(begin):
        result = re.match(r"(?:ld|mov|mad|cvta|shr|and|mul|sub|min|add|xor|cvt|setp)\.\S+ (%\w+),", line)
        if result is None or re.search(rf"{result[1]}\b", text):
            used.append(line)
            text += "\n" + line
    return used[::-1]


def _used(lines: Sequence[str]) -> list[tuple[str, int]]:
    """The registers of pools among the lines, as pool and number."""
    return sorted({(r[1], int(r[2])) for r in re.findall(r"%[vfwdhqu]\d\b", "\n".join(lines))})


def _function(w: Writer, function: Function, name: str) -> str:
    """Makes one word of others."""
    declaration, fetch = functions.head(function, name)

    def finished(own: Writer) -> list[str]:
        body, own.lines = own.lines, []
        fetched = [("v", 0), ("v", 1), *([("w", 0)] if function.kind == "by value" else [])]
        _first_values(own, [r for r in _used(body) if r not in fetched], "%v0", "%v1")
        lines = [*fetch, *own.lines, *body]
        local = ".local .align 16 .b8 kept[16];"  # word: kept, in generated text
        array = [local] if function.kind == "local array" else []
        return [*array, *_registers(lines), *lines]

    lines, own = functions.text(w.kernel, function, finished)
    w.census.update(own.census)
    return "".join(own.helpers.values()) + declaration + "\n{\n" + "\n".join(lines) + "\n}\n"


def _registers(lines: Sequence[str]) -> list[str]:
    """Declarations of what the lines mention."""
    mentioned = "\n".join(lines)
    declared = []
    for stem, type_ in (TYPES | FRESH).items():
        if numbers := re.findall(rf"%{stem}(\d+)\b", mentioned):
            declared.append(f".reg .{type_} %{stem}<{1 + max(map(int, numbers))}>;")
    for type_, names in (("b32", WORD_REGISTERS), ("b64", ADDRESSES)):
        if found := [name for name in names if re.search(rf"{name}\b", mentioned)]:
            declared.append(f".reg .{type_} {', '.join(found)};")
    return declared


def _variables(w: Writer, lines: Sequence[str]) -> list[str]:
    declared = {
        "bins": ".shared .align 16 .b8 bins[32];",
        "bars": f".shared .align 8 .b8 bars[{8 * OBJECTS}];",
        "ring": f".shared .align 16 .b8 ring[{16 * w.threads}];",
        "__local_depot0": ".local .align 16 .b8 __local_depot0[32];",
        "flags": f".shared .align 4 .b8 flags[{4 * more.FLAGS}];",
        "bits": ".local .align 4 .b8 bits[16];",
        "frame": ".local .align 8 .b8 frame[32];",
    }
    if w.kernel.dynamic is None:
        declared["tile"] = f".shared .align 16 .b8 tile[{w.kernel.tile_bytes}];"
    return [line for name, line in declared.items() if re.search(rf"\b{name}\b", "\n".join(lines))]


def _begin(w: Writer, used: Sequence[tuple[str, int]], body: str) -> None:
    kernel = w.kernel
    for name in ("in", "out", "totals"):
        w.line(f"ld.param.u64 %{name}, [{kernel.name}_{name}];", f"cvta.to.global.u64 %{name}, %{name};")
    for name in ("n", "scale"):
        w.line(f"ld.param.u32 %{name}, [{kernel.name}_{name}];")
    _numbers(w)
    if kernel.broadcast and "%warp" in body:
        w.line("shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;")
    if "%SP" in body:
        w.line("mov.u64 %SPL, __local_depot0;", "cvta.local.u64 %SP, %SPL;")
        w.line(*(f"st.local.v4.b32 [%SPL+{at}], {{%number, %n, %number, %rank}};" for at in (0, 16)))
    if "%ring" in body:
        w.line("mov.u32 %ring, ring;", "mad.lo.u32 %ring, %rank, 16, %ring;")
        if ", ring;" in body:  # others read it, also where the thread has ended
            w.line("st.shared.v2.u32 [%ring], {%number, %rank};")
    if "%more" in body:
        _more(w)
    w.line(*(f"mov.u32 %round{number}, 0;" for number in sorted(w.rounds)))
    w.line(*(f"mov.u32 %phase{number}, 0;" for number in sorted(w.objects)))
    if kernel.tile == "before":
        w.line("mov.b32 %present, %threads;")
        _shared(w)
    if kernel.guard == "first":
        _guard(w)
    _first_values(w, used, "%number", "%rank")
    w.line(f"ld.global{'.nc' if kernel.start == 'nc' else ''}.u32 %loaded, [%in+{4 * (ALIKE + kernel.scale % 32)}];")
    if kernel.guard == "loaded":
        _guard(w)
    if kernel.tile == "after":
        w.line("mul.lo.u32 %present, %cta, %threads;", "sub.u32 %present, %n, %present;")
        w.line("min.u32 %present, %present, %threads;")
        _shared(w)


def _numbers(w: Writer) -> None:
    """Which CTA this is, and which thread in it and in the grid, all counted in one dimension."""
    for register, own, sizes, extent in (
        ("%cta", "%ctaid", "%nctaid", w.kernel.grid),
        ("%rank", "%tid", "%ntid", w.kernel.block),
    ):
        axes = "xyz"[: len(extent)]
        w.line(f"mov.u32 {register}, {own}.{axes[-1]};")
        for axis in reversed(axes[:-1]):
            size, place = w.word(), w.word()
            w.line(f"mov.u32 {size}, {sizes}.{axis};", f"mov.u32 {place}, {own}.{axis};")
            w.line(f"mad.lo.u32 {register}, {register}, {size}, {place};")
    w.line(f"mov.u32 %threads, {'%ntid.x' if len(w.kernel.block) == 1 else w.threads};")
    w.line("mad.lo.u32 %number, %cta, %threads, %rank;")
    w.line("mov.u32 %lane, %laneid;", "shr.u32 %warp, %rank, 5;")
    w.line(f"mad.wide.u32 %out, %number, {4 * WORDS}, %out;")
    if w.kernel.moved:
        w.line(f"mad.wide.u32 %out, %scale, {4 * WORDS * prod(w.kernel.grid) * w.threads}, %out;")


def _more(w: Writer) -> None:
    """The words of the CTA."""
    name = w.kernel.name
    w.line(f"ld.param.u64 %more, [{name}_more];", "cvta.to.global.u64 %more, %more;")
    w.line(f"mad.wide.u32 %more, %cta, {4 * more.WORDS}, %more;")
    if w.kernel.moved:
        w.line(f"mad.wide.u32 %more, %scale, {4 * more.WORDS * prod(w.kernel.grid)}, %more;")


def _guard(w: Writer) -> None:
    w.saw("guard")
    p = w.predicate()
    w.line(f"setp.ge.u32 {p}, %number, %n;", f"@{p} bra END;")


def _shared(w: Writer) -> None:
    """A word for each of the threads that are %present, and totals that begin with 0."""
    w.line("mov.u32 %slot, tile;", "mad.lo.u32 %slot, %rank, 4, %slot;", "st.shared.u32 [%slot], %number;")
    if w.kernel.bins:
        p = w.predicate()
        w.line(f"setp.eq.u32 {p}, %rank, 0;", f"@{p} st.shared.v4.u32 [bins], {{0, 0, 0, 0}};")
        w.line(f"@{p} st.shared.v4.u32 [bins+16], {{0, 0, 0, 0}};")
    if w.rounds:
        p = w.predicate()
        w.line(
            f"setp.lt.u32 {p}, %rank, {more.FLAGS};", f"@{p} st.shared.u32 [{w.at(w.base('flags'), '%rank', 4)}], 0;"
        )
    if w.objects:
        p = w.predicate()
        w.line(f"setp.eq.u32 {p}, %rank, 0;")
        w.line(*(f"@{p} mbarrier.init.shared.b64 {place_of(o)}, {c};" for o, c in sorted(w.objects.items())))
    w.line("bar.sync 0;")


def _first_values(w: Writer, used: Sequence[tuple[str, int]], one: str, two: str) -> None:
    """Made of two words; in a kernel that begins with loads also of what these lead to."""
    loads = w.kernel.start != "computed" and one == "%number"
    pair = loads and ("v", 0) in used and ("v", 1) in used
    if pair:
        w.line(f"ld.global.v2.u32 {{%v0, %v1}}, [{w.at('%in', w.below(one, 32), 8)}];")
    for stem, k in used:
        register, own = f"%{stem}{k}", (one, two)[k & 1]
        if stem == "v" and not (pair and k < 2):
            w.line(f"mad.lo.u32 {register}, {one}, {FACTORS[k % len(FACTORS)]}, {two};")
        elif stem == "f" and loads:
            w.line(f"ld.global.f32 {register}, [{w.at('%in', w.below(own, 32), 4)}+{4 * (FLOATS + 8 * k)}];")
        elif stem == "f":
            w.line(f"cvt.rn.f32.u32 {register}, {own};")
        elif stem == "w":
            w.line(f"mul.wide.u32 {register}, {one}, {2654435769 + k};")
        elif stem == "d":
            w.line(f"cvt.rn.f64.u32 {register}, {own};")
        elif stem == "h":
            w.line(f"cvt.u16.u32 {register}, {own};")
        elif stem == "q":
            t = w.word()
            w.line(f"and.b32 {t}, {one}, {BITS[k]};", f"setp.ne.u32 {register}, {t}, 0;")
        elif stem == "u":
            w.line(UNIFORM[k])


def _end(w: Writer, used: Sequence[tuple[str, int]]) -> None:
    """Each thread that comes here stores what it has."""
    w.mark("DONE")
    for stem, k in used:
        place = 4 * PLACES[stem] + SIZES[TYPES[stem]] * k
        if stem == "q":
            t = w.word()
            w.line(f"selp.u32 {t}, 1, 0, %q{k};", f"st.global.u8 [%out+{place}], {t};")
        elif stem == "v" and k % 2 == 0 and ("v", k + 1) in used:
            w.line(f"st.global.v2.b32 [%out+{place}], {{%v{k}, %v{k + 1}}};")
        elif stem != "v" or ("v", k - 1) not in used or k % 2 == 0:
            w.line(f"st.global.{TYPES[stem]} [%out+{place}], %{stem}{k};")
    w.mark("END")
    w.line("ret;")
