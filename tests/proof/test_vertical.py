"""Certificates of kernels that run one after the other in each thread."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from strategies.dependent_kernels import HEAD, INDEX, elementwise, strided

import goptx
from goptx.checking.certify import prove
from goptx.proof.certificate import Certificate, digest
from goptx.proof.prove import prove_text
from goptx.proof.witness import read_witness
from goptx.ptx.parse import parse

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
PAIRS = [("harris", "lud"), ("softmax", "sort"), ("scan", "histogram"), ("wmma", "transpose"), ("sort", "sort")]


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_examples_are_proved(names: tuple[str, str]) -> None:
    made = prove(goptx.fuse(*map(kernel, names), strategy="vertical"))
    assert made and made.strategy == "vertical", str(made)


def test_three_kernels_are_proved() -> None:
    assert prove(goptx.fuse(*map(kernel, ("lud", "harris", "scan")), strategy="vertical"))


# what kernels hand on in registers -----------------------------------------------------------------------

CELL = "%kept"  # word: kept, registers in PTX
BOUNDS = [("A:3", "B:3")]
HANDED = {"private": [("A:2", "B:0")], "same": BOUNDS}
SHARED = {"same": [("A:0", "B:0"), ("A:1", "B:1"), *BOUNDS]}


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **options)


def certificate(text: str, *sources: str) -> Certificate:
    """Of a text that says that it was made of these kernels."""
    modules = [parse(source) for source in sources]
    held = read_witness(text)
    assert held
    for kernel, module in zip(held.kernels, modules, strict=True):
        text = text.replace(f'"{kernel.letter}": {{"entry": "k", "sha256": "{kernel.digest}"',
                            f'"{kernel.letter}": {{"entry": "k", "sha256": "{digest(str(module))}"')  # fmt: skip
    return prove_text(text, modules)


def edited(text: str, part: str, by: str) -> str:
    """With a part replaced; CELL0 is the first register that holds an element."""
    part, by = (word.replace("CELL", CELL) for word in (part, by))
    assert part in text, part
    return text.replace(part, by, 1)


@pytest.mark.parametrize("form", [elementwise, strided])
@pytest.mark.parametrize("divergence", [None, "predicate", "park", "duplicate"])
def test_temporaries_in_registers_are_proved(form: Any, divergence: Any) -> None:
    if form is strided and divergence in ("park", "duplicate"):
        pytest.skip("loops whose lanes part are not fused")
    made = prove(fused(form("mul.f32"), form("sub.f32"), divergence=divergence, **HANDED))
    assert made, str(made)
    presumed = "A:2 and B:0 are one buffer and no other; nobody needs its contents afterwards"
    assert presumed in made.presumed and "at most 2^32 threads" in made.presumed


@pytest.mark.parametrize("form", [elementwise, strided])
def test_inputs_loaded_once_are_proved(form: Any) -> None:
    for divergence in (None, "predicate"):
        makers: list[Any] = [fused, goptx.weave]
        for make in makers:
            woven = make(form("mul.f32"), form("sub.f32"), divergence=divergence, **SHARED)
            assert f"{CELL}1" in woven.ptx
            made = prove(woven)
            assert made and "A:0 and B:0 are equal" in made.presumed, str(made)


def test_a_chain_of_kernels_is_proved() -> None:
    chain = {
        "private": [("A:2", "B:0"), ("B:2", "C:0"), "C:2=D:0"],
        "same": [(f"{a}:3", f"{b}:3") for a, b in ("AB", "BC", "CD")],
    }
    made = prove(fused(*[strided()] * 4, **chain))
    assert made and len(made.presumed) == 8, str(made)


@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "b16"])
def test_narrow_elements_are_proved(type_: str) -> None:
    size = int(type_[1:]) // 8
    text = elementwise().replace(", 4;", f", {size};").replace("ld.global.f32 %f2, [%rd6];", "")
    text = text.replace("ld.global.f32 %f1", f"ld.global.{type_} %r8").replace(
        "add.f32 %f3, %f1, %f2;", "add.u32 %r9, %r8, 7;"
    )
    narrow = text.replace("st.global.f32 [%rd7], %f3", f"st.global.{type_.replace('s', 'u')} [%rd7], %r9")
    woven = fused(narrow, narrow, **HANDED)
    made = prove(woven)
    assert made, str(made)
    wrong = {"cvt.s32.s8": "cvt.u32.u8", "cvt.u32.u8": "cvt.s32.s8", "cvt.u32.u16": "cvt.s32.s16"}
    part = next(word for word in wrong if word in woven.text())
    assert "does not move the bits" in str(certificate(edited(woven.text(), part, wrong[part]), narrow, narrow))


def vectors(operation: str) -> str:
    text = elementwise(operation).replace(", 4;", ", 8;").replace("ld.global.f32 %f1", "ld.global.v2.f32 {%f1, %f4}")
    return text.replace("st.global.f32 [%rd7], %f3", "st.global.v2.f32 [%rd7], {%f3, %f4}")


def test_vectors_are_proved() -> None:
    woven = fused(vectors("mul.f32"), vectors("sub.f32"), **HANDED)
    assert prove(woven), str(prove(woven))
    text = woven.text()
    swapped = edited(text, "mov.f32 %b_f4, CELL1", "mov.f32 %b_f4, CELL0")
    assert "moves another element" in str(certificate(swapped, vectors("mul.f32"), vectors("sub.f32")))


@pytest.mark.parametrize(
    ("part", "by", "why"),
    [
        ("@%a_run0 mov.f32 CELL0, %a_f3; // A:18", "", "has other operands|is at `@%p1 bra|ends before"),
        ("@%a_run0 mov.f32 CELL0", "mov.f32 CELL0", "may execute `mov.f32 CELL0, %a_f3;`"),
        ("mov.f32 CELL0, %a_f3", "mov.f32 CELL0, %a_f1", "has other operands"),
        ("@%b_run0 mov.f32 %b_f1, CELL0; // B:16", "", "ends before|is at"),
        ("mov.f32 %b_f1, CELL0", "mov.f32 %b_f1, %a_f3", "may not have been stored or loaded before"),
        ("mov.f32 %b_f1, CELL0", "mov.f32 %b_f1, 0f00000000", "may not have been stored or loaded before"),
        ("mov.pred %b_run0, 1;", "mov.f32 CELL0, %a_f1;\n    mov.pred %b_run0, 1;", "moves another element"),
        ("mov.pred %b_run0, 1;", "neg.f32 CELL0, %a_f3;\n    mov.pred %b_run0, 1;", "may not have been stored"),
        ("@%b_run0 st.global.f32 [%b_rd7], %b_f3;", "@%b_run0 mov.f32 CELL0, %b_f3;", "stands for no load"),
        ("mov.f32 CELL0, %a_f3", "cvt.rzi.f32.f32 CELL0, %a_f3", "does not move the bits"),
        ('"named": ["k_woven_a_param_2", ', '"named": [', "does not have the parameters of its kernels"),
    ],
)  # fmt: skip
def test_edits_of_what_is_handed_on_are_not_proved(part: str, by: str, why: str) -> None:
    sources = elementwise("mul.f32"), elementwise("sub.f32")
    text = fused(*sources, **HANDED).text()
    assert certificate(text, *sources)
    made = certificate(edited(text, part, by), *sources)
    assert not made and re.search(why.replace("CELL", CELL), str(made)), str(made)


SHIFTED = "add.s64 %rd5, %rd1, %rd4; add.s64 %rd5, %rd5, 4;"


def test_another_element_than_was_stored_is_not_proved() -> None:
    first, second = elementwise("mul.f32"), elementwise("sub.f32")
    other = second.replace("add.s64 %rd5, %rd1, %rd4;", SHIFTED)
    text = fused(first, second, **HANDED).text()
    assert "moves another element than the kernel loads" in str(certificate(text, first, other))
    shared = fused(first, second, **SHARED).text()
    assert "moves another element than the kernel loads" in str(certificate(shared, first, other))


def test_elements_of_several_threads_are_not_proved() -> None:
    """The last thread that stores the element decides what the second kernel loads."""
    first, second = elementwise("mul.f32"), elementwise("sub.f32")
    text = fused(first, second, **HANDED).text()
    halved = "shr.u32 %r8, %r4, 1; mul.wide.s32 %rd9, %r8, 4;"
    writing = first.replace("add.s64 %rd5,", f"{halved} add.s64 %rd5,").replace("%rd3, %rd8", "%rd3, %rd9")
    reading = second.replace("add.s64 %rd5, %rd1, %rd4;", f"{halved} add.s64 %rd5, %rd1, %rd9;")
    made = certificate(text, writing, reading)
    assert "may not be its thread's own" in str(made), str(made)


def test_a_load_that_may_be_of_nothing_stored_is_not_proved() -> None:
    sources = elementwise("mul.f32"), elementwise("sub.f32")
    woven = fused(*sources, private=[("A:2", "B:0")], assume_private=True)
    assert "moves what may not have been stored or loaded before" in str(prove(woven))


def test_what_is_loaded_once_is_not_written() -> None:
    first, second = elementwise("mul.f32"), elementwise("sub.f32")
    text = fused(first, second, **SHARED).text()
    writing = first.replace("st.global.f32 [%rd7]", "st.global.f32 [%rd5]")
    made = certificate(text.replace("st.global.f32 [%a_rd7]", "st.global.f32 [%a_rd5]"), writing, second)
    assert "may write what is loaded once" in str(made), str(made)
    fresh = elementwise("sub.f32", before="ld.acquire.gpu.global.f32 %f4, [%rd2];")
    text = edited(
        text, "mul.wide.s32 %b_rd8,", "ld.acquire.gpu.global.f32 %b_f4, [%b_rd2]; // B:12\nmul.wide.s32 %b_rd8,"
    )
    text = edited(
        text,
        "cvta.to.global.u64 %b_rd3",
        "ld.param.u64 %b_rd2, [k_woven_a_param_1];\ncvta.to.global.u64 %b_rd2, %b_rd2;\ncvta.to.global.u64 %b_rd3",
    )
    text = edited(text, "ld.acquire", "@%b_run0 ld.acquire")
    made = certificate(text, first, fresh)
    assert "may see what others have written" in str(made), str(made)


# what kernels hand on in memory --------------------------------------------------------------------------

FORWARDED = {"depends": True, "same": [("A:2", "B:0")]}
REVERSED = f"{INDEX} sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;"
MIRRORED = elementwise("sub.f32", index=REVERSED, read="%r9")
ORDER = "not proved to come to it in the order of the kernels"


@pytest.mark.parametrize("form", [elementwise, strided])
@pytest.mark.parametrize("options", [FORWARDED, {"depends": True}], ids=["named", "any"])
def test_dependent_kernels_are_proved(form: Any, options: Any) -> None:
    made = prove(fused(form("mul.f32"), form("sub.f32"), **options))
    assert made and "launches along x" in made.presumed and not any("independent" in p for p in made.presumed), str(
        made
    )
    assert ("A:2, B:0: none of these is a buffer with another parameter, unless they are equal" in made.presumed) == (
        "same" in options
    )


def test_what_is_handed_on_in_a_cta_needs_the_barrier() -> None:
    sources = elementwise("mul.f32"), MIRRORED
    text = fused(*sources, **FORWARDED).text()
    made = certificate(text, *sources)
    assert made, str(made)
    lines = text.splitlines()
    barrier = next(i for i, line in enumerate(lines) if "bar.sync 0;" in line)
    assert ORDER in str(certificate("\n".join([*lines[:barrier], *lines[barrier + 1 :]]), *sources))
    store = next(i for i, line in enumerate(lines) if "st.global" in line)
    early = [*lines[:store], lines[barrier], *lines[store:barrier], *lines[barrier + 1 :]]
    assert ORDER in str(certificate("\n".join(early), *sources))
    load = next(i for i, line in enumerate(lines) if "ld.global.f32 %b_f1" in line)
    late = [*lines[:barrier], *lines[barrier + 1 : load + 1], lines[barrier], *lines[load + 1 :]]
    assert ORDER in str(certificate("\n".join(late), *sources))
    guarded = edited(text, "bar.sync 0;", "@%a_run0 bar.sync 0;")
    assert not certificate(guarded, *sources)
    some = certificate(edited(text, "bar.sync 0;", "bar.sync 0, 32;"), *sources)
    assert "its effect is not known" in str(some)


@pytest.mark.parametrize("read", ["%r3", "%r1"], ids=["thread of every CTA", "CTA"])
def test_elements_of_other_ctas_are_not_proved(read: str) -> None:
    woven = fused(elementwise("mul.f32"), elementwise("sub.f32", read=read), assume_local=True, **FORWARDED)
    assert "bar.sync" in woven.ptx and ORDER in str(prove(woven))


def test_the_read_only_path_is_not_proved_where_a_kernel_writes() -> None:
    sources = elementwise("mul.f32"), elementwise("sub.f32", load="ld.global.nc.f32")
    text = fused(*sources, **FORWARDED).text()
    assert certificate(text, *sources)
    again = edited(text, "ld.global.f32 %b_f1", "ld.global.nc.f32 %b_f1")
    assert "as if nobody wrote it" in str(certificate(again, *sources))


def test_kernels_in_the_wrong_order_are_not_proved() -> None:
    """Each thread runs the second kernel before the first."""
    first, second = elementwise("mul.f32"), elementwise("sub.f32")
    text = fused(second, first, depends=True, same=[("A:0", "B:2")]).text()
    header, body = text.split("\n", 1)
    swap = str.maketrans("AB", "BA")
    body = re.sub(r"// [AB]:", lambda m: m[0].translate(swap), body)
    held = json.loads(header.partition("witness 1 ")[2])
    held["kernels"] = {"A": held["kernels"]["B"], "B": held["kernels"]["A"]}
    made = certificate(f"// goptx witness 1 {json.dumps(held)}\n{body}", first, second)
    assert "does not have the parameters of its kernels in their order" in str(made), str(made)


def test_independent_kernels_do_not_write_what_they_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """That they are independent, and that a buffer which one of them writes is the other's, cannot both be presumed."""
    sources = elementwise("mul.f32"), elementwise("sub.f32")
    assert prove(goptx.weave(*sources, same=[("A:0", "B:0")]))
    other = "goptx.weaving.dependent.kernel_dependences.Dependences._is_written_for_others"
    monkeypatch.setattr(other, lambda *_: False)
    for pair in (("A:2", "B:0"), ("A:0", "B:2"), ("A:2", "B:2")):
        made = str(prove(goptx.weave(*sources, same=[pair])))
        assert "is one buffer of several kernels, of whose order nothing is known" in made, made


