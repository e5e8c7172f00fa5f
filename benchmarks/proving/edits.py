"""Random edits of the text of a fused kernel. Most change what it does; a checker has to refuse those.

An edit changes lines of the text. It is a function of a `Text` and a random number generator that gives the new lines,
or None where it finds nothing to change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from random import Random

TRIES = 100
Lines = list[str]
Edit = Callable[["Text", Random], Lines | None]

_INSTRUCTION = re.compile(
    r"(?P<indent>\s+)(?:@(?P<negated>!?)(?P<guard>[%\w$]+)\s+)?(?P<opcode>[a-z][\w.:]*)(?P<operands>\s[^;]*)?;"
    r"(?P<comment>\s*//.*)?$"
)
_LABEL = re.compile(r"([$%\w]+):\s*(//.*)?$")
_REGISTER = re.compile(r"%[A-Za-z_$][\w$]*(?![\w.])")
_NUMBER = re.compile(r"(?<![\w%$.])(-?(?:0x[0-9a-fA-F]+|0[fdFD][0-9a-fA-F]+|\d+))(?![\w.])")


@dataclass(frozen=True, slots=True)
class Parts:
    """An instruction: `guard` without its sign, `operands` as they are separated by commas, `comment` the witness's."""

    indent: str
    negated: str
    guard: str
    opcode: str
    operands: tuple[str, ...]
    comment: str

    def __str__(self) -> str:
        guard = f"@{self.negated}{self.guard} " if self.guard else ""
        operands = f" {', '.join(self.operands)}" if self.operands else ""
        return f"{self.indent}{guard}{self.opcode}{operands};{self.comment}"


def parts_of(line: str) -> Parts | None:
    """None for a line that is not an instruction."""
    found = _INSTRUCTION.match(line)
    if not found or found["opcode"].startswith("."):
        return None
    operands = _separated((found["operands"] or "").strip())
    return Parts(found["indent"], found["negated"] or "", found["guard"] or "", found["opcode"], operands,
                 found["comment"] or "")  # fmt: skip


