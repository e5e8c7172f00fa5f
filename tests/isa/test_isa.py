"""Each section of the PTX ISA manual has a case. Each case is preserved, known, and means the same to ptxas."""

import re
import subprocess
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from isa.coverage import PINNED, README, Case, Section, cases, newer, sections, table
from isa.newer import digest, listed, recorded, weave_alone

from goptx.device.assemble import find_ptxas
from goptx.errors import UnknownInstruction
from goptx.ptx.ir import Instruction, Module, Scope, Statement
from goptx.ptx.opcodes import facts_of
from goptx.ptx.parse import parse

CASES = cases()
EACH = pytest.mark.parametrize("case", [pytest.param(case, id=case.path.stem) for case in CASES])


# Coverage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", [pytest.param(s, id=f"{s.number} {s.title}") for s in sections()])
def test_the_manual_has_no_section_without_a_case(section: Section) -> None:
    texts = [case.sections[section.number] for case in CASES if section.number in case.sections]
    assert texts, f"no case has `// {section.number} {section.title}`"
    for name in section.names:
        assert any(_holds(text, name) for text in texts), f"`{name}` does not stand in what claims to show it"


def _holds(text: str, name: str) -> bool:
    """Whether an instruction's words stand in an opcode in their order (`match.sync` in `match.any.sync`), or a
    directive or special register in the text."""
    if not name[0].isalpha():
        return re.sub(r'<\d+>$|["}]$', "", name) in text
    word = r"(?:\.|::)"
    between = rf"(?:{word}\w+)*{word}"
    return re.search(rf"(?<![\w.%$]){between.join(map(re.escape, name.split('.')))}\b", text) is not None


def test_every_mark_of_a_case_is_a_section_of_the_manual() -> None:
    contents = dict(line.split(" ", 1) for line in (README.parent / "contents.txt").read_text().splitlines())
    assert {n for case in CASES for n in case.sections} <= set(contents)


def test_readme_is_what_coverage_writes() -> None:
    assert README.read_text() == table(), "run `python tests/isa/coverage.py`"


# Each case ----------------------------------------------------------------------------------------------


def read(case: Case) -> Module:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownInstruction)
        return parse(case.path.read_bytes(), case.path.name)


def instructions(body: tuple[Statement, ...]) -> Iterator[Instruction]:
    for statement in body:
        if isinstance(statement, Scope):
            yield from instructions(statement.body)
        elif isinstance(statement, Instruction):
            yield statement


@EACH
def test_case_prints_as_text_that_reads_the_same(case: Case) -> None:
    module = read(case)
    assert parse(str(module)) == module
    assert str(parse(str(module))) == str(module)


@EACH
def test_every_instruction_of_a_case_is_known(case: Case) -> None:
    opcodes = {i.opcode for f in read(case).functions for i in instructions(f.body or ())}
    assert [opcode for opcode in sorted(opcodes) if not facts_of(opcode).known] == []


@EACH
def test_print_loses_nothing_but_comments_and_layout(case: Case) -> None:
    printed = _bare(str(read(case)))
    lines = _code(case.path.read_text()).splitlines()
    assert [line for line in lines if _bare(line) not in printed and not line.endswith(NORMALISED)] == []


NORMALISED = "// printed in its longer form"  # lists of variables, `x<2>` and what may be left out


def _code(text: str) -> str:
    return re.sub(rf"(?!{NORMALISED})//[^\n]*|/\*.*?\*/|^#[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)


# What ptxas says ----------------------------------------------------------------------------------------


@cache
def release() -> str:
    """Of the ptxas at hand, such as "13.0"; "" without one."""
    ptxas = find_ptxas()
    if ptxas is None:
        return ""
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\d+\.\d+)", version)
    return found[1] if found else ""


@pytest.mark.parametrize("case", [pytest.param(c, id=c.path.stem) for c in CASES if c.release == PINNED])
def test_ptxas_makes_the_same_of_a_case_and_of_its_print(case: Case, tmp_path: Path) -> None:
    if release() != case.release:
        pytest.skip(f"needs ptxas {case.release}")
    text = case.path.read_text()
    written, printed = assembled(case, text, tmp_path), assembled(case, str(read(case)), tmp_path)
    if ".loc" not in text:  # else a cubin holds the lines of the PTX
        assert written == printed


def assembled(case: Case, text: str, folder: Path) -> bytes:
    ptxas = find_ptxas()
    assert ptxas is not None
    (folder / "case.ptx").write_text(text)
    command = [ptxas, *case.arguments, "case.ptx", "-o", "case.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return (folder / "case.cubin").read_bytes()


NEWER = pytest.mark.parametrize("case", [pytest.param(case, id=case.path.stem) for case in newer()])


@NEWER
def test_a_later_ptxas_made_the_same_of_a_case_and_of_its_print(case: Case) -> None:
    """As newer.py has found: neither the case nor its print has changed since."""
    full, *digests = recorded()[case.path.stem][:3]
    assert full.startswith(f"{case.release}.")
    assert digests == [digest(case.path.read_text()), digest(str(read(case)))], "run tests/isa/newer.py"


@NEWER
def test_each_new_instruction_is_woven_or_refused_by_name(case: Case) -> None:
    woven, refused = weave_alone(case)
    assert [str(len(woven)), listed(refused)] == recorded()[case.path.stem][3:], "run tests/isa/newer.py"
