"""The bounds of registers, with known and unknown launch sizes."""

import pytest
from bodies import flow

from goptx.analysis.values.ranges import Range, Ranges
from goptx.launch.shape import Axes
from goptx.ptx.ir import Name

UNKNOWN = (None, None, None)


def of(body: str, grid: Axes = UNKNOWN, block: Axes = UNKNOWN) -> tuple[int, int] | None:
    """The bounds of %r9 after the body."""
    found = Ranges(list(flow(f"{body} ret;").instructions()), (), {}, grid, block).of(Name("%r9"))
    return (found.low, found.high) if found else None


@pytest.mark.parametrize(
    ("register", "bounds"),
    [
        ("%ntid.x", (1, 1024)), ("%ntid.y", (1, 1024)), ("%ntid.z", (1, 64)),
        ("%nctaid.x", (1, (1 << 31) - 1)), ("%nctaid.y", (1, 65535)), ("%nctaid.z", (1, 65535)),
        ("%tid.x", (0, 1023)), ("%tid.z", (0, 63)), ("%ctaid.x", (0, (1 << 31) - 2)), ("%ctaid.y", (0, 65534)),
        ("%laneid", (0, 31)), ("%nwarpid", None), ("%dynamic_smem_size", None), ("%clusterid.x", None),
    ],
)  # fmt: skip
def test_an_unknown_size_is_a_range(register: str, bounds: tuple[int, int] | None) -> None:
    assert of(f"mov.u32 %r9, {register};") == bounds


def test_a_known_size_is_a_number() -> None:
    body = "mov.u32 %r1, %ntid.x; shr.u32 %r2, %r1, 6; min.u32 %r9, %r2, 5;"
    assert of(body) == (0, 5)
    assert of(body, block=(128, 1, 1)) == (2, 2)
    assert of(body, block=(128, None, None)) == (2, 2)
    assert of(body, block=(None, 4, 1)) == (0, 5)
    assert of("mov.u32 %r1, %nctaid.y; add.u32 %r9, %r1, 2;", grid=(None, 7, None)) == (9, 9)
    assert of("mov.u32 %r1, %tid.z; shr.u32 %r9, %r1, 6;") == (0, 0)


def test_a_range_of_one_number_is_that_number() -> None:
    assert Range(3, 3).number == 3
    assert Range(3, 4).number is None
    assert Range(3, 3, "table").number is None
