"""The command line in builds: files beside the kernel, the same bytes every time, nothing half-written."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from strategies.dependent_kernels import elementwise

import goptx
from goptx.cli.depfile import rule
from goptx.options import Strategy
from goptx.view.c_header import c_header

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
KNOWN = goptx.Shape((3, 2), (16, 16), 40)
UNKNOWN = goptx.Shape(None, None, None)
needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("harris", "lud"):
        shutil.copy(kernel(name), tmp_path / f"{name}.ptx")
        shutil.copy(KERNELS / f"{name}.toml", tmp_path)
    return tmp_path


def prerequisites(path: Path) -> list[str]:
    target, _, others = path.read_text().replace("\\\n", "").partition(":")
    assert target == "out.ptx"
    return others.split()


# What was read ----------------------------------------------------------------------------------------


def test_depfile_names_what_was_read(folder: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "latency_tables" / "sm_80.toml", folder / "own.toml")
    done = run(
        "weave", "lud.ptx", "harris.ptx", "-o", "out.ptx", "--depfile", "out.d", "--latency", "own.toml", cwd=folder
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "out.d").read_text() == "out.ptx: \\\n  harris.ptx \\\n  lud.ptx \\\n  own.toml\n"


@pytest.mark.parametrize("megabytes", ["0", "1"])
def test_depfile_names_specifications_that_were_read(
    megabytes: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPTX_CACHE_SIZE", megabytes)
    monkeypatch.setenv("GOPTX_CACHE_DIR", str(folder / "cache"))
    made = ("fuse", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--depfile", "out.d")
    shapes = ("--shape", "A=4:256", "--shape", "B=4:256")
    for _ in range(2):  # made, and found in the cache
        for options in (shapes, (*shapes, "--strategy", "auto"), (*shapes, "--strategy", "horizontal"), ()):
            done = run(*made, *options, cwd=folder)
            assert done.returncode == 0, done.stderr
            read = ["harris.ptx", "harris.toml", "lud.ptx", "lud.toml"] if options else ["harris.ptx", "lud.ptx"]
            assert prerequisites(folder / "out.d") == read


def test_depfile_of_one_kernel_and_of_standard_input(folder: Path) -> None:
    for command in (("coarsen",), ("batch", "--over", "A:1")):
        done = run(*command, "lud.ptx", "-o", "out.ptx", "--depfile", "out.d", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert prerequisites(folder / "out.d") == ["lud.ptx"]
    text = (folder / "harris.ptx").read_bytes()
    assert run("weave", "-", "lud.ptx", "-o", "out.ptx", "--depfile", "out.d", cwd=folder, stdin=text).returncode == 0
    assert prerequisites(folder / "out.d") == ["lud.ptx"]


def test_depfile_escapes_what_make_takes_for_its_own(tmp_path: Path) -> None:
    assert rule("a b.ptx", [Path("c#d.ptx"), Path("e$f.ptx")]) == "a\\ b.ptx: \\\n  c\\#d.ptx \\\n  e$$f.ptx\n"
    if os.name == "posix":
        assert rule("o", [Path("g\\ h"), Path("g\\i")]) == "o: \\\n  g\\\\\\ h \\\n  g\\i\n"


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_make_understands_it(folder: Path) -> None:
    (folder / "lud.ptx").rename(folder / "a b#c$d.ptx")
    made = ("weave", "harris.ptx", "a b#c$d.ptx", "-o", "out.ptx", "--depfile", "out.d")
    assert run(*made, cwd=folder).returncode == 0
    (folder / "Makefile").write_text("out.ptx:\n\t@printf '%s\\n' '$?'\ninclude out.d\n")

    def make() -> str:
        return subprocess.run(["make", "-s"], cwd=folder, capture_output=True, text=True, check=True).stdout

    assert make() == ""
    os.utime(folder / "out.ptx", (1, 1))
    assert make() == "a b#c$d.ptx harris.ptx\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depfile", "out.d"], "--depfile lists the dependencies of a file; name that file with -o"),
        (["-o", "-", "--depfile", "out.d"], "--depfile lists the dependencies of a file; name that file with -o"),
        (["-o", "out.ptx", "--header", "out.ptx"], "out.ptx: two outputs cannot be one file"),
        (["-o", "out.ptx", "--html", "./out.ptx"], "out.ptx: two outputs cannot be one file"),
        (["--html", "-"], "-: two outputs cannot be one file"),
        (["-o", "lud.ptx"], "lud.ptx: an input, which would be overwritten; give another file"),
        (["-o", "out.ptx", "--html", "./harris.ptx"], "./harris.ptx: an input, which would be overwritten"),
        (["-o", "out.txt"], "-o out.txt: `.txt` is not a kind of output; give .ptx or .cubin"),
        (["--max-registers", "0"], "argument --max-registers: `0` is not a register cap; give 1 to 255"),
        (["--max-registers", "many"], "argument --max-registers: `many` is not a register cap; give 1 to 255"),
    ],
)
def test_outputs_that_make_no_sense(options: Sequence[str], message: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    for command in ("weave", "fuse"):
        done = run(command, "harris.ptx", "lud.ptx", *options, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"InputError: {message}")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("wrong", [["-o", "none/out.ptx"], ["-o", "out.ptx", "--html", "none/p.html"], ["-o", "."]])
def test_no_output_where_one_cannot_be_written(wrong: Sequence[str], folder: Path) -> None:
    before = sorted(folder.iterdir())
    done = run("weave", "harris.ptx", "lud.ptx", "--header", "out.h", *wrong, cwd=folder)
    assert done.returncode == 2 and f"{wrong[-1]}: cannot be written" in done.stderr
    assert sorted(folder.iterdir()) == before


def test_tuning_spares_its_inputs(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run("tune", "harris.ptx", "lud.ptx", "-o", "best.json", "--html", "lud.ptx", cwd=folder)
    assert done.returncode == 2 and "lud.ptx: an input, which would be overwritten" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_written_where_something_goes_wrong(folder: Path) -> None:
    (folder / "lud.ptx").write_text("no PTX")
    before = sorted(folder.iterdir())
    outputs = ("-o", "out.ptx", "--depfile", "out.d", "--header", "out.h")
    assert run("weave", "harris.ptx", "lud.ptx", *outputs, cwd=folder).returncode == 2
    assert sorted(folder.iterdir()) == before


# Registers, and the same bytes every time -------------------------------------------------------------


def test_cap_of_registers_is_in_the_ptx(folder: Path) -> None:
    assert run("weave", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--max-registers", "40", cwd=folder).returncode == 0
    (entry,) = goptx.read(folder / "out.ptx").entries
    assert [d.values for d in entry.directives if d.name == ".maxnreg"] == [("40",)]
    plain = goptx.weave(kernel("harris"), kernel("lud"))
    assert (folder / "out.ptx").read_text() == plain.capped(40).text()


def test_cap_of_registers_holds_for_machine_code(folder: Path) -> None:
    made = ("fuse", "harris.ptx", "lud.ptx", "-o", "out.cubin", "--arch", "sm_90")
    plain = goptx.fuse(kernel("harris"), kernel("lud"), arch="sm_90")
    assert plain.resources(24).registers <= 24 < plain.resources().registers
    assert run(*made, "--max-registers", "24", cwd=folder).stderr == ""
    assert (folder / "out.cubin").read_bytes() == plain.cubin(24)
    done = run(*made, "--max-registers", "16", cwd=folder)  # ptxas has a least cap of its own
    assert re.match(r"warning: `harris_lud_woven` has 24 registers although the cap is 16", done.stderr)


def test_a_capped_kernel_is_another_of_the_same_kernels() -> None:
    woven = goptx.weave(kernel("harris"), kernel("lud"))
    capped = woven.capped(40)
    assert (capped.max_registers, woven.max_registers, capped.params) == (40, None, woven.params)
    assert capped.chosen == woven.chosen and "\n.maxnreg 40" in capped.ptx


@pytest.mark.slow
def test_bytes_do_not_depend_on_hashes_or_on_the_folder(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    outputs = ("out.ptx", "out.d", "out.h")
    made = []
    for seed, cwd in (("1", folder), ("2", folder), ("3", other)):
        shutil.copy(kernel("harris"), cwd / "harris.ptx")
        shutil.copy(kernel("lud"), cwd / "lud.ptx")
        words = ["weave", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--depfile", "out.d", "--header", "out.h"]
        subprocess.run(
            [sys.executable, "-m", "goptx", *words],
            cwd=cwd,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
            check=True,
            timeout=60,
        )
        made.append([(cwd / name).read_bytes() for name in outputs])
    assert made[0] == made[1] == made[2]


@pytest.mark.slow
def test_processes_that_write_one_file_at_once_leave_it_whole(folder: Path) -> None:
    words = ["weave", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--depfile", "out.d", "--header", "out.h"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "GOPTX_CACHE_SIZE": "1",
        "GOPTX_CACHE_DIR": str(folder / "cache"),
    }
    started = [subprocess.Popen([sys.executable, "-m", "goptx", *words], cwd=folder, env=environment) for _ in range(4)]
    assert [one.wait(60) for one in started] == [0] * 4
    assert (folder / "out.ptx").read_text() == goptx.weave(kernel("harris"), kernel("lud")).text()
    assert {p.name for p in folder.iterdir() if p.name.startswith(".")} == set()


# The header -------------------------------------------------------------------------------------------


def defined(text: str) -> dict[str, str]:
    return dict(re.findall(r"^#define GOPTX_(\w+) (.+)$", text, re.MULTILINE))


def test_header_describes_the_launch() -> None:
    woven = goptx.weave(kernel("harris"), kernel("lud"), name="both", shapes=[goptx.Shape(8, 256), KNOWN])
    text = c_header(woven)
    constants = defined(text)
    assert constants.pop("BOTH_NAME") == '"both"'
    assert constants.pop("BOTH_ARGUMENTS") == "8"
    assert woven.shape
    sizes = dict(zip(("GRID_X", "GRID_Y", "GRID_Z"), woven.shape.sizes("grid"), strict=True))
    sizes |= dict(zip(("BLOCK_X", "BLOCK_Y", "BLOCK_Z"), woven.shape.sizes("block"), strict=True))
    for name, size in {**sizes, "SHARED": woven.shape.shared}.items():
        assert constants.pop(f"BOTH_{name}") == f"{size}u"
    numbers = {"A": 6, "B": 2}
    order = [f"BOTH_{letter}_{i}" for letter, count in numbers.items() for i in range(count)]
    assert constants == {name: str(at) for at, name in enumerate(order)}
    assert " *   3   A:3       harris_param_3  u64   8      pointer, written\n" in text
    assert " *   6   B:0       lud_param_0     u64   8      pointer, read and written\n" in text
    assert "goptx_shape" not in text


def test_header_without_shapes_leaves_them_to_the_kernels() -> None:
    text = c_header(goptx.weave(kernel("harris"), kernel("lud")))
    assert "the grid, the block and the dynamic shared memory that all kernels have in common" in text
    assert "GRID" not in text


def test_header_names_what_is_not_passed() -> None:
    woven = goptx.fuse(
        elementwise(), elementwise(), strategy="vertical", private=[("A:2", "B:0")], same=[("A:3", "B:3")]
    )
    passed = [p.original for p in woven.params if p.instead is None]
    text = c_header(woven)
    assert len(passed) < len(woven.params)
    assert defined(text)[f"{woven.name.upper()}_ARGUMENTS"] == str(len(passed))
    assert [name for _, name in re.findall(r"^ \*   (\d+) +\S+ +(\S+)", text, re.MULTILINE)] == passed
    message = re.findall(r"^ \* Not passed: (.*)$", text, re.MULTILINE)
    assert message == [
        "A:2 (out), its value does not matter.",
        "B:0 (x), its value does not matter.",
        "B:3 (n), equal to A:3.",
    ]
    limit = "/* It is right in grids and blocks along x only. */\n"
    assert (limit in text, limit in c_header(replace(woven, along_x=False))) == (True, False)
    assert "/* It is right with blockDim.x*gridDim.x <= 4294967296 only. */\n" in text


MADE: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "known": (("harris", "lud"), {"shapes": [goptx.Shape(8, 256), KNOWN]}),
    "common": (("harris", "lud"), {}),
    "unknown": (("harris", "histogram", "lud"), {"shapes": [UNKNOWN, UNKNOWN, KNOWN]}),
    "front": (("harris", "lud"), {"shapes": [goptx.Shape(None, 256), UNKNOWN], "placement": "front"}),
    "interleave": (("harris", "lud", "stms"), {"strategy": "interleave", "shapes": [UNKNOWN, KNOWN, UNKNOWN]}),
    "horizontal": (
        ("harris", "lud"),
        {"strategy": "horizontal", "shapes": [goptx.Shape((None, None), 96, None), goptx.Shape(None, 256)]},
    ),
    "separate": (("harris", "lud"), {"strategy": "separate", "shapes": [UNKNOWN, KNOWN]}),
}


@needs_cc
@pytest.mark.parametrize("case", MADE)
def test_header_is_c_and_cplusplus(case: str, tmp_path: Path) -> None:
    names, options = MADE[case]
    woven = goptx.fuse(*map(kernel, names), **options)
    (tmp_path / "out.h").write_text(c_header(woven))
    (tmp_path / "twice.c").write_text('#include "out.h"\n#include "out.h"\nint nothing;\n')
    checked = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x"]
    for compiler, language in (("cc", ["c", "-std=c99"]), ("c++", ["c++", "-std=c++11"])):
        if shutil.which(compiler):
            subprocess.run([compiler, *checked, *language, "twice.c"], cwd=tmp_path, check=True)


LAUNCHES = [
    (goptx.Shape(1, 32), goptx.Shape(1, 1), goptx.Shape(1, 1)),
    (goptx.Shape(100, 256, 48), goptx.Shape(7, 64), goptx.Shape((5, 3), (8, 8))),
    (goptx.Shape((3, 5), (32, 4)), goptx.Shape(1000, 256, 5000), goptx.Shape((2, 2, 2), (4, 4, 4), 1024)),
]


def computed(woven: goptx.Woven, kernels: Sequence[goptx.Shape], folder: Path) -> list[list[int]]:
    """The results of the header's function for each entry: three axes of the grid and of the block, shared bytes, and
    hidden arguments."""
    (folder / "out.h").write_text(c_header(woven))
    text = (folder / "out.h").read_text()
    numbers = [str(n) for s in kernels for n in (*s.sizes("grid"), *s.sizes("block"), s.shared or 0)]
    given = ", ".join(numbers)
    body, many = "", len(woven.launches) > 1
    for k, launch in enumerate(woven.launches):
        entry, hidden = launch.entry, sum(p.kernel is None for p in launch.params)
        if f"goptx_{entry}_launch(" not in text:
            body += 'puts("");'
            continue
        body += f"goptx_{entry}_launch(kernels + {k if many else 0}, &l{', h' if hidden else ''});"
        body += 'printf("%u %u %u %u %u %u %u", l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], '
        body += f'l.shared); for (i = 0; i < {hidden}; i++) printf(" %u", h[i]); puts("");'
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "out.h"\n'
        f"int main(void) {{ goptx_shape kernels[] = {{{given}}}, l; unsigned h[64]; int i; (void)i; (void)h; {body} }}"
    )
    subprocess.run(["cc", "-std=c99", "-Werror", "-o", "main", "main.c"], cwd=folder, check=True)
    done = subprocess.run([folder / "main"], capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


@pytest.mark.slow
@needs_cc
@pytest.mark.parametrize("case", ["unknown", "front", "interleave", "horizontal", "separate"])
@pytest.mark.parametrize("launch", LAUNCHES)
def test_header_computes_what_launch_does(case: str, launch: Sequence[goptx.Shape], tmp_path: Path) -> None:
    names, options = MADE[case]
    woven = goptx.fuse(*map(kernel, names), **options)
    stated = [
        goptx.Shape(
            [g if n is None else n for g, n in zip(given.axes("grid"), own.axes("grid"), strict=True)],
            [g if n is None else n for g, n in zip(given.axes("block"), own.axes("block"), strict=True)],
            given.shared if own.shared is None else own.shared,
        )
        for given, own in zip(launch, options["shapes"], strict=False)
    ]
    expected = []
    for start in woven.starts(None, None, shapes=stated):
        hidden = [int.from_bytes(value, "little") for value in start.hidden]
        expected.append([*start.shape.sizes("grid"), *start.shape.sizes("block"), start.shape.shared, *hidden])
    found = computed(woven, stated, tmp_path)
    assert [f or e for f, e in zip(found, expected, strict=True)] == expected
    assert any(found)


@pytest.mark.slow
@needs_cc
@pytest.mark.parametrize(
    ("strategy", "common"),
    [("weave", False), ("weave", True), ("interleave", False), ("separate", False), ("separate", True)],
)
def test_header_computes_what_launch_does_of_coarsened_kernels(
    strategy: Strategy, common: bool, tmp_path: Path
) -> None:
    coarse = goptx.coarsen(kernel("stencil"), factor=3, axis="y")
    stated = [goptx.Shape((5, 7), (32, 8), 2000), goptx.Shape((5, 7), (32, 8), 2000)]
    shapes = None if common else [UNKNOWN, goptx.Shape(None, None, None)]
    woven = goptx.fuse(coarse, kernel("transpose"), strategy=strategy, shapes=shapes)
    starts = woven.starts((5, 7), (32, 8), 2000) if common else woven.starts(None, None, shapes=stated)
    expected = []
    for start in starts:
        hidden = [int.from_bytes(value, "little") for value in start.hidden]
        expected.append([*start.shape.sizes("grid"), *start.shape.sizes("block"), start.shape.shared, *hidden])
    found = computed(woven, stated, tmp_path)
    assert [f or e for f, e in zip(found, expected, strict=True)] == expected


# A page -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["weave", "fuse"])
def test_a_page_of_the_result(command: str, folder: Path) -> None:
    given = ("harris.ptx", "lud.ptx", "-o", "out.ptx", "--depfile", "out.d", "--html", "out.html")
    done = run(command, *given, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert prerequisites(folder / "out.d") == ["harris.ptx", "lud.ptx"]
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>\n") and "<title>harris_lud_woven</title>" in page
    assert goptx.weave(folder / "harris.ptx", folder / "lud.ptx").report._repr_html_().splitlines()[1] in page


def test_a_page_that_cannot_be_written(folder: Path) -> None:
    done = run("weave", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--html", "none/out.html", cwd=folder)
    assert done.returncode == 2 and "none/out.html: cannot be written" in done.stderr
    assert not (folder / "out.ptx").exists()
    done = run("weave", "harris.ptx", "lud.ptx", "-o", "out.ptx", "--html", "out.ptx", cwd=folder)
    assert done.returncode == 2 and "out.ptx: two outputs cannot be one file." in done.stderr
