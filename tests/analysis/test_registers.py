"""The registers that the assembler is expected to give: which values need one, in what order code needs few."""

import pytest

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.registers.register_demand import FULL, ROOM, Demand, demand
from goptx.device.assemble import assemble, find_ptxas
from goptx.memo import computed
from goptx.ptx.flatten import flatten

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
START = (
    ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %rd<99>; ld.param.u64 %rd1, [p]; "
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; "
)


def kernel(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n"


def needed(body: str, arch: str = "sm_80", bounds: str = "") -> Demand:
    entry = goptx.read(kernel(START + body).replace("{\n", f"{bounds}\n{{\n", 1)).entries[0]
    flat = flatten(entry.body or (), lambda name: name)
    return demand(control_flow(flat, "<ptx>"), flat.registers, arch, entry.directives)


def loads(number: int) -> str:
    return " ".join(f"ld.global.f32 %f{i}, [%rd3+{128 * i}];" for i in range(number))


def sums(number: int) -> str:
    return " ".join(f"add.f32 %f{i}, %f{i - 1}, %f{i};" for i in range(1, number))


def test_loads_may_wait_for_each_other_or_together() -> None:
    each = " ".join(f"ld.global.f32 %f{i}, [%rd3+{128 * i}]; add.f32 %f0, %f0, %f{i};" for i in range(1, 20))
    found = needed(f"{loads(1)} {each} st.global.f32 [%rd3], %f0; ret;")
    assert found.live < 8 and found.eager.value >= 20


@pytest.mark.parametrize(
    "free",
    [
        "ld.param.u64 %rd9, [p]; cvta.to.global.u64 %rd8, %rd9;",  # constant memory
        "mov.u32 %r9, %ctaid.x; mov.u32 %r8, %ntid.x; mul.lo.s32 %r7, %r9, %r8;",  # equal for the CTA
        "mov.u32 %r9, 17; mov.f32 %f9, 0f3F800000;",
        "add.s32 %r9, %r1, 5; mul.lo.s32 %r8, %r9, %r9;",  # nobody needs it
    ],
)
def test_some_values_need_no_register(free: str) -> None:
    rest = "ld.global.u32 %r20, [%rd3]; add.s32 %r21, %r20, %r1; st.global.u32 [%rd3], %r21; ret;"
    assert needed(free + rest).live == needed(rest).live


def test_copies_and_halves_are_one_value() -> None:
    halves = "ld.global.u64 %rd5, [%rd3]; mov.b64 {%r5, %r6}, %rd5; mov.u32 %r7, %r5; "
    end = "add.s32 %r8, %r5, %r6; add.s32 %r9, %r8, %r7; st.global.u32 [%rd3], %r9; ret;"
    assert needed(halves + end).live == needed("ld.global.v2.u32 {%r5, %r6}, [%rd3]; mov.u32 %r7, %r5;" + end).live


def test_a_value_under_a_guard_is_not_live_before() -> None:
    """What only a guarded instruction writes, in one or several copies of the code, has no value before."""
    loop = "LOOP: {0} add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r1; @%p2 bra LOOP; st.global.u32 [%rd3], %r2; ret;"
    begin = "mov.u32 %r2, 0; setp.eq.s32 %p1, %r1, 3; "
    guarded = "@%p1 ld.global.f32 %f1, [%rd3]; @%p1 st.global.f32 [%rd3+4], %f1; "
    assert needed(begin + loop.format(guarded)).live <= needed(begin + loop.format("")).live + 1


def test_loads_of_two_iterations_of_a_short_loop_begin_together() -> None:
    loop = "LOOP: {0} add.s64 %rd3, %rd3, 4; setp.lt.u64 %p2, %rd3, %rd2; @%p2 bra LOOP; st.global.f32 [%rd1], %f90;"
    body = f"{loads(6)} {sums(6)} add.f32 %f90, %f90, %f5;"
    found = needed(loop.format(body))
    assert found.early.value >= needed(loop.format(f"bar.sync 0; {body}")).early.value + 4  # nothing passes a barrier
    assert found.live < found.early.value <= ROOM


def test_sums_of_wgmma_stand_above_the_registers_of_calls() -> None:
    assert Demand(live=11, sums=4).registers == 30 and Demand(live=135, sums=128).registers == 154


def test_words_across_several_slow_paths_take_more_registers() -> None:
    """Slow paths are called: what is live across stands above the registers of what is called."""
    one, several, many = (Demand(live=14, across=12, calls=calls) for calls in (1, 4, 40))
    assert one.registers < several.registers < many.registers and one.firm == many.firm
    divided = " ".join(f"div.rn.f32 %f{i}, %f{i}, %f9;" for i in range(4))
    stored = " ".join(f"st.global.f32 [%rd3+{4 * i}], %f{i};" for i in range(4))
    found = needed(f"{loads(4)} ld.global.f32 %f9, [%rd3+1024]; {divided} {stored} ret;")
    assert found.calls == 4 and found.across >= 6
    assert (found + found).calls == 8 and (found | Demand(calls=9)).calls == 9


def test_words_across_slow_paths_are_spilled_with_a_few_registers() -> None:
    assert Demand(live=50).spilled(60) == Demand(live=50, across=30, called=13).spilled(60) == 0
    assert Demand(live=50, across=60, called=19).spilled(64) == 15 and Demand(live=90, across=60).spilled(64) == 27


def test_a_thread_keeps_to_the_registers_with_which_an_sm_is_full() -> None:
    assert [Demand(live=live).registers for live in (26, 27, 28, 29)] == [32] * 4
    assert 32 < Demand(live=30).registers < Demand(live=31).registers < 40


def test_what_can_begin_early_takes_registers_up_to_those_with_which_an_sm_is_full() -> None:
    def early(eager: int) -> int:
        return Demand(10, eager=computed(eager)).registers

    assert early(12) < early(24) < early(40) <= FULL and early(48) == early(400) <= FULL


def test_values_that_several_results_need_are_used_up_at_once() -> None:
    """One result after the other would keep the inputs of all results of the first kind for those of the second."""
    number = 16
    halves = " ".join(f"cvt.f32.f16 %f{i + 40}, %h{i};" for i in range(number))
    results = " ".join(
        f"{op}.f32 %f{i + at}, %f{i + 40}, %f{i + 40 + number // 2};"
        for op, at in (("add", 60), ("sub", 70))
        for i in range(number // 2)
    )
    stores = " ".join(f"st.global.f32 [%rd3+{4 * i}], %f{60 + i};" for i in range(8))
    stores += " ".join(f"st.global.f32 [%rd3+{400 + 4 * i}], %f{70 + i};" for i in range(8))
    inputs = ".reg .f16 %h<16>; " + " ".join(f"ld.global.b16 %h{i}, [%rd3+{2 * i}];" for i in range(number))
    found = needed(f"{inputs} {halves} {results} {stores} ret;")
    assert found.live <= number + 12


def test_a_constant_beyond_an_address_takes_no_register() -> None:
    first = "add.s64 %rd5, %rd3, 2048; ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd5]; add.f32 %f3, %f1, %f2;"
    rest = "st.global.f32 [%rd3], %f3; st.global.f32 [{0}], %f3; ret;"
    near = needed(first + rest.format("%rd5")).live
    assert near == needed(first + rest.format("%rd3")).live
    assert needed(first.replace("2048", "%rd2") + rest.format("%rd5")).live > near


@pytest.mark.parametrize(("space", "words"), [("global", 2), ("shared", 0)])
def test_an_address_is_in_registers_where_it_is_accessed(space: str, words: int) -> None:
    """A parameter, or the address of a variable: from sm_80 on, before there are uniform registers for it."""
    body = f"ld.global.v2.u32 {{%r5, %r6}}, [%rd3]; st.{space}.v2.u32 [%rd1+8], {{%r5, %r6}}; ret;"
    assert needed(body).live == needed(body, "sm_75").live + words


def test_a_division_of_integers_takes_words_of_its_own() -> None:
    body = "ld.global.v2.u32 {{%r5, %r6}}, [%rd3]; {0} st.global.u32 [%rd3], %r7; ret;"
    added, divided = (needed(body.format(f"{op}.u32 %r7, %r5, %r6;")).live for op in ("add", "rem"))
    assert divided >= added + 3
    assert needed(body.format("rem.u32 %r7, %r5, 10;")).live <= added


@pytest.mark.parametrize(("live", "threads", "given"), [(81, 256, 112), (61, 256, 80), (61, 0, 71), (40, 256, 47)])
def test_registers_that_cost_no_cta_are_given(live: int, threads: int, given: int) -> None:
    """Where the threads of a CTA are known: of 256 three fit with 80 registers, two with 128."""
    found = Demand(live, threads=threads)
    assert found.registers == given and found.firm == Demand(live).firm
    assert (Demand() + found).threads == (found | Demand()).threads == threads


def test_what_is_live_across_a_slow_path_stays_there() -> None:
    found = needed(f"{loads(10)} div.rn.f32 %f20, %f0, %f1; {sums(10)} add.f32 %f21, %f20, %f9; "
                   "st.global.f32 [%rd3], %f21; ret;")  # fmt: skip
    assert found.across >= 10 and found.registers >= found.across + 10


def test_parameters_that_are_added_to_take_registers_from_sm_90_on() -> None:
    body = (
        "ld.param.u64 %rd9, [p]; add.s64 %rd5, %rd9, %rd2; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd3], %f1; ret;"
    )
    assert needed(body, "sm_90").live >= needed(body, "sm_80").live


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("number", [40, 64, 100])
def test_sums_around_a_loop_are_estimated_as_they_are_assembled(number: int) -> None:
    zeros = " ".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(number))
    adds = " ".join(f"fma.rn.f32 %f{i}, %f{i}, %f{i}, %f{(i + 1) % number};" for i in range(number))
    stores = " ".join(f"st.global.f32 [%rd3+{4 * i}], %f{i};" for i in range(number))
    body = (
        f".reg .f32 %f<201>; {zeros} mov.u32 %r2, 0; LOOP: {adds} add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r1; "
        f"@%p2 bra LOOP; {stores} ret;"
    )
    body = START.replace(".reg .f32 %f<99>;", "") + body
    text = kernel(body)
    entry = goptx.read(text).entries[0]
    flat = flatten(entry.body or (), lambda name: name)
    found = demand(control_flow(flat, "<ptx>"), flat.registers, "sm_80")
    given = assemble(text, entry=entry.name).registers
    assert abs(found.registers - given) <= 0.15 * given


def assembled(body: str) -> int:
    return assemble(kernel(START + body), entry="k").registers


def chain(guard: str, number: int) -> str:
    """Loads, each of which is used at once."""
    each = " ".join(f"{guard} ld.global.f32 %f{i}, [%rd3+{4 * i}]; add.f32 %f0, %f0, %f{i};" for i in range(1, number))
    return f"setp.ne.u32 %p1, %r1, 7; mov.f32 %f0, 0f00000000; {each} st.global.f32 [%rd3], %f0; ret;"


def test_many_loads_under_a_predicate_begin_together() -> None:
    plain, few, many = (needed(chain(*own)) for own in (("", 90), ("@%p1", 20), ("@%p1", 40)))
    assert max(plain.live, few.live) < 8 and plain.registers <= FULL
    assert many.live >= 40 and many.registers > many.live


def test_one_load_under_a_predicate_moves_nothing_else() -> None:
    """Loads of shared memory beside it come as they are written, one before what uses that before it."""
    shared = " ".join(
        f"ld.shared.f32 %f{i}, [%r1+{4 * i}]; fma.rn.f32 %f0, %f{i - 1}, %f{i - 1}, %f0;" for i in range(3, 60)
    )
    body = "setp.ne.u32 %p1, %r1, 7; mov.f32 %f0, 0f00000000; {0} ld.global.f32 %f1, [%rd3]; "
    body += f"ld.shared.f32 %f2, [%r1]; {shared} add.f32 %f0, %f0, %f1; st.global.f32 [%rd3], %f0; ret;"
    assert needed(body.format("@%p1")).live <= needed(body.format("")).live + 1


def repeated(guard: str, number: int, used: str) -> str:
    """A loop that loads and uses so many values, and then moves others."""
    sums, others = range(20, 50), range(50, 80)
    loads = " ".join(f"{guard} ld.global.f32 %f{i}, [%rd3+{4 * i}];" for i in range(number))
    uses = " ".join(f"{guard} {used.format(i, sums[i])}" for i in range(number))
    rest = " ".join(f"ld.shared.f32 %f{i}, [%r4+{4 * i}];" for i in others) + " bar.sync 1; "
    rest += " ".join(f"st.shared.f32 [%r4+{4 * i}], %f{i};" for i in others)
    zeros, stores = (
        " ".join(each.format(i, 4 * i) for i in sums)
        for each in ("mov.f32 %f{0}, 0f00000000;", "st.global.f32 [%rd3+{1}], %f{0};")
    )
    return (
        f"setp.ne.u32 %p1, %r1, 7; mov.u32 %r2, 0; mov.u32 %r4, 0; {zeros} LOOP: {loads} {uses} bar.sync 0; {rest} "
        "bar.sync 0; add.s64 %rd3, %rd3, 4096; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r1; @%p2 bra LOOP; "
        f"{stores} ret;"
    )


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize(
    "used", ["add.f32 %f{1}, %f{1}, %f{0};", "st.shared.f32 [%r4+{1}], %f{0};"], ids=["added", "stored"]
)
def test_what_a_load_under_a_predicate_wrote_is_live_around_its_loop(used: str) -> None:
    """Whether or not all that reads it runs under the predicate, too."""
    plain, guarded = (repeated(guard, 16, used) for guard in ("", "@%p1"))
    assert needed(guarded).registers == pytest.approx(assembled(guarded), rel=0.15)
    more = needed(guarded).registers - needed(plain).registers
    assert more >= 14 and more == pytest.approx(assembled(guarded) - assembled(plain), abs=6)


def product(scale: str, sparse: bool = False) -> str:
    """A loop around a product whose sums are used up before the next one."""
    sums = ", ".join(f"%f{i}" for i in range(32))
    opcode = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n64k{32 if sparse else 16}.f32.f16.f16"
    meta = "%r5, 0, " if sparse else ""
    used = " ".join(f"max.f32 %f40, %f40, %f{i};" for i in range(32))
    return (
        "mov.f32 %f40, 0f00000000; setp.ne.u32 %p1, %r1, 7; LOOP: wgmma.fence.sync.aligned; "
        f"{opcode} {{{sums}}}, %rd1, %rd2, {meta}{scale}, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; "
        f"wgmma.wait_group.sync.aligned 0; {used} bar.sync 0; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r1; "
        "@%p2 bra LOOP; st.global.f32 [%rd3], %f40; ret;"
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_sums_that_begin_at_zero_are_not_live_before(sparse: bool) -> None:
    """Where scale-d is the number 0, `wgmma` does not read them."""
    zero, one, unknown = (needed(product(scale, sparse), "sm_90a") for scale in ("0", "1", "%p1"))
    assert zero.live == one.live == unknown.live >= 32  # at once: while they are used
    values = [f"%f{i}" for i in range(50, 90)]
    begun = " ".join(f"ld.global.f32 {value}, [%rd3+{4 * i}];" for i, value in enumerate(values))
    ended = " ".join(f"st.global.f32 [%rd3+{4 * i}], {value};" for i, value in enumerate(values))
    before, added = (
        needed(product(scale, sparse).replace("LOOP:", f"LOOP: {begun} bar.sync 0; {ended}"), "sm_90a")
        for scale in ("0", "1")
    )
    assert 40 <= before.live <= added.live - 32


def test_atomic_operations_under_a_predicate_do_not_begin_first() -> None:
    each = " ".join(
        f"@%p1 atom.global.add.u32 %r{i}, [%rd3+{4 * i}], 1; add.u32 %r2, %r2, %r{i};" for i in range(3, 40)
    )
    assert needed(f"setp.ne.u32 %p1, %r1, 7; mov.u32 %r2, 0; {each} st.global.u32 [%rd3], %r2; ret;").live < 8


@pytest.mark.parametrize(
    ("between", "guards", "equal"),
    [
        ("", ("", ""), True),
        ("", ("@%p1", "@%p2"), True),  # where a guard does not hold, the value is undefined
        ("st.global.f32 [%rd3+512], %f90;", ("", ""), False),
        ("bar.sync 0;", ("", ""), False),
    ],
)
def test_values_that_are_there_are_not_loaded_again(between: str, guards: tuple[str, str], equal: bool) -> None:
    def copy(first: int, guard: str) -> str:
        return " ".join(f"{guard} ld.global.f32 %f{first + i}, [%rd3+{4 * i}];" for i in range(10))

    rest = " ".join(
        f"add.f32 %f{i + 40}, %f{i}, %f{i + 20}; st.global.f32 [%rd3+{800 + 4 * i}], %f{i + 40};" for i in range(10)
    )
    tests = "setp.ne.u32 %p1, %r1, 7; setp.ne.u32 %p2, %r1, 9; mov.f32 %f90, 0f3F800000;"
    found = needed(f"{tests} {copy(0, guards[0])} {between} {copy(20, guards[1])} {rest} ret;")
    assert (found.early.value <= 14) == equal


def test_a_register_that_a_guard_may_leave_unchanged_is_not_equal() -> None:
    """%r5 is 1 or 2, so that its product is not that of 2."""
    products = "mul.lo.u32 %r7, %r5, %r1; mul.lo.u32 %r8, %r6, %r1;"
    body = "setp.ne.u32 %p1, %r1, 7; mov.u32 %r5, {0}; mov.u32 %r6, 2; @%p1 mov.u32 %r5, {1}; " + products
    stores = "st.global.u32 [%rd3], %r7; st.global.u32 [%rd3+4], %r8; ld.global.u32 %r9, [%rd3+8]; bar.sync 0;"
    later = "st.global.u32 [%rd3+12], %r7; st.global.u32 [%rd3+16], %r8; st.global.u32 [%rd3+20], %r9; ret;"
    assert needed(body.format(1, 2) + stores + later).live == needed(body.format(1, 3) + stores + later).live


@pytest.mark.parametrize(("between", "fewer"), [("", True), ("ld.global.f32 %f90, [%rd3+900];", False)])
def test_what_is_only_stored_and_overwritten_is_not_computed(between: str, fewer: bool) -> None:
    def stored(first: int) -> str:
        return " ".join(f"st.global.f32 [%rd3+{4 * i}], %f{first + i};" for i in range(8))

    sums = " ".join(f"add.f32 %f{i + 20}, %f{i}, 0f3F800000;" for i in range(8))
    products = " ".join(
        f"ld.global.f32 %f{i + 40}, [%rd3+{600 + 4 * i}]; mul.f32 %f{i + 60}, %f{i}, %f{i + 40};" for i in range(8)
    )
    both = needed(
        f"{loads(8)} {sums} {products} {stored(60)} {between} {stored(20)} st.global.f32 [%rd3+64], %f90; ret;"
    )
    alone = needed(f"{loads(8)} {sums} {between} {stored(20)} st.global.f32 [%rd3+64], %f90; ret;")
    assert (both.early.value == alone.early.value) == fewer


def test_launch_bounds_limit_the_registers() -> None:
    body = chain("@%p1", 90)
    assert needed(body).registers > 64
    assert needed(body, bounds=".maxntid 1024, 1, 1").registers == 64
    assert needed(body, bounds=".maxntid 256, 1, 1 .minnctapersm 5").registers == 48
    assert needed(body, bounds=".reqntid 33, 1, 1 .maxnreg 40").registers == 40
    assert (needed(body) + needed(body, bounds=".maxnreg 40")).registers == 40


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("sqrt.rn.f32 %f20, %f0;", "div.rn.f32 %f20, %f0, %f1;"),
        ("div.rn.f32 %f20, %f0, %f1;", "div.rn.f64 %rd20, %rd5, %rd6;"),
    ],
)
def test_slow_paths_take_registers_by_their_kind(smaller: str, larger: str) -> None:
    wide = "ld.global.b64 %rd5, [%rd3+640]; ld.global.b64 %rd6, [%rd3+648];"
    stores = " ".join(f"st.global.f32 [%rd3+{4 * i}], %f{i};" for i in range(9))
    ends = "st.global.f32 [%rd3+48], %f20; st.global.b64 [%rd3+56], %rd20; ret;"
    one, other = (needed(f"{loads(9)} {wide} {code} {stores} {ends}") for code in (smaller, larger))
    assert 0 < one.called < other.called and one.registers < other.registers


