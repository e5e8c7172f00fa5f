"""C++ and Numba kernels by the names that their programmers gave them."""

import json
import re
from pathlib import Path

import pytest
from command_line import run

import goptx
from goptx.readable_names import elided, is_called, readable, short, short_parameter

CORPUS = Path(__file__).parent / "corpus" / "ptx"
REDUCTION, MANDELBROT = CORPUS / "reduction.sm_90.nvcc.ptx", CORPUS / "mandelbrot.numba.ptx"
SUM = "_Z3sumIfLi128EEvPKT_PS0_j"
SPACED = "_ZN1a1b3addIdLb1EEEvPT_"


@pytest.mark.parametrize(
    ("name", "whole", "brief"),
    [
        (SUM, "sum<float, 128>(float const*, float*, unsigned int)", "sum<float, 128>"),
        (SPACED, "a::b::add<double, true>(double*)", "a::b::add<double, true>"),
        ("_Z9emptyv", "_Z9emptyv", "_Z9emptyv"),  # a wrong length
        ("_Z5emptyv", "empty()", "empty"),
        ("harris", "harris", "harris"),
        ("_Z", "_Z", "_Z"),
        ("_ZN", "_ZN", "_ZN"),
        ("_Z3fooIJifEEvDpT_", "_Z3fooIJifEEvDpT_", "_Z3fooIJifEEvDpT_"),  # no form in the package
        ("_ZN12_GLOBAL__N_13runEi", "(anonymous namespace)::run(int)", "(anonymous namespace)::run"),
    ],
)
def test_names_are_readable(name: str, whole: str, brief: str) -> None:
    assert (readable(name), short(name)) == (whole, brief)


def test_every_name_of_the_corpus_is_readable() -> None:
    names = {
        name
        for path in CORPUS.glob("*.ptx")
        for name in re.findall(r"\.entry\s+(_Z\w+)", path.read_text(errors="replace"))
    }
    assert len(names) > 15
    assert [name for name in names if "_Z" in readable(name) or "<Node" in readable(name)] == []
    assert all(is_called(name, readable(name)) and is_called(name, short(name)) for name in names)


@pytest.mark.parametrize(
    "wanted", ["sum<float, 128>", "sum<float,128u>", "sum", SUM, "sum<float, 128>(float const*, float*, unsigned int)"]
)
def test_what_a_kernel_may_be_called(wanted: str) -> None:
    assert is_called(SUM, wanted)


@pytest.mark.parametrize("wanted", ["sum<double, 128>", "sum<float, 12>", "su", "sum<float>", "", "float"])
def test_what_it_may_not_be_called(wanted: str) -> None:
    assert not is_called(SUM, wanted)
    assert not is_called("harris", wanted)


def test_namespaces_may_be_left_out() -> None:
    assert is_called(SPACED, "add<double, true>") and is_called(SPACED, "a::b::add") and is_called(SPACED, "add")
    assert not is_called(SPACED, "b::add")


def test_parameters_lose_the_name_of_their_kernel() -> None:
    assert short_parameter(f"{SUM}_param_0", SUM) == "param_0"
    assert short_parameter("harris_param_0", "harris") == "harris_param_0"


def test_names_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert elided("n" * 999) == "n" * 999  # no terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "50")
    assert elided("n" * 60) == "n" * 60
    assert len(elided("n" * 61)) == 60 and "…" in elided("n" * 61)
    monkeypatch.setenv("COLUMNS", "10")
    assert len(elided("n" * 61)) == 24


# Where they are used ---------------------------------------------------------------------------------------


def test_entries_are_found_by_their_cpp_names() -> None:
    woven = goptx.weave(REDUCTION, REDUCTION, entries=["sum<float, 128>", "sum<double,256>"])
    assert [k.name for k in woven.report.kernels.values()] == [SUM, "_Z3sumIdLi256EEvPKT_PS0_j"]
    assert re.search(r"^A sum<float, 128> ", str(woven.report), re.M)
    with pytest.raises(
        goptx.InputError, match=r"`sum` may be one of several entries \(`sum<float, 128>\(.*; give the types"
    ):
        goptx.weave(REDUCTION, REDUCTION, entries=["sum", None])
    with pytest.raises(goptx.InputError, match=r"no entry `add`; the module has the entries `sum<float, 128>`, `sum<"):
        goptx.weave(REDUCTION, REDUCTION, entries=["add", None])


def test_the_command_takes_them(tmp_path: Path) -> None:
    words = ("--entry", "sum<float, 128>", "--entry", "sum<double, 256>", "--arg", "A:param_2=u32:128")
    done = run("check", str(REDUCTION), str(REDUCTION), *words, cwd=tmp_path)
    assert "B:0 (param_0)" in done.stderr + done.stdout
    assert "no such parameter" not in done.stderr
    listed = run("show", str(MANDELBROT), cwd=tmp_path).stdout
    signature = "(Array<unsigned char, 2, A, mutable, aligned>, double, double, unsigned int)"
    assert f"\nnumba_kernels::mandelbrot{signature}, line " in listed
    assert re.search(r"^  parameters  param_0  +8 bytes  \.u64$", listed, re.M)
    (entry,) = json.loads(run("show", str(MANDELBROT), "--report=json", cwd=tmp_path).stdout)["entries"]
    assert entry["name"].startswith("_ZN13numba") and entry["readable"].startswith("numba_kernels::mandelbrot(")


@pytest.mark.slow
def test_specifications_take_them(tmp_path: Path) -> None:
    (tmp_path / "r.ptx").write_text(REDUCTION.read_text())
    text = run("spec", "r.ptx", "--entry", "sum<int, 512>", cwd=tmp_path).stdout
    assert 'name = "param_0"' in text
    (tmp_path / "r.toml").write_text(
        text.replace("_Z3sumIiLi512EEvPKT_PS0_j", "sum<int, 512>")
        .replace("[256]", "[512]")
        .replace("float32", "int32")
        .replace('uniform"', 'integers"')
        .replace("# length =   #", "length = 4096 #")
    )
    done = run("check", "r.ptx", "r.ptx", "--entry", "sum<int, 512>", "--entry", "sum<int, 512>", cwd=tmp_path)
    assert done.returncode == 0 and "r.toml" in done.stdout, done.stderr
