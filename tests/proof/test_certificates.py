"""How certificates are asked for, stored and checked again: in reports, on the command line, in files."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import goptx
from goptx.cli import main
from goptx.errors import InputError
from goptx.proof.certificate import Certificate, Established
from goptx.proof.prove import prove_text

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD = (str(KERNELS / f"{name}.sm_90.ptx") for name in ("harris", "lud"))
UNKNOWN = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry unknown(.param .u64 p)
{
    .reg .b64 %rd<4>; .reg .v2 .b32 %v;
    ld.param.u64 %rd1, [p];
    ld.global.v2.u32 %v, [%rd1];
    st.global.u32 [%rd1+8], %v.x;
    ret;
}
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The exit code of a command, what it prints, and its errors."""
    monkeypatch.chdir(tmp_path)

    def running(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return running


def test_a_report_has_the_certificate_once_it_is_proved() -> None:
    fused = goptx.weave(Path(HARRIS), Path(LUD))
    assert fused.report.certificate is None and fused.report.to_dict()["certificate"] is None
    made = goptx.prove(fused)
    assert made and fused.report.certificate == made
    assert json.loads(json.dumps(fused.report.to_dict()))["certificate"] == json.loads(made.to_json())
    assert str(made) in str(fused.report)
    assert fused.capped(64).report.certificate is None  # its text is another one
    assert fused.reported(replace(fused.report, notes=("a note",))).report.certificate == made


def test_a_report_has_no_certificate_of_what_is_not_proved() -> None:
    fused = goptx.weave(UNKNOWN, Path(HARRIS))
    assert not goptx.prove(fused) and fused.report.certificate is None


def test_the_witness_is_made_when_it_is_asked_for() -> None:
    fused = goptx.weave(Path(HARRIS), Path(LUD))
    assert fused.ptx and fused.witness is not None and "value" not in vars(fused.witness)
    copy = pickle.loads(pickle.dumps(fused))
    assert copy.text() == fused.text() != fused.ptx and fused.witness.value == copy.witness.value


def test_separate_kernels_are_nothing_to_prove() -> None:
    with pytest.raises(InputError, match="stays separate launches, so there is nothing to prove; fuse the kernels"):
        goptx.prove(goptx.fuse(Path(HARRIS), Path(LUD), strategy="separate"))


def test_the_certificate_counts_the_pairs_that_a_launch_checks() -> None:
    """HARRIS reads three arrays and writes one, LUD reads and writes one, by two parameters at most."""
    made = goptx.prove(goptx.weave(Path(HARRIS), Path(LUD)))
    assert made.presumed[0] == "the kernels are independent (4 pairs of parameters checked at launch)"


@pytest.mark.parametrize("command", [("weave", HARRIS, LUD), ("fuse", HARRIS, LUD), ("coarsen", HARRIS)])
def test_nothing_is_written_that_is_not_proved(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command, "-o", "out.ptx", "--prove", "--certificate", "out.json", "--report=json")
    proved = Path("out.ptx").exists()
    assert code == (0 if proved else 4) and err == ""
    assert Path("out.json").exists() == proved
    if proved:
        assert json.loads(out)["certificate"] == json.loads(Path("out.json").read_text())
    else:
        error = json.loads(out)["error"]
        assert error["class"] == "NotProvedError" and "is not proved: line " in error["message"]


def test_a_failing_proof_writes_no_file(run: Run) -> None:
    Path("unknown.ptx").write_text(UNKNOWN)
    for more in (("--strategy", "weave"), ("--max-registers", "64")):
        code, out, err = run(
            "fuse", HARRIS, "unknown.ptx", "-o", "out.ptx", "--header", "out.h", "--html", "out.html", "--prove", *more
        )
        assert code == 4 and out == "" and [*Path().iterdir()] == [Path("unknown.ptx")]
        assert err.startswith("NotProvedError: `harris_unknown_woven` is not proved: line ")
    assert run("weave", HARRIS, "unknown.ptx", "--prove")[:2] == (4, "")


def test_capped_text_is_what_is_proved(run: Run) -> None:
    assert run("weave", HARRIS, LUD, "-o", "both.ptx", "--max-registers", "64", "--certificate", "both.json")[0] == 0
    assert run("prove", "both.ptx", "--from", HARRIS, LUD, "--check", "both.json")[0] == 0


def test_a_certificate_needs_the_witness(run: Run) -> None:
    code, _, err = run("weave", HARRIS, LUD, "-o", "both.ptx", "--no-witness", "--certificate", "both.json")
    assert code == 2 and "--certificate is of the text with its witness; leave out --no-witness." in err
    assert run("weave", HARRIS, LUD, "-o", "both.ptx", "--no-witness", "--prove")[0] == 0
    assert "goptx witness" not in Path("both.ptx").read_text()


def test_what_proving_prints(run: Run) -> None:
    run("weave", HARRIS, LUD, "-o", "both.ptx")
    code, out, _ = run("prove", "both.ptx", "--from", HARRIS, LUD)
    first, figures, presumed = out.splitlines()
    assert code == 0 and first == (
        "proved: both.ptx does what harris.sm_90.ptx (A) and lud.sm_90.ptx (B) do, for every input and every launch "
        "with one grid and block for all."
    )
    effects = re.findall(
        r"^ +(?:@\S+ )?(?:(?:ld|st)\.(?:global|shared)|bar)\..*// [AB]:", Path("both.ptx").read_text(), re.M
    )
    assert re.fullmatch(
        r"  control flow 6/6 blocks, "
        rf"registers separate \({len(effects)} effects with equal operands\), memory order 33 pairs, "
        r"variables separate \(10\), "
        r"convergence 0 instructions, barriers 1 in one order, loops 0 end",
        figures,
    )
    assert presumed == "  presumes: the kernels are independent (4 pairs of parameters checked at launch)"


class TestStored:
    """A stored certificate, checked again."""

    @pytest.fixture(autouse=True)
    def stored(self, run: Run) -> Certificate:
        self.run = run
        assert run("weave", HARRIS, LUD, "-o", "both.ptx", "--certificate", "both.json")[0] == 0
        self.made = Certificate.from_json(Path("both.json").read_text())
        return self.made

    def check(self, stored: Certificate | None = None, kernels: tuple[str, ...] = (HARRIS, LUD)) -> tuple[int, str]:
        if stored is not None:
            Path("both.json").write_text(stored.to_json())
        code, _, err = self.run("prove", "both.ptx", "--from", *kernels, "--check", "both.json")
        return code, err

    def test_holds_of_its_texts(self) -> None:
        assert self.check() == (0, "")
        assert self.check(replace(self.made, established=self.made.established[:2])) == (0, "")
        assert self.check(replace(self.made, presumed=(*self.made.presumed, "more"))) == (0, "")

    def test_does_not_hold_of_an_edited_text(self) -> None:
        text = Path("both.ptx").read_text()
        Path("both.ptx").write_text(text.replace("// A:", "//  A:", 1))
        code, err = self.check()
        assert code == 4 and err.startswith("NotProvedError: the certificate does not hold here: ")
        assert "it is of another fused kernel, or of this one before its text was edited" in err
        Path("both.ptx").write_text(text.replace("bar.sync 0;", ""))
        code, err = self.check()
        assert code == 4 and "; the text is not proved: line " in err

    def test_does_not_hold_of_another_kernel(self) -> None:
        Path("other.ptx").write_text(Path(LUD).read_text().replace("shl.b32", "shr.b32", 1))
        assert "its kernel B has another text" in self.check(kernels=(HARRIS, "other.ptx"))[1]
        assert "its kernel B has another text" in self.check(kernels=(HARRIS,))[1]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"established": (Established("hand-over", "A", "1 buffer"),)}, "hand-over is not established of kernel A"),
            ({"presumed": ()}, "it does not presume that the kernels are independent (4 pairs"),
            ({"launches": "every launch"}, "it says of launches `every launch`, the text `every launch with one grid"),
            ({"entry": "other"}, "it says of entry `other`, the text `harris_lud_woven`"),
            ({"strategy": "vertical"}, "it says of strategy `vertical`, the text `weave`"),
        ],
    )
    def test_must_not_say_more_than_is_proved(self, change: dict[str, object], message: str) -> None:
        code, err = self.check(replace(self.made, **change))  # type: ignore[arg-type]
        assert code == 4 and message in err

    def test_must_be_one_of_a_proved_kernel(self) -> None:
        unproved = goptx.prove(goptx.weave(UNKNOWN, Path(HARRIS)))
        code, err = self.check(replace(self.made, gaps=unproved.gaps))
        assert code == 4 and "it is one of a kernel that is not proved" in err

    def test_must_be_a_certificate(self) -> None:
        Path("both.json").write_text("{}")
        code, err = self.check()
        assert code == 2 and "give a file that `--certificate` wrote" in err
        code, _, err = self.run("prove", "both.ptx", "--from", HARRIS, LUD, "--check", "none.json")
        assert code == 2 and "none.json: cannot be read (No such file or directory); give the path of a certif" in err

        Path("binary").write_bytes(b"\xff")
        code, _, err = self.run("prove", "binary", "--from", HARRIS, LUD)
        assert code == 2 and "binary: cannot be read (it is not text); give the path of a PTX file." in err

    def test_needs_a_fused_kernel(self) -> None:
        code, _, err = self.run("prove", HARRIS, "--from", HARRIS)
        assert code == 4 and err.startswith("NotProvedError: the text is not proved: line 1: the text has no witness")
        with pytest.raises(goptx.InputError, match=r"an object of type PosixPath is not a fused kernel; give what"):
            goptx.prove(Path(HARRIS))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("established", [{"rule": ["waiting"], "kernel": "", "what": ""}]), ("established", ["waiting"]),
            ("presumed", "everything"), ("presumed", [1]), ("kernels", {"A": None}), ("kernels", [["A", "x"]]),
            ("gaps", {}), ("launches", 7), ("names", {"A": []}), ("format", "goptx certificate 1"), ("more", 1),
        ],
    )  # fmt: skip
    def test_has_text_where_it_should(self, name: str, value: object) -> None:
        held = json.loads(Path("both.json").read_text())
        Path("both.json").write_text(json.dumps(held | {name: value}))
        code, err = self.check()
        assert code == 2 and "not a certificate" in err, err

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"format":' * 100_000, "9" * 10_000, "[" * 9 + "]" * 9, "\0"])
    def test_is_refused_whatever_the_text_is(self, text: str) -> None:
        Path("both.json").write_text(text)
        code, err = self.check()
        assert code == 2 and "not a certificate" in err, err

    def test_is_not_overwritten_by_the_new_one(self) -> None:
        code, _, err = self.run("prove", "both.ptx", "--from", HARRIS, LUD, "--certificate", "both.ptx")
        assert code == 2 and "an input, which would be overwritten" in err


