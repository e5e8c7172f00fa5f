"""Atomics on floats: sums in the order of the threads, extremes, and which space preserves subnormal numbers."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import run

DTYPES = {"b16": "u2", "f16": "f2", "f16x2": "f2", "bf16": "u2", "bf16x2": "u2", "f32": "f4", "f64": "f8", "b128": "u8"}


def bfloat(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat(value: np.float32) -> int:
    """Rounded to nearest, ties to even; no NaNs come here."""
    bits = int(np.float32(value).view(np.uint32))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def add_each(cell: np.ndarray, values: np.ndarray, type_: str) -> np.ndarray:
    cell = cell.copy()
    for value in values:
        if type_.startswith("bf16"):
            cell[:] = [
                to_bfloat(bfloat(np.array([c]))[0] + bfloat(np.array([v]))[0]) for c, v in zip(cell, value, strict=True)
            ]
        else:
            cell += value
    return cell


FLOATS = [
    ("add.f32", 1, "f"), ("add.f64", 1, "d"), ("add.noftz.f16", 1, "h"), ("add.noftz.bf16", 1, "h"),
    ("add.noftz.f16x2", 2, "r1"), ("add.noftz.bf16x2", 2, "r1"), ("v2.f32.add", 2, "f"), ("add.v4.f32", 4, "f"),
    ("v2.f16.add.noftz", 2, "h"), ("add.noftz.v8.bf16", 8, "h"), ("v4.f16x2.add.noftz", 8, "r1"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "count", "register"), FLOATS)
@pytest.mark.parametrize("atom", ["atom", "red"])
def test_floats_are_added_in_the_order_of_threads(form: str, count: int, register: str, atom: str) -> None:
    """Rounding makes the result depend on the order."""
    type_ = next(w for w in form.split(".") if w in DTYPES)
    source, dtype = np.random.default_rng(7), np.dtype(DTYPES[type_])
    values = (source.normal(size=(40, count)) * 10.0 ** source.integers(-2, 3, (40, count))).astype(np.float32)
    given = (
        np.array([[to_bfloat(v) for v in row] for row in values], dtype)
        if type_.startswith("bf16")
        else values.astype(dtype)
    )
    cell = given[0].copy()
    want = add_each(cell, given, type_)
    size = dtype.itemsize * count
    width = dtype.itemsize * (16 if type_.endswith("x2") else 8)
    registers = [f"%{register}{i}" for i in range(1, 1 + size * 8 // width)]
    loads = "".join(f"ld.global.b{width} {r}, [%rd10+{i * width // 8}];" for i, r in enumerate(registers))
    named = registers[0] if len(registers) == 1 else f"{{{', '.join(registers)}}}"
    target = "" if atom == "red" else "_," if len(registers) == 1 else f"{named},"
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, {size}; add.u64 %rd10, %rd10, %rd1; {loads}
        {atom}.global.{form} {target} [%rd0], {named};"""
    run(body, cell, given, block=40)
    assert cell.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("operation", "values", "want"), [("max", [1.5, np.nan, -2, 3], 3.0), ("min", [1.5, np.nan, -2, 3], -2.0)]
)
def test_extremes_of_halves(operation: str, values: list[float], want: float) -> None:
    cell, given = np.array([0.5, 0.5], np.float16), np.array([[v, 0] for v in values], np.float16)
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, 4; add.u64 %rd10, %rd10, %rd1;
        ld.global.v2.b16 {{%h1, %h2}}, [%rd10];
        red.global.v2.f16.{operation}.noftz [%rd0], {{%h1, %h2}};"""
    run(body, cell, given, block=4)
    assert cell.tolist() == [want, {"max": 0.5, "min": 0.0}[operation]]


@pytest.mark.parametrize("place", ["%rd0", "s", "generic"])
def test_subnormal_sums_are_preserved_in_shared_memory_only(place: str) -> None:
    out = np.array([1e-40], np.float32)
    use = {
        "%rd0": "atom.global.add.f32 %f1, [%rd0], %f2;",
        "s": "atom.shared.add.f32 %f1, [s], %f2; ld.shared.f32 %f3, [s]; st.global.f32 [%rd0], %f3;",
        "generic": """mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; atom.add.f32 %f1, [%rd1], %f2; ld.f32 %f3, [%rd1];
            st.global.f32 [%rd0], %f3;""",
    }[place]
    run(f"ld.global.f32 %f2, [%rd0]; st.shared.f32 [s], %f2; {use}", out, variables=".shared .f32 s;")
    assert out[0] == (0 if place == "%rd0" else np.float32(1e-40) + np.float32(1e-40))


def test_results_that_are_operands_of_later_elements() -> None:
    """All operands are read before any result is written."""
    body = """mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
        atom.global.v2.f32.add {%f2, %f1}, [%rd0], {%f1, %f2}; st.global.v2.f32 [%rd1], {%f2, %f1};"""
    sums, olds = np.array([10, 20], np.float32), np.zeros(2, np.float32)
    run(body, sums, olds)
    assert (sums.tolist(), olds.tolist()) == ([11, 22], [10, 20])
