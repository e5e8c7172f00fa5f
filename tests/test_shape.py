"""goptx.Shape: valid and invalid arguments, and its text."""

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from goptx import InputError, Shape
from goptx.launch.shape import Limit, tightest


def test_extents_of_one_to_three_axes() -> None:
    assert Shape(4, 256) == Shape((4,), [256]) == Shape((4, 1, 1), (256, 1), 0)
    of_numpy: Any = np.int64(4), np.array([256])
    assert Shape(*of_numpy) == Shape(4, 256)
    assert Shape((2, 1, 3), (16, 16)).grid == (2, 1, 3)
    assert Shape((2, 1, 3), (16, 16)).axes("block") == (16, 16, 1)
    assert (Shape((2, 3), (4, 5)).ctas, Shape((2, 3), (4, 5)).threads) == (6, 20)


def test_sizes_known_at_launch_only() -> None:
    unknown = Shape(None, (None, 4), None)
    assert unknown == Shape((None, None, None), (None, 4, 1), None)
    assert (unknown.ctas, unknown.threads, unknown.shared, unknown.known) == (None, None, None, False)
    assert not Shape(4, 256, None).known and not Shape(None, 256).known and Shape(4, 256, 8).known
    with pytest.raises(InputError, match=r"the block of a launch in the shape \?x\?x\?:\?x4:\? is not known"):
        unknown.sizes("block")


def test_it_is_a_value() -> None:
    shape = Shape(4, (8, 8), 100, cluster=2)
    assert pickle.loads(pickle.dumps(shape)) == shape and len({shape, Shape(4, (8, 8), 100, 2)}) == 1
    with pytest.raises(FrozenInstanceError):
        shape.shared = 3  # type: ignore[misc]


@pytest.mark.parametrize("text", ["1024:256", "33x7:16x16:4096", "?:256", "?x7:?", "?x?x?:?x?x?:?", "1x1x5:2x1x2:227"])
def test_it_is_written_as_it_is_read(text: str) -> None:
    assert str(Shape.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "4", "4:", ":4", "4:4:4:4", "4x:4", "4x4x4x4:4", "-1:4", "a:b", "4:4:1x1", "0x4:4"]
)
def test_invalid_text(text: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read; write GRID:BLOCK|is not an extent"):
        Shape.parse(text)


LONG = (1 << 31) - 1


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 1), "grid=0 is not an extent; give one to three numbers above 0"),
        ((1, (1, -1)), r"block=\(1, -1\) is not an extent"),
        (((), 1), r"grid=\(\) is not an extent"),
        (((1, 1, 1, 1), 1), "is not an extent"),
        ((1.0, 1), "grid=1.0 is not an extent"),
        ((True, 1), "grid=True is not an extent"),
        (("4", 1), "grid=4 is not an extent"),
        ((np.array(3), 1), "grid=3 is not an extent"),
        ((LONG + 1, 1), "is more than .* the most that a launch has"),
        (((1, 65536), 1), r"grid=\(1, 65536\) is more than"),
        ((1, 1025), "block=1025 has 1025 threads; a CTA has at most 1024"),
        ((1, (33, 32)), "has 1056 threads"),
        ((1, (1, 1, 65)), "is more than"),
        ((1, (None, 33, 32)), "has 1056 threads"),
        ((1, 1, -1), "shared=-1 is not a number of bytes from 0 to 232448"),
        ((1, 1, 1.5), "shared=1.5 is not a number"),
        ((1, 1, 228 * 1024), "shared=233472 is not a number"),
        ((1, 1, 0, (None,)), "is not a cluster of at most 16"),
        ((34, 1, 0, 17), "cluster=17 is more than"),
        ((32, 1, 0, (8, 4)), "is not a cluster of at most 16"),
        ((7, 1, 0, 2), "is not a multiple of cluster"),
    ],
)
def test_launches_that_no_gpu_accepts(sizes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Shape(*sizes)


def test_the_largest_that_there_are() -> None:
    Shape((LONG, 65535, 65535), (1024, 1, 1), 227 * 1024)
    Shape((None, 4), (16, 1, 64), None, (1, 4))


def test_limits_are_of_products_of_sizes() -> None:
    threads = Limit(("%ntid.x", "%nctaid.x"), 1 << 16)
    assert str(threads) == "blockDim.x*gridDim.x <= 65536"
    assert threads.admits(Shape(256, 256)) and not threads.admits(Shape(257, 256))
    assert Limit(("%ntid.z",), 1).admits(Shape(4, (8, 8))) and not Limit(("%ntid.z",), 1).admits(Shape(4, (8, 8, 2)))
    looser, never = Limit(("%ntid.x", "%nctaid.x"), 1 << 20), Limit(("%ntid.x",), 1024)
    assert tightest([looser, threads, never]) == (threads,)
