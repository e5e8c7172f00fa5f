"""Lanes of a warp reconverge where branches and loops end, so that they can vote and shuffle there."""

import random

import pytest
from emulator.random_structure import WARP, Writer, random_code, run_warp
from emulator.threads import agrees, inputs


@pytest.mark.parametrize("number", range(25))
def test_random_structure(number: int) -> None:
    code = random_code(random.Random(number), (1 << WARP) - 1)
    writer = Writer()
    writer.write(code)
    given = [int(v) for v in inputs(64)]
    want = run_warp(code, given[:32]) + run_warp(code, given[32:])
    body = "\n".join([writer.registers, "mov.u32 %r5, %r3;", *writer.lines])
    agrees(body, lambda i, v: want[i], seeds=(0, number + 1))
