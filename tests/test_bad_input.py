"""The messages about input that cannot be used; their texts are in tests/golden/."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import run

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
GOOD = (KERNELS / "harris.sm_90.ptx").read_text()
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

DIVERGENT_BARRIER = (
    HEAD
    + """.visible .entry halves(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 16;
    @!%p1 bra after;
    bar.sync 0;
after:
    bar.sync 0;
    ret;
}
"""
)
UNDECLARED_LIST = (
    HEAD
    + """.visible .entry jump(.param .u32 n)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    brx.idx %r1, targets;
one:
    ret;
}
"""
)
BRANCH_TO_LIST = (
    HEAD
    + """.visible .entry jump(.param .u32 n)
{
    .reg .b32 %r<3>;
targets: .branchtargets one;
    ld.param.u32 %r1, [n];
    brx.idx %r1, targets;
one:
    bra targets;
}
"""
)
TWO_ENTRIES = HEAD + ".visible .entry one()\n{\n    ret;\n}\n.visible .entry two()\n{\n    ret;\n}\n"

# Name of the golden: the files there are, class, exit code, and what the message has to name.
CASES: dict[str, tuple[Mapping[str, str | bytes], str, int, tuple[str, ...]]] = {
    "missing": ({}, "InputError", 2, ("a.ptx", "give the path")),
    "empty": ({"a.ptx": ""}, "PtxSyntaxError", 2, ("a.ptx", "expected")),
    "binary": ({"a.ptx": b"\x7fELF\x02\x01\x01\x33\xff\x00\x00"}, "PtxSyntaxError", 2, ("a.ptx", "cuobjdump -ptx")),
    "zeros": ({"a.ptx": b"\x7fELF\x02\x01\x01\x00\x00\x01"}, "PtxSyntaxError", 2, ("a.ptx", "cuobjdump -ptx")),
    "cut_off": ({"a.ptx": GOOD[: GOOD.index("mul.lo.s32") + 8]}, "PtxSyntaxError", 2, ("a.ptx:60:", "cut off")),
    "cut_off_between": ({"a.ptx": GOOD[: GOOD.index("mul.lo.s32")]}, "PtxSyntaxError", 2, ("a.ptx:60:", "cut off")),
    "no_version": ({"a.ptx": GOOD.replace("9.0", "nine")}, "PtxSyntaxError", 2, ("a.ptx:9:10:", "such as 8.0")),
    "two_entries": ({"a.ptx": TWO_ENTRIES}, "InputError", 2, ("a.ptx", "`one`, `two`", "--entry")),
    "no_entry": ({"a.ptx": HEAD + ".func f()\n{\n    ret;\n}\n"}, "InputError", 2, ("a.ptx", "`.entry` with a body")),
    "address_sizes": (
        {"a.ptx": GOOD.replace(".address_size 64", ".address_size 32")},
        "CannotLink",
        2,
        ("a.ptx", "b.ptx", "32-bit", "64-bit", "compile both"),
    ),
    "special_targets": (
        {"a.ptx": GOOD.replace("sm_90", "sm_90a"), "b.ptx": GOOD.replace("sm_90", "sm_100a")},
        "CannotLink",
        2,
        ("a.ptx", "sm_90a", "sm_100a", "compile all"),
    ),
    "divergent_barrier": (
        {"a.ptx": DIVERGENT_BARRIER},
        "CannotWeave",
        1,
        ("a.ptx:10:", "`halves`", "bar.sync 0;", "line 11", "Move the barrier"),
    ),
    "undeclared_list": (
        {"a.ptx": UNDECLARED_LIST},
        "CannotWeave",
        1,
        ("a.ptx:8:", "brx.idx", "`targets`", ".branchtargets"),
    ),
    "branch_to_list": (
        {"a.ptx": BRANCH_TO_LIST},
        "CannotWeave",
        1,
        ("a.ptx:11:", "bra targets;", "list of labels"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case: str, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    given, error, code, named = CASES[case]
    files = {"b.ptx": GOOD, **given}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    done = run("weave", "a.ptx", "b.ptx", "-o", "out.ptx", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"{error}: ")
    assert all(part in done.stderr for part in named), done.stderr
    assert "\n\n" not in done.stderr.rstrip("\n")  # one paragraph
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(files)  # neither the output nor part of it
    golden(f"bad_input_{case}.txt", done.stderr)
