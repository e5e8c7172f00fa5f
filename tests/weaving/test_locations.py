"""Each instruction of a woven kernel points to the source line that it was compiled from."""

import re
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from bodies import HEAD, kernel

import goptx
from goptx.errors import DebugInformationLost
from goptx.ptx.ir import Directive, Instruction, Module
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Woven

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"
LINEINFO = ("reduction.sm_80-lineinfo.nvcc.ptx", "largest"), ("textures.sm_90-lineinfo.nvcc.ptx", "surfaces")
CALLS = ("language.sm_80-lineinfo.nvcc.ptx", "chooses")
TRITON = ("softmax.sm_80.triton.ptx", None)
DEBUG = ("declarations.sm_90-debug.nvcc.ptx", "limited")
NUMBA = ("histogram.numba.ptx", None)


def located(module: Module, name: str) -> Iterator[tuple[Instruction, str, str]]:
    """The instructions of an entry with the file that their `.loc` names, and the rest of it."""
    files = {i.values[0]: i.values[1] for i in module.items if isinstance(i, Directive) and i.name == ".file"}
    entry = next(e for e in module.entries if e.name == name)
    here = ("", "")
    for statement in statements_in(entry.body or ()):
        if isinstance(statement, Directive) and statement.name == ".loc":
            number, _, rest = statement.values[0].partition(" ")
            caller = re.search(r"inlined_at (\d+) ", rest)
            rest = re.sub(r"inlined_at \d+", f"inlined_at {files[caller[1]]}" if caller else "", rest)
            here = files[number], re.sub(r"function_name \S+?_*,", "", rest)
        if isinstance(statement, Instruction):
            yield statement, *here


def weave(*kernels: tuple[str, str | None]) -> Woven:
    return goptx.weave(*(CORPUS / k[0] for k in kernels), entries=[k[1] for k in kernels])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [LINEINFO, (CALLS, LINEINFO[0]), (TRITON, CALLS), (NUMBA, CALLS), (CALLS, CALLS)]
)
def test_lines_of_real_compilers_are_preserved(
    first: tuple[str, str | None], second: tuple[str, str | None], assembles: object
) -> None:
    woven = weave(first, second)
    before: dict[tuple[str, int], tuple[str, str]] = {}
    for letter, (file, name) in (("A", first), ("B", second)):
        module = goptx.read(CORPUS / file)
        for instruction, *where in located(module, name or module.entries[0].name):
            before[letter, instruction.line] = (where[0], where[1])
    compared = 0
    for (_, *after), origin in zip(located(woven.module, woven.name), woven.origins, strict=True):
        if origin and origin.line and before[origin.kernel, origin.line][0]:
            assert tuple(after) == before[origin.kernel, origin.line], origin
            compared += 1
    assert compared > 20
    assembles(woven)  # type: ignore[operator]


def test_function_names_are_spelled_as_before() -> None:
    """Labels that both modules have are other strings in them."""

    def spelled(module: Module, name: str) -> set[str]:
        text = str(module)
        labels = re.findall(r"function_name (\S+?),", text[text.index(f" {name}(") :].partition("\n}")[0])
        return {re.sub(r"\s", "", text.partition(f"\n{label}:")[2].partition("$")[0].strip("}\n")) for label in labels}

    woven = weave(*LINEINFO)
    before = [spelled(goptx.read(CORPUS / file), name) for file, name in LINEINFO]
    assert all(before)
    assert spelled(woven.module, woven.name) == before[0] | before[1]


def lines(woven: Woven) -> list[str]:
    return [text.strip() for text in woven.ptx.splitlines()]


FILES = '.file 1 "x.cu"\n.file 2 "y.h"\n'


def body(*numbers: int) -> str:
    """A store of each number, all on lines of their own."""
    stores = [f".loc {1 + n % 2} {n} 7\nst.shared.u32 [tile], {n};" for n in numbers]
    return "\n".join(stores) + "\nret;"


def after(woven: Woven, word: str) -> str:
    """The location of the instruction that holds the word."""
    found = lines(woven)
    place = next(i for i, text in enumerate(found) if word in text and not text.startswith("."))
    return next(text for text in reversed(found[:place]) if text.startswith(".loc"))


