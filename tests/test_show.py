"""`goptx show`: its outputs are in tests/golden/."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import command_line
import pytest

Golden = Callable[[str, str], None]
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
TWO = (
    HEAD
    + """
.extern .shared .align 16 .b8 pool[];
.shared .align 4 .b8 unused[8];
.shared .align 8 .b64 gate;
.const .align 4 .f32 weights[4] = {1.0, 2.0, 3.0, 4.0};
.global .u64 table[1] = {leaf};
.func (.param .b32 r) leaf(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [x];
    st.shared.b32 [pool], %r1;
    ret;
}
.visible .entry first(.param .u64 .ptr .global .align 16 out, .param .align 8 .b8 pair[16], .param .u32 n)
.maxntid 128, 1, 1
.minnctapersm 2
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>, %x;
    .shared .align 4 .b8 tile[512];
    .local .align 8 .b8 stack[24];
    ld.param.u32 %r1, [n];
    ld.const.f32 %r2, [weights];
    mov.u64 %rd1, table;
    bar.sync 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    mbarrier.init.shared.b64 [gate], %r1;
LOOP:
    {
        .reg .b32 %r<2>;
        mov.u32 %r1, %tid.x;
    }
    brx.idx %r1, TARGETS;
TARGETS: .branchtargets LOOP, NEXT, DONE;
NEXT:
    bar.sync 0;
    @!%p2 bra LOOP;
DONE:
    barrier.cluster.arrive;
    ret;
}
.entry second
{
    ret;
}
"""
)
NO_LIST = HEAD + ".entry jump(.param .u32 n)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [n];\nbrx.idx %r1, targets;\n}\n"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., CompletedProcess[str]]:
    (tmp_path / "two.ptx").write_text(TWO)
    (tmp_path / "no_list.ptx").write_text(NO_LIST)
    (tmp_path / "none.ptx").write_text(HEAD)

    return partial(command_line.run, "show", cwd=tmp_path)


Run = Callable[..., CompletedProcess[str]]


def test_listing(run: Run, golden: Golden) -> None:
    done = run("two.ptx")
    assert (done.returncode, done.stderr) == (0, "")
    golden("show_two.txt", done.stdout)


def test_graph(run: Run, golden: Golden) -> None:
    done = run("two.ptx", "--cfg", "dot")
    assert (done.returncode, done.stderr) == (0, "")
    golden("show_two.dot", done.stdout)


def test_picture(run: Run) -> None:
    done = run("two.ptx", "--cfg", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    drawn = [element.text or "" for element in ElementTree.fromstring(done.stdout).iter() if element.text]
    for text in ("Control flow of two.ptx", "first", "second", "NEXT", "bar.sync 0;", "LOOP to NEXT case"):
        assert any(text in found for found in drawn), text
    alone = run("two.ptx", "--cfg=svg", "--entry", "second").stdout
    assert "second" in alone and "NEXT" not in alone
    refused = run("no_list.ptx", "--cfg", "svg")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("CannotWeave: no_list.ptx:8: ")


def test_one_entry(run: Run) -> None:
    whole = run("two.ptx").stdout
    head, first, second = re.split(r"\n\n(?=\w)", whole)
    assert run("two.ptx", "--entry", "first").stdout == f"{head}\n\n{first}\n"
    assert run("two.ptx", "--entry", "second").stdout == f"{head}\n\n{second}"
    both = run("two.ptx", "--cfg=dot").stdout
    assert both == "".join(run("two.ptx", "--cfg=dot", "--entry", name).stdout for name in ("first", "second"))


def test_standard_input(run: Run) -> None:
    assert run("-", stdin=TWO.encode()).stdout == run("two.ptx").stdout.replace("two.ptx", "<ptx>", 1)


def test_module_without_entries(run: Run) -> None:
    assert run("none.ptx").stdout == "none.ptx: PTX 8.0 for sm_90, 64-bit addresses\n\nno entry\n"


def test_unknown_flow(run: Run) -> None:
    listed = run("no_list.ptx")
    assert listed.returncode == 0
    assert "flow        unknown: no_list.ptx:8: `brx.idx %r1, targets;`" in listed.stdout
    drawn = run("no_list.ptx", "--cfg", "dot")
    assert (drawn.returncode, drawn.stdout) == (1, "")
    assert drawn.stderr.startswith("CannotWeave: no_list.ptx:8: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.ptx"], "InputError: missing.ptx: cannot be read"),
        (
            ["two.ptx", "--entry", "third"],
            "InputError: two.ptx:17: no entry `third`; the module has the entries `first`, ",
        ),
        (["two.ptx", "--cfg", "png"], "InputError: argument --cfg: invalid choice: 'png'"),
        ([], "InputError: the following arguments are required: FILE"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, run: Run) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
