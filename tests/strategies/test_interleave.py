"""interleave: each CTA runs a CTA of one kernel; every CTA of every kernel runs once."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weaving.compared import lines, outputs, same
from weaving.shaped_kernels import HEAD, KERNELS, WORDS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.errors import TooLarge
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
WHERE = kernel("k", "mov.u32 %r30, %smid; add.u32 %r30, %r30, 1;" + stored(["%r30"]))


def fuse(*names: str, shapes: Sequence[Shape], **options: Any) -> Woven:
    return goptx.fuse(*(KERNELS.get(n, n) for n in names), strategy="interleave", shapes=shapes, **options)


def order(grids: Sequence[int], known: bool = True, **options: Any) -> str:
    """The kernels of the CTAs of the fused grid, in order. Each kernel writes the SM that runs its CTA, which on the
    emulator identifies the CTA of the fused kernel."""
    shapes = [Shape(n, 1) for n in grids]
    woven = fuse(*[WHERE] * len(grids), shapes=shapes if known else [Shape((None,), 1)] * len(grids), **options)
    outs = [outputs(s) for s in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs], shapes=shapes)
    places = {int(sm) - 1: chr(ord("A") + k) for k, out in enumerate(outs) for sm in out[::WORDS]}
    assert sorted(places) == list(range(sum(grids)))
    for out in outs:
        assert list(out[::WORDS]) == sorted(out[::WORDS])  # CTAs of one kernel stay in their order
    return "".join(places[i] for i in range(sum(grids)))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("grids", "options", "expected"),
    [
        ((4, 6), {}, "ABBABABBAB"),
        ((6, 4), {}, "ABABAABABA"),
        ((2, 6), {}, "ABBBABBB"),
        ((1, 1), {}, "AB"),
        ((2, 2, 4), {}, "ABCCABCC"),
        ((3, 4), {"placement": "front"}, "AAABBBB"),
        ((2, 1, 3), {"placement": "front"}, "AABCCC"),
        ((2, 6), {"ratio": (1, 3)}, "ABBBABBB"),
        ((4, 3), {"ratio": (1, 1)}, "ABABABA"),
        ((3, 7), {"ratio": (2, 1)}, "AABABBBBBB"),
        ((5, 2), {"ratio": (1, 3)}, "AAAAABB"),
        ((4, 5, 3), {"ratio": (1, 2, 1)}, "ABBCABBCAABC"),
    ],
)
def test_orders(grids: Sequence[int], options: dict[str, Any], expected: str, known: bool) -> None:
    assert order(grids, known, **options) == expected


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.data())
def test_every_cta_is_there_once(grids: list[int], data: st.DataObject) -> None:
    ratio = data.draw(st.none() | st.lists(st.integers(1, 5), min_size=len(grids), max_size=len(grids)))
    placement = "spread" if ratio else data.draw(st.sampled_from(["spread", "front"]))
    found = order(grids, data.draw(st.booleans()), placement=placement, ratio=ratio)
    if placement == "spread" and ratio is None:  # everywhere the first kernel has at most one CTA too many or too few
        for i in range(1, len(found) + 1):
            assert abs(found[:i].count("A") - i * grids[0] / len(found)) <= 1


def test_several_axes_and_blocks(assembles: Assembles) -> None:
    shapes = [Shape((3, 2), (8, 9)), Shape((2, 2, 2), (4, 3, 5)), Shape(7, 256)]
    names = ("registers", "tiled", "leaving")
    woven = fuse(*names, shapes=shapes, ratio=(2, 1, 1))
    assert woven.shape == Shape(21, 256, 4096) and "2:1:1 CTAs at a time" in woven.report.notes[0]
    same(names, shapes, woven)
    assembles(woven)


@pytest.mark.parametrize("blocks", [(64, 256), (256, 64), (32, 96), (1024, 512)], ids=lambda b: f"{b[0]}-{b[1]}")
def test_whole_warps_that_are_too_many(blocks: tuple[int, int]) -> None:
    shapes = [Shape(3, block) for block in blocks]
    same(("tiled", "leaving"), shapes, fuse("tiled", "leaving", shapes=shapes))


def test_kernels_stay_as_they_are() -> None:
    woven = fuse("tiled", "leaving", shapes=[Shape(4, 64), Shape(4, 256)])
    assert set(lines(woven, "bar.sync")) == {"bar.sync 0;"} and not lines(woven, "_run0")
    assert not lines(fuse("tiled", "tiled", shapes=[Shape(4, 64)] * 2), "setp.ge")  # no thread is surplus


def test_counted_barriers_keep_their_ids() -> None:
    sixteen = kernel("k", "".join(f"barrier.sync {i}, 64;" for i in range(16)))
    assert len(lines(fuse(sixteen, sixteen, shapes=[Shape(1, 64)] * 2), "barrier.sync")) == 32


def test_shared_memory_lies_in_one_place(assembles: Assembles) -> None:
    """A CTA has as much as the kernel that needs most, not as all of them together."""
    woven = fuse("tiled", "leaving", shapes=[Shape(4, 64), Shape(4, 256)])
    assert woven.shape is not None and woven.shape.shared == 4096
    large = kernel("k", "st.shared.u32 [all], %r1;", ".shared .align 4 .b8 all[40960];")
    assert fuse(large, large, shapes=[Shape(1, 32)] * 2).shape == Shape(2, 32, 40960)
    shapes = [Shape(4, 64, 4096), Shape(2, 96), Shape(3, 64, 5000)]
    mixed = fuse("dynamic", "tiled", "dynamic", shapes=shapes)
    assert mixed.shape == Shape(9, 96, 1024 + 5000)
    same(("dynamic", "tiled", "dynamic"), shapes, mixed)
    assembles(mixed)


def test_too_much_shared_memory() -> None:
    large = kernel("k", "st.shared.u32 [all], %r1;", ".shared .align 4 .b8 all[40960];")
    fuse(large, large, shapes=[Shape(1, 32, 180 * 1024)] * 2)
    with pytest.raises(InputError, match="need 266240 bytes of dynamic shared memory"):
        fuse(large, large, shapes=[Shape(1, 32, 220 * 1024), Shape(1, 32)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": (1,)}, r"ratio=\(1,\) takes a number of CTAs above 0 for each of the 2 kernels"),
        ({"ratio": (1, 0)}, r"ratio=\(1, 0\) takes a number of CTAs"),
        ({"ratio": (1, 1 << 40)}, "above 0 for each of the 2 kernels, at most 65536 together"),
        ({"ratio": (1, -2)}, "takes a number of CTAs above 0"),
        ({"ratio": (1, 2.5)}, "takes a number of CTAs above 0"),
        ({"ratio": "1:2"}, "ratio=1:2 takes a number of CTAs"),
        ({"ratio": 2}, "ratio=2 takes a number of CTAs"),
        ({"ratio": (1, 2), "placement": "front"}, r"and placement=\"front\" are two orders of the CTAs; give one"),
        ({"placement": "back"}, "placement `back` is unknown"),
        ({"shapes": None}, "strategy interleave needs the shape of each kernel"),
        ({"shapes": [Shape(1 << 30, 32)] * 2}, "interleaved grids have at most 2147483647 CTAs together; these have"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse("tiled", "leaving", **{"shapes": [Shape(4, 64), Shape(4, 40)], **options})


def test_grids_that_are_too_large_at_launch() -> None:
    woven = fuse("registers", "looping", shapes=[Shape((None,), 32)] * 2)
    with pytest.raises(TooLarge, match="interleaved grids have at most"):  # other strategies may take them
        woven.launched(None, None, shapes=[Shape(1 << 30, 32)] * 2)


def test_grids_that_are_too_large_to_be_folded() -> None:
    """Their CTAs are counted in 32 bits, so some of a larger grid would never run."""
    large = Shape((65536, 65535, 2), 32)
    message = r"grids of up to 2147483647 CTAs are folded; kernel A has 8589803520\. Leave out fold=, or use separate"
    with pytest.raises(TooLarge, match=message):
        fuse("registers", "looping", shapes=[large, Shape(4, 32)], fold="chunk", ctas=(3, 4))
    woven = fuse("registers", "looping", shapes=[Shape((None,) * 3, 32), Shape(4, 32)], fold="static", ctas=(3, 4))
    with pytest.raises(TooLarge, match=message):
        woven.launched(None, None, shapes=[large, Shape(4, 32)])


def test_clusters_are_refused() -> None:
    cluster = f"{HEAD}.visible .entry k() .reqnctapercluster 2 {{ ret; }}"
    with pytest.raises(
        CannotWeave, match=r"clusters of \(2,\) CTAs can be preserved only where all kernels have the same grid"
    ):
        fuse(cluster, cluster, shapes=[Shape(4, 32)] * 2)
