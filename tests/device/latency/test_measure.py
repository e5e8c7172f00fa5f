"""From rows to a table, with a process that stands in for the one on the device."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import measuring_children
import pytest

from goptx import cli
from goptx.device.assemble import Assembly
from goptx.device.latency import children
from goptx.device.latency import measure as module
from goptx.device.latency.jobs import Job, Launch, Timed
from goptx.device.latency.measure import Measured, Measurement, Ready, measure
from goptx.device.latency.raw_samples import COLUMNS, samples
from goptx.device.latency.rounds import Sample, sample
from goptx.device.latency.row import Row, issued
from goptx.device.latency.table_text import Unresolved, resolved, table_text
from goptx.device.latency.text import LATENCY, kinds
from goptx.errors import DeviceError
from goptx.latency.table import Entry, LatencyTable, load_table, read_table

SHIFTED = Row("shl.b32", "$x, $x, 3", "SHF", then="add.s32 $x, $y, $a", why="by three")


def test_sample() -> None:
    rounds = [(100, 100 + 48 * 4 + extra) for extra in (0, 0, 0, 48, 0, 0, 0, 0, 96, 0, 480)]
    assert sample(rounds, 16, 64) == Sample(4.0, 4.0, 2.0)
    assert Sample(5.0, 6.0, 1.0) - 4.5 == Sample(0.5, 1.5, 1.0)


def measured(row: Row, latency: float | None, interval: float | None, sass: str = "X") -> Measured:
    one, other = (None if cycles is None else Sample(cycles - 0.25, cycles, 0.5) for cycles in (latency, interval))
    return Measured(row, sass, one, other)


def measurement(*rows: Measured, **problems: str) -> Measurement:
    known = {of.row.key: of for of in rows}
    return Measurement(measuring_children.DEVICE, "ptxas 13.0.88", "2026-12-24", (1755.2, 1980.0), known, problems)


ADD = measured(Row("add.s32", "$x, $x, $a", "IADD"), 4.5, 2.0, "IADD3")
SHL = measured(SHIFTED, 10.0, 3.5, "SHF + IADD3")
CHASE = measured(Row("ld.global.u64", "$x, [$x]", "LDG", name="ld.global L1", chains=4), 33.0, 4.0)
FAR = measured(
    Row("ld.global.u64", "$x, [$x]", "LDG", chains=0, interval_of="ld.global L1", why="from DRAM"), 600.0, None
)
STORE = measured(issued("st.global.u32", "[$buffer], $a", "STG"), None, 4.25)


def test_subtracted_cycles() -> None:
    rows = measurement(ADD, SHL, CHASE, FAR, STORE).rows
    assert resolved("shl.b32", rows) == (Sample(5.25, 5.5, 0.5), Sample(1.25, 1.5, 0.5))
    assert resolved("ld.global", rows) == (Sample(599.75, 600.0, 0.5), Sample(3.75, 4.0, 0.5))
    assert resolved("st.global", rows) == (None, Sample(4.0, 4.25, 0.5))
    with pytest.raises(Unresolved, match=r"`add\.s32`, which is timed together with it, was not measured"):
        resolved("shl.b32", measurement(SHL).rows)


def written(path: Path, of: Measurement, base: LatencyTable) -> tuple[str, LatencyTable]:
    text = table_text(of, base)
    path.write_text(text, encoding="utf-8")
    return text, read_table(path)


def test_the_table_that_is_written(tmp_path: Path) -> None:
    base = load_table("sm_80", "sm_80")
    text, table = written(tmp_path / "own.toml", measurement(ADD, SHL, CHASE, FAR, STORE, tex="no texture"), base)
    assert (table.arch, table.name) == ("sm_90", "Imaginary")
    assert table.measurement["date"] == "2026-12-24"
    assert table.measurement["driver"] == "580.1, CUDA 13.0"
    assert table.measurement["assembler"] == "ptxas 13.0.88"
    assert "1755 to 1980 MHz" in table.measurement["sm_clock"]
    assert "%clock64" in table.measurement["method"]
    entry = table.entries["shl.b32"]
    assert (entry.cycles, entry.source, entry.sass) == (6, "measured", "SHF + IADD3")
    assert (entry.interval, entry.least, entry.median, entry.spread) == (1.5, 5.25, 5.5, 0.5)
    assert '"shl.b32" = ' in text and "# by three; less add.s32" in text
    assert (table.cycles("ld.global"), table.interval("ld.global")) == (600, 4.0)
    assert (table.cycles("st.global"), table.interval("st.global")) == (4, 4.25)
    assert "# its interval: nothing waits for it" in text
    assert set(table.named) == {"ld.global L1"}
    assert table.named["ld.global L1"].cycles == 33
    assert "# Not measured: tex: no texture" in text
    # the rest is the other table's
    assert table.defaults == base.defaults
    assert {key for key in base.entries if key not in table.entries} == set()
    assert table.entries["div.f64"] == base.entries["div.f64"]
    assert (table.cycles("add.u32"), table.source_of("add.u32")) == (4, base.source_of("add.u32"))
    assert table.cycles("add.s32") == 4
    assert table.sources["assumed"] == base.sources["assumed"]


def test_assumed_entries_give_way_to_another_sign(tmp_path: Path) -> None:
    base = load_table("sm_90", "sm_90")
    base = replace(base, entries={**base.entries, "add.u32": Entry(99, "assumed"), "shl.s32": Entry(7, "published")})
    base = replace(base, sources={**base.sources, "published": "somewhere"})
    _, table = written(tmp_path / "own.toml", measurement(ADD, SHL), base)
    assert (table.cycles("add.u32"), table.source_of("add.u32")) == (4, "measured")
    assert (table.cycles("shl.s32"), table.source_of("shl.s32")) == (7, "published")


def test_short_keys_take_the_median_of_the_measured_ones(tmp_path: Path) -> None:
    others = (measured(Row(f"shl.b{w}", "$x, $x, 3", "SHF"), float(w), None) for w in (16, 64))
    _, table = written(tmp_path / "own.toml", measurement(ADD, SHL, *others), load_table("sm_90", "sm_90"))
    assert (table.cycles("shl"), table.source_of("shl")) == (16, "assumed")


def test_a_measured_table_is_measured_again(tmp_path: Path) -> None:
    base = load_table("sm_80", "sm_80")
    _, first = written(tmp_path / "first.toml", measurement(ADD, CHASE), base)
    text, second = written(tmp_path / "second.toml", measurement(ADD), first)
    assert second.source_of("add.s32") == "measured"
    _, third = written(tmp_path / "third.toml", measurement(SHL, ADD), second)
    assert third.cycles("shl.b32") == 6
    _, last = written(tmp_path / "last.toml", measurement(CHASE), second)
    assert last.source_of("add.s32") == "earlier"
    assert "2026-12-24" in last.sources["earlier"]
    assert last.entries["add.s32"].sass == "IADD3"
    assert text == table_text(measurement(ADD), first)


# Measuring ------------------------------------------------------------------------------------------------


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No device, assembler or disassembler: rows are ready at once, unless their name says otherwise."""

    def prepared(rows: tuple[Row, ...], arch: str, tool: str) -> list[Ready]:
        return [
            Ready(row, problem="folded") if row.name == "folded" else Ready(row, job_of(row), f"{row.sass} of {arch}")
            for row in rows
        ]

    def job_of(row: Row) -> Job:
        launches = tuple(Launch(kind, "entry", b"", 1) for kind in kinds(row))
        return Job(row.key, b"", launches, row.threads, row.ring)

    monkeypatch.setattr(module, "find_disassembler", lambda: "tool")
    monkeypatch.setattr(module, "current_device", lambda: type("Device", (), {"arch": "90"}))
    monkeypatch.setattr(
        module, "assemble", lambda *_, **__: Assembly(b"", 0, 0, 0, 0, 0, 0, 0, "ptxas 13", "sm_90", "", ())
    )
    monkeypatch.setattr(module, "prepared", prepared)
    monkeypatch.setattr(children, "serve", measuring_children.honest)
    monkeypatch.setattr(children, "LIMIT", 2)


