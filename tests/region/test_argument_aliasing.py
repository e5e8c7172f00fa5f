"""Which pointers of a region have bytes in common, and that repeated regions are not analysed again."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from region.emulated import Device, Stream

import goptx
from goptx.launch.device_arrays import Extent, contiguous, raw
from goptx.launch.independence import PAGE
from goptx.region import argument_aliasing, completion
from goptx.region.argument_aliasing import Aliasing

COPY = """
.version 8.0 .target sm_80 .address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) { .reg .b32 %r<3>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2; ret; }
"""
NEAR = st.integers(PAGE - 4, PAGE + 24)
EXTENTS = st.one_of(
    st.builds(contiguous, NEAR, st.integers(0, 9)),
    st.builds(raw, NEAR | st.just(0)),
    st.builds(lambda start, before, size: (start, start - before, start + size), NEAR, st.integers(0, 5), st.just(4)),
)


def bytes_of(extent: Extent) -> set[int]:
    address, start, end = extent
    if not end:  # without elements, or null
        return set()
    if start != end:
        return set(range(start, end))
    return {address} if address >= PAGE else set()


@given(st.lists(EXTENTS, max_size=9))
def test_pairs_that_overlap_are_those_with_bytes_in_common(extents: list[Extent]) -> None:
    pointers = [argument_aliasing._Pointer((0, i), "both", extent) for i, extent in enumerate(extents)]
    expected = [pair for pair in combinations(pointers, 2) if bytes_of(pair[0].extent) & bytes_of(pair[1].extent)]
    assert argument_aliasing._overlapping(pointers) == expected


def test_a_region_with_the_same_arrays_is_not_analysed_again(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of arrays that no framework is known to have, which may be others each time."""
    analysed: list[Aliasing] = []

    def counting(*args: Any) -> Aliasing:
        analysed.append(argument_aliasing.aliasing_of(*args))
        return analysed[-1]

    monkeypatch.setattr(completion, "aliasing_of", counting)
    x, y, z, t = (device.random(32) for _ in range(4))

    def region(last: object) -> None:
        with goptx.fusion(Stream()) as f:
            f.launch(COPY, 1, 32, x, y)
            f.launch(COPY, 1, 32, z, last)

    region(t)
    region(t)
    assert len(analysed) == 1
    region(y)  # both write it
    assert len(analysed) == 2 and (y.host == z.host).all()
