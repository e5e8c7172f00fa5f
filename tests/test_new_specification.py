"""`goptx spec` writes launch specifications to complete; their names and their only entries are accepted elsewhere."""

import re
import tomllib
from pathlib import Path

import pytest
from command_line import run

import goptx
from goptx.launch.specification import read_specification

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 NAME_in, .param .u64 NAME_out, .param .u32 NAME_n)
{
    .reg .pred %p1;
    .reg .b32 %r<7>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [NAME_in];
    ld.param.u64 %rd2, [NAME_out];
    ld.param.u32 %r5, [NAME_n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    st.global.u32 [%rd5], %r6;
DONE:
    ret;
}
"""
GATHER = PTX.replace(
    "st.global", "mul.wide.u32 %rd6, %r6, 4; add.s64 %rd4, %rd1, %rd6; ld.global.u32 %r6, [%rd4]; st.global"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "copy.ptx").write_text(PTX.replace("NAME", "copy"))
    (tmp_path / "gather.ptx").write_text(GATHER.replace("NAME", "gather"))
    (tmp_path / "two.ptx").write_text(PTX.replace("NAME", "one") + PTX.replace("NAME", "two")[PTX.index(".visible") :])
    return tmp_path


def test_a_plain_kernel_needs_nothing_more(folder: Path) -> None:
    done = run("spec", "copy.ptx", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "copy.toml").write_text(done.stdout)
    (launch,) = read_specification(folder / "copy.toml")
    assert (launch.file, launch.entry, launch.grid, launch.block) == (folder / "copy.ptx", "copy", (4,), (256,))
    assert [(a.name, a.dtype, a.length, a.value) for a in launch.arguments] == [
        ("copy_in", "uint32", 1024, None), ("copy_out", "uint32", 1024, None), ("copy_n", "uint32", 0, 1000),
    ]  # fmt: skip
    checked = run("check", "copy.ptx", "copy.ptx", cwd=folder)
    assert checked.returncode == 0 and "copy.toml" in checked.stdout and "made up" not in checked.stdout


def test_what_is_left_is_named_and_can_be_filled_in(folder: Path) -> None:
    assert run("spec", "gather.ptx", "-o", "gather.toml", cwd=folder).returncode == 0
    done = run("check", "copy.ptx", "gather.ptx", cwd=folder)
    assert done.returncode == 2
    assert (
        "gather.toml: give `dtype` and either `value` (a scalar) or `length` (an array) of `gather_in`." in done.stderr
    )
    text = (folder / "gather.toml").read_text()
    filled = text.replace("# length =   #", "length = 4096 #", 1).replace('"float32"', '"uint32"', 1)
    filled = filled.replace('"uniform"', '"integers"', 1).replace("[0, 1]", "[0, 4096]", 1)
    (folder / "gather.toml").write_text(filled)
    assert run("check", "copy.ptx", "gather.ptx", cwd=folder).returncode == 0


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.sm_90.ptx")), ids=lambda p: p.name.partition(".")[0])
def test_every_example_gets_a_specification(path: Path, tmp_path: Path) -> None:
    there = tmp_path / "x.toml"
    assert run("spec", str(path), "-o", str(there), cwd=tmp_path).returncode == 0
    (table,) = tomllib.loads(there.read_text())["kernel"]
    (entry,) = goptx.read(path).entries
    assert (tmp_path / table["file"]).resolve() == path.resolve()
    assert [a["name"] for a in table["argument"]] == [p.name for p in entry.parameters]


def test_several_entries_and_files(folder: Path) -> None:
    done = run("spec", "two.ptx", "copy.ptx", cwd=folder)
    (folder / "all.toml").write_text(done.stdout)
    assert [launch.entry for launch in read_specification(folder / "all.toml")] == ["one", "two", "copy"]
    assert done.stdout.count("[[check]]") == 3
    one = run("spec", "two.ptx", "--entry", "two", cwd=folder).stdout
    assert [k["entry"] for k in tomllib.loads(one)["kernel"]] == ["two"]
    none = run("spec", "two.ptx", "--entry", "three", cwd=folder)
    assert "no entry `three`; the module has the entries `one`, `two`" in none.stderr
    (folder / "none.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n")
    assert "none.ptx: no entry to describe; give PTX" in run("spec", "none.ptx", cwd=folder).stderr


def test_a_structure_cannot_be_described(folder: Path) -> None:
    text = (folder / "copy.ptx").read_text().replace(".param .u32 copy_n", ".param .u32 copy_n, .param .b8 s[12]")
    (folder / "copy.ptx").write_text(text)
    done = run("spec", "copy.ptx", cwd=folder)
    assert "parameter A:3 (s) has 12 bytes, a structure that a launch specification cannot describe" in done.stderr


def test_an_output_that_is_an_input(folder: Path) -> None:
    assert "an input, which would be overwritten" in run("spec", "copy.ptx", "-o", "copy.ptx", cwd=folder).stderr


# Arguments -------------------------------------------------------------------------------------------------


def test_all_missing_arguments_are_named_at_once(folder: Path) -> None:
    done = run("check", "gather.ptx", "gather.ptx", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("InputError: no data can be made up for 2 parameters; give all of them, for example ")
    assert "`goptx spec gather.ptx -o gather.toml`" in done.stderr
    given = re.findall(r"--arg [AB]:0=\S+\]", done.stderr)
    assert run("check", "gather.ptx", "gather.ptx", *" ".join(given).split(), cwd=folder).returncode == 0


def test_a_buffer_in_common_is_asked_for_once(folder: Path) -> None:
    done = run("check", "gather.ptx", "gather.ptx", "--same", "A:0=B:0", cwd=folder)
    assert "A:0 (gather_in) is not indexed by" in done.stderr
    assert "B:0" not in done.stderr


def specified(folder: Path, **names: str) -> None:
    text = run("spec", "copy.ptx", cwd=folder).stdout
    for own, name in names.items():
        text = text.replace(f'"copy_{own}"', f'"{name}"')
    (folder / "copy.toml").write_text(text)


def test_names_of_the_specification_are_accepted(folder: Path) -> None:
    specified(folder, n="count")
    done = run("check", "copy.ptx", "copy.ptx", "--arg", "A:count=u32:7", "--arg", "B:copy_n=u32:8", cwd=folder)
    assert done.returncode == 0
    assert re.findall(r"uint32 (\d)  +given", done.stdout) == ["7", "8"]
    wrong = run("check", "copy.ptx", "copy.ptx", "--arg", "A:m=u32:7", cwd=folder)
    assert "it has 0 (copy_in, copy_in), 1 (copy_out, copy_out), 2 (copy_n, count)" in wrong.stderr


def test_a_name_of_two_parameters_is_refused(folder: Path) -> None:
    specified(folder, n="copy_in", **{"in": "copy_n"})
    done = run("check", "copy.ptx", "copy.ptx", "--arg", "A:copy_n=u32:7", cwd=folder)
    assert "the PTX and the launch specification give that name to different parameters, numbers 0 and 2" in done.stderr


def test_the_entry_may_be_left_out_where_there_is_one(folder: Path) -> None:
    specified(folder)
    text = re.sub("entry = .*\n", "", (folder / "copy.toml").read_text())
    (folder / "copy.toml").write_text(text)
    assert [launch.entry for launch in read_specification(folder / "copy.toml")] == ["copy"]
    assert "copy.toml" in run("check", "copy.ptx", "copy.ptx", cwd=folder).stdout
    (folder / "copy.toml").write_text(text.replace("copy.ptx", "two.ptx"))
    with pytest.raises(
        goptx.InputError, match=r"a \[\[kernel\]\] lacks `entry`, and .*two.ptx has `one`, `two`; name one"
    ):
        read_specification(folder / "copy.toml")
    (folder / "copy.toml").write_text(text.replace("copy.ptx", "none.ptx"))
    with pytest.raises(
        goptx.InputError, match=r"cannot be read \(.*\); give the path of a PTX file\. Or name its entry with `entry`\."
    ):
        read_specification(folder / "copy.toml")
