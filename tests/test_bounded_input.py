"""Input that would cost too much, or that makes no sense, is refused with file, line and remedy, or works; in bounded
time and memory. Each case runs in a process of its own."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run

import goptx
from goptx.cli.depfile import rule
from goptx.errors import CannotLink, GoptxError, InputError, PtxSyntaxError
from goptx.options import Strategy
from goptx.ptx.parse import parse
from goptx.strategies.fuse import STRATEGIES

HERE = Path(__file__).parent
KERNELS = HERE.parent / "examples" / "kernels"
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent)}
BASE = 200  # MiB, beside a hundred times the input


def kernel(body: str, before: str = "", directives: str = "") -> str:
    return f"{HEAD}{before}.visible .entry k(.param .u64 p)\n{directives}{{\n{body}\nret;\n}}\n"


def cost(what: str, text: str) -> tuple[str, float, float]:
    """What came of it, seconds of processor time, MiB."""
    child = [sys.executable, str(HERE / "bounded_child.py"), what]
    done = subprocess.run(child, input=text, capture_output=True, text=True, check=False, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    found, _, numbers = done.stdout.rstrip("\n").rpartition("\n")
    seconds, memory = map(float, numbers.split())
    return found, seconds, memory


def within(what: str, text: str, seconds: float) -> str:
    """What came of it, within this time, and a hundred times the input and `BASE` of memory."""
    found, took, memory = cost(what, text)
    assert took < seconds
    assert memory < BASE + 100 * len(text) / (1 << 20)
    return found


def calls(times: int, depth: int) -> str:
    """Functions of which each calls the one before several times, with a barrier in the first."""
    functions = ".func f0()\n{\nbar.sync 0;\nret;\n}\n"
    functions += "".join(f".func f{i}()\n{{\n{f'call f{i - 1}, ();' * times}\nret;\n}}\n" for i in range(1, depth))
    return kernel(f"call f{depth - 1}, ();", functions)


LOADED = """.reg .pred %p<3>;
.reg .b32 %r<5>;
.reg .b64 %d<4>;
ld.param.u64 %d1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d1, %d2;
ld.global.u32 %r2, [%d3];
mov.u32 %r4, 0;
"""


def divergent(number: int) -> str:
    """Ifs in a row that loaded data decide."""
    return "".join(
        f"and.b32 %r3, %r2, {i + 1};\nsetp.eq.s32 %p1, %r3, 0;\n@%p1 bra L{i};\nadd.s32 %r2, %r2, {i};\n"
        f"st.global.u32 [%d3], %r2;\nL{i}:\n"
        for i in range(number)
    )


def ifs(number: int) -> str:
    return kernel(LOADED + divergent(number))


def ifs_in_a_loop(number: int) -> str:
    ends = "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 10;\n@%p2 bra LOOP;"
    return kernel(f"{LOADED}LOOP:\n{divergent(number)}{ends}")


def nested_ifs(number: int) -> str:
    tests = "".join(
        f"and.b32 %r3, %r2, {i + 1};\nsetp.eq.s32 %p1, %r3, 0;\n@%p1 bra L{i};\nst.global.u32 [%d3], %r2;\n"
        for i in range(number)
    )
    return kernel(LOADED + tests + "".join(f"L{i}:\nadd.s32 %r2, %r2, 1;\n" for i in reversed(range(number))))


def early_ends(number: int) -> str:
    """Ends in a row that loaded data decides."""
    tests = "".join(
        f"and.b32 %r3, %r2, {i + 1};\nsetp.eq.s32 %p1, %r3, 0;\n@%p1 {'ret' if i % 2 else 'bra END'};\n"
        f"add.s32 %r2, %r2, {i};\nst.global.u32 [%d3], %r2;\n"
        for i in range(number)
    )
    return kernel(f"{LOADED}{tests}END:")


def loops(number: int) -> str:
    """Loops in a row that lanes leave one by one."""
    each = (
        "mov.u32 %r4, 0;\nL{0}:\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%d3], %r4;\n"
        "setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra L{0};\n"
    )
    return kernel(LOADED + "".join(map(each.format, range(number))))


def loops_in_a_loop(number: int) -> str:
    ends = "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 10;\n@%p2 bra LOOP;"
    return kernel(f"{LOADED}mov.u32 %r3, 0;\nLOOP:\n{loops(number).partition(LOADED)[2].partition('ret;')[0]}{ends}")


def voted_sides(number: int) -> str:
    """Sides in a row with a loop on them, so that warps go there if any of their lanes does."""
    each = (
        "and.b32 %r3, %r2, {0} + 1;\nsetp.eq.s32 %p1, %r3, 0;\n@%p1 bra S{0};\nmov.u32 %r4, 0;\nL{0}:\n"
        "add.u32 %r4, %r4, 1;\nst.global.u32 [%d3], %r4;\nsetp.lt.u32 %p2, %r4, %r1;\n@%p2 bra L{0};\nS{0}:\n"
    )
    return kernel(LOADED + "".join(map(each.format, range(number))))


def long_sides(number: int) -> str:
    """Sides in a row that are too long for predicates."""
    sides = ["".join(f"{op} %r2, %r2, %r{3 + i % 2};\n" for i in range(24)) for op in ("add.u32", "mul.lo.u32")]
    return kernel(
        LOADED
        + "".join(
            f"setp.lt.u32 %p1, %r1, {i + 1};\n@%p1 bra S{i};\n{sides[0]}bar.warp.sync -1;\nbra E{i};\nS{i}:\n{sides[1]}"
            f"E{i}:\nst.global.u32 [%d3], %r2;\n"
            for i in range(number)
        )
    )


def adds(number: int) -> str:
    return kernel(".reg .b32 %r<4>;\nmov.u32 %r1, 1;\n" + "add.s32 %r1, %r1, %r1; " * number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (kernel("", directives=".reqntid 0\n"), "<ptx>:5:10: `.reqntid` of 0; give a number from 1 to"),
        (kernel("", directives=".maxntid 32, 0\n"), "`.maxntid` of 0; give a number from 1 to"),
        (kernel("", directives=".reqntid 99999999999999999999\n"), "`.reqntid` of 99999999999999999999; give"),
        (kernel("", directives=".reqntid 1, 1, 1, 1\n"), "<ptx>:5:1: `.reqntid` with 4 numbers; give one to 3 numbers"),
        (kernel("", directives=".maxnreg 4, 4\n"), "`.maxnreg` with 2 numbers; give one number"),
        (kernel("", directives='.maxntid "many"\n'), '`.maxntid` of "many"; give numbers'),
        (kernel("L:\nL:"), "<ptx>:7: `L` is declared in line 6 already; give it another name."),
        (kernel(".reg .b32 %x;\n.reg .b64 %x;"), "<ptx>:7: `%x` is declared in line 6 already"),
        (kernel(".reg .b32 %x<3>;\n.reg .b64 %x<4>;"), "<ptx>:7: `%x<...>` is declared in line 6 already"),
        (kernel(".reg .b32 %x1;\n.reg .b64 %x<4>;"), "<ptx>:7: `%x1` is declared in line 6 already"),
        (kernel(".reg .b32 p;"), "<ptx>:6: `p` is declared in line 4 already"),
        (kernel("").replace(".u64 p", ".u64 p, .param .u64 p"), "<ptx>:4: `p` is declared in line 4 already"),
        (kernel("", ".global .u32 g;\n.global .u32 g;\n"), "<ptx>:5: `g` is declared in line 4 already"),
        (kernel("") + kernel("").replace(HEAD, ""), "`k` is declared in line 4 already"),
        (
            kernel("", ".func f() { ret; }\n.alias f, g;\n"),
            "<ptx>:5: `.alias f, g;` names `g`, which is not a function",
        ),
        (
            kernel("add" + ".wide" * 200_000 + " %r1, %r1, %r1;"),
            "an opcode of 1000003 characters; PTX has none of more",
        ),
        (kernel("add" + " .wide" * 200_000 + " %r1, %r1, %r1;"), "an opcode of 1000003 characters"),
    ],
)
def test_what_ptx_does_not_have_is_refused_where_it_stands(text: str, expected: str) -> None:
    found = within("read", text, 10)
    assert found.startswith("PtxSyntaxError: ")
    assert expected in found


def test_what_may_be_declared_again() -> None:
    extern = ".extern .global .u32 g;\n"
    again = f"{extern}{extern}.visible .global .u32 g;\n.func f();\n.func f();\n.func f() {{ ret; }}\n"
    parse(kernel("{ .reg .b32 p; L: }\n{ L: }\n.reg .b32 k, g;\n.reg .b32 %r1<3>, %r<30>;", again))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["weave", "emulate"])
@pytest.mark.parametrize(
    "spelling", ["%r<2000000000>", ", ".join(f"%a{'b' * i}<65000>" for i in range(300)) + ", %r<2>"]
)
def test_registers_that_nobody_uses_cost_nothing(what: str, spelling: str) -> None:
    assert within(what, kernel(f".reg .b32 {spelling};\nmov.u32 %r1, %tid.x;"), 10) == "done"


@pytest.mark.slow
@pytest.mark.parametrize(("times", "depth"), [(1, 3000), (2, 26), (2, 200)])
def test_calls_that_would_be_inlined_without_end(times: int, depth: int) -> None:
    found = within("weave", calls(times, depth), 20)
    assert found.startswith("CannotLink: <ptx>:")
    assert f"threads wait in `f{depth - 1}` or in what it calls" in found
    assert found.endswith("[size-limits]")


def test_how_many_instructions_may_be_inlined() -> None:
    text = calls(2, 3)  # four calls of f0
    with pytest.raises(CannotLink) as refused:
        goptx.weave(text, text, max_inlined=12)
    assert "which makes more than the 12 instructions that max_inlined= allows; " in str(refused.value)
    assert "raise max_inlined=, " in str(refused.value)
    assert goptx.weave(text, text, max_inlined=60).ptx.count("bar.sync") == 4
    goptx.weave(text, text)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_takes_the_limit_and_hands_it_on(strategy: Strategy) -> None:
    text, shapes = calls(2, 3), [goptx.Shape(1, 32)] * 2
    coarse = goptx.coarsen(text, max_inlined=60) if strategy == "separate" else text  # which fuses nothing else
    with pytest.raises(CannotLink, match="the 12 instructions that max_inlined= allows"):
        goptx.fuse(coarse, text, strategy=strategy, shapes=shapes, max_inlined=12)
    fused = goptx.fuse(coarse, text, strategy=strategy, shapes=shapes, max_inlined=60)
    assert all(kernel.max_inlined == 60 for kernel in fused.chosen)


@pytest.mark.parametrize("stated", ["many", -1, 0, 1e6, True])
def test_a_limit_that_is_no_number(stated: int) -> None:
    with pytest.raises(InputError, match=r"max_inlined `.*` is not a number of instructions; give .* such as 200000, "):
        goptx.weave(calls(1, 3), calls(1, 3), max_inlined=stated)


@pytest.mark.slow
def test_calls_that_are_inlined() -> None:
    assert within("weave", calls(1, 60), 20) == "done"


@pytest.mark.slow
@pytest.mark.parametrize("make", [ifs, ifs_in_a_loop, nested_ifs, early_ends])
def test_time_grows_with_the_number_of_divergent_branches(make: Callable[[int], str]) -> None:
    found, less, _ = cost("weave", make(100))  # calls are counted by weaving/test_operations.py
    assert found == "done"
    assert within("weave", make(400), 3 + 10 * less) == "done"  # 4 times n log n would be 5 times


@pytest.mark.slow
@pytest.mark.parametrize("make", [loops, loops_in_a_loop, voted_sides, long_sides])
def test_time_grows_with_the_number_of_divergent_loops_and_regions(make: Callable[[int], str]) -> None:
    found, less, _ = cost("weave", make(40))
    assert found == "done"
    assert within("weave", make(160), 2 + 8 * less) == "done"  # quadratic time would be 16 times


@pytest.mark.slow
def test_time_and_memory_of_straight_code() -> None:
    found, less, _ = cost("weave", adds(2_500))
    assert found == "done"
    assert within("weave", adds(10_000), 2 + 8 * less) == "done"


@pytest.mark.slow
def test_a_long_constant_expression() -> None:
    assert within("weave", kernel(".reg .b32 %r<4>;\nmov.u32 %r1, 1" + "+1" * 400_000 + ";"), 60) == "done"


GOOD: dict[str, Any] = {
    "format": 1,
    "way": {"strategy": "weave", "factors": [1, 1], "cap": None, "options": {}},
    "arch": None,
    "shapes": [{"grid": [1], "block": [32]}, {"grid": [1], "block": [32]}],
    "tunable": [True, True],
    "kernels": [{"entry": "k", "digest": "d", "ptx": kernel("")}] * 2,
}
WAY = GOOD["way"]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"way": 7}, "`way`: is a int, not a table"),
        ({"way": {}}, "`strategy`"),
        ({"way": WAY | {"strategy": ["weave"]}}, "`strategy`"),
        ({"way": WAY | {"factors": "11"}}, "`factors`"),
        ({"way": WAY | {"factors": [1]}}, "`way.factors`"),
        ({"way": WAY | {"factors": [1, 0]}}, "`factors`"),
        ({"way": WAY | {"cap": "many"}}, "`cap`"),
        ({"way": WAY | {"options": []}}, "`options`"),
        ({"way": WAY | {"options": {"wings": 2}}}, "`wings`"),
        ({"arch": 90}, "`arch`"),
        ({"shapes": None}, "`shapes`"),
        ({"shapes": [{"grid": 1}, 5]}, "`shapes`, item 1"),
        ({"shapes": [{"grid": "x", "block": 1}] * 2}, "`shapes`, item 0"),
        ({"shapes": [{"grid": 1, "block": 1, "size": 3}] * 2}, "`shapes`, item 0"),
        ({"tunable": [1, 2]}, "`tunable`"),
        ({"kernels": {}}, "`kernels`"),
        ({"kernels": [{"entry": 1}] * 2}, "`kernels`, item 0: `entry`"),
        ({"kernels": [GOOD["kernels"][0] | {"native": {"cubin": 1}}] * 2}, "`native`"),
    ],
)
def test_a_malformed_result_of_tuning(changed: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    path.write_text(json.dumps(GOOD | changed))
    with pytest.raises(InputError) as caught:
        goptx.replay(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert named in str(caught.value)
    assert str(caught.value).endswith("; write the file with `goptx tune -o`.")


@pytest.mark.parametrize("content", ["[" * 100_000, "{}", "[]", "null", "\x00", "{" + '"a":{' * 50_000])
def test_a_result_of_tuning_that_is_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"best\.json: not "):
        goptx.replay(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", ["[" * 1_000_000, "{" + '"a":{' * 200_000, '{"format": 1, "way": "' + "w" * 1_000_000]
)
def test_time_and_memory_of_a_malformed_result_of_tuning(content: str) -> None:
    assert "best.json: not JSON" in within("replay", content, 2)


def test_contents_of_files_that_are_not_ptx_are_not_quoted(tmp_path: Path) -> None:
    secret = tmp_path / "passwords"
    secret.write_text("root:hunter2:0:0\n")
    path = tmp_path / "best.json"
    path.write_text(json.dumps(GOOD | {"kernels": [{"entry": "k", "digest": "d", "file": "passwords"}] * 2}))
    with pytest.raises(PtxSyntaxError) as caught:
        goptx.replay(path)
    assert "expected `.version` before anything else; give a file of PTX" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_device_that_is_full(tmp_path: Path) -> None:
    source = str(KERNELS / "harris.sm_90.ptx")
    done = run("weave", source, source, "-o", "/dev/full", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "/dev/full: cannot be written (No space left on device)" in done.stderr
    child = [sys.executable, "-m", "goptx", "fmt", source]
    with Path("/dev/full").open("w") as full:
        printed = subprocess.run(
            child, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60, env=ENVIRONMENT
        )
    assert (printed.returncode, "Traceback" in printed.stderr) == (2, False)
    assert "standard output cannot be written" in printed.stderr


def _bounded() -> None:
    """So much of address space, beside what the interpreter and its libraries take."""
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
@pytest.mark.parametrize("name", ["/dev/zero", "-"])
def test_a_file_without_end(name: str, tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        child = [sys.executable, "-m", "goptx", "fmt", name]
        done = subprocess.run(
            child, stdin=zeros, capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT,
            preexec_fn=_bounded,
        )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    of_file = "has more than 64 MiB; give the path of a PTX file."
    assert ("standard input: has more than 64 MiB; give PTX." if name == "-" else of_file) in done.stderr


def test_a_path_with_a_line_break() -> None:
    with pytest.raises(GoptxError, match="a path with a line break; rename it"):
        rule("out.ptx", [Path("a\nb.ptx")])
