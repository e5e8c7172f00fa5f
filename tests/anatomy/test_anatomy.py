"""Which blocks of the kernels are where in a result: the anatomy, derived from the text, agrees with the report."""

import json
from collections import Counter

import pytest
from anatomy.results import NAMES, path, result

import goptx
from goptx.anatomy.blocks import Anatomy, Chart
from goptx.anatomy.chart import anatomy_of
from goptx.errors import CannotWeave, InputError
from goptx.ptx.ir import Instruction
from goptx.ptx.walk import statements_in

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
CALLS_TWICE = f"""{HEAD}
.func (.reg .b32 %out) both(.reg .b32 %in)
{{
    add.s32 %out, %in, 1;
    bar.sync 0;
    mul.lo.s32 %out, %out, 3;
    ret;
}}
.visible .entry twice(.param .u64 out)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<2>;
    .reg .pred %p;
    mov.u32 %r1, %ctaid.x;
    call.uni (%r2), both, (%r1);
    setp.eq.u32 %p, %r1, 0;
    @%p bra DONE;
    call.uni (%r2), both, (%r2);
DONE:
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}}
"""
MBARRIER = f"""{HEAD}
.visible .entry gate(.param .u32 n)
{{
    .reg .b64 %rd<4>;
    .shared .b64 g;
    mbarrier.init.shared.b64 [g], 32;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [g];
    bar.warp.sync -1;
    ret;
}}
"""


def blocks(charts: tuple[Chart, ...]) -> list[tuple[str, int]]:
    return [(b.name, b.instructions) for chart in charts for b in chart.blocks]


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_is_in_a_block(name: str) -> None:
    woven = result(name)
    found = woven.anatomy()
    assert found.strategy == woven.strategy
    plain = (
        ("bra.uni", "bra", "ret") if found.strategy == "separate" else ()
    )  # branches of a kernel that are part of no block
    entries = [s for e in woven.module.entries for s in statements_in(e.body or ()) if isinstance(s, Instruction)]
    own = [o.kernel for o, i in zip(woven.origins, entries, strict=True) if o and (i.guard or i.opcode not in plain)]
    shares: Counter[str] = Counter()
    for chart in found.woven:
        for b in chart.blocks:
            for share in b.shares:
                shares[share.kernel] += share.instructions
                assert 0 <= share.inserted <= share.instructions
            for letter in {p.kernel for p in b.pairs}:
                of_kernel = [p.instructions for p in b.pairs if p.kernel == letter]
                (share,) = (s for s in b.shares if s.kernel == letter)
                assert sum(of_kernel) + share.inserted == share.instructions
    assert shares == Counter(own)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_and_blocks_agree(name: str) -> None:
    found = result(name).anatomy()
    several = len(found.woven) > 1
    held = {
        (p.kernel, own, f"{chart.name}/{b.name}" if several else b.name)
        for chart in found.woven for b in chart.blocks for p in b.pairs for own in p.blocks
    }  # fmt: skip
    stands = {(k.letter, b.name, at) for k in found.kernels for b in k.blocks for at in b.stands_in}
    assert held == stands
    for k in found.kernels:
        code = [b for b in k.blocks if b.instructions]
        assert code and all(b.stands_in and b.copies for b in code)
        assert all(b.copies <= len(b.stands_in) for b in code if b.copies)


@pytest.mark.parametrize("name", ["pair", "barriers", "vertical", "horizontal", "interleave"])
def test_dummy_blocks_are_those_of_the_report(name: str) -> None:
    woven = result(name)
    assert woven.anatomy().dummies == woven.report.merged.dummy_blocks


@pytest.mark.parametrize("names", [("gelu", "layernorm"), ("lud", "lud"), ("gelu", "sort")])
def test_no_kernel_waits_for_a_branch(names: tuple[str, str]) -> None:
    """A merged block with two branches at its end is several blocks of the text."""
    woven = goptx.weave(*map(path, names))
    (found,) = woven.anatomy().woven
    assert any(b.instructions == 1 and b.name != "exit" for b in found.blocks)
    assert woven.anatomy().dummies == woven.report.merged.dummy_blocks


def test_waiting_kernels() -> None:
    found = result("vertical").anatomy()
    assert {(s.kernel, b.waits) for b in found.woven[0].blocks if b.waits for s in b.shares} == {("A", ("B",))}
    for name in ("horizontal", "interleave", "ratio", "separate", "copies"):
        assert result(name).anatomy().dummies == 0, name


def test_kernels_are_as_their_files_have_them() -> None:
    woven = result("barriers")
    found = woven.anatomy()
    for chart, source in zip(found.kernels, ("lud", "sort"), strict=True):
        alone = anatomy_of(goptx.read(path(source)))
        plain = [(b.name, b.first, b.last, b.instructions, b.cycles, b.depth, b.edges) for b in alone.blocks]
        assert plain == [(b.name, b.first, b.last, b.instructions, b.cycles, b.depth, b.edges) for b in chart.blocks]
        assert len(alone.blocks) - 1 == woven.report.kernels[chart.letter].blocks
    loop = next(b for b in found.kernels[1].blocks if b.depth)
    assert (loop.lines, [e.target for e in loop.edges]) == ("62-79", [loop.name, "exit"])
    assert [e.label for e in loop.edges] == ["@%p2", ""]
    assert [b.line for chart in found.kernels for block in chart.blocks for b in block.barriers] == [72, 48]


def test_barriers_are_those_that_hold_several_warps_up() -> None:
    (entry, _) = anatomy_of(goptx.read(MBARRIER)).blocks
    assert [b.text.split()[0] for b in entry.barriers] == ["mbarrier.init.shared.b64", "bar.sync",
                                                           "mbarrier.arrive.shared.b64"]  # fmt: skip


def test_a_function_in_two_places_is_not_guessed() -> None:
    found = goptx.weave(CALLS_TWICE, path("harris")).anatomy()
    unsure = [p for b in found.woven[0].blocks for p in b.pairs if len(p.blocks) > 1]
    assert unsure and {p.kernel for p in unsure} == {"A"}
    names = [b.name for b in found.kernels[0].blocks]
    assert all(set(p.blocks) <= set(names) for p in unsure)
    assert "|" in str(found)


def test_copies_are_counted() -> None:
    loop = next(b for b in result("phases").anatomy().kernels[1].blocks if b.first == 213)
    assert (loop.copies, len(loop.stands_in)) == (10, 13)
    assert "x10" in str(result("phases").anatomy())


@pytest.mark.parametrize("name", NAMES)
def test_plain_data_and_text(name: str) -> None:
    found = result(name).anatomy()
    assert json.loads(json.dumps(found.to_dict()))["kernels"][0]["letter"] == "A"
    text = str(found)
    for chart in (*found.kernels, *found.woven):
        assert chart.name in text and all(b.name in text for b in chart.blocks)


def test_unknown_flow() -> None:
    text = f"{HEAD}.entry jump()\n{{\n.reg .b32 %r<3>;\nbrx.idx %r1, targets;\n}}\n"
    with pytest.raises(CannotWeave, match=r"<ptx>:7: `brx\.idx %r1, targets;`"):
        anatomy_of(goptx.read(text))
    with pytest.raises(InputError, match="no entry `missing`"):
        anatomy_of(goptx.read(MBARRIER), "missing")
    chart = Chart("A", "jump", "<ptx>", (), "why")
    assert "unknown flow: why" in str(Anatomy("weave", "sm_90", (chart,), ()))
