"""A fused kernel whose kernels share a variable, or whose variable is not the kernel's, is not proved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import goptx
from goptx.proof.certificate import Certificate, digest
from goptx.proof.prove import prove_text

LUD = Path(__file__).parents[2] / "examples" / "kernels" / "lud.sm_90.ptx"
KERNEL = """
.version 8.0
.target sm_90
.address_size 64
VARIABLE
.visible .entry NAME(.param .u64 p)
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    ld.param.u64 %rd1, [p];
    ld.SPACE.u32 %r1, [t+4];
    st.global.u32 [%rd1+8], %r1;
    ret;
}
"""


def kernels(variable: str) -> tuple[str, str]:
    """Two kernels, of two modules, that read a variable called `t`."""
    text = KERNEL.replace("SPACE", variable.split(".align")[0].split()[-1][1:]).replace("VARIABLE", variable)
    first, second = (text.replace("NAME", name) for name in ("k", "l"))
    return first, second


def proved(text: str, *sources: str | Path) -> Certificate:
    return prove_text(text, [goptx.read(source) for source in sources])


@pytest.mark.parametrize("variable", [".const .align 4 .u32 t[2] = {1, 2};", ".global .align 4 .u32 t[2];"])
def test_variables_of_two_modules_are_separate(variable: str) -> None:
    sources = kernels(variable)
    text = goptx.weave(*sources).text()
    assert proved(text, *sources)
    one = re.sub(r"^\.\w+ .* t_b\[2\].*;\n", "", text, flags=re.M).replace("t_b", "t")
    assert "t_b" in text and one.count(" t[2]") == 1
    made = proved(one, *sources)
    assert [gap.rule for gap in made.gaps] == ["variables"]
    assert "`t` belongs to another kernel, too" in str(made)


def test_a_variable_that_the_witness_leaves_out_is_no_other_of_its_name() -> None:
    sources = kernels(".const .align 4 .u32 t[2] = {1, 2};")
    text = goptx.weave(*sources).text()
    changed = text.replace('"symbols": {"t": "t"}', '"symbols": {}')
    assert changed != text and not proved(changed, *sources)
    assert not proved(changed.replace(" t[2] = {1, 2}", " t[2] = {1, 3}", 1), *sources)


def test_kernels_of_one_module_share_its_variables() -> None:
    text = kernels(".global .align 4 .u32 t[2];")[0]
    assert proved(goptx.weave(text, text).text(), text, text)


@pytest.mark.slow
def test_shared_arrays_are_separate() -> None:
    text = goptx.weave(LUD, LUD).text()
    assert proved(text, LUD, LUD)
    one = re.sub(r"^ *\.shared.* b__ZZ.*\n", "", text, flags=re.M)
    one = one.replace("b__ZZ", "a__ZZ").replace('"prefix": "b"', '"prefix": "a"')
    made = proved(one, LUD, LUD)
    assert [(gap.rule, gap.kernel) for gap in made.gaps] == [("variables", "B")]


def test_arrays_without_a_size_are_not_separate() -> None:
    """All of them begin where the static shared memory ends."""
    static, dynamic = kernels(".shared .align 4 .u32 t[2];"), kernels(".extern .shared .align 4 .u32 t[];")
    text = goptx.weave(*static).text()
    assert proved(text, *static)
    for before, after in zip(static, dynamic, strict=True):
        text = text.replace(digest(str(goptx.read(before))), digest(str(goptx.read(after))))
    text = re.sub(r"\.shared (.* t\w*)\[2\];", r".extern .shared \1[];", text)
    made = proved(text, *dynamic)
    assert text.count(".extern .shared") == 2
    assert [gap.rule for gap in made.gaps] == ["variables"] and "belongs to another kernel, too" in str(made)


def test_an_external_variable_is_not_a_new_one() -> None:
    sources = (kernels(".extern .global .align 4 .u32 t[2];")[0],) * 2
    text = goptx.weave(*sources).text()
    assert proved(text, *sources)
    made = proved(text.replace(".extern .global", ".global", 1), *sources)
    assert "is not declared as the kernel declares it" in str(made)
    renamed = re.sub(r"\bt(?=[+[])", "other", text).replace('{"t": "t"}', '{"t": "other"}')
    assert renamed.count("other") == 5 and "`t` is known by another name" in str(proved(renamed, *sources))


POINTER = ".param .u64 .ptr .global"


@pytest.mark.parametrize(("own", "fused", "right"), [
    (".align 4", ".align 4", True), (".align 4", ".align 2", True), (".align 4", ".align 8", False),
    ("", ".align 4", True), ("", ".align 16", False), (".align 1", "", False), (".align 16", "", True),
])  # fmt: skip
def test_a_pointer_is_no_more_aligned_than_a_kernel_says(own: str, fused: str, right: bool) -> None:
    """An assembler may rely on that. Without a number it is 4 bytes."""
    source = kernels(".global .align 4 .u32 t[2];")[0].replace(".param .u64", f"{POINTER} {own}")
    text = goptx.coarsen(goptx.read(source), 2).text()
    declared = next(line for line in text.splitlines() if POINTER in line)
    other = declared.replace(f"{POINTER} {own}".strip(), f"{POINTER} {fused}".strip())
    made = proved(text.replace(declared, other), source)
    assert made.proved == right, str(made)
    assert right or "is a pointer that no kernel says is so aligned" in str(made)
