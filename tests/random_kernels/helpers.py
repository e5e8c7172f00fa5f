"""Device functions that statements of random kernels bring along, several calls deep.

Each is in the module once, before those that call it. `meet` begins the names of those in which threads wait or end,
which are put where they are called.
"""

from __future__ import annotations

from collections.abc import Sequence

from random_kernels.functions import WAITING
from random_kernels.writer import Writer

REGISTERS = ".reg .b32 %t, %v; .reg .b64 %a; .reg .pred %p;"


def _called(name: str, result: str, passed: Sequence[tuple[str, str, str]]) -> list[str]:
    """A call within braces: of each parameter its name, its type and what is passed."""
    return [
        "{", *(f".param .{type_} its_{n};" for n, type_, _ in passed), *([".param .b32 given;"] if result else []),
        *(f"st.param.{type_} [its_{n}], {value};" for n, type_, value in passed),
        f"call {'(given), ' if result else ''}{name}, ({', '.join(f'its_{n}' for n, _, _ in passed)});",
        *([f"ld.param.b32 {result}, [given];"] if result else []), "}",
    ]  # fmt: skip


def call_read(w: Writer, instruction: str, depth: int, target: str, address: str) -> list[str]:
    """The lines that read a word, `depth` calls deep. `instruction` has places for the target and the address."""
    if depth == 0:
        return [instruction.format(target, address)]
    name = f"{WAITING}_read{w.number_of(instruction)}_{depth}"
    lines = call_read(w, instruction, depth - 1, "%t", "%a")
    head = f".func (.param .b32 result) {name}(.param .b64 at)"
    w.helper(name, head, [REGISTERS, "ld.param.u64 %a, [at];", *lines, "st.param.b32 [result], %t;", "ret;"])
    return _called(name, target, [("at", "b64", address)])


def loop(w: Writer, read: Sequence[str], test: str, target: str, within: Sequence[str], early: bool) -> list[str]:
    """Reads the target until the test, a `setp` of %p-like registers, says that it need not; `early`: it leaves in the
    middle."""
    head, out = w.label("SPIN"), w.label("SPUN")
    if early:
        return [f"{head}:", *read, test, f"@!{_result(test)} bra {out};", *within, f"bra {head};", f"{out}:"]
    return [f"{head}:", *read, *within, test, f"@{_result(test)} bra {head};"]


def _result(test: str) -> str:
    return test.split()[1].rstrip(",")


def call_spin(
    w: Writer,
    instruction: str,
    depth: int,
    comparison: str,
    address: str,
    value: str,
    within: Sequence[str],
    early: bool,
) -> list[str]:
    """The lines that read a word while `setp.comparison` holds between it and the value; the loop is in a function,
    reading is `depth - 1` calls deep there."""
    form = f"{instruction} {comparison} {within} {early}"
    name = f"{WAITING}_spin{w.number_of(form)}_{depth}"
    spin = loop(
        w, call_read(w, instruction, depth - 1, "%t", "%a"), f"setp.{comparison} %p, %t, %v;", "%t", within, early
    )
    head = f".func {name}(.param .b64 at, .param .b32 value)"
    w.helper(name, head, [REGISTERS, "ld.param.u64 %a, [at];", "ld.param.b32 %v, [value];", *spin, "ret;"])
    return _called(name, "", [("at", "b64", address), ("value", "b32", value)])


def call_end(w: Writer, depth: int, whether: str, address: str, value: str, form: str) -> list[str]:
    """The lines that call a function which, that many calls deep, stores a value and ends the thread; `whether` is a
    word that is not 0 where it does."""
    name = f"{WAITING}_end_{form}_{depth}"
    if depth > 1:
        inner = call_end(w, depth - 1, "%v", "%a", "%t", form)
    elif form == "guard":
        inner = ["setp.ne.u32 %p, %v, 0;", "@%p st.global.u32 [%a], %t;", "@%p exit;"]
    elif form == "loop":
        inner = [
            ".reg .b32 %left;", "mov.u32 %left, 3;", "AGAIN:", "setp.eq.u32 %p, %v, %left;", "@!%p bra ON;",
            "st.global.u32 [%a], %t;", "exit;", "ON:", "sub.u32 %left, %left, 1;", "setp.ne.u32 %p, %left, 0;",
            "@%p bra AGAIN;",
        ]  # fmt: skip
    else:
        inner = ["setp.eq.u32 %p, %v, 0;", "@%p ret;", "st.global.u32 [%a], %t;", "exit;"]
    head = f".func {name}(.param .b32 whether, .param .b64 at, .param .b32 value)"
    fetch = ["ld.param.b32 %v, [whether];", "ld.param.u64 %a, [at];", "ld.param.b32 %t, [value];"]
    tail = [] if form == "branch" and depth == 1 else ["ret;"]
    w.helper(name, head, [REGISTERS, *fetch, *inner, *tail])
    return _called(name, "", [("whether", "b32", whether), ("at", "b64", address), ("value", "b32", value)])