def test_what_is_loaded_once_is_not_older_than_what_a_kernel_acquires_first() -> None:
    first, second = elementwise("mul.f32"), elementwise("sub.f32")
    text = fused(first, second, **SHARED).text()
    fresh = elementwise("sub.f32", before="fence.acq_rel.gpu;")
    fence, move = "@%b_run0 fence.acq_rel.gpu; // B:12", f"@%b_run0 mov.f32 %b_f2, {CELL}1; // B:16"
    for both in (f"{fence}\n    {move}", f"{move}\n    {fence}"):
        made = certificate(edited(text, move.replace(CELL, "CELL"), both), first, fresh)
        assert "may see what others have written" in str(made), str(made)


def counting(bits: int) -> str:
    """Adds 1 to each element of x, which are counted in that many bits."""
    special = "".join(f"mov.u{bits} %n{i}, %{name}.x; " for i, name in enumerate(("tid", "ntid", "ctaid", "nctaid")))
    return f"""{HEAD}
.visible .entry k(.param .u64 x)
{{
    .reg .pred %p<4>; .reg .b32 %r<4>; .reg .u{bits} %n<9>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x]; mov.u32 %r1, 0; {special}
    mad.lo.u{bits} %n4, %n2, %n1, %n0; mul.lo.u{bits} %n5, %n1, %n3;
LOOP:
    cvt.u64.u{bits} %rd2, %n4; shl.b64 %rd2, %rd2, 2; add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;
    add.u{bits} %n4, %n4, %n5; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3;
    @%p1 bra LOOP;
    ret;
}}
"""


def test_short_counters_of_loops_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """No certificate presumes that they do not, as it does of others."""
    options: dict[str, Any] = {"depends": True, "same": [("A:0", "B:0")]}
    made = prove(fused(counting(32), counting(32), **options))
    assert made and "counters of loops whose step is the grid do not wrap" in made.presumed, str(made)
    monkeypatch.setattr("goptx.analysis.values.footprint._NARROW", 0)
    assert ORDER in str(prove(fused(counting(16), counting(16), **options)))
