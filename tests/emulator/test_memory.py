"""Address spaces: their bounds, which threads share them, generic addresses, and uninitialised memory."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

TID = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4;\n"


def words(count: int, start: int = 0) -> np.ndarray:
    return np.arange(start, start + count, dtype=np.uint32)


# the ends of buffers and variables ------------------------------------------------------------------


@pytest.mark.parametrize("access", ["ld{}.u32 %r1, [{}];", "st{}.u32 [{}], 1;", "atom{}.add.u32 %r1, [{}], 1;",
                                    "red{}.add.u32 [{}], 1;"])  # fmt: skip
@pytest.mark.parametrize("space", [".global", ""])
def test_one_element_beyond_either_end(access: str, space: str) -> None:
    given = words(10)
    for offset in (0, 36):
        run(access.format(space, f"%rd0+{offset}"), given.copy())
    for offset, problem in (
        (40, "4 bytes past the end"),
        (-4, "4 bytes before the beginning"),
        (1 << 20, "past the end"),
    ):
        found = fault("out of bounds", access.format(space, f"%rd0+{offset}"), given)
        assert "A:0 (a0)" in str(found) and "of 40 bytes" in str(found) and problem in str(found)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
def test_an_access_that_only_begins_within_a_buffer(size: int) -> None:
    """The last bytes of a buffer do not permit a wider access."""
    given = np.zeros(size, np.uint8)
    run(f"ld.global.u8 %r1, [%rd0+{size - 1}];", given)
    last = size // 4 * 4
    fault("out of bounds", f"ld.global.u32 %r1, [%rd0+{last}];", given)
    fault("out of bounds", f"st.global.u32 [%rd0+{last}], 0;", given)
    fault("out of bounds", f"ld.global.v2.u32 {{%r1, %r2}}, [%rd0+{size // 8 * 8}];", given)


@pytest.mark.parametrize("address", ["0", "4", "-8", "0x7fffffffffffff00", "0x8000000000000000", "0x10000000000",
                                     "0x20000000000", "0x6fffffffff00", "-0x7000000000000000"])  # fmt: skip
@pytest.mark.parametrize("space", ["", ".global", ".shared", ".local", ".const", ".param"])
def test_addresses_of_nothing(address: str, space: str) -> None:
    """Null and far away, in a kernel that has no variables at all."""
    fault("out of bounds", f"mov.b64 %rd1, {address}; ld{space}.u32 %r1, [%rd1];", words(1))
    if not address.startswith("-"):
        fault("out of bounds", f"ld{space}.u32 %r1, [{address}];", words(1))


def test_between_buffers() -> None:
    """Half of a difference of two buffers is in neither, however they lie."""
    body = "sub.u64 %rd3, %rd1, %rd0; shr.s64 %rd3, %rd3, 1; and.b64 %rd3, %rd3, -4; add.u64 %rd3, %rd3, %rd0; "
    assert fault("out of bounds", body + "ld.global.u32 %r1, [%rd3];", words(100), words(100))


@pytest.mark.parametrize("size", [4, 4096, 1 << 20])
def test_twice_the_size_of_a_buffer_is_not_another_buffer(size: int) -> None:
    fault("out of bounds", f"ld.global.u32 %r1, [%rd0+{2 * size}];", np.zeros(size, np.uint8), np.zeros(size, np.uint8))


def test_only_the_lanes_outside_are_named() -> None:
    body = f"{TID} add.u64 %rd3, %rd0, %rd30; ld.global.u32 %r1, [%rd3];"
    found = fault("out of bounds", body, words(70), block=80, grid=2)
    assert found.threads == tuple(range(70, 80))
    assert found.cta == (0, 0, 0)
    assert "and 1 more CTAs" in str(found)


VARIABLES = ".global .u32 g[3]; .const .u32 c[3]; .shared .u32 s[3]; .extern .shared .align 4 .b8 dynamic[];"


@pytest.mark.parametrize(("space", "name", "size"), [("global", "g", 12), ("const", "c", 12), ("param", "a0", 8)])
def test_the_ends_of_variables(space: str, name: str, size: int) -> None:
    load = f"ld.{space}.b8 %r1, [{name}+{{}}];"
    run(load.format(0) + load.format(size - 1), words(1), variables=VARIABLES)
    fault("out of bounds", load.format(-1), words(1), variables=VARIABLES)
    found = fault("out of bounds", load.format(size), words(1), variables=VARIABLES)
    assert f"`{name}` of {size} bytes" in str(found)


def test_the_ends_of_shared_and_local_memory() -> None:
    use = ".local .align 4 .b8 l[16]; mov.u64 %rd1, l; {} mov.u64 %rd1, s; {} mov.u64 %rd1, dynamic; {}"
    store = "st.{}.u8 [%rd1+{}], 1;".format
    run(use.format(store("local", 15), store("shared", 11), store("shared", 63)), variables=VARIABLES, shared=64)
    fault("out of bounds", use.format(store("local", 16), "", ""), variables=VARIABLES, shared=64)
    fault("out of bounds", use.format(store("local", -1), "", ""), variables=VARIABLES, shared=64)
    fault("out of bounds", use.format("", store("shared", -1), ""), variables=VARIABLES, shared=64)
    fault("out of bounds", use.format("", "", store("shared", 64)), variables=VARIABLES, shared=64)
    fault("out of bounds", use.format("", "", store("shared", 0)), variables=VARIABLES)


# read-only ------------------------------------------------------------------------------------------


def test_read_only_memory() -> None:
    locked = words(4)
    locked.flags.writeable = False
    run("ld.global.u32 %r1, [%rd0];", locked)
    for instruction in ("st.global.u32 [%rd0+4], 1;", "st.u32 [%rd0], 1;", "atom.global.add.u32 %r1, [%rd0], 0;"):
        assert "A:0 (a0) is read-only" in str(fault("read-only", instruction, locked))
    const = "mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1; st.u32 [%rd1], 1;"
    assert "`c` is read-only" in str(fault("read-only", const, variables=VARIABLES))
    parameter = "mov.u64 %rd1, a0; cvta.param.u64 %rd1, %rd1; st.u32 [%rd1], 1;"
    assert "`a0` is read-only" in str(fault("read-only", parameter, words(1)))
    assert locked.tolist() == [0, 1, 2, 3]


# who shares what ------------------------------------------------------------------------------------


def test_every_cta_has_shared_memory_of_its_own() -> None:
    """Each thread adds its CTA's number to one word of its CTA, which other CTAs do not see."""
    out = np.zeros((5, 64), np.uint32)
    body = """mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; st.shared.u32 [s], 0; bar.sync 0;
        red.shared.add.u32 [s], %r1;
        bar.sync 0; ld.shared.u32 %r3, [s]; mad.lo.u32 %r4, %r1, 64, %r2; mul.wide.u32 %rd1, %r4, 4;
        add.u64 %rd1, %rd1, %rd0;
        st.global.u32 [%rd1], %r3;"""
    for seed in (0, 1):
        run(body, out, grid=5, block=64, variables=VARIABLES, seed=seed)
        assert out.tolist() == [[64 * cta] * 64 for cta in range(5)]


