#!/usr/bin/env python3
"""Which case holds which section of the PTX ISA 9.4 manual; run it to write README.md anew.

contents.txt is the manual's table of contents from chapter 4 on: a number and a title a line, "(prose)" after
those that have no syntax of their own. In a case, `// NUMBER TITLE` begins what belongs to a section; the case's
first line says what it is about, its second which released ptxas accepts it, and the arguments for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
_SECTION = re.compile(r"^ *// (\d+(?:\.\d+)+) (.*)$", re.MULTILINE)
_ACCEPTED = re.compile(r"^// ptxas (\S+) (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the manual that has syntax of its own, and none below it."""

    number: str
    title: str

    @property
    def names(self) -> list[str]:
        """The instructions, special registers, directives or pragmas that it describes; none where it is about text."""
        title = self.title.removesuffix(" (deprecated)")
        is_list = self.number.startswith(("9.7", "10.", "11.", "12.")) and " " not in title.replace(", ", "")
        return title.split(", ") if is_list else []


@dataclass(frozen=True, slots=True)
class Case:
    """A file with what it is about, the ptxas that accepts it, its arguments, and the text of each of its sections."""

    path: Path
    about: str
    release: str
    arguments: tuple[str, ...]
    sections: dict[str, str]


def sections() -> list[Section]:
    """The sections that a case is due for, in the order of the manual."""
    lines = [line.partition(" ") for line in (HERE / "contents.txt").read_text().splitlines()]
    numbers = [number for number, _, _ in lines]
    return [
        Section(number, title)
        for number, _, title in lines
        if not title.endswith("(prose)") and not any(n.startswith(f"{number}.") for n in numbers)
    ]


def cases() -> list[Case]:
    return [_case(path) for path in sorted(HERE.glob("*.ptx"))]


def _case(path: Path) -> Case:
    text = path.read_text()
    accepted = _ACCEPTED.search(text)
    assert accepted is not None, f"{path}: its second line says which ptxas accepts it"
    found: dict[str, str] = {}
    marks = list(_SECTION.finditer(text, accepted.end()))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        piece = text[mark.end() : following.start() if following else len(text)]
        found[mark[1]] = found.get(mark[1], "") + piece
    return Case(path, text[3 : text.index("\n")], accepted[1], tuple(accepted[2].split()), found)


PINNED = "13.0"  # the ptxas of CI


def newer() -> list[Case]:
    """The cases that need a later ptxas than that of CI; assembled.txt says what theirs made of them."""
    return [case for case in cases() if case.release not in (PINNED, "")]


def alone(case: Case) -> dict[str, str]:
    """For each section within the kernel of a case, the kernel with that section and no other."""
    text = case.path.read_text()
    body, end = text.index("\n{\n", text.index(".entry")), text.rindex("ret;")
    marks = [m for m in _SECTION.finditer(text) if body < m.start() < end]
    head, found = text[: marks[0].start()], dict[str, str]()
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        piece = text[mark.end() : following.start() if following else end]
        found[mark[1]] = found.get(mark[1], "") + piece
    return {number: f"{head}{piece}\n    ret;\n}}\n" for number, piece in found.items()}


def table() -> str:
    """README.md: each section with the cases that hold it."""
    every = cases()
    lines = ["# The manual, case by case", "", "Which case holds which section of the PTX ISA 9.4 manual, and which"]
    lines += ["ptxas accepts it. Sections without syntax of their own are left out. Written by coverage.py.", ""]
    lines += [
        f"CI has ptxas {PINNED}. What later ones made of the cases of PTX 9.1 and later is in assembled.txt, written by"
    ]
    lines += ["newer.py; `-` there means that every section of the case is woven with another kernel.", ""]
    lines += ["| case | about | accepted by |", "|---|---|---|"]
    lines += [f"| {c.path.name} | {c.about} | ptxas {c.release} `{' '.join(c.arguments)}` |" for c in every]
    lines += ["", "| section | title | case |", "|---|---|---|"]
    for section in sections():
        where = ", ".join(c.path.stem for c in every if section.number in c.sections)
        lines.append(f"| {section.number} | {section.title} | {where} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    README.write_text(table())