def _separated(text: str) -> tuple[str, ...]:
    """The operands, at commas outside of brackets."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    rest = text[start:].strip()
    return (*found, rest) if rest else tuple(found)


@dataclass(frozen=True)
class Text:
    lines: Sequence[str]

    @cached_property
    def instructions(self) -> dict[int, Parts]:
        """By line, those of the entry."""
        begin = next((i for i, line in enumerate(self.lines) if ".entry" in line), 0)
        found = ((i, parts_of(line)) for i, line in enumerate(self.lines) if i > begin)
        return {i: p for i, p in found if p}

    @cached_property
    def labels(self) -> dict[str, int]:
        return {m[1]: i for i, line in enumerate(self.lines) if (m := _LABEL.match(line))}

    @cached_property
    def blocks(self) -> list[list[int]]:
        """The lines of instructions between labels and branches."""
        found: list[list[int]] = [[]]
        marks = set(self.labels.values())
        for i in range(len(self.lines)):
            if i in marks:
                found.append([])
            if i in self.instructions:
                found[-1].append(i)
                if self.instructions[i].opcode.startswith(("bra", "ret", "exit")):
                    found.append([])
        return [b for b in found if b]

    @cached_property
    def registers(self) -> dict[str, list[str]]:
        """The registers that instructions name, by what their names begin with."""
        names = sorted(
            {r for p in self.instructions.values() for o in (*p.operands, p.guard) for r in _REGISTER.findall(o)}
        )
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(kind_of(name), []).append(name)
        return found

    def having(self, *words: str) -> list[int]:
        """The lines of instructions whose opcode has one of the words at its beginning."""
        return [i for i, p in self.instructions.items() if p.opcode.startswith(words)]

    def with_line(self, i: int, *instead: str) -> Lines:
        return [*self.lines[:i], *instead, *self.lines[i + 1 :]]

    def moved(self, i: int, to: int) -> Lines:
        """With line i before line `to`."""
        line = self.lines[i]
        rest = [(n, text) for n, text in enumerate(self.lines) if n != i]
        place = next((k for k, (n, _) in enumerate(rest) if n >= to), len(rest))
        texts = [text for _, text in rest]
        return [*texts[:place], line, *texts[place:]]


def kind_of(register: str) -> str:
    """Registers whose names begin alike have one type; predicates that were added, too."""
    stem = register.rstrip("0123456789")
    return re.sub(r"^(%\w_)(run|if|in|any|unless|p|side|both|ends|first|stays)\w*$", r"\1p", stem)


def _changed(text: Text, i: int, **fields: object) -> Lines | None:
    old = text.instructions[i]
    values = {name: fields.get(name, getattr(old, name)) for name in Parts.__slots__}
    new = str(Parts(**values))  # type: ignore[arg-type]
    return None if new == str(old) else text.with_line(i, new)


def _any(text: Text, choose: Random) -> int:
    return choose.choice([*text.instructions])


# places ---------------------------------------------------------------------------------------------------


def swap_neighbours(text: Text, choose: Random) -> Lines | None:
    block = choose.choice(text.blocks)
    if len(block) < 2:
        return None
    k = choose.randrange(len(block) - 1)
    return _swapped(text, block[k], block[k + 1])


def swap_in_block(text: Text, choose: Random) -> Lines | None:
    block = choose.choice(text.blocks)
    return _swapped(text, *choose.sample(block, 2)) if len(block) > 1 else None


def swap_anywhere(text: Text, choose: Random) -> Lines | None:
    return _swapped(text, *choose.sample([*text.instructions], 2))


def _swapped(text: Text, i: int, k: int) -> Lines | None:
    lines = [*text.lines]
    lines[i], lines[k] = lines[k], lines[i]
    return None if lines[i] == lines[k] else lines


def move_near(text: Text, choose: Random) -> Lines | None:
    i = _any(text, choose)
    return text.moved(i, i + choose.choice((-5, -4, -3, -2, 3, 4, 5, 6)))


def move_anywhere(text: Text, choose: Random) -> Lines | None:
    return text.moved(_any(text, choose), _any(text, choose))


def move_effect_over_order(text: Text, choose: Random) -> Lines | None:
    """An access over the next or previous barrier, fence, release, acquire or volatile access."""
    orders = [i for i, p in text.instructions.items() if _orders(p.opcode)]
    if not orders:
        return None
    at = choose.choice(orders)
    effects = [i for i, p in text.instructions.items() if p.opcode.startswith(("ld.", "st.", "atom", "red"))
               and ".param" not in p.opcode and abs(i - at) < 60 and i != at]  # fmt: skip
    if not effects:
        return None
    i = choose.choice(effects)
    return text.moved(i, at + 1 if i < at else at)


def _orders(opcode: str) -> bool:
    words = opcode.split(".")
    return words[0] in ("bar", "barrier", "fence", "membar", "mbarrier") or bool(
        {"volatile", "relaxed", "acquire", "release", "acq_rel"} & set(words)
    )


def delete(text: Text, choose: Random) -> Lines | None:
    return text.with_line(_any(text, choose))


def delete_added(text: Text, choose: Random) -> Lines | None:
    """An instruction that no kernel has."""
    added = [i for i, p in text.instructions.items() if not p.comment]
    return text.with_line(choose.choice(added)) if added else None


def delete_effect(text: Text, choose: Random) -> Lines | None:
    lines = text.having("st", "ld", "atom", "red", "bar", "fence", "shfl", "vote", "mma")
    return text.with_line(choose.choice(lines)) if lines else None


def duplicate(text: Text, choose: Random) -> Lines | None:
    i = _any(text, choose)
    return text.with_line(i, text.lines[i], text.lines[i])


def copy_elsewhere(text: Text, choose: Random) -> Lines | None:
    i, to = _any(text, choose), _any(text, choose)
    return [*text.lines[:to], text.lines[i], *text.lines[to:]]


def copy_without_witness(text: Text, choose: Random) -> Lines | None:
    """As an instruction that was added."""
    i, to = _any(text, choose), _any(text, choose)
    line = text.lines[i].partition(" //")[0]
    return [*text.lines[:to], line, *text.lines[to:]]


def add_instruction(text: Text, choose: Random) -> Lines | None:
    """One that no kernel has."""
    to = _any(text, choose)
    predicates = [r for kind, names in text.registers.items() if kind.endswith("p") for r in names]
    numbers = [r for kind, names in text.registers.items() if kind.endswith("_r") for r in names]
    if not predicates or not numbers:
        return None
    p, q, r, s = (choose.choice(names) for names in (predicates, predicates, numbers, numbers))
    labels = [*text.labels] or ["$none"]
    line = choose.choice((
        f"mov.u32 {r}, {choose.randint(-1, 3)};", f"add.s32 {r}, {r}, 1;", f"mov.u32 {r}, {s};",
        f"not.pred {p}, {q};", f"mov.pred {p}, {choose.randint(0, 1)};", f"and.pred {p}, {p}, {q};",
        f"or.pred {p}, {p}, {q};", "bar.warp.sync -1;", "bar.sync 0;", "barrier.sync 0;", "bar.sync 1;", "exit;",
        f"@{p} exit;", f"@{p} ret;", f"@{p} bra {choose.choice(labels)};", f"bra.uni {choose.choice(labels)};",
        f"vote.sync.any.pred {p}, {q}, -1;", f"vote.sync.all.pred {p}, {q}, -1;",
        f"vote.sync.ballot.b32 {r}, {q}, -1;", f"activemask.b32 {r};", f"mov.u32 {r}, %tid.x;",
        f"st.shared.u32 [{r}], {s};", f"shfl.sync.idx.b32 {r}, {r}, 0, 31, -1;", f"@{p} trap;", "membar.gl;",
        f"add.cc.u32 {r}, {r}, {s};", f"addc.u32 {r}, {r}, {s};", "nanosleep.u32 1;", f"popc.b32 {r}, {s};",
    ))  # fmt: skip
    return [*text.lines[:to], f"    {line}", *text.lines[to:]]


# guards ---------------------------------------------------------------------------------------------------


def _guarded(text: Text, choose: Random) -> int | None:
    lines = [i for i, p in text.instructions.items() if p.guard]
    return choose.choice(lines) if lines else None


def drop_guard(text: Text, choose: Random) -> Lines | None:
    i = _guarded(text, choose)
    return None if i is None else _changed(text, i, guard="", negated="")


def negate_guard(text: Text, choose: Random) -> Lines | None:
    i = _guarded(text, choose)
    return None if i is None else _changed(text, i, negated="" if text.instructions[i].negated else "!")


def exchange_guard(text: Text, choose: Random) -> Lines | None:
    i = _guarded(text, choose)
    if i is None:
        return None
    others = [r for kind, names in text.registers.items() if kind.endswith("p") for r in names]
    same = text.registers.get(kind_of(text.instructions[i].guard), others)
    return _changed(text, i, guard=choose.choice(same if choose.random() < 0.7 else others))


def add_guard(text: Text, choose: Random) -> Lines | None:
    lines = [i for i, p in text.instructions.items() if not p.guard]
    predicates = [r for kind, names in text.registers.items() if kind.endswith("p") for r in names]
    if not predicates:
        return None
    return _changed(text, choose.choice(lines), guard=choose.choice(predicates), negated=choose.choice(("", "!")))


# operands -------------------------------------------------------------------------------------------------


def _with_operand(text: Text, i: int, k: int, operand: str) -> Lines | None:
    operands = list(text.instructions[i].operands)
    operands[k] = operand
    return _changed(text, i, operands=tuple(operands))


def _operand(text: Text, choose: Random, wanted: Callable[[str], object], lines: Sequence[int] = ()) -> tuple[int, int]:
    """A line and an operand that something holds of; (-1, 0) if there is none."""
    found = [
        (i, k) for i in lines or text.instructions for k, o in enumerate(text.instructions[i].operands) if wanted(o)
    ]
    return choose.choice(found) if found else (-1, 0)


def rename_register(text: Text, choose: Random) -> Lines | None:
    """One use or one definition, as another register of its type."""
    i, k = _operand(text, choose, _REGISTER.search)
    if i < 0:
        return None
    operand = text.instructions[i].operands[k]
    old = choose.choice(_REGISTER.findall(operand))
    names = text.registers.get(kind_of(old), [])
    near = [n for n in names if n != old]
    return _with_operand(text, i, k, re.sub(rf"{re.escape(old)}(?!\w)", choose.choice(near), operand)) if near else None


def rename_destination(text: Text, choose: Random) -> Lines | None:
    lines = [i for i, p in text.instructions.items() if p.operands and p.operands[0].startswith("%")]
    i = choose.choice(lines)
    old = text.instructions[i].operands[0]
    names = [n for n in text.registers.get(kind_of(old), []) if n != old]
    return _with_operand(text, i, 0, choose.choice(names)) if names else None


def merge_registers(text: Text, choose: Random) -> Lines | None:
    """All of one register becomes another."""
    kind = choose.choice([*text.registers])
    names = text.registers[kind]
    if len(names) < 2:
        return None
    old, new = choose.sample(names, 2)
    pattern = re.compile(rf"{re.escape(old)}(?![\w<])")
    return [pattern.sub(new, line) if i in text.instructions else line for i, line in enumerate(text.lines)]


def exchange_kernels_register(text: Text, choose: Random) -> Lines | None:
    """A register of one kernel becomes the same of another."""
    i, k = _operand(text, choose, lambda o: re.search(r"%[ab]_\w", o))
    if i < 0:
        return None
    operand = text.instructions[i].operands[k]
    return _with_operand(text, i, k, re.sub(r"%([ab])_", lambda m: "%b_" if m[1] == "a" else "%a_", operand, count=1))


def change_number(text: Text, choose: Random) -> Lines | None:
    i, k = _operand(text, choose, lambda o: _NUMBER.search(o) and "[" not in o)
    return None if i < 0 else _with_operand(text, i, k, _other_number(text.instructions[i].operands[k], choose))


def _other_number(operand: str, choose: Random) -> str:
    found = choose.choice([*_NUMBER.finditer(operand)])
    old = found[1]
    if old[:2].lower() in ("0f", "0d"):
        new = f"{old[:-1]}{choose.choice([c for c in '0123456789abcdef' if c != old[-1].lower()])}"
    else:
        value = int(old, 0)
        new = str(choose.choice([v for v in (value + 1, value - 1, value * 2, -value, 0, 1, value + 32) if v != value]))
    return operand[: found.start()] + new + operand[found.end() :]


def change_offset(text: Text, choose: Random) -> Lines | None:
    i, k = _operand(text, choose, lambda o: o.startswith("["))
    if i < 0:
        return None
    operand = text.instructions[i].operands[k]
    found = re.fullmatch(r"\[([^]+\s-]+)\s*([+-]\s*\w+)?\]", operand)
    if not found:
        return None
    old = int((found[2] or "+0").replace(" ", ""), 0)
    new = old + choose.choice((1, 2, 4, -4, 8, 16, 128))
    return _with_operand(text, i, k, f"[{found[1]}{new:+d}]")


def change_base(text: Text, choose: Random) -> Lines | None:
    i, k = _operand(text, choose, lambda o: o.startswith("[%"))
    if i < 0:
        return None
    operand = text.instructions[i].operands[k]
    old = _REGISTER.findall(operand)[0]
    names = [n for n in text.registers.get(kind_of(old), []) if n != old]
    return _with_operand(text, i, k, operand.replace(old, choose.choice(names), 1)) if names else None


def exchange_operands(text: Text, choose: Random) -> Lines | None:
    lines = [i for i, p in text.instructions.items() if len(p.operands) > 2]
    if not lines:
        return None
    i = choose.choice(lines)
    operands = list(text.instructions[i].operands)
    a, b = choose.sample(range(1 if choose.random() < 0.8 else 0, len(operands)), 2)
    operands[a], operands[b] = operands[b], operands[a]
    return _changed(text, i, operands=tuple(operands))


def change_mask(text: Text, choose: Random) -> Lines | None:
    lines = [
        i for i in text.having("shfl", "vote", "match", "redux", "bar.warp", "elect") if text.instructions[i].operands
    ]
    if not lines:
        return None
    i = choose.choice(lines)
    numbers = [r for kind, names in text.registers.items() if kind.endswith(("_r", "lanes", "here")) for r in names]
    new = choose.choice(("-1", "0xffffffff", "0", "1", "0x7fffffff", "0xffff", choose.choice(numbers or ["-1"])))
    return _with_operand(text, i, len(text.instructions[i].operands) - 1, new)


def change_symbol(text: Text, choose: Random) -> Lines | None:
    """A variable, a parameter, or a special register becomes another one."""
    names = sorted({s for line in text.lines for s in re.findall(r"(?<![%$\w.])[A-Za-z_]\w*(?=\[\d*\];|,?\s*$)", line)})
    pools = [
        [n for n in names if "_param_" in n],
        [n for n in names if "_param_" not in n and len(n) > 2],
        ["%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%tid.y", "%ctaid.y", "%warpid", "%ntid.y"],
    ]
    pool = choose.choice([p for p in pools if len(p) > 1] or [[]])
    i, k = _operand(text, choose, lambda o: any(re.search(rf"(?<![\w.]){re.escape(n)}(?!\w)", o) for n in pool))
    if i < 0:
        return None
    operand = text.instructions[i].operands[k]
    old = next(n for n in pool if re.search(rf"(?<![\w.]){re.escape(n)}(?!\w)", operand))
    return _with_operand(text, i, k, operand.replace(old, choose.choice([n for n in pool if n != old])))


def shift_variable(text: Text, choose: Random) -> Lines | None:
    """An offset to the address of a variable."""
    lines = [i for i in text.having("mov") if re.fullmatch(r"[A-Za-z_]\w*", text.instructions[i].operands[-1])]
    if not lines:
        return None
    i = choose.choice(lines)
    return _with_operand(text, i, 1, f"{text.instructions[i].operands[1]}+{choose.choice((1, 4, 16, 128))}")


# opcodes --------------------------------------------------------------------------------------------------

OTHERS = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), ("lt", "le", "gt", "ge", "eq", "ne")),
    **dict.fromkeys(("ltu", "gtu", "equ", "neu", "leu", "geu"), ("ltu", "gtu", "equ", "neu", "lt", "eq")),
    **dict.fromkeys(("s32", "u32", "b32", "f32"), ("s32", "u32", "b32", "f32", "u16")),
    **dict.fromkeys(("s64", "u64", "b64", "f64"), ("s64", "u64", "b64", "f64")),
    **dict.fromkeys(("u16", "s16", "b16", "u8", "s8"), ("u16", "s16", "u8", "s8", "b16")),
    **dict.fromkeys(("any", "all"), ("any", "all")),
    **dict.fromkeys(("up", "down", "bfly", "idx"), ("up", "down", "bfly", "idx")),
    **dict.fromkeys(("and", "or", "xor"), ("and", "or", "xor")),
    **dict.fromkeys(("add", "sub", "min", "max"), ("add", "sub", "min", "max")),
    **dict.fromkeys(("shl", "shr"), ("shl", "shr")),
    **dict.fromkeys(("lo", "hi"), ("lo", "hi")),
    **dict.fromkeys(("rn", "rz", "rm", "rp", "approx"), ("rn", "rz", "rm", "rp")),
    **dict.fromkeys(("global", "shared", "local"), ("global", "shared", "local")),
    **dict.fromkeys(("relaxed", "acquire", "release", "acq_rel"), ("relaxed", "acquire", "release", "acq_rel")),
    **dict.fromkeys(("cta", "gpu", "sys", "gl"), ("cta", "gpu", "sys")),
    **dict.fromkeys(("sync", "red", "arrive"), ("sync", "arrive")),
    **dict.fromkeys(("ret", "exit", "trap"), ("ret", "exit", "trap")),
    **dict.fromkeys(("v2", "v4"), ("v2", "v4")),
    **dict.fromkeys(("cas", "exch", "inc", "dec"), ("exch", "inc", "dec")),
    "row": ("col",), "col": ("row",), "not": ("mov",), "mov": ("not",), "wide": ("lo",), "ldmatrix": ("stmatrix",),
}  # fmt: skip
DROPPED = frozenset(
    "volatile relaxed acquire release acq_rel nc cc ftz sat uni aligned x2 x4 trans gpu cta sys".split()
)
ADDED = {
    "ld": ("volatile", "relaxed.gpu", "acquire.gpu", "nc", "ca", "cg", "cs", "lu", "cv"),
    "st": ("volatile", "relaxed.gpu", "release.gpu", "wb", "cg", "cs", "wt"),
    "atom": ("acquire", "release", "relaxed", "acq_rel", "cta", "sys"),
    "red": ("release", "relaxed", "cta", "sys"),
    "bra": ("uni",),
    "barrier": ("cta", "cluster"),
}


def exchange_word(text: Text, choose: Random) -> Lines | None:
    """One word of an opcode."""
    lines = [i for i, p in text.instructions.items() if any(w in OTHERS for w in p.opcode.split("."))]
    i = choose.choice(lines)
    words = text.instructions[i].opcode.split(".")
    k = choose.choice([k for k, w in enumerate(words) if w in OTHERS])
    words[k] = choose.choice([w for w in OTHERS[words[k]] if w != words[k]] or [words[k]])
    return _changed(text, i, opcode=".".join(words))


def drop_word(text: Text, choose: Random) -> Lines | None:
    lines = [i for i, p in text.instructions.items() if DROPPED & set(p.opcode.split("."))]
    if not lines:
        return None
    i = choose.choice(lines)
    words = text.instructions[i].opcode.split(".")
    words.remove(choose.choice([w for w in words if w in DROPPED]))
    return _changed(text, i, opcode=".".join(words))


def add_word(text: Text, choose: Random) -> Lines | None:
    lines = [i for i, p in text.instructions.items() if p.opcode.split(".")[0] in ADDED and ".param" not in p.opcode]
    if not lines:
        return None
    i = choose.choice(lines)
    base, *rest = text.instructions[i].opcode.split(".")
    more = choose.choice(ADDED[base])
    kind = "ld" if base == "ld" else base
    if kind in ("ld", "st") and more in ("nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"):
        rest = [*rest[:1], more, *rest[1:]]
    else:
        rest = [more, *rest]
    return _changed(text, i, opcode=".".join([base, *rest]))


def barrier_form(text: Text, choose: Random) -> Lines | None:
    """`bar` or `barrier`, aligned or not, with another id or count."""
    lines = text.having("bar.sync", "barrier", "bar.red", "bar.arrive")
    if not lines:
        return None
    i = choose.choice(lines)
    old = text.instructions[i]
    match choose.randrange(5):
        case 0:
            opcode = (
                old.opcode.replace("barrier", "bar")
                if "barrier" in old.opcode
                else old.opcode.replace("bar", "barrier")
            )
            return _changed(text, i, opcode=opcode)
        case 1:
            return _changed(text, i, opcode=f"{old.opcode}.aligned" if "aligned" not in old.opcode else old.opcode[:-8])
        case 2:
            return _changed(text, i, operands=(str(choose.randint(0, 15)), *old.operands[1:]))
        case 3:
            return _changed(text, i, operands=(*old.operands, choose.choice(("32", "64", "128", "256"))))
    return _changed(text, i, operands=old.operands[:-1])


# flow -----------------------------------------------------------------------------------------------------


def change_target(text: Text, choose: Random) -> Lines | None:
    lines = text.having("bra")
    if not lines or len(text.labels) < 2:
        return None
    i = choose.choice(lines)
    return _changed(text, i, operands=(choose.choice([*text.labels]),))


def exchange_labels(text: Text, choose: Random) -> Lines | None:
    if len(text.labels) < 2:
        return None
    return _swapped(text, *choose.sample(sorted(text.labels.values()), 2))


def move_label(text: Text, choose: Random) -> Lines | None:
    if not text.labels:
        return None
    i = choose.choice(sorted(text.labels.values()))
    return text.moved(i, i + choose.choice((-3, -2, -1, 2, 3, 4)))


def branch_to_end(text: Text, choose: Random) -> Lines | None:
    lines = text.having("bra")
    return _changed(text, choose.choice(lines), opcode="exit", operands=()) if lines else None


# what stands around ---------------------------------------------------------------------------------------


def wrong_claim(text: Text, choose: Random) -> Lines | None:
    """A comment names another line, or another kernel; or goes, or is that of another instruction."""
    lines = [i for i, p in text.instructions.items() if p.comment]
    if not lines:
        return None
    i, other = choose.choice(lines), choose.choice(lines)
    comment = text.instructions[i].comment
    match choose.randrange(4):
        case 0:
            return _changed(
                text, i, comment=re.sub(r"\d+$", lambda m: str(int(m[0]) + choose.choice((-2, -1, 1, 2))), comment)
            )
        case 1:
            return _changed(text, i, comment=comment.translate(str.maketrans("AB", "BA")))
        case 2:
            return _changed(text, i, comment="")
    return _changed(text, i, comment=text.instructions[other].comment)


def wrong_claim_and_edit(text: Text, choose: Random) -> Lines | None:
    """An edit, and the claim of an instruction is gone or another's."""
    lines = choose.choice([rename_register, exchange_guard, swap_neighbours, change_number, delete])(text, choose)
    return None if lines is None else wrong_claim(Text(lines), choose)