def test_every_thread_has_local_memory_of_its_own() -> None:
    out = np.zeros(100, np.uint32)
    body = f""".local .u32 l[8]; {TID} and.b64 %rd1, %rd30, 28; mov.u64 %rd2, l; add.u64 %rd2, %rd2, %rd1;
        st.local.u32 [%rd2], %r30; bar.sync 0; ld.local.u32 %r1, [%rd2]; add.u64 %rd3, %rd0, %rd30;
        st.global.u32 [%rd3], %r1;"""
    run(body, out, block=100)
    assert out.tolist() == list(range(100))


def test_module_variables_keep_their_values_across_ctas_and_begin_anew_in_each_launch() -> None:
    out = np.zeros(3000, np.uint32)
    body = """mov.u32 %r1, %ctaid.x; atom.global.add.u32 %r2, [count], 2; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1,
        %rd1, %rd0;"""
    for _ in range(2):  # more CTAs than are resident at a time
        run(body + "st.global.u32 [%rd1], %r2;", out, grid=3000, variables=".global .u32 count = 5;")
        assert sorted(out.tolist()) == [5 + 2 * i for i in range(3000)]


def test_dynamic_shared_arrays_of_one_alignment_are_one() -> None:
    """They come after static ones; an array with a larger alignment begins later, and so do those after it, as for
    ptxas."""
    out = np.zeros(5, np.uint64)
    body = """.shared .align 8 .b8 inner[8]; mov.u64 %rd1, dynamic; mov.u64 %rd2, other; mov.u64 %rd3, far;
        mov.u64 %rd4, s;
        sub.u64 %rd5, %rd2, %rd1; sub.u64 %rd6, %rd1, %rd4; and.b64 %rd7, %rd3, 127; setp.ge.u64 %p1, %rd3, %rd1;
        selp.u64 %rd8, 1, 0, %p1; st.shared.u32 [dynamic+4], 77; ld.shared.u32 %rd9, [other+4];
        st.global.v2.u64 [%rd0], {%rd5, %rd7}; st.global.v2.u64 [%rd0+16], {%rd8, %rd9};
        st.global.u64 [%rd0+32], %rd6;"""
    dynamic = ".extern .shared .f32 other[]; .extern .shared .align 128 .b8 far[];"
    run(body, out, shared=32, variables=VARIABLES + dynamic)
    assert out.tolist()[:4] == [0, 0, 1, 77]
    assert 20 <= out[4] < 64
    first = ".extern .shared .align 128 .b8 far[]; .extern .shared .f32 other[];"
    run(body, out, shared=32, variables=first + VARIABLES)
    assert out.tolist() == [0, 0, 1, 77, 128]