def test_functions_of_the_module_are_inlined_and_others_called() -> None:
    head = ".func f() { ret; } .extern .func malloc();"
    found = []
    for callee in ("f", "malloc"):
        body = f"{START} {loads(6)} call {callee}; {sums(6)} st.global.f32 [%rd3], %f5; ret;"
        text = kernel(body).replace(".visible", f"{head}\n.visible", 1)
        entry = goptx.read(text).entries[0]
        flat = flatten(entry.body or (), lambda name: name)
        found.append(demand(control_flow(flat, "<ptx>"), flat.registers, "sm_80"))
    assert found[0].calls == 0 and found[1].calls == 1 and found[1].registers >= 24 > found[0].registers


def test_loads_under_a_predicate_into_registers_with_a_value_do_not_begin_first() -> None:
    """Triton writes a 0 first, for lanes out of bounds."""
    each = " ".join(
        f"mov.f32 %f{i}, 0f00000000; @%p1 ld.global.f32 %f{i}, [%rd3+{4 * i}]; add.f32 %f0, %f0, %f{i};"
        for i in range(1, 50)
    )
    body = f"setp.ne.u32 %p1, %r1, 7; mov.f32 %f0, 0f00000000; {each} st.global.f32 [%rd3], %f0; ret;"
    assert needed(body).live < 8


def test_cheap_words_are_computed_again_if_that_saves_many() -> None:
    """So the rounds of a hash function find the words of the message, each with a constant."""

    def rounds(mixing: str, more: str = "") -> int:
        words = " ".join(f"ld.shared.u32 %r{i}, [%r1+{4 * i}];" for i in range(10, 38))
        mixed = " ".join(f"{mixing} %r{i + 30}, %r{i}, {7919 + i}{more};" for i in range(10, 38))
        sums = " ".join(f"mad.lo.u32 %r2, %r2, %r{i + 30}, %r{i};" for i in range(10, 38))
        stored = " ".join(f"st.shared.u32 [%r1+{4 * i}], %r{i};" for i in range(10, 38))
        return needed(f"mov.u32 %r2, 1; {words} {mixed} {sums} {sums} {stored} st.global.u32 [%rd3], %r2; ret;").live

    assert rounds("xor.b32") <= 28 + 5
    assert rounds("shfl.sync.idx.b32", ", 31, -1") >= 28 + 28
