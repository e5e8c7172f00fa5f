"""Bulk reductions, copies of chosen bytes, filling with zeros, discarded lines and copied tensor maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from emulator.snippets import fault, run

SHARED = ".shared .align 128 .b8 s[1024]; .shared .align 128 .b8 t[1024]; .shared .align 8 .b64 bar;"
FILL = """mov.u32 %r30, %tid.x; setp.eq.u32 %p1, %r30, 0; mov.u32 %r31, s; mov.u32 %r32, t;
    mul.wide.u32 %rd30, %r30, 16; mad.lo.u32 %r31, %r30, 16, %r31; mad.lo.u32 %r32, %r30, 16, %r32;
    add.u64 %rd10, %rd0, %rd30; add.u64 %rd11, %rd1, %rd30;
    ld.global.v2.u64 {%rd20, %rd21}, [%rd10]; st.shared.v2.u64 [%r31], {%rd20, %rd21};
    ld.global.v2.u64 {%rd22, %rd23}, [%rd11]; st.shared.v2.u64 [%r32], {%rd22, %rd23};
    @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;"""  # both arrays, of 256 bytes, to shared memory by 16 threads
BACK = "ld.shared.v2.u64 {%rd20, %rd21}, [%r32]; st.global.v2.u64 [%rd11], {%rd20, %rd21};"
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;"
BYTES = 256
COMPLETION = "mbarrier::complete_tx::bytes"

INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, new: old + new,
    "min": min,
    "max": max,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "inc": lambda old, new: 0 if old >= new else old + 1,
    "dec": lambda old, new: new if old == 0 or old > new else old - 1,
}
DTYPES = {"u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64}


def integers(type_: str, seed: int) -> np.ndarray:
    raw = np.random.default_rng(seed).integers(0, 256, BYTES, np.uint8)
    raw[:32] = np.resize([0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 128], 32) + seed % 2
    return raw.view(DTYPES[type_])


def reduced(operation: str, type_: str, old: np.ndarray, new: np.ndarray) -> list[int]:
    mask = (1 << 8 * old.itemsize) - 1
    return [INTEGERS[operation](int(a), int(b)) & mask for a, b in zip(old, new, strict=True)]


@pytest.mark.parametrize(
    "form",
    "add.u32 add.s32 add.u64 min.u32 min.s32 min.u64 min.s64 max.u32 max.s32 max.u64 max.s64 and.b32 and.b64 or.b32 "
    "or.b64 xor.b32 xor.b64 inc.u32 dec.u32".split(),
)
def test_reductions_of_integers(form: str) -> None:
    """Into global memory by a bulk group; into shared memory, where the ISA has it, by an mbarrier object."""
    operation, type_ = form.split(".")
    new, old = integers(type_, 1), integers(type_, 2)
    wanted = reduced(operation, type_, old, new)
    given = old.copy()
    copy = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%rd1], [s], {BYTES};"
    end = "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"
    run(f"{FILL} @%p1 {copy} {end}", new, given, block=16, variables=SHARED)
    assert given.view(f"u{given.itemsize}").tolist() == wanted
    if form in "add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32 inc.u32 dec.u32".split():
        given = old.copy()
        copy = f"cp.reduce.async.bulk.shared::cluster.shared::cta.{COMPLETION}.{form} [t], [s], {BYTES}, [bar];"
        expect = f"mbarrier.arrive.expect_tx.shared.b64 _, [bar], {BYTES};"
        run(f"{FILL} @%p1 {expect} @%p1 {copy} {WAIT} {BACK}", new, given, block=16, variables=SHARED)
        assert given.view(f"u{given.itemsize}").tolist() == wanted


@pytest.mark.parametrize("form", ["add.f32", "add.f64", "add.noftz.f16", "min.f16", "max.f16"])
def test_reductions_of_floats(form: str) -> None:
    operation, *_, type_ = form.split(".")
    dtype = np.dtype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[type_])
    new, old = (np.random.default_rng(i).normal(size=BYTES // dtype.itemsize).astype(dtype) for i in (1, 2))
    new[0], old[0] = np.nextafter(dtype.type(0), dtype.type(1)), 0  # subnormal; unlike `atom.add.f32` it keeps them
    wanted = {"add": np.add, "min": np.minimum, "max": np.maximum}[operation](old, new)
    copy = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%rd1], [s], {BYTES};"
    run(f"{FILL} @%p1 {copy}", new, old, block=16, variables=SHARED)
    assert old.tolist() == wanted.tolist()


def test_two_lanes_that_reduce_into_one_place() -> None:
    new, old = integers("u32", 3), integers("u32", 4)
    wanted = ((old.astype(np.uint64) + 5 * new.astype(np.uint64)) % (1 << 32)).tolist()
    copy = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], {BYTES};"
    run(f"{FILL} setp.lt.u32 %p3, %r30, 5; @%p3 {copy}", new, old, block=16, variables=SHARED)
    assert old.tolist() == wanted


@pytest.mark.parametrize("mask", [0xFFFF, 0x8001, 0x0FF0, 0])
def test_copies_of_chosen_bytes(mask: int) -> None:
    new, old = integers("u32", 5), integers("u32", 6)
    chosen = np.resize([mask >> i & 1 for i in range(16)], BYTES)
    wanted = np.where(chosen, new.view(np.uint8), old.view(np.uint8))
    copy = f"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [s], {BYTES}, %h1;"
    run(f"{FILL} mov.b16 %h1, {mask}; @%p1 {copy}", new, old, block=16, variables=SHARED)
    assert old.view(np.uint8).tolist() == wanted.tolist()


COPY = (
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [t], [%rd0], 256, [bar], %h1;"
)


def test_a_copy_to_the_ctas_of_a_cluster() -> None:
    new, old = integers("u32", 7), integers("u32", 8)
    begin = f"{FILL} mov.b16 %h1, 1; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;"
    run(f"{begin} @%p1 {COPY} {WAIT} {BACK}", new, old, block=16, variables=SHARED)
    assert old.tolist() == new.tolist()
    fault("out of bounds", f"{FILL} mov.b16 %h1, 3; @%p1 {COPY}", new, old, block=16, variables=SHARED)


@pytest.mark.parametrize("place", ["%rd5", ".shared::cta %rd4"])
def test_zeros_in_bulk(place: str) -> None:
    """A generic address, or one of shared memory."""
    space, _, register = place.rpartition(" ")
    old = integers("u32", 9)
    wanted = old.copy()
    wanted[2:22] = 0
    zero = f"mov.u64 %rd4, t+8; cvta.shared.u64 %rd5, %rd4; @%p1 st.bulk.weak{space} [{register}], 80, 0; bar.sync 0;"
    run(f"{FILL} {zero} {BACK}", integers("u32", 1), old, block=16, variables=SHARED)
    assert old.tolist() == wanted.tolist()
    fault("misaligned", f"{FILL} @%p1 st.bulk [t], 12, 0;", old, old.copy(), block=16, variables=SHARED)
    fault("out of bounds", f"{FILL} @%p1 st.bulk [%rd0], 16, 0;", old, old.copy(), block=16, variables=SHARED)


def test_discarded_lines_count_as_unwritten() -> None:
    store = "st.global.u32 [%rd0], 7; discard.global.L2 [%rd0], 128;"
    out = np.zeros(64, np.uint32)
    found = fault("uninitialised", f"{store} ld.global.u32 %r1, [%rd0+4]; st.global.u32 [%rd0+128], %r1;", out)
    assert "ld.global" in found.instruction
    run(f"{store} st.global.u32 [%rd0+4], 8; ld.global.u32 %r1, [%rd0+4]; st.global.u32 [%rd0+128], %r1;", out)
    assert out[32] == 8
    fault("misaligned", "discard.L2 [%rd0+64], 128;", out)


@pytest.mark.parametrize("addresses", ["[%rd0+64], [s]", "[%rd0], [s+16]"])
def test_tensor_maps_are_aligned_to_their_size(addresses: str) -> None:
    end = f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned {addresses}, 128;"
    found = fault("misaligned", end, np.zeros(64, np.uint32), block=32, variables=SHARED)
    assert "multiples of 128" in str(found)


def test_a_warp_copies_a_tensor_map() -> None:
    new, old = integers("u32", 10), integers("u32", 11)
    wanted = np.concatenate([new[:32], old[32:]])
    end = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [s], 128;"
    fill = FILL.replace("ld.global", "@%p4 ld.global").replace("st.shared.v2", "@%p4 st.shared.v2")
    run(f"mov.u32 %r1, %tid.x; setp.lt.u32 %p4, %r1, 16; {fill} {end}", new, old, block=32, variables=SHARED)
    assert old.tolist() == wanted.tolist()
