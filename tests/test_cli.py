"""The command line."""

import io
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import run

import goptx
from goptx.cli.terminal import coloured

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
HARRIS = str(KERNELS / "harris.sm_90.ptx")
SORT = str(KERNELS / "sort.sm_90.ptx")
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
TWO = HEAD + ".visible .entry one()\n{\n    ret;\n}\n.visible .entry two()\n{\n    ret;\n}\n"


def refused(done: subprocess.CompletedProcess[str], code: int, message: str) -> None:
    """The command printed nothing but one error whose first line matches `message`, and ended with `code`."""
    assert done.returncode == code
    assert done.stdout == ""
    assert re.match(message, done.stderr), done.stderr


# weave --------------------------------------------------------------------------------------------------


def test_weave_writes_ptx_to_standard_output_and_nothing_else(tmp_path: Path) -> None:
    done = run("weave", HARRIS, SORT, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [e.name for e in goptx.read(done.stdout).entries] == ["harris_sort_woven"]
    assert done.stdout == goptx.weave(Path(HARRIS), Path(SORT)).text()
    assert list(tmp_path.iterdir()) == []


def test_python_runs_the_package(tmp_path: Path) -> None:
    def started(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "goptx", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    done = started("weave", HARRIS, SORT, "--report")
    imported = run("weave", HARRIS, SORT, "--report", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, imported.stdout, imported.stderr)
    refused(started("weave", HARRIS, "none.ptx"), 2, "InputError: none.ptx: ")


def test_output_file_holds_what_standard_output_would(tmp_path: Path) -> None:
    done = run("weave", HARRIS, SORT, "-o", "out.ptx", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.ptx").read_text() == run("weave", HARRIS, SORT, cwd=tmp_path).stdout
    assert [p.name for p in tmp_path.iterdir()] == ["out.ptx"]


def test_options_may_stand_between_the_files(tmp_path: Path) -> None:
    done = run("weave", HARRIS, "--report=json", SORT, "-o", "out.ptx", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out.ptx").read_text() == run("weave", HARRIS, SORT, cwd=tmp_path).stdout


def test_output_file_can_be_read_like_any_new_file(tmp_path: Path) -> None:
    run("weave", HARRIS, SORT, "-o", "out.ptx", cwd=tmp_path)
    (tmp_path / "other").touch()
    assert (tmp_path / "out.ptx").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_failure_leaves_an_old_output_file_alone(tmp_path: Path) -> None:
    (tmp_path / "out.ptx").write_text("old")
    refused(run("weave", HARRIS, "none.ptx", "-o", "out.ptx", cwd=tmp_path), 2, "InputError: none.ptx: ")
    assert (tmp_path / "out.ptx").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.ptx"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/out.ptx", r"none/out\.ptx: cannot be written \(.*\); give a folder that exists"),
        (".", r"\.: cannot be written \(it is a folder\); give the path of a file"),
    ],
)
def test_output_that_cannot_be_written(output: str, message: str, tmp_path: Path) -> None:
    refused(run("weave", HARRIS, SORT, "-o", output, cwd=tmp_path), 2, f"InputError: {message}")
    assert list(tmp_path.iterdir()) == []


def test_options_reach_weave(tmp_path: Path) -> None:
    options = ["--name", "both", "--policy", "concat", "--slicing", "none", "--arch", "sm_90a", "--latency", "sm_80"]
    done = run("weave", HARRIS, SORT, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    woven = goptx.weave(
        Path(HARRIS), Path(SORT), name="both", policy="concat", slicing=None, arch="sm_90a", latency="sm_80"
    )
    assert done.stdout == woven.text()
    assert goptx.read(done.stdout).target == ("sm_90a",)
    numbered = run("weave", HARRIS, SORT, "--slicing", "40", cwd=tmp_path)
    assert numbered.stdout == goptx.weave(Path(HARRIS), Path(SORT), slicing=40).text()
    small = run("weave", HARRIS, SORT, "--max-blocks", "9", "--max-growth", "1.1", cwd=tmp_path)
    woven = goptx.weave(Path(HARRIS), Path(SORT), max_blocks=9, max_growth=1.1)
    assert (small.stdout, woven.report.notes != ()) == (woven.text(), True)


def test_shapes_reach_weave(tmp_path: Path) -> None:
    options = ["--shape", "B=?x7:16x16", "--shape", "A=1024:256:4096", "--placement", "front", "--report"]
    done = run("weave", HARRIS, SORT, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shapes = [goptx.Shape(1024, 256, 4096), goptx.Shape((None, 7), (16, 16))]
    assert done.stdout == goptx.weave(Path(HARRIS), Path(SORT), shapes=shapes, placement="front").text()
    assert "note: launch as ?:16x16:4096, A as 1024:256:4096, B as ?x7:16x16, front\n" in done.stderr
    assert "note: parameters after those of the kernels: B.grid.x\n" in done.stderr


def test_check_of_kernels_with_shapes_of_their_own(tmp_path: Path) -> None:
    done = run("check", HARRIS, SORT, "--shape", "A=?:?", "--shape", "B=2:256", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^grid 4, block 256, shared 0, .*^B sort  \S+  grid 2, block 256, shared 0$", done.stdout, re.M | re.S
    )
    done = run("check", HARRIS, SORT, "--shape", "A=?:?", "--shape", "B=2:256", "--report=json", cwd=tmp_path)
    assert json.loads(done.stdout)["shapes"] == {"A": "4:256", "B": "2:256"}


def test_report_goes_to_standard_error(tmp_path: Path) -> None:
    done = run("weave", "--report", HARRIS, SORT, cwd=tmp_path)  # must not take the next file as its value
    assert done.returncode == 0
    assert done.stdout == goptx.weave(Path(HARRIS), Path(SORT)).text()
    for word in ("A harris", "B sort", "woven", "blocks", "est. cycles", "instructions beside"):
        assert word in done.stderr


def test_json_report_is_one_object_with_the_warnings_inside(tmp_path: Path) -> None:
    done = run("weave", HARRIS, SORT, "--report=json", "--arch", "sm_121", "-o", "out.ptx", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert 0 < report["woven_fraction"] <= 1
    assert list(report["kernels"]) == ["A", "B"]
    assert report["kernels"]["B"]["name"] == "sort"
    assert report["kernels"]["B"]["barriers"] == 1
    assert report["merged"]["instructions"] > report["kernels"]["A"]["instructions"]
    assert list(report["symbols"]) == ["A", "B"]
    (warning,) = report["warnings"]
    assert "no latency table for sm_121" in warning


@pytest.mark.parametrize("words", [["--report=json"], ["--report", "json"]])
def test_json_stands_beside_the_kernel_and_alone_otherwise(words: list[str], tmp_path: Path) -> None:
    both = run("weave", *words, HARRIS, SORT, cwd=tmp_path)
    assert both.stdout == goptx.weave(Path(HARRIS), Path(SORT)).text()
    alone = run("weave", HARRIS, SORT, *words, "-o", "out.ptx", cwd=tmp_path)
    assert alone.stderr == ""
    assert json.loads(alone.stdout) == json.loads(both.stderr)


def test_errors_are_json_too(tmp_path: Path) -> None:
    done = run("weave", HARRIS, SORT, "--same", "A:99=B:0", "-o", "out.ptx", "--report", "json", cwd=tmp_path)
    printed = json.loads(done.stdout)
    assert (done.stderr, printed["exit_code"], done.returncode) == ("", 2, 2)
    assert set(printed["error"]) == {"class", "message", "rule"} and printed["warnings"] == []
    missing = run("show", "none.ptx", "--report=json", cwd=tmp_path)
    assert (missing.returncode, json.loads(missing.stdout)["error"]["class"]) == (2, "InputError")
    unparsed = run("weave", "--none", "--report=json", cwd=tmp_path)  # the output is not known
    assert (unparsed.stdout, json.loads(unparsed.stderr)["exit_code"]) == ("", 2)


def test_refusals_in_json_name_their_rule(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(HEAD.replace("64", "32") + ".visible .entry one()\n{\n    ret;\n}\n")
    done = run("weave", "a.ptx", SORT, "--report=json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stderr)["error"]["rule"]) == (2, "common-target")


def test_entries_as_json(tmp_path: Path) -> None:
    done = run("show", SORT, "--report", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    (entry,) = facts["entries"]
    assert (facts["target"], facts["address_size"], entry["name"]) == (["sm_90"], 64, "sort")
    assert [p["bytes"] for p in entry["parameters"]] == [p.size for p in goptx.read(Path(SORT)).entries[0].parameters]
    assert sum(block["instructions"] for block in entry["flow"]["blocks"]) > 40
    assert entry["barriers"] and entry["registers"]
    both = run("show", SORT, "--report=json", "--cfg", "dot", cwd=tmp_path)
    assert (both.returncode, "--cfg dot is a picture of its own; leave out" in both.stdout) == (2, True)


# The terminal -------------------------------------------------------------------------------------------


def test_without_a_command_the_help_is_printed(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, run("--help", cwd=tmp_path).stdout, "")


@pytest.mark.parametrize(
    ("words", "help_of"),
    [
        (["weave", HARRIS, SORT, "--none"], "goptx weave"),
        (["latency", "measure", "more"], "goptx latency measure"),
        (["latency"], "goptx latency"),
        (["none"], "goptx"),
    ],
)
def test_messages_lead_to_the_help_of_the_command(words: list[str], help_of: str, tmp_path: Path) -> None:
    refused(run(*words, cwd=tmp_path), 2, rf"InputError: .*; see `{help_of} --help`\.$")


def test_an_interrupted_command_says_so_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("goptx.weaving.weave.weave", interrupted)
    done = run("weave", HARRIS, SORT, "-o", "out.ptx", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert coloured("warning:", "33", Terminal()) == "\033[1;33mwarning:\033[0m"
    assert coloured("warning:", "33", io.StringIO()) == "warning:"
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("warning:", "33", Terminal()) == "warning:"


def test_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("--print-completion", "bash", cwd=tmp_path)
    assert done.returncode == 0
    assert "--max-registers" in done.stdout and "(weave fuse " in done.stdout
    assert "_shtab_goptx_weave_pos_0_COMPGEN=_shtab_compgen_files\n" in done.stdout
    (tmp_path / "goptx.sh").write_text(done.stdout)
    assert subprocess.run(["bash", "-n", "goptx.sh"], cwd=tmp_path, check=False).returncode == 0
    monkeypatch.setitem(sys.modules, "shtab", None)
    missing = run("--print-completion", "bash", cwd=tmp_path)
    assert (missing.returncode, "takes the package shtab: `pip install goptx[completion]`" in missing.stderr) == (
        2,
        True,
    )


# Warnings -----------------------------------------------------------------------------------------------


def test_warnings_come_after_the_report(tmp_path: Path) -> None:
    done = run("weave", HARRIS, SORT, "--report", "--arch", "sm_121", "-o", "out.ptx", cwd=tmp_path)
    assert done.stderr.splitlines()[-1].startswith("warning: no latency table for sm_121")


def test_lost_debug_sections_are_warned_of_without_a_report(tmp_path: Path) -> None:
    debug = str(Path(__file__).parent / "corpus" / "ptx" / "stencil_debug.nvrtc.ptx")
    done = run("weave", debug, SORT, "-o", "out.ptx", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {debug}: debug sections (")
    assert len(done.stderr.splitlines()) == 1


def test_one_input_may_be_standard_input(tmp_path: Path) -> None:
    done = run("weave", "-", SORT, cwd=tmp_path, stdin=Path(HARRIS).read_bytes())
    assert done.stdout == goptx.weave(Path(HARRIS), Path(SORT)).text()
    refused(run("weave", "-", "-", cwd=tmp_path), 2, r"InputError: standard input \(`-`\) can be given once only\.\n$")


def test_entries_are_given_once_per_input(tmp_path: Path) -> None:
    (tmp_path / "two.ptx").write_text(TWO)
    done = run("weave", "two.ptx", "two.ptx", "--entry", "two", "--entry", "one", cwd=tmp_path)
    assert [e.name for e in goptx.read(done.stdout).entries] == ["two_one_woven"]
    refused(
        run("weave", "two.ptx", SORT, "--entry", "two", cwd=tmp_path), 2, "InputError: --entry is given 1 times for 2"
    )
    refused(
        run("weave", "two.ptx", SORT, "--entry", "three", "--entry", "sort", cwd=tmp_path),
        2,
        r"InputError: two.ptx:\d+: no entry `three`; the module has the entries `one`, `two`",
    )


def test_two_entries_of_one_file_are_woven(tmp_path: Path) -> None:
    (tmp_path / "two.ptx").write_text(TWO)
    done = run("weave", "two.ptx", "two.ptx", "--entry", "one", "--entry", "two", "--report=json", cwd=tmp_path)
    assert [k["name"] for k in json.loads(done.stderr)["kernels"].values()] == ["one", "two"]


# What is wrong with the arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stitch"], "InputError: .*'stitch'"),
        (["weave"], "InputError: .*A.ptx"),
        (["weave", HARRIS], "InputError: .*two to 26 kernels"),
        (["weave", *[HARRIS] * 27], "InputError: .*two to 26 kernels"),
        (["weave", HARRIS, SORT, "--report=xml"], "InputError: .*'xml'"),
        (["weave", HARRIS, SORT, "--thing"], "InputError: .*--thing"),
        (["weave", HARRIS, SORT, "--policy", "best"], "InputError: policy `best` is unknown"),
        (["weave", HARRIS, SORT, "--slicing", "0"], "InputError: slicing `0` is unknown"),
        (["weave", HARRIS, SORT, "--slicing", "-5"], "InputError: .*slicing"),
        (["weave", HARRIS, SORT, "--slicing=--5"], "InputError: slicing `--5` is unknown"),
        (["weave", HARRIS, SORT, "--max-blocks", "0"], "InputError: max_blocks `0` is not a number of blocks"),
        (
            ["weave", HARRIS, SORT, "--max-blocks", "many"],
            "InputError: argument --max-blocks: invalid int value: 'many'",
        ),
        (["weave", HARRIS, SORT, "--max-growth", "nan"], "InputError: max_growth `nan` is not a factor"),
        (["weave", HARRIS, SORT, "--max-growth=-2"], "InputError: max_growth `-2.0` is not a factor"),
        (["weave", HARRIS, SORT, "--max-inlined=0"], "InputError: max_inlined `0` is not a number of instructions"),
        (["weave", HARRIS, SORT, "--arch", "hopper"], "InputError: `hopper` is not an architecture"),
        (["weave", HARRIS, SORT, "--arch", "sm_80"], "CannotLink: .*sm_90 does not suit sm_80"),
        (["weave", HARRIS, SORT, "--name", "a b"], "InputError: `a b` is not a PTX name"),
        (["weave", HARRIS, SORT, "--latency", "none.toml"], "InputError: .*none.toml"),
        (
            ["weave", HARRIS, SORT, "--shape", "A=4:256"],
            "InputError: --shape is given for A; give it once for each of .*A, B",
        ),
        (
            ["weave", HARRIS, SORT, "--shape", "A=4:4", "--shape", "A=4:4"],
            "InputError: --shape is given for A, A; give it",
        ),
        (["weave", HARRIS, SORT, "--shape", "4:256"], "InputError: --shape is given for 4:256; .*--shape A=1024:256"),
        (["weave", HARRIS, SORT, "--shape", "A=4", "--shape", "B=4:4"], "InputError: shape `4` cannot be read"),
        (["weave", HARRIS, SORT, "--shape", "A=4:2048", "--shape", "B=4:4"], "InputError: block=.* has 2048 threads"),
        (["weave", HARRIS, SORT, "--placement", "back"], "InputError: placement `back` is unknown"),
        (["fmt", "none.ptx"], "InputError: none.ptx: cannot be read"),
        (["fmt"], "InputError: the following arguments are required: FILE; see `goptx fmt --help`"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, tmp_path: Path) -> None:
    refused(run(*arguments, cwd=tmp_path), 2, message)


# The rest -----------------------------------------------------------------------------------------------


def test_fmt_prints_the_canonical_form(tmp_path: Path) -> None:
    done = run("fmt", HARRIS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == str(goptx.read(Path(HARRIS)))
    assert run("fmt", "-", cwd=tmp_path, stdin=done.stdout.encode()).stdout == done.stdout


@pytest.mark.parametrize(
    "arguments", [["fmt", HARRIS], ["show", HARRIS, "--report=json"], ["latency", "compare", "sm_90", "sm_90"], []]
)
def test_reader_that_stops_early_is_not_an_error(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goptx", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_version(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"goptx {version('goptx')}\n")


def test_the_help_names_the_exit_codes(tmp_path: Path) -> None:
    text = " ".join(run("--help", cwd=tmp_path).stdout.split())
    assert "Exit codes: 0 done; 1 the kernels cannot be woven or depend on each other, or a check failed; 2 " in text


def test_help_names_every_flag(tmp_path: Path) -> None:
    done = run("weave", "--help", cwd=tmp_path)
    assert done.returncode == 0
    for flag in (
        "--output",
        "--entry",
        "--arch",
        "--name",
        "--policy",
        "--slicing",
        "--latency",
        "--report",
        "--shape",
        "--max-blocks",
        "--max-growth",
    ):
        assert flag in done.stdout


@pytest.mark.parametrize("statement", ["import goptx", "import goptx.cli"])
def test_import_brings_in_nothing_heavy(statement: str, tmp_path: Path) -> None:
    heavy = "antlr4 cuda networkx numpy"
    program = f"{statement}, sys; print([m for m in sys.modules if m.partition('.')[0] in {heavy.split()}])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_weaving_needs_neither_cuda_nor_numpy(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['numpy'] = sys.modules['cuda'] = None\n"
        f"import goptx, pathlib; goptx.weave(pathlib.Path({HARRIS!r}), pathlib.Path({SORT!r}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
