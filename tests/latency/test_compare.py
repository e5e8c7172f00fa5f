"""Two latency tables side by side, in Python and on the command line."""

import json
from pathlib import Path

from command_line import run

from goptx.latency.compare import compare
from goptx.latency.table import KINDS, load_table

TABLE = """format = 1
[gpu]
arch = "sm_90"
name = "{name}"
[source.measured]
title = "here"
[source.assumed]
why = "guessed"
[cycles]
{rows}
[named]
"{level}" = {{ cycles = 30, source = "measured" }}
[default]
""" + "".join(f"{kind} = 5\n" for kind in KINDS)


def tables(folder: Path) -> tuple[str, str]:
    left = '"add.u32" = { cycles = 4, source = "measured" }\n"mul" = { cycles = 0, source = "assumed" }'
    right = '"add.u32" = { cycles = 6, source = "measured" }\n"div.f32" = { cycles = 50, source = "measured" }'
    paths = folder / "left.toml", folder / "right.toml"
    paths[0].write_text(TABLE.format(name="One", rows=left, level="L1"))
    paths[1].write_text(TABLE.format(name="Other", rows=right, level="L2"))
    return str(paths[0]), str(paths[1])


def test_each_row_of_either_table_has_both_numbers(tmp_path: Path) -> None:
    """A key without a row of its own has what is taken for it; a level of memory has nothing then."""
    left, right = (load_table(path, "") for path in tables(tmp_path))
    rows = {(row.part, row.key): row for row in compare(left, right).rows}
    assert len(rows) == 3 + 2 + len(KINDS)
    common = rows["cycles", "add.u32"]
    assert (common.left, common.right, common.ratio, common.borrowed) == (4, 6, 1.5, "")
    only_left, only_right = rows["cycles", "mul"], rows["cycles", "div.f32"]
    assert (only_left.left, only_left.right, only_left.ratio, only_left.borrowed) == (0, 5, None, "right")
    assert (only_left.left_source, only_left.right_source) == ("assumed", "assumed")
    assert (only_right.left, only_right.right, only_right.ratio, only_right.borrowed) == (5, 50, 10.0, "left")
    level = rows["named", "L1"]
    assert (level.left, level.right, level.left_source, level.right_source) == (30, None, "measured", "")


def test_the_command_prints_two_columns_of_numbers(tmp_path: Path) -> None:
    done = run("latency", "compare", *tables(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["One", "(sm_90)", "source", "Other", "(sm_90)", "source", "ratio"]
    assert ["add.u32", "4", "measured", "6", "measured", "1.50"] in lines
    assert ["mul", "0", "assumed", "5", "assumed*"] in lines
    assert ["L1", "30", "measured", "-"] in lines
    assert ["L2", "-", "30", "measured"] in lines
    assert ["[default]", "fence", "5", "assumed", "5", "assumed", "1.00"] in lines
    assert lines[-1][:2] == ["14", "rows;"]


def test_tables_of_goptx_are_compared_by_name(tmp_path: Path) -> None:
    done = run("latency", "compare", "sm_90", "sm_120", "--report=json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (report["left"]["arch"], report["right"]["arch"], report["warnings"]) == ("sm_90", "sm_120", [])
    shared = next(row for row in report["rows"] if row["key"] == "ld.shared")
    assert (shared["right"], shared["right_source"]) == (34, "report")
    unknown = run("latency", "compare", "sm_90", "h100", cwd=tmp_path)
    assert (unknown.returncode, "latency table `h100` is unknown" in unknown.stderr) == (2, True)
