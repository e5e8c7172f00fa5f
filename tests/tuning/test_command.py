"""goptx tune and goptx replay from the command line, on a bench with prescribed answers."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from command_line import run
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, AtOnce, FakeBench

import goptx
from goptx.device.assemble import find_ptxas
from goptx.device.child_process import Child
from goptx.errors import DeviceError
from goptx.measuring.bench.questions import Failed
from goptx.tuning import makers, tune
from goptx.tuning.cluster import all_pairs
from goptx.tuning.trials import COLUMNS

SPEC = """
[[kernel]]
file = "{name}.ptx"
entry = "{name}"
grid = [4]
block = [64]
argument = [
    {{ name = "in", dtype = "uint32", length = 256, generator = "integers" }},
    {{ name = "out", dtype = "uint32", length = 256, role = "out" }},
    {{ name = "n", dtype = "uint32", value = 3 }},
]
"""
FILES = ("plus.ptx", "times.ptx")
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("plus", PLUS), ("times", TIMES)):
        (tmp_path / f"{name}.ptx").write_text(text)
        (tmp_path / f"{name}.toml").write_text(SPEC.format(name=name))
    return tmp_path


class Opened(FakeBench):
    """The bench of a device, which is closed at last."""

    numbers: list[int] = []  # noqa: RUF012 - of all

    def __init__(self, device: int) -> None:
        super().__init__({"vertical x2 x2": 0.5})
        self.numbers.append(device)

    def close(self) -> None:
        self.numbers.remove(self.numbers[-1])


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """The folder, where there is a GPU."""
    monkeypatch.setattr(tune, "Bench", Opened)
    monkeypatch.setattr(makers, "ProcessPoolExecutor", lambda *_: AtOnce())
    return folder


def tuned(folder: Path, *words: str) -> CompletedProcess[str]:
    done = run("tune", *words, "--strategies", "vertical", cwd=folder)
    assert Opened.numbers == []
    return done


@pytest.mark.slow
@needs_ptxas
def test_all_that_is_written(measuring: Path) -> None:
    done = tuned(measuring, *FILES, "-o", "best.json", "--table", "table.csv", "--records", "records", "--seed", "3")
    assert done.returncode == 0
    assert done.stdout.startswith("candidate ") and done.stdout.endswith(
        "vertical x2 x2: 2.00 times as fast as separate launches (the best of them: graph)\n"
    )
    assert re.fullmatch(r"(\d+ tried; best vertical x2 x2 2\.00\n)+", done.stderr), done.stderr
    held = json.loads((measuring / "best.json").read_text())
    assert held["way"] == {"strategy": "vertical", "factors": [2, 2], "cap": None, "options": {}}
    assert [kernel["file"] for kernel in held["kernels"]] == list(FILES)
    rows = list(csv.DictReader(io.StringIO((measuring / "table.csv").read_text())))
    assert (tuple(rows[0]), rows[0]["name"], rows[0]["speedup"]) == (COLUMNS, "vertical x2 x2", "2.0")
    records = (measuring / "records").read_text().splitlines()
    assert json.loads(records[0])["seed"] == 3 and len(records) > len(rows)


@pytest.mark.slow
@needs_ptxas
def test_specifications_or_files(measuring: Path) -> None:
    of_files = tuned(measuring, *FILES).stdout
    assert of_files == tuned(measuring, "plus.toml", "times.toml").stdout
    (measuring / "plus.toml").unlink()
    shaped = ("--shape", "A=4:64", "--shape", "B=4:64", "--arg", "A:0=u32[256]", "--arg", "A:1=u32[256]")
    assert (
        of_files
        == tuned(measuring, *FILES, *shaped, "--arg", "A:2=u32:3", "--entry", "plus", "--entry", "times").stdout
    )


@pytest.mark.slow
@needs_ptxas
def test_quiet_says_nothing(measuring: Path) -> None:
    done = tuned(measuring, *FILES, "--quiet", "--table", "table.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    held = json.loads((measuring / "table.json").read_text())
    assert list(held) == ["baselines", "trials"] and held["trials"][0]["name"] == "vertical x2 x2"


@pytest.mark.slow
@needs_ptxas
def test_report_as_json_is_one_object(measuring: Path) -> None:
    done = tuned(measuring, *FILES, "--quiet", "--report=json", "--devices", "0,2")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr, report["speedup"], report["gpu"]) == (0, "", 2.0, "Imaginary")
    assert report["trials"][0]["status"] == "timed" and report["warnings"] == []
    words = tuned(measuring, *FILES, "--quiet", "--report")
    assert "vertical x2 x2: 2.00 times as fast" in words.stderr


@pytest.mark.slow
@needs_ptxas
def test_replayed(measuring: Path) -> None:
    tuned(measuring, *FILES, "-o", "best.json")
    expected = goptx.replay(measuring / "best.json")
    assert expected.strategy == "vertical"
    assert run("replay", "best.json", cwd=measuring).stdout == expected.text()
    done = run("replay", "best.json", *FILES, "-o", "fused.ptx", "--report=json", cwd=measuring)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["strategy"]) == (0, "", "vertical")
    assert (measuring / "fused.ptx").read_text() == expected.text()
    assert run("replay", "best.json", "-o", "fused.cubin", cwd=measuring).returncode == 0
    assert (measuring / "fused.cubin").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plus.toml", "times.ptx"], "give launch specifications or PTX files, not both"),
        (["plus.toml", "--shape", "A=4:64"], "--shape and --entry are for PTX files; a launch specification has both"),
        (["plus.toml", "--entry", "plus"], "--shape and --entry are for PTX files"),
        ([*FILES, "--table", "t.txt"], "--table t.txt: `.txt` is not a kind of table; give .csv or .json"),
        ([*FILES, "--devices", "0,x"], "--devices 0,x: give numbers of GPUs, for example 0,1"),
        ([*FILES, "--devices", ""], "--devices : give numbers of GPUs"),
        ([*FILES, "--devices", "1,1"], "devices=[1, 1] names a GPU twice"),
        ([*FILES, "--strategies", "weave,auto"], "strategy `auto` cannot be tuned; expected some of weave"),
        ([*FILES, "--d0", "x"], "argument --d0: `x` has no sizes; give one number or several, such as 768 or 512,768"),
        ([*FILES, "--d0", "512,700"], "d0=(512, 700) takes the threads of a fused CTA, one number or several"),
        ([*FILES, "--d0", "512"], "d0=512: no kernel takes another block than its own; declare those that are right"),
        ([*FILES, "--d0", "512", "--strategies", "weave"], "d0=(512,) is for horizontal kernels, which strategies="),
        ([*FILES, "--budget", "long"], "budget='long' is not a time above 0"),
        ([*FILES, "--budget", "0s"], "budget='0s' is not a time above 0"),
        ([*FILES, "--shape", "A=4:64"], "--shape is given for A; give it once for each of the kernels A, B"),
        (["--all", "plus.toml"], "--all takes two launch specifications or more, of which it tunes all pairs."),
        (["--all", "plus.toml", "./plus.toml"], "plus.toml: two specifications have this name, by which pairs are"),
        (["--all", *FILES], "plus.ptx: --all takes launch specifications (.toml); `goptx spec` writes one."),
        (
            ["--all", "plus.toml", "times.toml", "--entry", "plus"],
            "--arg, --shape, --entry and --assume are of one pair",
        ),
        (["--all", "plus.toml", "times.toml", "--assume", "A:live_ctas=4"], "--arg, --shape, --entry and --assume are"),
        ([*FILES, "--seed", "-1"], "seed=-1 is not a whole number from 0 on."),
        ([*FILES, "--tolerance", "nan"], "tolerance=nan is not the largest allowed difference; give a number from 0"),
        ([*FILES, "--workers", "0"], "workers=0 is not a number of processes; give 1 or more."),
        ([*FILES, "--strategies", ""], "strategy `` cannot be tuned; expected some of weave"),
        ([*FILES, "--records", "plus.ptx"], "plus.ptx: an input, which would be overwritten; give another file."),
        ([*FILES, "--records", "r", "-o", "r"], "r: two outputs cannot be one file."),
        (["--all", "plus.toml", "times.toml", "-o", "plus.ptx"], "plus.ptx: this folder cannot be made (File exists)"),
        ([*FILES, "-o", "none/best.json"], "none/best.json: cannot be written (no such folder); give a folder that"),
        ([*FILES, "--table", "none/t.csv"], "none/t.csv: cannot be written (no such folder)"),
    ],
)
def test_refused_before_anything_is_measured(words: list[str], message: str, folder: Path) -> None:
    done = run("tune", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"InputError: {message}")


@pytest.mark.parametrize("words", [["none.ptx"], ["none.toml"], ["plus.ptx", "--arg", "C:0=u32:1"]])
def test_refused_where_there_is_a_gpu(words: list[str], measuring: Path) -> None:
    done = tuned(measuring, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("InputError: ")


def test_without_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "no usable NVIDIA GPU"

    def ask(self: Child, question: Any, seconds: float) -> Failed:
        return Failed(message)

    monkeypatch.setattr(Child, "ask", ask)
    done = run("tune", *FILES, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"DeviceError: {message}\n")
    done = run("tune", "--all", "plus.toml", "times.toml", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"DeviceError: {message}\n")
    with pytest.raises(DeviceError, match=message):
        goptx.tune(PLUS, TIMES, shapes=SHAPES, args=ARGS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.json"], "none.json: cannot be read"),
        (["plus.toml"], "plus.toml: not JSON"),
        (["plus.toml", "-o", "x.txt"], "-o x.txt: `.txt` is not a kind of output; give .ptx or .cubin"),
    ],
)
def test_what_cannot_be_replayed(words: list[str], message: str, folder: Path) -> None:
    done = run("replay", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"InputError: {message}")


def test_errors_in_the_kernels_need_no_gpu(folder: Path) -> None:
    done = run("tune", "none.toml", cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "InputError: none.toml: cannot be read (No such file or directory); give the path of a launch specification.\n",
    )


@pytest.mark.slow
@needs_ptxas
def test_a_page_of_what_was_found(measuring: Path) -> None:
    done = tuned(measuring, *FILES, "--quiet", "--html", "best.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = (measuring / "best.html").read_text(encoding="utf-8")
    assert "<title>vertical x2 x2</title>" in page and "★ vertical x2 x2" in page and "<svg" in page
    assert "in the order in which they were tried" in page
    done = tuned(measuring, *FILES, "--html", "none/best.html")
    assert done.returncode == 2 and "no such folder" in done.stderr


@pytest.mark.slow
@needs_ptxas
def test_all_pairs_on_this_machine(measuring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that cannot be tuned is in the table with the reason."""
    monkeypatch.setattr(all_pairs, "Bench", Opened)
    (measuring / "bad.toml").write_text(SPEC.format(name="missing"))
    done = tuned(measuring, "--all", "plus.toml", "times.toml", "bad.toml", "--report=json")
    pairs = {row["pair"]: row for row in json.loads(done.stdout)["pairs"]}
    assert list(pairs) == ["plus+times", "plus+bad", "times+bad"]
    assert (pairs["plus+times"]["speedup"], pairs["plus+times"]["candidate"]) == (2.0, "vertical x2 x2")
    assert pairs["plus+bad"]["speedup"] is None and "missing.ptx" in pairs["plus+bad"]["reason"]
    text = tuned(measuring, "--all", "plus.toml", "times.toml", "bad.toml").stdout
    assert text.startswith("pair ") and "plus+times  2.00 " in text and "\nplus+bad: " in text


def test_a_scheduler_that_does_not_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def refused(*_: Any, **__: Any) -> None:
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refused)
    done = run("tune", *FILES, "--scheduler", "tcp://none:1", cwd=folder)
    assert done.stderr == (
        "DeviceError: --scheduler tcp://none:1 does not answer (timed out); start `dask scheduler`.\n"
    )
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run("tune", *FILES, "--scheduler", "tcp://none:1", cwd=folder)
    assert "--scheduler needs Dask; install it with `pip install distributed`." in done.stderr
