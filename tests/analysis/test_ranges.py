"""The bounds of registers, with known and unknown launch sizes."""

import random
from collections.abc import Callable

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


def test_bits_that_are_never_set_are_known() -> None:
    """As Triton computes rows and columns of a tile."""
    body = "mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r1, 5; mov.u32 %r3, %tid.x; bfe.u32 %r4, %r3, 4, 3; "
    shape: dict[str, Axes] = {"grid": (7, 1, 1), "block": (128, 1, 1)}
    assert of(body + "mov.u32 %r9, %r4;", **shape) == (0, 7)
    assert of(body + "or.b32 %r9, %r4, %r2;", **shape) == (0, 6 * 32 + 7)
    assert of(body + "or.b32 %r5, %r4, %r2; or.b32 %r9, %r5, 24;", **shape) == (24, 6 * 32 + 31)
    assert of(body + "or.b32 %r9, %r3, %r2;", **shape) == (0, 255)  # bits 5 and 6 of both
    assert of("bfe.u32 %r9, %r8, 4, 3;") == (0, 7)
    assert of("bfe.s32 %r9, %r8, 4, 3;") is None


def test_a_remainder_that_is_written_as_a_difference() -> None:
    shape: dict[str, Axes] = {"grid": (512, 1, 1)}
    body = "mov.u32 %r1, %ctaid.x; div.s32 %r2, %r1, 24; mul.lo.s32 %r3, {}, {}; sub.s32 %r9, %r1, %r3;"
    assert of(body.format("%r2", "24"), **shape) == (0, 23)
    assert of(body.format("24", "%r2"), **shape) == (0, 23)
    changed = body.format("%r2", "24").replace("mul", "add.u32 %r1, %r1, %r8; mul").replace("s32", "u32")
    assert of(changed, **shape) is None
    assert of(body.format("%r2", "25"), **shape) == (-525, 511)
    assert of(body.format("%r2", "24").replace("sub.s32 %r9, %r1", "sub.s32 %r9, %r2"), **shape) == (-504, 21)


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b, "mul.lo.u32": lambda a, b: a * b, "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b, "xor.b32": lambda a, b: a ^ b, "shl.b32": lambda a, b: a << b % 8,
    "shr.u32": lambda a, b: a >> b % 8, "min.u32": min, "max.u32": max,
    "bfe.u32": lambda a, b: a >> b % 8 & (1 << b // 8) - 1,
}  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_no_thread_computes_what_is_out_of_range(seed: int) -> None:
    chance = random.Random(seed)
    threads = [(tid, ctaid) for tid in range(96) for ctaid in range(5)]
    values = [[tid for tid, _ in threads], [ctaid for _, ctaid in threads]]
    lines = ["mov.u32 %r0, %tid.x;", "mov.u32 %r1, %ctaid.x;"]
    for number in range(2, 12):
        opcode = chance.choice(list(OPERATIONS))
        first, constant = chance.randrange(number), chance.randrange(64)
        if opcode in ("shl.b32", "shr.u32", "bfe.u32"):
            second, other = str(constant % 8), [constant] * len(threads)
            second += f", {constant // 8}" * (opcode == "bfe.u32")
        elif chance.random() < 0.4:
            second, other = str(constant), [constant] * len(threads)
        else:
            place = chance.randrange(number)
            second, other = f"%r{place}", values[place]
        lines.append(f"{opcode} %r{number}, %r{first}, {second};")
        values.append([OPERATIONS[opcode](a, b) for a, b in zip(values[first], other, strict=True)])
    code = list(flow(" ".join(lines) + " ret;").instructions())
    ranges = Ranges(code, (), {}, (5, 1, 1), (96, 1, 1))
    known = 0
    for number, computed in enumerate(values):
        found = ranges.of(Name(f"%r{number}"))
        if found is None or max(computed) >= 1 << 32:
            continue
        known += 1
        assert found.low <= min(computed) and max(computed) <= found.high
        assert all(value & ~found.mask == 0 for value in computed)
    assert known > 2
