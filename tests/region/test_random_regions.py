"""Random regions leave in memory what the launches leave one after the other."""

import logging
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from random_kernels.chains import GUARDS, INDICES, LENGTH, OWN, some_kernel
from region.emulated import Array, Device, Stream
from strategies.dependent_kernels import elementwise, strided

import goptx
from goptx.options import Strategy

REGIONS = 50
CTAS = 2
OPERATIONS = ("add.f32", "sub.f32", "mul.f32")


def kernel_of(chance: random.Random) -> tuple[str, bool]:
    """A kernel, and whether it is right in place too: each thread accesses only its own elements."""
    if chance.random() < 0.5:
        guard = GUARDS[chance.choice(["n", "none"])]
        return elementwise(chance.choice(OPERATIONS), guard=guard), True
    return some_kernel(chance), False


def some_arguments(chance: random.Random, pool: list[Array], in_place: bool) -> tuple[Array, Array, Array]:
    x, y = (chance.choice(pool) for _ in range(2))
    out = chance.choice(pool)
    while any(meet(out, other) and not (in_place and out is other) for other in (x, y)):
        out = chance.choice(pool)
    return x, y, out


def meet(one: Array, other: Array) -> bool:
    return bool(np.may_share_memory(one.host, other.host))


def some_region(chance: random.Random, device: Device) -> tuple[goptx.Fusion, list[Any], list[Array]]:
    """A region, its launches, and the arrays that are declared temporaries."""
    pool = [*device.arrays, device.arrays[0][1:]] if chance.random() < 0.3 else list(device.arrays)
    launches = []
    block, n = 32 * chance.choice([1, 2]), chance.choice([7, 59, 64])
    for _ in range(chance.choice([2, 2, 3, 4])):
        source, in_place = kernel_of(chance)
        given = some_arguments(chance, pool, in_place)
        bound = n if chance.random() < 0.9 else chance.choice([7, 59, 64])
        launches.append((source, CTAS, block, *given, bound))
    written = [launch[5] for launch in launches[:-1]]
    temporaries = {kind: [a for a in written if chance.random() < 0.15] for kind in ("private", "local")}
    temporaries["local"] = [a for a in temporaries["local"] if not any(meet(a, b) for b in temporaries["private"])]
    strategy: Strategy = chance.choice(["auto", "auto", "vertical"])
    with goptx.fusion(Stream(), strategy=strategy) as f:
        for launch in launches:
            f.launch(*launch)
        for kind, arrays in temporaries.items():
            getattr(f, kind)(*arrays)
    return f, launches, [a for arrays in temporaries.values() for a in arrays]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_regions(seed: int, device: Device, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    chance, became = random.Random(seed), Counter[str]()
    for _ in range(6):
        device.random(LENGTH)
    for _ in range(REGIONS):
        device.refill()
        before = device.contents()
        f, launches, temporaries = some_region(chance, device)
        found = device.contents()
        device.restore(before)
        for source, *launch in launches:
            device.alone(source, *launch)
        for array, alone, together in zip(device.arrays, device.contents(), found, strict=True):
            assert alone == together or any(meet(array, t) for t in temporaries), (launches, f.report)
        assert f.report
        became[f.report.strategy] += 1
    assert became["weave"] >= 2 and min(became["vertical"], became["separate"]) >= 10, became


# Several temporaries, of which some are not proved ---------------------------------------------------------

OWN_GUARDS = {
    **GUARDS,
    "CTA": "setp.ge.s32 %p1, %r1, 1; @%p1 bra DONE;",
    "lower half of the CTA": "shr.u32 %r18, %r2, 1; setp.ge.s32 %p1, %r3, %r18; @%p1 bra DONE;",
}
CHAINS = 30
READ = [OWN, OWN, OWN, OWN, "opposite", "neighbour"]


def handing_on(chance: random.Random, guard: str) -> str:
    """A kernel, mostly with one guard, so that the next kernel often reads what it wrote."""
    operation = chance.choice(OPERATIONS)
    if chance.random() < 0.1:
        return strided(operation)
    mine = OWN_GUARDS[guard if chance.random() < 0.8 else chance.choice(list(OWN_GUARDS))]
    before = INDICES[chance.choice(READ)].format("%r10")
    return elementwise(operation, guard=mine, before=before, read="%r10")


def chained_launches(chance: random.Random, device: Device) -> list[Any]:
    """Launches that each read what the one before has written, and something older."""
    block, n = 32 * chance.choice([1, 2]), chance.choice([7, 40, 59, 64])
    guard = chance.choice(list(OWN_GUARDS))
    launches: list[Any] = []
    for k in range(chance.choice([3, 4, 5])):
        older = chance.choice([device.arrays[0], *device.arrays[1 : k + 1]])
        source = handing_on(chance, guard)
        launches.append((source, CTAS, block, device.arrays[k], older, device.arrays[k + 1], n))
    return launches


def declared_region(chance: random.Random, launches: list[Any]) -> goptx.Fusion:
    kinds = [chance.choice(["private", "private", "local", "local", ""]) for _ in launches[1:]]
    strategy: Strategy = chance.choice(["auto", "vertical"])
    with goptx.fusion(Stream(), strategy=strategy) as f:
        for launch in launches:
            f.launch(*launch)
        for kind, launch in zip(kinds, launches, strict=False):
            if kind:
                getattr(f, kind)(launch[5])
    return f


def undefined(f: goptx.Fusion, launches: list[Any]) -> list[Array]:
    """The arrays of temporaries that are not in memory."""
    assert f.report
    first = [t.parameters[0].partition(" ")[0].split(":") for t in f.report.temporaries if t.internalised]
    return [launches[ord(letter) - ord("A")][3 + int(number)] for letter, number in first]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_regions_with_several_temporaries(seed: int, device: Device, caplog: pytest.LogCaptureFixture) -> None:
    """Internalised buffers are undefined afterwards; all others, also refused temporaries, are as without fusion."""
    caplog.set_level(logging.CRITICAL)
    chance, became, mixed = random.Random(f"temporaries {seed}"), Counter[str](), 0
    for _ in range(6):
        device.random(LENGTH)
    for _ in range(CHAINS):
        device.refill()
        before = device.contents()
        launches = chained_launches(chance, device)
        f = declared_region(chance, launches)
        found = device.contents()
        device.restore(before)
        for source, *launch in launches:
            device.alone(source, *launch)
        gone = undefined(f, launches)
        for array, alone, together in zip(device.arrays, device.contents(), found, strict=True):
            assert alone == together or any(array is t for t in gone), (launches, f.report)
        assert f.report
        where = Counter(t.where for t in f.report.temporaries)
        became += where
        mixed += f.report.strategy == "vertical" and bool(where["memory"]) and len(where) > 1
    assert mixed >= 2 and min(became.values()) >= 4 and len(became) == 3, (mixed, became)
