"""What the text of a random kernel is written with: lines, fresh names, and a census of what was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

from random_kernels.arithmetic import filled
from random_kernels.place import ALL, Place
from random_kernels.tree import Guard, Kernel, Plain

from goptx.ptx.opcodes import facts_of

# Registers that are written at one place only.
FRESH = {"t": "b32", "p": "pred", "c": "b32", "a": "b64", "m": "b32", "g": "b64", "x": "b16"}


class Writer:
    """lanes_end: whether some lanes of a warp may have ended while others go on. objects: of the `mbarrier` objects in
    use, by number (see `phases.py`), how many threads arrive. helpers: functions that statements brought along, by
    name. rounds: flags that are waited for or looked at (`waits.py`, `messages.py`)."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.threads = kernel.threads
        self.census: Counter[str] = Counter()
        self.lines: list[str] = []
        self.lanes_end = kernel.guard != "" and not kernel.exact
        self.departures = 0
        self.objects: dict[int, int] = {}
        self.helpers: dict[str, str] = {}
        self.rounds: set[int] = set()
        self._forms: dict[str, int] = {}
        self._fresh = {stem: count() for stem in (*FRESH, "L")}

    def line(self, *lines: str) -> None:
        self.lines += lines

    def mark(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def saw(self, construct: str) -> None:
        self.census[construct] += 1

    def word(self) -> str:
        return f"%t{next(self._fresh['t'])}"

    def predicate(self) -> str:
        return f"%p{next(self._fresh['p'])}"

    def counter(self) -> str:
        return f"%c{next(self._fresh['c'])}"

    def wide(self) -> str:
        return f"%a{next(self._fresh['a'])}"

    def mask(self) -> str:
        return f"%m{next(self._fresh['m'])}"

    def flag(self) -> str:
        """A register for the address of what other threads write meanwhile: how often it is read is not compared."""
        return f"%g{next(self._fresh['g'])}"

    def half(self) -> str:
        return f"%x{next(self._fresh['x'])}"

    def round_of(self, flag: int) -> str:
        """The register that counts how often threads have reached that flag."""
        self.rounds.add(flag)
        return f"%round{flag}"

    def helper(self, name: str, head: str, lines: Sequence[str]) -> None:
        """A function, unless it is there already."""
        self.helpers.setdefault(name, "\n".join([head, "{", *lines, "}\n"]))

    def number_of(self, form: str) -> int:
        """Another one for each form of a function."""
        return self._forms.setdefault(form, len(self._forms))

    def label(self, stem: str) -> str:
        return f"{stem}_{next(self._fresh['L'])}"

    def guarded(self, guard: Guard | None, *lines: str) -> None:
        # Some instructions have no guard in machine code: with one, the kernel would do something else on a GPU.
        if guard is not None and all(facts_of(line.split()[0]).row.guardable for line in lines):
            self.saw("predicated")
            lines = tuple(f"@{'!' if guard.negated else ''}%q{guard.register % 4} {line}" for line in lines)
        self.line(*lines)

    def plain(self, statement: Plain) -> None:
        self.guarded(statement.guard, *filled(statement.row, statement.numbers, self._divisor))

    def _divisor(self, register: str, word: str) -> str:
        """A register made of it with 1 to 65535, so that no quotient is too large."""
        t, type_ = (self.word(), "b32") if word == "Z" else (self.wide(), "b64")
        self.line(f"and.{type_} {t}, {register}, 65535;", f"or.{type_} {t}, {t}, 1;")
        return t

    def at(self, base: str, index: str, size: int) -> str:
        """The address of an element of that many bytes."""
        a = self.wide()
        self.line(f"mad.wide.u32 {a}, {index}, {size}, {base};")
        return a

    def base(self, variable: str) -> str:
        """The address of a variable."""
        a = self.wide()
        self.line(f"mov.u64 {a}, {variable};")
        return a

    def below(self, register: str, bound: int) -> str:
        """A register with its value modulo a power of two."""
        t = self.word()
        self.line(f"and.b32 {t}, {register}, {bound - 1};")
        return t

    def other(self, numbers: tuple[int, ...], place: Place) -> str:
        """A register with the number of another of the threads that are here."""
        t, p = self.word(), self.predicate()
        first, past = place.company.first, place.company.past
        if numbers[0] & 1:
            self.line(f"sub.u32 {t}, {past}, %rank;", f"add.u32 {t}, {t}, {first - 1};")
        else:
            self.line(f"add.u32 {t}, %rank, {numbers[3]};", f"setp.ge.u32 {p}, {t}, {past};")
            self.line(f"@{p} mov.u32 {t}, {first};")
        return t

    def read_tile(self, numbers: tuple[int, ...], place: Place) -> None:
        """Reads another's word, which is there, and waits until all have done so."""
        t = self.other(numbers, place)
        self.line(f"ld.shared.u32 %v{numbers[1] % 8}, [{self.at(self.base('tile'), t, 4)}];")
        self.barrier(f"bar.sync {place.company.barrier};", place)

    def barrier(self, text: str, place: Place) -> None:
        self.saw("barrier after lanes have ended" if self.lanes_end else "barrier")
        if place.company != ALL:
            self.saw("barrier of a party in a loop" if place.loop else "barrier of a party")
        if place.loop:
            self.saw("barrier in a loop")
        self.line(text)