def named(*names: str) -> list[Row]:
    return [Row("add.s32", "$x, $x, $a", "IADD", name=name) for name in names]


def test_failures_are_left_out_and_reported(made_up: None) -> None:
    reported: list[tuple[int, int, str]] = []
    rows = named("one", "folded", "hangs", "two", "breaks", "ends", "refused", "three")
    found = measure(rows, progress=lambda *of: reported.append(of))
    assert list(found.rows) == ["one", "two", "three"]
    assert list(found.problems) == ["folded", "hangs", "breaks", "ends", "refused"]
    assert found.replaced == 3
    assert found.megahertz == (1703.0, 1705.0)
    assert (found.device, found.assembler) == (measuring_children.DEVICE, "ptxas 13")
    one = found.rows["one"]
    assert one.sass == "IADD of sm_90"
    assert one.latency is not None
    assert (
        one.latency == sample([(180, 420), (180, 421), (180, 430)], 16, 64) == Sample(5.0, 241 / 48, one.latency.spread)
    )
    assert one.interval is not None and one.interval.median == 241 / (48 * 8)
    assert reported[0] == (0, 8, "next one") and reported[-1] == (8, 8, "") and len(reported) == 9


def test_where_nothing_can_be_measured(made_up: None) -> None:
    with pytest.raises(DeviceError, match="nothing could be measured: folded"):
        measure(named("folded"))


