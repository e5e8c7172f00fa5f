"""Runs small kernels on the emulator: bodies between a beginning that finds each thread's data and an end that stores
its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from bodies import kernel

import goptx
from goptx import EmulationFault
from goptx.emulator.emulation import Emulation
from goptx.emulator.instructions.lanewise import Array
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse

# %r0: the thread's number in the CTA, along x; %r1: in the grid; %r2: its lane; %r3: its input; %r4: n. %r5 becomes its
# output. %rd1 and %rd2 are the addresses of its input and output, %rd7 and %rd8 those of the arrays.
BEGIN = """
    ld.param.u64 %rd7, [k_in];
    ld.param.u64 %rd8, [k_out];
    ld.param.u32 %r4, [k_n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r0;
    mov.u32 %r2, %laneid;
    mad.wide.u32 %rd1, %r1, 4, %rd7;
    mad.wide.u32 %rd2, %r1, 4, %rd8;
    ld.global.u32 %r3, [%rd1];
    mov.u32 %r5, 0;
"""
END = """
    st.global.u32 [%rd2], %r5;
    ret;
"""
MASK = 0xFFFFFFFF


def module(body: str, begin: str = BEGIN, end: str = END) -> str:
    return kernel(begin + body + end).replace(".target sm_80", ".target sm_90")


def with_functions(functions: str, body: str) -> str:
    """As `module`, with functions or variables before the kernel."""
    return module(body).replace(".visible .entry", f"{functions}\n.visible .entry", 1)


def call(function: str, arguments: str, result: str = "%r5", word: str = "call.uni") -> str:
    """A call as nvcc writes it, in a scope of its own: words in registers, of which one comes back."""
    names = arguments.split(", ")
    given = "".join(f".param .b32 param{i}; st.param.b32 [param{i}+0], {a};\n" for i, a in enumerate(names))
    passed = ", ".join(f"param{i}" for i in range(len(names)))
    return (
        f"{{ .reg .b32 temp_param_reg;\n{given} .param .b32 retval0;\n"
        f"{word} (retval0), {function}, ({passed});\n ld.param.b32 {result}, [retval0+0]; }}\n"
    )


@cache
def parsed(source: str) -> Module:
    return parse(source)


def inputs(threads: int) -> Array:
    """Numbers from which a thread's number cannot be guessed: half of them below 16."""
    values = np.random.default_rng(threads).integers(0, 1 << 32, threads, np.uint32)
    return np.where(values & 1, values >> 28, values).astype(np.uint32)


def run(
    body: str, block: Any = 64, grid: Any = 1, given: Array | None = None, n: int = 0, **options: Any
) -> tuple[list[int], Emulation]:
    """The outputs, one for each thread, and the counts. `body` is put between `BEGIN` and `END`."""
    threads = int(np.prod(block)) * int(np.prod(grid))
    given = inputs(threads) if given is None else given
    out = np.full(threads, 0xDEAD, np.uint32)
    source = body if ".entry" in body else module(body)
    emulation = goptx.emulate(parsed(source), grid, block, [given, out, n], **options)
    return [int(x) for x in out], emulation


def fault(body: str, **options: Any) -> EmulationFault:
    """The fault that the kernel must meet."""
    with pytest.raises(EmulationFault) as caught:
        run(body, **options)
    return caught.value


def line_of(body: str, number: int) -> str:
    """The text of a line of the module that `run` makes of the body."""
    source = body if ".entry" in body else module(body)
    return source.splitlines()[number - 1].strip()


def agrees(body: str, model: Callable[[int, int], int], seeds: Sequence[int] = (0, 1, 2), **options: Any) -> None:
    """Compares each output with `model(thread, its input)`, for each seed."""
    threads = int(np.prod(options.get("block", 64))) * int(np.prod(options.get("grid", 1)))
    given = options.pop("given", inputs(threads))
    want = [model(i, int(v)) & MASK for i, v in enumerate(given)]
    for seed in seeds:
        got, _ = run(body, given=given.copy(), seed=seed, **options)
        wrong = [(i, g, w) for i, (g, w) in enumerate(zip(got, want, strict=True)) if g != w]
        assert not wrong, f"seed {seed}: (thread, got, want) {wrong[:5]}"
