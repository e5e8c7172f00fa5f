"""Fused kernels that are written by hand, with the kernels that they claim to be.

A fused kernel is written as lines: `A5` is the fifth line of kernel A's body with its registers renamed, `A5: ...`
another text that claims to be that line, and anything else was added.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from goptx.proof.certificate import Certificate, digest
from goptx.proof.prove import prove_text
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse

BEFORE = 5  # lines of a text before the body
REGISTERS = ".reg .b32 %{0}r<9>; .reg .b64 %{0}d<9>; .reg .pred %{0}p<9>; .reg .b16 %{0}h<9>;"
HEADER = ".version 8.8\n.target {}\n.address_size 64\n"


@dataclass(frozen=True)
class Given:
    """Kernels as lines of their bodies, and how the fused kernel is declared."""

    a: str
    b: str = ""
    of_module: str = ""  # declarations outside of the kernels
    of_fused: str = ""
    symbols: dict[str, dict[str, str]] = field(default_factory=dict)
    parameters: tuple[str, str] = ("w_a", "w_b")
    prefixes: tuple[str, str] = ("a", "b")
    directives: tuple[str, str, str] = ("", "", "")
    targets: tuple[str, str] = ("sm_90", "sm_90")
    depends: bool = False
    parameter: str = ".param .u64 {}"

    def kernel(self, letter: str) -> str:
        k = "AB".index(letter)
        rest = "\n".join(self.body(letter))
        declared = f"{letter}({self.parameter.format('out')}) {self.directives[k]}"
        head = f"{HEADER.format(self.targets[0])}.visible .entry {declared} {{\n"
        return f"{head}{REGISTERS.format('')}\n{rest}\nret;\n}}\n{self.of_module}"

    def body(self, letter: str) -> list[str]:
        return [line.strip() for line in (self.a if letter == "A" else self.b).strip().splitlines() if line.strip()]

    def module(self, letter: str) -> Module:
        return parse(self.kernel(letter), f"{letter}.ptx")

    def certificate(self, fused: str) -> Certificate:
        named = {
            letter: {
                "entry": letter, "sha256": digest(str(self.module(letter))), "prefixes": [prefix],
                "parameters": [parameter], "symbols": self.symbols.get(letter, {}),
                "launch": None, "pool": "", "pooled": [],
            }
            for letter, prefix, parameter in zip("AB", self.prefixes, self.parameters, strict=True)
        }  # fmt: skip
        of_all: dict[str, object] = {"launch": None, "depends": self.depends, "named": []}
        witness = {"strategy": "vertical" if self.depends else "weave", "entry": "w", "kernels": named, **of_all}
        lines = [f"// goptx witness 1 {json.dumps(witness)}", HEADER.format(self.targets[1]), self.of_fused]
        parameters = ", ".join(map(self.parameter.format, ("w_a", "w_b")))
        lines += [f".visible .entry w({parameters}) {self.directives[2]} {{"]
        lines += [REGISTERS.format("a_"), REGISTERS.format("b_")]
        lines += [self._line(line.strip()) for line in fused.strip().splitlines()]
        return prove_text("\n".join([*lines, "ret;", "}", ""]), [self.module("A"), self.module("B")])

    def _line(self, line: str) -> str:
        found = re.fullmatch(r"([A-Z])(\d+)(?::(.*))?", line)
        if not found:
            return line
        letter, number = found[1], int(found[2])
        text = found[3] or _renamed(self.body(letter)[number - 1], letter.lower())
        return f"{text} // {letter}:{number + BEFORE}"


def _renamed(line: str, prefix: str) -> str:
    return re.sub(r"%([rdph]\d)", rf"%{prefix}_\1", line).replace("[out", f"[w_{prefix}")


def proved(given: Given, fused: str) -> bool:
    return certificate(given, fused).proved


def certificate(given: Given, fused: str) -> Certificate:
    return given.certificate(fused)


def check(given: Given, right: str, *wrong: str, because: str = "") -> None:
    """The first text is proved, the others are not."""
    made = certificate(given, right)
    assert made, str(made)
    for text in wrong:
        made = certificate(given, text)
        assert not made and because in str(made), f"{made}\n{text}"


ADDRESS = """
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x;
mad.wide.u32 %d2, %r1, 4, %d1;
"""
STORE = ADDRESS + "st.global.u32 [%d2], %r1;"
BOTH = "A1\nA2\nA3\nB1\nB2\nB3\n"  # their addresses
STORES = Given(STORE, STORE)


def of_one(a: str, right: str, *wrong: str, because: str = "") -> None:
    """Kernel B does nothing."""
    check(Given(ADDRESS + a), "A1\nA2\nA3\n" + right, *("A1\nA2\nA3\n" + w for w in wrong), because=because)
