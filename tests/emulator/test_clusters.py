"""Instructions of clusters, where a cluster is one CTA: addresses in other CTAs, asynchronous stores and reductions."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

SHARED = ".shared .align 16 .b8 s[1024]; .shared .align 8 .b64 bar[2];"
BEGIN = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd31, %rd0, %rd30; mov.u32 %r31, s;
    mad.lo.u32 %r31, %r30, 4, %r31; setp.eq.u32 %p1, %r30, 0; st.shared.u32 [%r31], 0;
    @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;"""
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;"
ASYNC = "async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"


def test_addresses_in_the_only_cta_of_a_cluster() -> None:
    """`mapa` gives the address itself; accesses, atomics and mbarrier objects of the cluster are the CTA's."""
    body = f"""{BEGIN}
        mapa.shared::cluster.u32 %r1, %r31, 0; mov.u32 %r2, %cluster_ctarank; mapa.shared::cluster.u32 %r2, %r31, %r2;
        mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, 0; getctarank.u64 %r3, %rd3;
        getctarank.shared::cluster.u32 %r4, %r31; add.u64 %rd3, %rd3, %rd30;
        st.shared::cluster.u32 [%r1], %r30; ld.shared::cluster.u32 %r5, [%r2]; ld.u32 %r6, [%rd3];
        atom.shared::cluster.add.u32 %r7, [%r1], 100; red.shared::cluster.add.u32 [%r2], 1000;
        ld.shared.u32 %r8, [%r31]; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8;
        add.u32 %r5, %r5, %r3; add.u32 %r5, %r5, %r4; st.global.u32 [%rd31], %r5;
    """
    out = np.zeros(64, np.uint32)
    run(body, out, block=64, variables=SHARED)
    assert out.tolist() == [4 * i + 1100 for i in range(64)]


def test_a_cta_that_the_cluster_does_not_have() -> None:
    found = fault("out of bounds", "mapa.shared::cluster.u32 %r1, s, 3;", variables=SHARED)
    assert "none of rank 3" in str(found)


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_asynchronous_stores(seed: int, races: bool) -> None:
    """Each thread stores a pair for the one that comes 32 later; all wait for all bytes."""
    body = f"""{BEGIN} @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
        add.u32 %r1, %r30, 32; and.b32 %r1, %r1, 63; mov.u32 %r2, s; mad.lo.u32 %r1, %r1, 8, %r2;
        mul.lo.u32 %r3, %r30, 3; bar.sync 0;
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r1], {{%r30, %r3}}, [bar];
        {WAIT} mad.lo.u32 %r4, %r30, 8, %r2; ld.shared.v2.u32 {{%r5, %r6}}, [%r4]; mad.lo.u32 %r5, %r6, 1000, %r5;
        st.global.u32 [%rd31], %r5;"""
    out = np.zeros(64, np.uint32)
    run(body, out, block=64, variables=SHARED, seed=seed, races=races)
    assert out.tolist() == [(i + 32) % 64 * 3001 for i in range(64)]


def test_reading_before_the_stores_have_arrived() -> None:
    body = f"""{BEGIN} @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], %r30, [bar]; bar.sync 0;
        ld.shared.u32 %r1, [s]; st.global.u32 [%rd31], %r1;"""
    found = fault("uninitialised", body, np.zeros(32, np.uint32), block=32, variables=SHARED)
    assert "ld.shared" in found.instruction