def declaration(text: Text, choose: Random) -> Lines | None:
    """A register, a variable, a parameter, a directive or the target is declared otherwise."""
    begin = next((i for i, line in enumerate(text.lines) if line.startswith("//")), 0)
    lines = [
        i
        for i, line in enumerate(text.lines)
        if i > begin and line.strip().startswith((".", "ret")) and "ret;" not in line
    ]
    i = choose.choice(lines)
    old = text.lines[i]
    numbers = [*_NUMBER.finditer(old)]
    match choose.randrange(4):
        case 0 if numbers:
            new = _other_number(old, choose)
        case 1:
            new = re.sub(
                r"\.(b32|u32|b64|u64|pred|f32|f64|b8|b16)",
                lambda m: choose.choice((".b32", ".b64", ".pred", ".f32", ".b8")),
                old,
                count=1,
            )
        case 2:
            return text.with_line(i)
        case _:
            new = re.sub(r"\.align \d+", f".align {choose.choice((1, 2, 4, 8, 16, 32))}", old)
    return None if new == old else text.with_line(i, new)


def header(text: Text, choose: Random) -> Lines | None:
    """The names in the witness."""
    i = next((i for i, line in enumerate(text.lines) if line.startswith("// goptx witness")), None)
    if i is None:
        return None
    words = re.findall(r'"[^"]*"', text.lines[i])
    old, new = choose.sample(words, 2)
    return text.with_line(i, text.lines[i].replace(old, new, 1))


