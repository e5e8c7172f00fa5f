"""Microbenchmarks on a real GPU: a handful within sane bounds, and chains that hold what the emulator computes."""

from dataclasses import replace
from statistics import median

import numpy as np
import pytest

import goptx
from goptx.device.assemble import assemble
from goptx.device.latency.children import Child
from goptx.device.latency.jobs import Job, Launch
from goptx.device.latency.machine_code import find_disassembler
from goptx.device.latency.measure import Measurement, measure
from goptx.device.latency.microbenchmark_process import PACE, ROUNDS
from goptx.device.latency.raw_samples import samples
from goptx.device.latency.row import Row
from goptx.device.latency.rows import ROWS
from goptx.device.latency.table_text import resolved
from goptx.device.latency.text import LATENCY, entry_name, module_text, operand_bytes, repetitions, stored
from goptx.device.load import current_device
from goptx.errors import AssemblyError, DeviceError

pytestmark = pytest.mark.gpu

BOUNDS = {  # cycles; wide, because they hold on every GPU from sm_80 on
    "add.s32": (2, 8),
    "add.f32": (2, 8),
    "fma.f32": (3, 8),
    "xor.b32": (2, 8),
    "setp.u32": (2, 25),
    "ex2.approx.f32": (15, 70),
    "div.u64": (100, 1000),
    "shfl": (10, 50),
    "ld.shared": (15, 50),
    "ld.global L1": (20, 60),
    "ld.global L2": (120, 500),
    "ld.global": (300, 1500),
    "atom.global": (150, 1500),
    "bar": (5, 100),
    "mma": (10, 80),
    "cvt.u64.u32": (-0.5, 0.5),  # zero, up to the error of the overhead that is subtracted
}
SAME = ("add.s32", "mul.s32", "mad.s64", "xor.b32", "add.f32", "fma.f64", "popc.b64", "shfl", "prmt.b32", "setp.u32")


@pytest.fixture(scope="module")
def measured() -> Measurement:
    try:
        current_device()
        find_disassembler()
    except (DeviceError, AssemblyError) as error:
        pytest.skip(str(error))
    keys = {*BOUNDS}
    while more := {other for row in ROWS if row.key in keys for other in row.taken_off} - keys:
        keys |= more
    return measure([row for row in ROWS if row.key in keys])


@pytest.mark.parametrize("key", BOUNDS)
def test_sane(key: str, measured: Measurement) -> None:
    assert key not in measured.problems, measured.problems.get(key)
    latency, interval = resolved(key, measured.rows)
    figure = latency or interval
    assert figure is not None
    least, most = BOUNDS[key]
    assert least <= figure.median <= most
    if latency and interval and key not in ("ld.global", "div.u64"):
        assert interval.median <= latency.median + 0.5


def test_the_further_the_longer(measured: Measurement) -> None:
    far = [resolved(key, measured.rows)[0] for key in ("ld.shared", "ld.global L1", "ld.global L2", "ld.global")]
    cycles = [sample.median for sample in far if sample]
    assert len(cycles) == 4
    assert cycles == sorted(cycles)


def test_the_samples_are_those_of_the_table(measured: Measurement) -> None:
    rows = list(samples(measured))
    assert len({(row["key"], row["kind"]) for row in rows}) * 100 == len(rows)  # 50 rounds of two lengths
    for key in ("add.s32", "ld.shared"):
        each = [row["cycles"] / row["repetitions"] for row in rows if row["key"] == key and row["kind"] == "latency"]
        latency = measured.rows[key].latency
        assert latency and min(each) > 0 and len(each) == 100
        short, long = repetitions(measured.rows[key].row, "latency")
        (timed,) = [t for t in measured.rows[key].timed if t.kind == "latency"]
        assert latency.median == median((b - a) / (long - short) for a, b in timed.cycles)


@pytest.mark.parametrize("key", SAME)
def test_chains_hold_what_the_emulator_computes(key: str, measured: Measurement) -> None:
    row = next(row for row in ROWS if row.key == key)
    on_device, emulated = _on_device(row, measured.device.arch), _emulated(row, measured.device.arch)
    assert on_device == emulated


def _on_device(row: Row, arch: str) -> bytes:
    entry = entry_name(row, LATENCY)
    cubin = assemble(module_text([row], arch), entry=entry).cubin
    launch = Launch(LATENCY, entry, operand_bytes(row, LATENCY), stored(row, LATENCY))
    child = Child(assemble(PACE.format(arch=arch), entry="pace").cubin)
    try:
        answer = child.answer(Job(row.key, cubin, (launch,), row.threads, row.ring))
    finally:
        child.end()
    assert answer.problem == ""
    return answer.timed[0].results


def _emulated(row: Row, arch: str) -> bytes:
    output = np.zeros(16 * ROUNDS + 8 * stored(row, LATENCY), np.uint8)
    operands = np.frombuffer(operand_bytes(row, LATENCY), np.uint8).copy()
    text = module_text([replace(row, chains=0)], arch)
    goptx.emulate(text, 1, row.threads, [output, operands, np.zeros(1, np.uint8), np.uint32(ROUNDS), bytes(64)])
    return output[16 * ROUNDS :].tobytes()