# the witness in a text ------------------------------------------------------------------------------------

MARK = "// goptx witness 1 "
PLACES = (
    ("strategy",), ("entry",), ("depends",), ("named",), ("launch",), ("launch", "grid"), ("launch", "ratio"),
    ("launch", "common"), ("launch", "hidden"), ("kernels",), ("kernels", "A"), ("kernels", "A", "prefixes"),
    ("kernels", "A", "parameters"), ("kernels", "A", "symbols"), ("kernels", "A", "pooled"), ("kernels", "A", "pool"),
    ("kernels", "A", "launch"), ("kernels", "A", "launch", "block"), ("kernels", "A", "launch", "factor"),
)  # fmt: skip


@pytest.fixture(scope="module")
def beside() -> str:
    shapes = [goptx.Shape(None, 256), goptx.Shape(None, 128)]
    return goptx.fuse(Path(HARRIS), Path(LUD), strategy="interleave", shapes=shapes).text()


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_a_witness_of_other_kinds_is_not_read(beside: str, place: tuple[str, ...]) -> None:
    first, rest = beside.split("\n", 1)
    kernels = [goptx.read(Path(HARRIS)), goptx.read(Path(LUD))]
    assert prove_text(beside, kernels)
    values: tuple[object, ...] = (7, 1.5, "x", ["x", None], [[]], {"x": []}, True)
    for value in values:
        held = json.loads(first.removeprefix(MARK))
        inside = held
        for name in place[:-1]:
            inside = inside[name]
        if type(inside[place[-1]]) is type(value) is not list:
            continue
        inside[place[-1]] = value
        made = prove_text(f"{MARK}{json.dumps(held)}\n{rest}", kernels)
        assert not made and made.gaps[0].rule in ("witness", "placement", "variables"), f"{value}: {made}"


@pytest.mark.parametrize("header", ["[" * 100_000, '{"kernels":' * 50_000, "9" * 10_000, "null", "{}"])
def test_a_header_that_is_not_a_witness(beside: str, header: str) -> None:
    made = prove_text(f"{MARK}{header}\n{beside.split(chr(10), 1)[1]}", [goptx.read(Path(HARRIS))])
    assert "the text has no witness" in str(made)


def test_a_claim_of_a_very_large_line_is_not_a_claim(beside: str) -> None:
    line = next(line for line in beside.splitlines() if "st.global" in line and "// A:" in line)
    text = beside.replace(line, f"{line}{'9' * 5000}", 1)
    assert not prove_text(text, [goptx.read(Path(HARRIS)), goptx.read(Path(LUD))])


def test_copies_are_not_counted_before_they_are_there(beside: str) -> None:
    text = beside.replace('"factor": 1', '"factor": 1000000000', 1)
    made = prove_text(text, [goptx.read(Path(HARRIS)), goptx.read(Path(LUD))])
    assert "has other copies than its launch says" in str(made)
