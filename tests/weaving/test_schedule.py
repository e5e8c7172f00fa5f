import pytest

import goptx
from goptx.analysis.cfg import Code
from goptx.errors import CannotWeave
from goptx.options import POLICIES, Policy
from goptx.ptx.ir import Instruction, Name
from goptx.weaving.schedule.schedule import greedy, schedule_block, units


def named(*names: str) -> list[tuple[Code, ...]]:
    return [(Instruction(name),) for name in names]


def woven(first: dict[str, int], second: dict[str, int]) -> list[str]:
    cycles = first | second
    code = greedy([named(*first), named(*second)], lambda unit: sum(cycles[str(c).rstrip(";")] for c in unit))
    return [str(c).rstrip(";") for c in code]


def test_greedy_order_of_the_paper() -> None:
    """The paper's own example."""
    assert woven({"f0": 4, "f1": 4, "f2": 4}, {"s0": 290, "s1": 4}) == ["s0", "f0", "f1", "f2", "s1"]


def test_greedy_breaks_ties_by_kernel_and_keeps_each_order() -> None:
    assert woven({"f0": 4, "f1": 4}, {"s0": 4, "s1": 4}) == ["f0", "s0", "f1", "s1"]


def instruction(opcode: str, *names: str) -> Instruction:
    return Instruction(opcode, tuple(map(Name, names)))


CHAIN = [
    instruction("add.cc.u32", "%a", "%b", "%c"),
    instruction("mov.u32", "%x", "%y"),
    instruction("addc.cc.u32", "%d", "%e", "%f"),
    instruction("addc.u32", "%g", "%h", "%i"),
    instruction("mov.u32", "%z", "%y"),
]


def test_carry_chains_are_one_unit() -> None:
    assert [len(u) for u in units(CHAIN)] == [4, 1]


def test_carry_chains_are_not_divided_by_the_other_kernel() -> None:
    other = [instruction("sub.cc.u32", "%A", "%B", "%C"), instruction("subc.u32", "%D", "%E", "%F")]
    code = schedule_block([CHAIN, other], [], "latency", lambda _: 4)
    assert sorted(map(str, code)) == sorted(map(str, CHAIN + other))
    positions = [i for i, c in enumerate(code) if c in CHAIN[:4]]
    assert positions == list(range(positions[0], positions[0] + 4))


@pytest.mark.parametrize("policy", ["latency", "paper"])
def test_sync_groups_keep_their_order(policy: Policy) -> None:
    """In either order, whatever stands after the barriers."""
    first = [instruction("bar.sync", "%a"), instruction("ld.shared.f32", "%b", "%c")]
    second = [instruction("bar.sync", "%d"), instruction("st.shared.f32", "%e", "%f")]
    barriers = [first[0], second[0]]
    for order in ((0, 1), (1, 0)):
        found = schedule_block([first, second], [((k, 0),) for k in order], policy, lambda _: 4)
        assert [c for c in found if c in barriers] == [barriers[k] for k in order]


def test_concat_puts_one_after_the_other() -> None:
    other = [instruction("mov.u32", "%A", "%B")]
    assert schedule_block([CHAIN, other], [], "concat", lambda _: 4) == (*CHAIN, *other)


CARRY = """.version 8.0
.target sm_90
.address_size 64
.visible .entry carries(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    add.cc.u32 %r2, %r1, -1;
    bar.sync 0;
    bar.sync 0;
    addc.u32 %r3, %r1, 0;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_carry_flag_cannot_wait_for_two_barriers_with_another_kernels_between(policy: Policy) -> None:
    other = CARRY.replace("add.cc.", "add.").replace("addc.", "add.").replace("carries", "other")
    message = r"kernel A .* `add.cc.u32 %a_r2, %a_r1, -1;` leaves a carry flag .* separate"
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(CARRY, other, policy=policy)
    once = CARRY.replace("    bar.sync 0;\n    bar", "    bar")
    woven = goptx.weave(once, other.replace("    bar.sync 0;\n    bar", "    bar"), policy=policy).ptx
    assert woven.index("add.cc.u32") < woven.index("bar") < woven.index("addc.u32")
    assert woven.count("st.global") == 2