def several(text: Text, choose: Random) -> Lines | None:
    """Two edits."""
    for _ in range(2):
        lines = EDITS[choose.choice([k for k in EDITS if k != "several"])](text, choose)
        if lines is None:
            return None
        text = Text(lines)
    return [*text.lines]


EDITS: dict[str, Edit] = {
    e.__name__.replace("_", " "): e
    for e in (
        swap_neighbours, swap_in_block, swap_anywhere, move_near, move_anywhere, move_effect_over_order, delete,
        delete_added, delete_effect, duplicate, copy_elsewhere, copy_without_witness, add_instruction, drop_guard,
        negate_guard, exchange_guard, add_guard, rename_register, rename_destination, merge_registers,
        exchange_kernels_register, change_number, change_offset, change_base, exchange_operands, change_mask,
        change_symbol, shift_variable, exchange_word, drop_word, add_word, barrier_form, change_target,
        exchange_labels, move_label, branch_to_end, wrong_claim, wrong_claim_and_edit, declaration, header, several,
    )
}  # fmt: skip


def edited(text: str, choose: Random, kinds: Sequence[str] = tuple(EDITS)) -> tuple[str, str]:
    """The kind of an edit, and the text after it. Another kind than these where they find nothing to change."""
    given = Text(text.splitlines())
    for number in count():
        kind = choose.choice(list(kinds) if number < TRIES else [*EDITS])
        lines = EDITS[kind](given, choose)
        if lines is not None and lines != given.lines:
            return kind, "\n".join(lines) + "\n"
    raise AssertionError
