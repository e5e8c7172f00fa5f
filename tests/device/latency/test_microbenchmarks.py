"""ptxas accepts every microbenchmark, and its machine code contains the timed instructions."""

import re
import shutil
from dataclasses import replace

import pytest

from goptx.device.assemble import assemble, find_ptxas
from goptx.device.latency.machine_code import find_disassembler
from goptx.device.latency.measure import TOGETHER, prepared
from goptx.device.latency.row import Row
from goptx.device.latency.rows import ROWS
from goptx.device.latency.text import entry_name, kinds, module_text
from goptx.errors import AssemblyError

pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")

MODULES = [ROWS[n : n + TOGETHER] for n in range(0, len(ROWS), TOGETHER)]


@pytest.fixture
def tool() -> str:
    try:
        return find_disassembler()
    except AssemblyError as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("rows", MODULES, ids=lambda rows: rows[0].label)
def test_every_row_is_accepted(rows: tuple[Row, ...], arch: str) -> None:
    """By ptxas; and where there is a disassembler, each repetition is found. Otherwise a few repetitions are
    enough, which ptxas takes or refuses like many."""
    known = [row for row in rows if row.arch <= int(arch[3:])]
    try:
        tool = find_disassembler()
    except AssemblyError:
        few = [replace(row, short=2, long=4) for row in known]
        assemble(module_text(few, arch), entry=entry_name(known[0], kinds(known[0])[0]))
        return
    ready = prepared(rows, arch, tool)
    assert [one.problem for one in ready if one.job is None and one.row in known] == []
    assert {one.row for one in ready} == set(rows)


def test_rows_of_a_newer_architecture_are_left_out(tool: str) -> None:
    newer = [row for row in ROWS if row.arch > 80]
    assert newer
    assert {one.problem for one in prepared(newer, "sm_80", tool)} == {"needs sm_90"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            Row("and.b32", "$x, $x, $a", "LOP3"),
            "48 additional repetitions have [0-9]+ more `LOP3`",
        ),  # two ANDs are one LOP3
        (Row("min.s32", "$x, $x, $a0", "V?IMNMX"), r"48 additional repetitions have 24 more `V\?IMNMX`"),  # of three
        (
            Row("add.s32", "$y, $x, $a", "IADD"),
            "48 additional repetitions have 0 more `IADD`; in all nothing|the clock is read",
        ),  # dead
        (Row("add.f32", "$x, $x, $a", ""), "48 additional repetitions have 0 more `no instruction`; in all FADD"),
        (Row("add.f33", "$x, $x, $a", "FADD", x="f32"), "refuses the PTX"),
    ],
    ids=lambda value: value.opcode if isinstance(value, Row) else "",
)
def test_instructions_folded_by_the_assembler_are_detected(row: Row, problem: str, tool: str) -> None:
    good = Row("add.f64", "$x, $x, $a", "DADD")
    one, other = prepared([row, good], "sm_90", tool)
    assert one.job is None
    assert re.search(problem, one.problem)
    assert other.job is not None, "the others of the module are measured all the same"
    assert other.sass == "DADD"


@pytest.mark.slow
def test_other_disassembler(tool: str) -> None:
    row = Row("mul.lo.s64", "$x, $x, $a", "IMAD")
    tools = [path for name in ("nvdisasm", "cuobjdump") if (path := shutil.which(name, path=tool.rpartition("/")[0]))]
    assert {prepared([row], "sm_90", path)[0].sass for path in tools} == {"2 IMAD + IMAD.WIDE.U32 + IADD3"}


@pytest.mark.slow
def test_text_is_the_same_each_time() -> None:
    assert module_text(ROWS, "sm_90") == module_text(ROWS, "sm_90")
