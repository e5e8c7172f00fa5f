"""benchmarks/proof_edits.py: the edits of a text, and what becomes of them."""

import sys
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

from proving.edits import EDITS, Text, edited, parts_of  # noqa: E402 - found by the line above
from proving.judging import EQUAL, Judge  # noqa: E402
from proving.subjects import (  # noqa: E402
    Subject,
    of_constructs,
    of_examples,
    read_cases,
    stored_cases,
    subject,
    write_cases,
)


@pytest.fixture(scope="module")
def both() -> Subject:
    return of_examples(["scan", "histogram"], "weave")


@pytest.mark.parametrize("line", [
    "    @!%p1 bra.uni $A0; // A:12", "    ret;", "    shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;",
    "    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16]; // B:3",
])  # fmt: skip
def test_an_instruction_is_its_parts(line: str) -> None:
    assert str(parts_of(line)) == line


@pytest.mark.parametrize("kind", EDITS)
def test_each_edit_changes_the_text(both: Subject, kind: str) -> None:
    text = both.fused.text()
    seen = {edited(text, Random(k), [kind]) for k in range(4)}
    assert len(seen) > 1 and all(found == kind and changed != text for found, changed in seen)


def test_blocks_end_at_branches_and_labels(both: Subject) -> None:
    text = Text(both.fused.text().splitlines())
    ends = {i for block in text.blocks for i in block[:-1]}
    assert not [i for i in ends if text.instructions[i].opcode.startswith("bra")]
    assert sorted(i for block in text.blocks for i in block) == sorted(text.instructions)


def test_the_emulator_judges() -> None:
    judge = Judge(of_constructs(["barrier", "two_guards"], "weave"))
    assert not judge.trouble and len(judge.launches) == 3
    text = judge.subject.fused.text()
    assert judge.verdict(text) == EQUAL
    store = next(line for line in text.splitlines() if "st.global" in line and "// B" in line)
    assert "differ" in judge.verdict(text.replace(store, "", 1))


@pytest.mark.slow
def test_a_file_has_cases(tmp_path: Path) -> None:
    cases = stored_cases()
    write_cases(tmp_path / "cases.json", cases)
    assert [c.texts for c in read_cases(tmp_path / "cases.json")] == [c.texts for c in cases]
    assert subject(0, ["weave"], cases, ["lud"]).name == subject(0, ["weave"], cases, ["lud"]).name