# The command ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to_file", [True, False])
def test_command(
    to_file: bool, made_up: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [Row("add.s32", "$x, $x, $a", "IADD"), *named("folded")]
    monkeypatch.setattr(measure, "__defaults__", (rows, None))
    path = tmp_path / "own.toml"
    assert cli.main(["latency", "measure", *(["-o", str(path)] if to_file else [])]) == 0
    output = capsys.readouterr()
    if not to_file:
        path.write_text(output.out, encoding="utf-8")
    assert read_table(path).entries["add.s32"].cycles == 5
    assert "0 of 2 measured; next add.s32" in output.err
    assert "warning: folded: folded" in output.err
    assert cli.main(["latency", "measure", "--quiet", "-o", str(path)]) == 0
    assert "measured" not in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_every_sample_is_written(
    ending: str, made_up: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table can be computed from them."""
    monkeypatch.setattr(measure, "__defaults__", ([Row("add.s32", "$x, $x, $a", "IADD"), *named("folded")], None))
    table, raw = tmp_path / "own.toml", tmp_path / f"raw.{ending}"
    assert cli.main(["latency", "measure", "--quiet", "-o", str(table), "--raw", str(raw)]) == 0
    found: list[dict[str, Any]]
    if ending == "csv":
        found = list(csv.DictReader(raw.read_text().splitlines()))
        assert tuple(found[0]) == COLUMNS
    else:
        held = json.loads(raw.read_text())
        found = held.pop("samples")
        assert (held["gpu"], held["arch"], held["not_measured"]) == ("Imaginary", "sm_90", {"folded": "folded"})
    assert len(found) == 2 * 3 * 2  # kinds, rounds, lengths
    assert [int(row["cycles"]) for row in found] == [180, 420, 180, 421, 180, 430] * 2
    assert {(row["kind"], int(row["chains"]), int(row["repetitions"])) for row in found} == {
        ("latency", 1, 16), ("latency", 1, 64), ("interval", 8, 128), ("interval", 8, 512),
    }  # fmt: skip
    assert [int(row["repeat"]) for row in found] == [1, 1, 2, 2, 3, 3] * 2
    entry = read_table(table).entries["add.s32"]
    for kind, value in (("latency", entry.median), ("interval", entry.interval)):
        parts = [row for row in found if row["kind"] == kind]
        each = [
            (int(long["cycles"]) - int(short["cycles"])) / (int(long["repetitions"]) - int(short["repetitions"]))
            for short, long in zip(parts[::2], parts[1::2], strict=True)
        ]
        assert value == round(median(each), 2)
    assert "folded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("raw.txt", "--raw raw.txt: the samples are written as .csv or .json; give a file with one of these endings"),
        ("none/raw.csv", "none/raw.csv: cannot be written (no such folder)"),
    ],
)
def test_where_samples_cannot_be_written(raw: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The error comes before a device is needed."""
    assert cli.main(["latency", "measure", "--raw", raw]) == 2
    assert capsys.readouterr().err.startswith(f"InputError: {value}")


def test_samples_name_subtracted_keys() -> None:
    timed = (Timed(LATENCY, ((100, 500),), b""),)
    (short, long) = samples(measurement(replace(SHL, timed=timed, megahertz=1755.25)))
    assert (short["taken_off"], short["megahertz"], short["sass"]) == ("add.s32", 1755.2, "SHF + IADD3")
    assert (short["repetitions"], long["repetitions"], long["cycles"]) == (16, 64, 500)


def test_command_without_a_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "find_disassembler", lambda: "tool")

    def none() -> None:
        raise DeviceError("no usable NVIDIA GPU: the driver is missing")

    monkeypatch.setattr(module, "current_device", none)
    assert cli.main(["latency", "measure"]) == 2
    assert capsys.readouterr().err.startswith("DeviceError: no usable NVIDIA GPU")
    assert cli.main(["latency"]) == 2
    assert "ACTION" in capsys.readouterr().err


def test_command_without_a_disassembler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.path", [])
    assert cli.main(["latency", "measure"]) == 2
    assert "no nvdisasm or cuobjdump" in capsys.readouterr().err