def test_files_are_numbered_anew_and_common_ones_once(assembles: object) -> None:
    first = kernel(body(10, 11)).replace(HEAD, HEAD + FILES)
    second = kernel(body(20, 21), "other") + '.file 1 "y.h"\n.file 2 "z.cu", 5, 6\n'
    woven = goptx.weave(first, second)
    assert [x for x in lines(woven) if x.startswith(".file")] == [
        '.file 1 "x.cu"', '.file 2 "y.h"', '.file 3 "z.cu", 5, 6'
    ]  # fmt: skip
    places = {n: after(woven, f"], {n};") for n in (10, 11, 20, 21)}
    assert places == {10: ".loc 1 10 7", 11: ".loc 2 11 7", 20: ".loc 2 20 7", 21: ".loc 3 21 7"}
    assembles(woven)  # type: ignore[operator]


def test_a_location_stands_once_for_instructions_that_follow_each_other() -> None:
    text = kernel(".loc 1 5 0\nst.shared.u32 [tile], 1;\nst.shared.u32 [tile+4], 2;\nret;").replace(HEAD, HEAD + FILES)
    woven = goptx.weave(text, kernel("ret;", "other"))
    assert lines(woven).count(".loc 1 5 0") == 1


def test_what_has_no_line_points_into_its_ptx(tmp_path: Path, assembles: object) -> None:
    """Else it would seem to come from where the other kernel's instruction does."""
    path = tmp_path / "plain.ptx"
    path.write_text(kernel("st.shared.u32 [tile], 20;\nst.shared.u32 [tile], 21;\nret;", "other"))
    woven = goptx.weave(kernel(body(10, 11)).replace(HEAD, HEAD + FILES), path)
    assert f'.file 3 "{path}"' in lines(woven)
    line = path.read_text().splitlines().index("st.shared.u32 [tile], 20;") + 1
    assert after(woven, "], 20;") == f".loc 3 {line} 0"
    assert after(woven, "], 21;") == f".loc 3 {line + 1} 0"
    assert after(woven, "], 11;") == ".loc 2 11 7"
    assembles(woven)  # type: ignore[operator]


def test_without_lines_there_are_none() -> None:
    woven = goptx.weave(kernel("st.shared.u32 [tile], 1;\nret;"), kernel("ret;", "other"))
    assert not [x for x in lines(woven) if x.startswith((".loc", ".file"))]


def test_what_goptx_inserts_points_to_what_it_stands_for() -> None:
    guarded = """
        .loc 1 3 0
        mov.u32 %r1, %tid.x;
        setp.gt.u32 %p1, %r1, 5;
        @%p1 bra DONE;
        .loc 1 4 0
        setp.gt.u32 %p2, %r1, 2;
        .loc 1 6 0
        @%p2 st.shared.u32 [tile], 9;
        DONE:
        ret;"""
    text = kernel(guarded).replace(HEAD, HEAD + FILES)
    partner = kernel(body(*range(10, 30)), "other").replace(HEAD, HEAD + '.file 1 "z.cu"\n.file 2 "z.h"\n')
    woven = goptx.weave(text, partner)
    found = zip(located(woven.module, woven.name), woven.origins, strict=True)
    places = [
        (i, file, rest) for (i, file, rest), origin in found if origin and origin.kernel == "A" and not origin.line
    ]
    assert any(i.opcode == "and.pred" for i, _, _ in places)
    assert {file for _, file, _ in places} == {'"x.cu"'}
    assert after(woven, "], 9;") == ".loc 1 6 0"


INLINED = """
.func (.param .b32 y) f(.param .b32 x)
{
    .reg .b32 %m<4>;
    .loc 2 50 0
    ld.param.u32 %m1, [x];
    .loc 2 51 0
    bar.sync 0;
    {
        .param .b32 p;
        .loc 2 52 0
        st.param.b32 [p], %m1;
        call.uni g, (p);
    }
    st.param.b32 [y], %m1;
    ret;
}
.func g(.param .b32 x)
{
    .reg .b32 %m<4>;
    .loc 2 60 0
    ld.param.u32 %m1, [x];
    .loc 2 61 0
    st.shared.u32 [%m1], 61;
    ret;
}
"""


