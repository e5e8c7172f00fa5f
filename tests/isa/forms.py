"""Every form of every instruction, from forms.txt, as instructions that ptxas takes.

A line has the section of the manual, `@` and an architecture where sm_90a does not have the form, the opcode with
alternatives in braces, and the operands: `p h r d q b` are registers (predicate, 16, 32, 64, 128 and 8 bits), `T` one
of the width of the opcode's last type, `W` one of twice that, `$1` one of the first type's; `SPACE` is a variable or
register with an address in the space that the opcode names, `g` has an address in global memory, `generic`
and `own` have one of shared memory. `NAME = a,b` names
alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from pathlib import Path

HERE = Path(__file__).resolve().parent
_LINE = re.compile(r"(\d[\d.]*)(?:@(\w+))? (\S+) ?(.*)")
_TOKEN = re.compile(r"\$\d|\b(?:[TWphrdqb]|SPACE|COORDINATES|LEVEL|qMORE)\b")
_WIDTHS = {
    "p": "pred",
    "b": "e2m1x2",
    "h": "b8 u8 s8 b16 u16 s16 f16 bf16 e4m3x2 e5m2x2 e2m3x2 e3m2x2 ue8m0x2",
    "r": "b32 u32 s32 f32 tf32 f16x2 bf16x2 u16x2 s16x2",
    "d": "b64 u64 s64 f64 f32x2",
    "q": "b128",
}
_REGISTER = {type_: register for register, types in _WIDTHS.items() for type_ in types.split()}
_COORDINATES = {"1d": 1, "a1d": 2, "2d": 2}  # four for the others
SPACES = {"shared": "tile", "local": "room", "const": "table", "param": "structure"}

VARIABLES = """
.const .align 16 .b8 table[64] = {1, 2, 3, 4};
.func function() { ret; }
.func (.reg .b32 result) with_registers(.reg .b32 x) { mov.b32 result, x; ret; }
.func (.param .b32 result) with_parameters(.param .b32 x) { .reg .b32 r; ld.param.b32 r, [x]; st.param.b32 [result], r;
    ret; }
"""
PROLOGUE = """
    .reg .pred p<12>; .reg .b8 b<12>; .reg .b16 h<12>, one; .reg .b32 r<12>, zero;
    .reg .b64 d<12>, g, generic, own, pointer; .reg .b128 q<12>; .local .align 16 .b8 room[64];
    .shared .align 128 .b8 tile[8192], more[256]; .shared .align 8 .b64 bar; .param .b32 argument;
    ld.param.u64 g, [in]; mov.u64 generic, tile; mov.u64 own, tile; cvta.shared.u64 generic, generic;
    mov.u64 pointer, function; mov.b32 zero, 0; mov.b16 one, 1;
targets: .branchtargets END;
prototype: .callprototype _ ();
"""
EPILOGUE = "END: ret;\n"


@dataclass(frozen=True, slots=True)
class Form:
    """A line of forms.txt: its section, the architecture that has it, the opcode with alternatives, the operands."""

    section: str
    architecture: str
    pattern: str
    operands: str

    def opcodes(self) -> list[str]:
        return expanded(self.pattern)

    def instructions(self) -> list[str]:
        """One instruction for each opcode, without its semicolon."""
        return [f"{opcode} {_rendered(self.operands, opcode)}".strip() for opcode in self.opcodes()]


def expanded(pattern: str) -> list[str]:
    """The words that a pattern with alternatives in braces stands for."""
    return ["".join(word) for word in product(*(part.split(",") for part in re.split(r"[{}]", pattern)))]


@cache
def forms() -> tuple[Form, ...]:
    return tuple(_forms((HERE / "forms.txt").read_text().splitlines()))


def _forms(lines: list[str]) -> Iterator[Form]:
    names: dict[str, str] = {}
    for line in lines:
        if not line or line.startswith("#"):
            continue
        name, equals, alternatives = line.partition(" = ")
        if equals:
            names[name] = alternatives
            continue
        found = _LINE.fullmatch(line)
        assert found, f"forms.txt: {line}"
        section, architecture, pattern, operands = found.groups()
        for name in re.findall(r"(?<=[{,])[A-Z]+(?=[,}])", pattern):
            pattern = re.sub(rf"(?<=[{{,]){name}(?=[,}}])", names[name], pattern)
        yield Form(section, architecture or "90a", pattern, operands)


def _types(opcode: str) -> list[str]:
    return [word for word in opcode.split(".") if word in _REGISTER]


def _rendered(operands: str, opcode: str) -> str:
    """The operands with registers of increasing numbers."""
    numbers = count(1)

    def one(found: re.Match[str]) -> str:
        token = found[0]
        if token == "SPACE":
            return _place(opcode)
        if token == "COORDINATES":
            dimensions = _COORDINATES.get(opcode.split(".")[1 + opcode.startswith(("suld", "sust"))], 4)
            return "{" + ", ".join(f"r{next(numbers) % 12}" for _ in range(dimensions)) + "}"
        if token == "LEVEL":
            return {"level": ", r1", "grad": ", {r1, r2}, {r3, r4}"}.get(opcode.split(".")[1], "")
        if token == "qMORE":
            return "q1" if "exch" in opcode else "q1, q2"
        if token[0] == "$":
            token = _REGISTER[_types(opcode)[int(token[1:]) - 1]]
        if token in "TW":
            own = _REGISTER[_types(opcode)[-1]]
            token = own if token == "T" else "phrdq"["phrdq".index(own) + 1]
        return f"{token}{next(numbers) % 12}"

    return _TOKEN.sub(one, operands.replace("LEVEL", " LEVEL"))


def _place(opcode: str) -> str:
    words = [word.partition("::")[0] for word in opcode.split(".")]
    if words[0] == "mbarrier" or "mbarrier" in words[:3] or opcode.startswith("tcgen05.commit"):
        return "bar"
    if opcode.startswith(("st.bulk", "ldmatrix", "stmatrix", "tcgen05.alloc")):
        return "tile"
    return next((SPACES[word] for word in words if word in SPACES), "g")


def module(instructions: list[str], architecture: str, name: str = "k") -> str:
    """A module with an entry that has the instructions."""
    head = ".version 9.0\n.target sm_" + architecture
    text = entry(instructions, name)
    if architecture == "75":  # what sm_70 and later do not have, ptxas takes for older targets
        head = ".version 6.0\n.target sm_30"
        text = text.replace(".reg .b128 q<12>;", "")
    return f"{head}\n.address_size 64\n{VARIABLES}{text}"


def first_line(architecture: str) -> int:
    """The number of the line of the first instruction in a `module`."""
    empty = module([], architecture)
    return empty[: empty.rindex(EPILOGUE)].count("\n") + 1


def entry(instructions: list[str], name: str) -> str:
    body = "".join(f"    {instruction};\n" for instruction in instructions)
    return (
        f".visible .entry {name}(.param .u64 in, .param .align 16 .b8 structure[64])\n{{{PROLOGUE}{body}{EPILOGUE}}}\n"
    )