@pytest.mark.parametrize(
    ("operation", "type_", "start"),
    [("add", "u32", 7), ("min", "s32", 5), ("max", "u32", 5), ("and", "b32", 63), ("xor", "b32", 1), ("inc", "u32", 3),
     ("dec", "u32", 2)],
)  # fmt: skip
def test_asynchronous_reductions(operation: str, type_: str, start: int) -> None:
    values = [(i * 37 + 11) % 61 for i in range(64)]
    wanted = start
    for value in values:
        wanted = {
            "add": wanted + value,
            "min": min(wanted, value),
            "max": max(wanted, value),
            "and": wanted & value,
            "xor": wanted ^ value,
            "inc": 0 if wanted >= value else wanted + 1,
            "dec": value if wanted == 0 or wanted > value else wanted - 1,
        }[operation]
    body = f"""{BEGIN} @%p1 st.shared.u32 [s], {start}; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
        add.u64 %rd2, %rd1, %rd30; ld.global.u32 %r1, [%rd2]; bar.sync 0;
        red.{ASYNC}.{operation}.{type_} [s], %r1, [bar]; {WAIT} ld.shared.u32 %r2, [s]; st.global.u32 [%rd31], %r2;"""
    out = np.zeros(64, np.uint32)
    run(body, out, np.array(values, np.uint32), block=64, variables=SHARED)
    assert out.tolist() == [wanted] * 64


def test_asynchronous_operations_on_global_memory() -> None:
    body = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd31, %rd0, %rd30; add.u32 %r1, %r30, 5;
        st.async.release.gpu.global.u32 [%rd31], %r1; red.async.mmio.release.sys.global.add.u32 [%rd31], %r1;"""
    out = np.zeros(32, np.uint32)
    run(body, out, block=32)
    assert out.tolist() == [2 * (i + 5) for i in range(32)]


EXCHANGE = """mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd31, %rd0, %rd30; mov.u32 %r31, s;
    mad.lo.u32 %r1, %r30, 4, %r31; xor.b32 %r2, %r30, 77; mad.lo.u32 %r2, %r2, 4, %r31; mov.u32 %r5, %r30;"""


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("arrive", "wait"), [("", ""), (".release", ".acquire"), (".release.aligned", ".acquire.aligned")]
)
def test_barriers_of_a_cluster(arrive: str, wait: str, seed: int, races: bool) -> None:
    """Three phases of an exchange with another warp; between arrival and wait there is other work."""
    both = f"barrier.cluster.arrive{arrive}; add.u32 %r5, %r5, 1; barrier.cluster.wait{wait};"
    phase = f"st.shared.u32 [%r1], %r5; {both} ld.shared.u32 %r3, [%r2]; {both} mad.lo.u32 %r5, %r5, 3, %r3;"
    out = np.zeros(128, np.uint32)
    run(f"{EXCHANGE} {phase * 3} st.global.u32 [%rd31], %r5;", out, block=128, variables=SHARED, seed=seed, races=races)
    values = list(range(128))
    for _ in range(3):
        values = [(v + 2) * 3 + values[i ^ 77] for i, v in enumerate(values)]
    assert out.tolist() == values


def test_a_relaxed_arrival_orders_nothing() -> None:
    both = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;"
    body = f"{EXCHANGE} st.shared.u32 [%r1], %r5; {both} ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd31], %r3;"
    fault("race", body, np.zeros(128, np.uint32), block=128, variables=SHARED, races=True)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("relation", ["lt", "ge"])
@pytest.mark.parametrize("barrier", ["", "bar.sync 0;"])  # with and without a CTA-wide barrier before
def test_threads_that_end_are_not_waited_for(barrier: str, relation: str, seed: int) -> None:
    body = f"""{EXCHANGE} {barrier} setp.{relation}.u32 %p1, %r30, 40; @%p1 bra GO; exit;
        GO: barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd31], 7;"""
    out = np.zeros(64, np.uint32)
    run(body, out, block=64, variables=SHARED, seed=seed)
    first, second = (7, 0) if relation == "lt" else (0, 7)
    assert out.tolist() == [first] * 40 + [second] * 24


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("barrier count", "barrier.cluster.wait;"),
        ("barrier count", "barrier.cluster.arrive; barrier.cluster.arrive;"),
        ("deadlock", "setp.lt.u32 %p1, %r30, 32; @%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait; bar.sync 0;"),
    ],
)
def test_barriers_of_a_cluster_that_go_wrong(kind: str, lines: str) -> None:
    fault(kind, f"{EXCHANGE} {lines}", np.zeros(64, np.uint32), block=64, variables=SHARED)