def test_inlined_functions_keep_their_lines(assembles: object) -> None:
    """Code after the call without a `.loc` of its own has the caller's."""
    call = """.loc 1 4 0
    { .param .b32 a; .param .b32 q;
    st.param.b32 [a], 0;
    call.uni (q), f, (a);
    ld.param.b32 %r3, [q];
    }
    st.shared.u32 [tile], 13;
    .loc 1 5 0
    st.shared.u32 [tile], 14;
    ret;"""
    text = kernel(call).replace(HEAD, HEAD + FILES + INLINED)
    woven = goptx.weave(text, kernel(body(20), "other").replace(HEAD, HEAD + '.file 1 "z.cu"\n.file 2 "z.h"\n'))
    assert after(woven, "sync 0") == ".loc 2 51 0"
    assert after(woven, "], 13;") == ".loc 1 4 0"
    assert after(woven, "], 14;") == ".loc 1 5 0"
    function = woven.ptx[woven.ptx.index(".func g") :].partition("\n}")[0]
    assert ".loc 2 60 0" in function
    assert ".loc 2 61 0" in function
    assembles(woven)  # type: ignore[operator]


def test_a_caller_stands_before_its_inlined_code(assembles: object) -> None:
    """ptxas asks for that, even where no instruction comes from the caller's line."""
    inlined = """.loc 1 30 0
    .loc 2 40 0, function_name NAME, inlined_at 1 30 0
    ld.param.u32 %r2, [k_n];
    .loc 2 41 0, function_name NAME, inlined_at 2 40 0
    st.shared.u32 [tile], 5;
    ret;"""
    text = kernel(inlined).replace(HEAD, HEAD + FILES) + ".section .debug_str\n{\nNAME:\n.b8 102, 0\n}\n"
    woven = goptx.weave(text, text, policy="concat")
    seen: set[str] = set()
    for line in (x for x in lines(woven) if x.startswith(".loc")):
        assert set(re.findall(r"inlined_at (.*)", line)) <= seen
        seen.add(re.sub(r"\.loc |,.*", "", line))
    assert woven.ptx.count("NAME:") == 1
    assert [after(woven, word) for word in ("st.shared.u32 [a_tile]", "st.shared.u32 [b_tile]")] == [
        ".loc 2 41 0, function_name NAME, inlined_at 2 40 0"
    ] * 2
    assembles(woven)  # type: ignore[operator]


def test_functions_that_differ_by_file_numbers_only_stand_once() -> None:
    first = kernel("{ .param .b32 a; st.param.b32 [a], 0; call.uni g, (a); } ret;").replace(
        HEAD, HEAD + FILES + INLINED
    )
    swapped = first.replace('1 "x.cu"', '1 "z.cu"').replace('2 "y.h"', '3 "y.h"').replace(".loc 2", ".loc 3")
    assert goptx.weave(first, swapped.replace(" k(", " o(").replace("k_", "o_")).ptx.count(".func g") == 1


def test_a_location_in_no_file_is_left_out() -> None:
    woven = goptx.weave(kernel(body(10)).replace(HEAD, HEAD + '.file 2 "y.h"\n'), kernel(".loc 9 1 0\nret;", "other"))
    assert not [x for x in lines(woven) if x.startswith(".loc") and x.split()[1] != "2"]


def test_debug_sections_are_left_out_with_a_warning(assembles: object) -> None:
    message = (
        r"-debug\.nvcc\.ptx: debug sections .*\.debug_info.* are left out, .*; a debugger cannot show its variables"
    )
    with pytest.warns(DebugInformationLost, match=message):
        woven = weave(DEBUG, LINEINFO[0])
    assert any("debug sections" in note for note in woven.report.notes)
    assert ".section .debug_info" not in woven.ptx
    assert "debug" not in woven.module.target
    assert ".loc" in woven.ptx
    assembles(woven)  # type: ignore[operator]


def test_sections_of_lines_alone_are_noted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DebugInformationLost)
        woven = weave(TRITON, CALLS)
    assert any("softmax" in note and ".debug_abbrev" in note for note in woven.report.notes)


@pytest.mark.skipif(which("nvdisasm") is None, reason="no nvdisasm on the PATH, so nobody reads a cubin's lines")
def test_the_cubin_has_the_lines(tmp_path: Path) -> None:
    woven = weave(*LINEINFO)
    (tmp_path / "woven.cubin").write_bytes(woven.cubin())
    command = ["nvdisasm", "--print-line-info", str(tmp_path / "woven.cubin")]
    message = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for file in ("reduction.cu", "textures.cu"):
        assert re.search(rf'File "[^"]*{file}", line \d+', message)
