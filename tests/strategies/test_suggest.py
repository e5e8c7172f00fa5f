"""suggest: pairs and groups of many kernels, ranked by the estimated gain."""

import json
from pathlib import Path

import pytest
from command_line import run

import goptx
from goptx import InputError, Shape

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
NAMES = ("gelu", "micnd", "sort", "wmma")
SPECIFICATIONS = [KERNELS / f"{name}.toml" for name in NAMES]
SPINS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry jumps(.param .u64 p)
{
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    brx.idx %d1, nowhere;
    ret;
}
"""


def test_all_pairs_are_ranked_by_gain() -> None:
    found = goptx.suggest(SPECIFICATIONS)
    assert len(found) == 6
    assert {row.kernels for row in found} == {(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]}
    assert [row.gain for row in found] == sorted((row.gain for row in found), reverse=True)
    assert all(row.least <= row.gain <= row.most for row in found)
    assert set(found.limits) == set(NAMES)
    assert str(found).count("\n") == 6


@pytest.mark.slow
def test_kernels_with_different_limits_come_before_two_that_both_need_memory() -> None:
    shape = Shape(1 << 16, 256)
    copies = [_streaming("one"), _streaming("two"), _arithmetic()]
    found = goptx.suggest(copies, shapes=[shape] * 3)
    assert found.limits == {"one": "memory", "two": "memory", "busy": "arithmetic"}
    assert found[0].kernels in (("one", "busy"), ("two", "busy"))
    assert "complement" in found[0].reason
    assert found[-1].kernels == ("one", "two")
    assert found[-1].reason.startswith("both are limited by memory bandwidth; ")


def _streaming(name: str) -> str:
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 p, .param .u64 q)
{{
    .reg .b64 %d<8>;
    .reg .b32 %r<8>;
    ld.param.u64 %d1, [p];
    ld.param.u64 %d2, [q];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.s32 %r3, %r2, 256, %r1;
    mul.wide.u32 %d3, %r3, 16;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d4];
    st.global.v4.u32 [%d5], {{%r4, %r5, %r6, %r7}};
    ret;
}}
"""


def _arithmetic() -> str:
    chains = "\n".join(f"    fma.rn.f32 %f{i % 8 + 1}, %f{i % 8 + 1}, %f9, %f9;" for i in range(2000))
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry busy(.param .u64 p)
{{
    .reg .b64 %d<5>;
    .reg .b32 %r<4>;
    .reg .f32 %f<10>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f9, %r1;
{"".join(f"    mov.f32 %f{i}, %f9;{chr(10)}" for i in range(1, 9))}{chains}
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    st.global.f32 [%d4], %f1;
    ret;
}}
"""


def test_larger_groups_gain_more_than_their_parts() -> None:
    found = goptx.suggest(SPECIFICATIONS, largest=3)
    pairs = {frozenset(row.kernels): row.gain for row in found if len(row.kernels) == 2}
    assert len(pairs) == 6
    for row in found:
        if len(row.kernels) == 3:
            names = frozenset(row.kernels)
            assert row.gain > max(gain for pair, gain in pairs.items() if pair < names)


def test_a_kernel_that_cannot_be_estimated_is_named() -> None:
    found = goptx.suggest([*SPECIFICATIONS[:2], SPINS])
    assert [row.kernels for row in found] == [("gelu", "micnd")]
    assert "nowhere" in found.refused["jumps"]
    assert "not estimated: jumps: " in str(found)


def test_a_kernel_that_fits_on_no_sm_is_named() -> None:
    large = _streaming("large").replace(".reg .b64", ".shared .b8 all[400000];\n    .reg .b64", 1)
    large = large.replace("ld.param.u64 %d1, [p];", "ld.param.u64 %d1, [p];\n    st.shared.u64 [all], %d1;")
    found = goptx.suggest([large, _streaming("one"), _streaming("two")])
    assert [row.kernels for row in found] == [("one", "two")]
    assert found.refused == {"large": "<ptx>: no CTA of it fits on an SM of sm_90"}


def test_wrong_requests() -> None:
    with pytest.raises(InputError, match="ranks groups of two or more kernels; it got 1"):
        goptx.suggest(SPECIFICATIONS[:1])
    with pytest.raises(InputError, match="2 to 4; got 5"):
        goptx.suggest(SPECIFICATIONS, largest=5)
    with pytest.raises(InputError, match=r"suggest\(\) takes a list of kernels, for example \[pathlib.Path\('a.ptx'\)"):
        goptx.suggest(Path(SPECIFICATIONS[0]))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1; got 0"):
        goptx.suggest(SPECIFICATIONS, most=0)
    with pytest.raises(InputError, match="shapes= takes a list with one for each of the 4 kernels, or None"):
        goptx.suggest(SPECIFICATIONS, shapes=[None])
    with pytest.raises(InputError, match="no launch of an entry `other`"):
        goptx.suggest(SPECIFICATIONS[:2], entries=["other", None])


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    files = [str(SPECIFICATIONS[0]), str(KERNELS / "micnd.sm_90.ptx"), str(SPECIFICATIONS[2])]
    table = run("suggest", *files, "--most", "2", cwd=tmp_path)
    assert (table.returncode, table.stderr) == (0, "")
    assert table.stdout == f"{goptx.suggest([Path(f) for f in files], most=2)}\n"
    data = json.loads(run("suggest", *files, "--json", cwd=tmp_path).stdout)
    assert [len(row["kernels"]) for row in data["suggestions"]] == [2, 2, 2]
    assert data["limits"].keys() == {"gelu", "micnd", "sort"}
