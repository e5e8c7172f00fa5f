"""Runs snippets of PTX on the emulator: the body of one entry, which finds its arguments in registers.

Argument number i is a parameter `a{i}`: an array's address is in %rd{i}, an integer in %r{i};
        other arguments are left
where they are, `parameters` says of what type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import goptx
from goptx import EmulationFault
from goptx.emulator.emulation import Emulation

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = """
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>; .reg .f64 %d<9>;
.reg .b128 %q<5>;
"""
KINDS: Mapping[type, tuple[str, str]] = {
    np.ndarray: (".u64", "rd"), np.uint32: (".u32", "r"), np.int32: (".s32", "r"), np.uint64: (".u64", "rd"),
}  # fmt: skip


def module(
    body: str, *arguments: object, parameters: Mapping[int, str] | None = None, variables: str = "", bounds: str = ""
) -> str:
    """The text of the module; `variables` come before the entry, `bounds` after its parameters."""
    given = parameters or {}
    names, begin = [], ""
    for i, argument in enumerate(arguments):
        type_, register = KINDS.get(type(argument), ("", ""))
        if i in given:
            names.append(given[i].format(f"a{i}"))
            continue
        names.append(f".param {type_} a{i}")
        begin += f"ld.param{type_} %{register}{i}, [a{i}];\n"
    return f"{HEAD}{variables}\n.visible .entry k({', '.join(names)}){bounds}\n{{{REGISTERS}{begin}{body}\nret;\n}}\n"


def run(
    body: str,
    *arguments: object,
    block: Any = 1,
    grid: Any = 1,
    parameters: Mapping[int, str] | None = None,
    variables: str = "",
    bounds: str = "",
    **options: Any,
) -> Emulation:
    source = module(body, *arguments, parameters=parameters, variables=variables, bounds=bounds)
    return goptx.emulate(source, grid, block, arguments, **options)


def fault(kind: str, body: str, *arguments: object, **options: Any) -> EmulationFault:
    """The fault that the snippet must meet; it must be of that kind."""
    with pytest.raises(EmulationFault) as caught:
        run(body, *arguments, **options)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value
