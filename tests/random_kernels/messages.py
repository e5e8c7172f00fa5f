"""Data and a flag that marks them as written, which others read without waiting.

Requires that no thread ends early. The readers get the same result in any case.
"""

from __future__ import annotations

from random_kernels import more
from random_kernels.place import Place
from random_kernels.tree import Message
from random_kernels.writer import Writer

RELEASES = {  # of the flag
    "store": ("st.release.{scope}{space}.u32 [{flag}], {value};",),
    "fence and store": ("fence.acq_rel.{scope};", "st.relaxed.{scope}{space}.u32 [{flag}], {value};"),
    "full fence and store": ("fence.sc.{scope};", "st.volatile{space}.u32 [{flag}], {value};"),
    "old fence and store": ("membar.{old};", "st.volatile{space}.u32 [{flag}], {value};"),
    "reduction": ("red.release.{scope}{space}.max.u32 [{flag}], {value};",),
    "exchange": ("atom.release.{scope}{space}.exch.b32 {word}, [{flag}], {value};",),
    "both": ("atom.acq_rel.{scope}{space}.exch.b32 {word}, [{flag}], {value};",),
}
ACQUIRES = {
    "load": ("ld.acquire.{scope}{space}.u32 {target}, [{flag}];",),
    "load and fence": ("ld.relaxed.{scope}{space}.u32 {target}, [{flag}];", "fence.acq_rel.{scope};"),
    "load and full fence": ("ld.volatile{space}.u32 {target}, [{flag}];", "fence.sc.{scope};"),
    "load and old fence": ("ld.volatile{space}.u32 {target}, [{flag}];", "membar.{old};"),
    "atomic": ("atom.acquire.{scope}{space}.or.b32 {target}, [{flag}], 0;",),
    "both": ("atom.acq_rel.{scope}{space}.add.u32 {target}, [{flag}], 0;",),
}
SCOPES = ("cta", "gpu", "sys")
OLD = {"cta": "cta", "gpu": "gl", "sys": "sys"}  # names of scopes
SPACES = (".shared", ".global", "")  # of data and of the flag
FIRST = 10  # of the flags
NUMBER = 4


def message(w: Writer, statement: Message, place: Place) -> None:
    w.saw(f"release by {statement.release}")
    w.saw(f"acquire by {statement.acquire}")
    w.saw(f"release and acquire in scope {statement.scope}")
    n = statement.numbers
    number = FIRST + n[0] % NUMBER
    round_, value, flag, data = w.round_of(number), w.word(), w.flag(), w.flag()
    who = (n[1] * 11 + n[2]) % w.threads
    w.line(f"add.u32 {round_}, {round_}, 1;", f"mad.lo.u32 {value}, {round_}, 2654435769, %scale;")
    _address(w, flag, statement.spaces[1], "flags", 4 * number)
    _address(w, data, statement.spaces[0], "tile", 4 * who if statement.spaces[0] != ".global" else 4 * more.DATA)
    p, others, join = w.predicate(), w.label("OTHERS"), w.label("JOIN")
    w.line(f"setp.ne.u32 {p}, %rank, {who};", f"@{p} bra {others};")
    words = {
        "scope": statement.scope, "old": OLD[statement.scope], "space": statement.spaces[1], "flag": flag,
        "value": round_,
    }  # fmt: skip
    w.line(f"st{statement.spaces[0]}.u32 [{data}], {value};")
    w.line(*(line.format(word=w.word(), **words) for line in RELEASES[statement.release]), f"bra {join};")
    w.mark(others)
    for _ in range(1 + n[3] % 2):
        _look(w, statement, words, data, value)
    w.mark(join)
    w.barrier("bar.sync 0;", place)


def _look(w: Writer, statement: Message, words: dict[str, str], data: str, value: str) -> None:
    seen, t, p, past = w.word(), w.word(), w.predicate(), w.label("PAST")
    w.line(*(line.format(target=seen, **words) for line in ACQUIRES[statement.acquire]))
    w.line(f"setp.ne.u32 {p}, {seen}, {words['value']};", f"@{p} bra {past};")
    w.line(f"ld{statement.spaces[0]}.u32 {t}, [{data}];", f"sub.u32 {t}, {t}, {value};")
    target = f"%v{statement.numbers[2] % 8}"
    w.line(f"add.u32 {target}, {target}, {t};")
    w.mark(past)


def _address(w: Writer, register: str, space: str, variable: str, at: int) -> None:
    if space == ".global":
        w.line(f"add.u64 {register}, %more, {at};")
        return
    w.line(f"mov.u64 {register}, {variable};", f"add.u64 {register}, {register}, {at};")
    w.line(*([f"cvta.shared.u64 {register}, {register};"] if not space else []))