def test_addresses_of_32_bits_wrap_around_as_the_sum_with_their_offset_does() -> None:
    out = words(1)
    body = """mov.u32 %r1, s; sub.u32 %r1, %r1, 65536; st.shared.u32 [%r1+65540], 9; mov.u32 %r2, s;
        add.u32 %r2, %r2, 65536;
        ld.shared.u32 %r3, [%r2+-65532]; add.u32 %r2, %r2, -4; ld.shared.u32 %r4, [%r2+-65528]; add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd0], %r3;"""
    run(body, out, variables=VARIABLES)
    assert out[0] == 18


# what nobody wrote ----------------------------------------------------------------------------------


@pytest.mark.parametrize("load", ["ld.shared.u32 %r1, [s+4];", "ld.shared.v2.u32 {%r2, %r1}, [s];",
                                  "ld.shared.u16 %r1, [s+6];",
                                  "atom.shared.add.u32 %r1, [s+4], 1;",
                                  "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; ld.u8 %r1, [%rd1+7];"])  # fmt: skip
def test_uninitialised_shared_bytes(load: str) -> None:
    """Three bytes of the word are written; reads of the fourth are reported."""
    begin = ".shared .align 8 .b8 s[8]; st.shared.u32 [s], 1; st.shared.u16 [s+4], 1; st.shared.u8 [s+6], 1;"
    found = fault("uninitialised", begin + load, block=3)
    assert "of `s`" in str(found)
    assert found.threads == (0, 1, 2)
    run(begin + load, strict=False)
    run(f"{begin} st.shared.u8 [s+7], 1; {load}")


def test_shared_memory_is_not_preserved_for_the_next_cta() -> None:
    body = "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; ld.shared.u32 %r2, [s];"
    assert fault("uninitialised", body, grid=2, variables=VARIABLES).cta == (1, 0, 0)


def test_uninitialised_local_bytes_are_undefined() -> None:
    """They may be copied, as spilled registers are, until they have an effect."""
    begin = """.local .align 4 .b8 l[8]; st.local.u8 [l], 1; ld.local.u32 %r1, [l]; st.local.u32 [l+4],
        %r1; ld.local.u16 %r2, [l+6];"""
    run(begin + "add.u32 %r2, %r2, 1;", words(1))
    fault("uninitialised", begin + "st.global.u32 [%rd0], %r2;", words(1))
    run(begin + "st.local.u32 [l+4], 5; ld.local.u16 %r2, [l+6]; st.global.u32 [%rd0], %r2;", words(1))
