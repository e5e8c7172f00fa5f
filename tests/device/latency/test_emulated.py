"""The microbenchmarks on the emulator: they run without faults, and chains hold the expected values."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.device.latency.microbenchmark_process import pointers
from goptx.device.latency.row import Row
from goptx.device.latency.rows import ROWS
from goptx.device.latency.text import LATENCY, LEAD, entry_name, kinds, module_text, operand_bytes, stored, width
from goptx.errors import EmulationFault

ROUNDS = 2
ROOM = 1 << 16
LACKING = {  # what the emulator does not have; and where constants are on a device
    **dict.fromkeys(
        """discard applypriority barrier.cluster mapa.u32 getctarank.u32 griddepcontrol.wait
        griddepcontrol.launch_dependents elect""".split(),
        "unsupported",
    ),
    "ld.const": "out of bounds",
}
BASE = """
.version 8.4
.target sm_90
.address_size 64
.visible .entry base(.param .u64 to, .param .u64 from, .param .u64 memory)
{
    .reg .b64 %to, %memory;
    ld.param.u64 %to, [to];
    ld.param.u64 %memory, [memory];
    st.global.u64 [%to], %memory;
    ret;
}
"""


def emulated(row: Row, kind: str) -> np.ndarray:
    """The final registers of all chains, 8 bytes each."""
    output = np.zeros(16 * ROUNDS + 8 * stored(row, kind), np.uint8)
    operands = np.frombuffer(operand_bytes(row, kind), np.uint8).copy()
    memory = np.zeros(ROOM, np.uint8)
    if row.ring:
        goptx.emulate(BASE, 1, 1, [output, operands, memory])
        content = pointers(replace(row.ring, span=ROOM), int(output[:8].view(np.uint64)[0])).reshape(-1)
        memory[:] = content.view(np.uint8)
    args = [output, operands, memory, np.uint32(ROUNDS), bytes(64)]
    goptx.emulate(module_text([row], "sm_90"), 1, row.threads, args, entry=entry_name(row, kind), max_steps=200_000)
    return output[16 * ROUNDS :].view(np.uint64)


def shortened(row: Row) -> Row:
    """A row that does not walk through memory may run for a shorter time."""
    walks = "$offset" in row.operands + row.before or "$k" in row.operands or "$id" in row.operands or row.timed
    return row if walks else replace(row, short=1, long=2, chains=min(row.chains, 3))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_a_row_runs_without_a_fault(row: Row) -> None:
    small = replace(row, ring=row.ring and replace(row.ring, span=ROOM))
    for kind in kinds(row):
        try:
            emulated(shortened(small), kind)
        except EmulationFault as fault:
            if fault.kind != LACKING.get(row.key):
                raise
            pytest.skip(str(fault))


def _fma(x: np.float32, a: np.float32, b: np.float32) -> np.float32:
    return np.float32(np.float64(x) * np.float64(a) + np.float64(b))  # rounded twice: never felt with these numbers


STEPS: dict[str, Callable[..., Any]] = {
    "add.s32": lambda x, a, b: x + a,
    "mul.s32": lambda x, a, b: x * a,
    "mad.s32": lambda x, a, b: x * a + b,
    "xor.b32": lambda x, a, b: x ^ a,
    "max.u32": lambda x, a, b: max(x, a),
    "add.s64": lambda x, a, b: (x + a) ^ b,
    "add.f32": lambda x, a, b: x + a,
    "mul.f64": lambda x, a, b: x * a,
    "fma.f32": _fma,
    "popc.b32": lambda x, a, b: x.bit_count(),
    "shfl": lambda x, a, b: x,
    "setp.u32": lambda x, a, b: b if x < a else x,
    "div.u32": lambda x, a, b: a // x,
}
FORMATS: dict[str, tuple[str, Callable[[Any], Any]]] = {"f32": ("<f4", np.float32), "f64": ("<f8", np.float64)}


@pytest.mark.parametrize("key", STEPS)
def test_a_chain_holds_the_expected_value(key: str) -> None:
    short, long = 3, 8
    row = replace(next(row for row in ROWS if row.key == key), chains=0, short=short, long=long)
    form, number = FORMATS.get(row.type, (f"<u{width(row.type) // 8}", int))
    a, b, x = (number(word[: width(row.type) // 8].view(form)[0]) for word in words(operand_bytes(row, LATENCY))[2:])
    for _ in range(ROUNDS):
        for k in range(LEAD + short + long):
            x = number(STEPS[key](x, *((a, b) if k % 2 == 0 else (b, a))))
            if number is int:
                x &= 2 ** width(row.type) - 1
    (found,) = words(emulated(row, LATENCY).tobytes())
    assert found[: width(row.type) // 8].view(form)[0] == x


def words(content: bytes) -> np.ndarray:
    """Its slots of 8 bytes."""
    return np.frombuffer(content, np.uint8).reshape(-1, 8)
